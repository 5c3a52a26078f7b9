"""Which source code a step depends on: a hash over a script and all of this package that it imports."""

import ast
import hashlib
import importlib.util
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGE_FOLDER = Path(__file__).parent
PACKAGE = PACKAGE_FOLDER.name


def source_hash(script, modules: Iterable[str] = ()) -> str:
    """SHA-256 over `script`, and every module of this package that it or `modules` import, directly or not.

    A workflow engine that hashes only the script would call a result up to date after its library changed. Imports
    are read from the syntax tree wherever they stand, so those inside functions count; a module that is imported by
    a name known only at run time must be given in `modules`.
    """
    script = Path(script)
    files = {script} | _closure_of_file(script)
    for module in modules:
        files |= _closure_of_module(module)
    digest = hashlib.sha256()
    for file in sorted(files, key=str):
        # The name goes in without the folder above the package: two checkouts of the same code agree.
        name = file.relative_to(PACKAGE_FOLDER) if file.is_relative_to(PACKAGE_FOLDER) else file.name
        digest.update(f"{name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def _closure_of_module(module: str) -> frozenset[Path]:
    """The files of `module`, its parent packages, and everything of this package that they import."""
    file = _file_of(module) if _is_ours(module) else _file_elsewhere(module)
    if file is None:
        raise ModuleNotFoundError(f"there is no module {module}")
    return frozenset({file}) | _closure_of_file(file)


def _file_elsewhere(module: str) -> Path | None:
    """The file of a user's own module; of what it imports, only the modules of this package are followed."""
    spec = importlib.util.find_spec(module)
    return Path(spec.origin) if spec and spec.origin else None


@cache
def _closure_of_file(file: Path) -> frozenset[Path]:
    found: set[Path] = set()
    to_read = [file]
    while to_read:
        for module in _imports(to_read.pop()):
            path = _file_of(module)
            if path not in found:
                found.add(path)
                to_read.append(path)
    return frozenset(found)


def _imports(file: Path) -> set[str]:
    """Modules of this package that `file` imports, and the packages around them, whose __init__ runs too."""
    names = set()
    for node in ast.walk(ast.parse(file.read_bytes(), filename=str(file))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if _is_ours(alias.name)}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and _is_ours(node.module):
            names |= {_defining_module(node.module, alias.name, file) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level > 0:
            raise ImportError(f"{file}: relative imports are not followed; write the full module name")
    return {".".join(parts[:n]) for parts in (name.split(".") for name in names) for n in range(1, len(parts) + 1)}


def _is_ours(module: str) -> bool:
    return module == PACKAGE or module.startswith(f"{PACKAGE}.")


def _defining_module(module: str, name: str, importer: Path) -> str:
    """The module that `from module import name` reads: a submodule, or `module` itself where it defines the name."""
    if _file_of(f"{module}.{name}") is not None:
        return f"{module}.{name}"
    file = _file_of(module)
    if file is None:
        raise ImportError(f"{importer}: there is no module {module}")
    if file.name == "__init__.py" and name not in _top_level_names(file):
        # A lazily re-exported name would hide the module that really holds it.
        raise ImportError(f"{importer}: import {name} from the module that defines it, not from {module}")
    return module


@cache
def _top_level_names(file: Path) -> frozenset[str]:
    names = set()
    for node in ast.parse(file.read_bytes()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(names)


@cache
def _file_of(module: str) -> Path | None:
    path = PACKAGE_FOLDER.parent.joinpath(*module.split("."))
    for candidate in (path / "__init__.py", path.with_suffix(".py")):
        if candidate.is_file():
            return candidate
    return None
