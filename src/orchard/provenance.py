"""Which source code a step depends on: a hash over a script and all the modules of ours that it imports."""

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGE_FOLDER = Path(__file__).parent


def source_hash(script, modules: Iterable[str] = (), without: Iterable[str] = ()) -> str:
    """SHA-256 over `script`, and every module of this package that it or `modules` import, directly or not.

    A workflow engine that hashes only the script would call a result up to date after its library changed. Imports
    are read from the syntax tree wherever they stand, so those inside functions count; a module that is imported by
    a name known only at run time must be given in `modules`. Such a module may be a user's own: then the modules that
    lie beside it are followed like ours.

    without : modules of ours that `modules` import for other purposes than this step's; they do not count, and what
        they import counts only if somebody else imports it too.
    """
    script = Path(script)
    left_out = frozenset(_locate(module)[0] for module in without)
    files = {script} | _closure(script, (PACKAGE_FOLDER.parent,), left_out)
    for module in modules:
        file, root = _locate(module)
        roots = (PACKAGE_FOLDER.parent, root)
        files |= {file} | _files_behind(module, None, roots) | _closure(file, roots, left_out)
    digest = hashlib.sha256()
    for name, file in sorted((_portable_name(file), file) for file in files):
        digest.update(f"{name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _portable_name(file: Path) -> str:
    """Without the folder above: two checkouts of the same code agree."""
    return str(file.relative_to(PACKAGE_FOLDER)) if file.is_relative_to(PACKAGE_FOLDER) else file.name


def _locate(module: str) -> tuple[Path, Path]:
    """The file of a module, and the folder from which it is imported; found without running any of it."""
    roots = [PACKAGE_FOLDER.parent, *(Path(entry) for entry in sys.path)]
    outermost = importlib.util.find_spec(module.partition(".")[0])
    if outermost and outermost.origin:
        roots.append(Path(outermost.origin).parents[1 if outermost.submodule_search_locations else 0])
    for root in roots:
        if file := _file_of(module, root):
            return file, root
    raise ModuleNotFoundError(f"there is no module {module!r}")


@cache
def _closure(file: Path, roots: tuple[Path, ...], left_out: frozenset[Path] = frozenset()) -> frozenset[Path]:
    """The files below `roots` that `file` imports, and those that they import, but for those that are left out."""
    # An installed library is known by its version; following it would hash half of the environment.
    if "site-packages" in file.parts:
        return frozenset()
    found: set[Path] = set()
    to_read = [file]
    while to_read:
        new = _imported_files(to_read.pop(), roots) - found - left_out
        found |= new
        to_read.extend(new)
    return frozenset(found)


@cache
def _imported_files(file: Path, roots: tuple[Path, ...]) -> frozenset[Path]:
    """What `file` imports, and the packages around that, whose __init__ runs too."""
    files = set()
    for node in ast.walk(ast.parse(file.read_bytes(), filename=str(file))):
        if isinstance(node, ast.Import):
            names = [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [(_absolute(node, file, roots), alias.name) for alias in node.names]
        else:
            continue
        for module, name in names:
            files |= _files_behind(module, name, roots)
    return frozenset(files)


def _absolute(node: ast.ImportFrom, file: Path, roots: tuple[Path, ...]) -> str:
    """The full name of the module that a `from … import` reads, a relative one included."""
    if not node.level:
        return node.module
    root = max((root for root in roots if file.is_relative_to(root)), key=lambda root: len(root.parts))
    package = file.relative_to(root).parts[: -node.level]
    return ".".join([*package, *filter(None, [node.module])])


def _files_behind(module: str, name: str | None, roots: tuple[Path, ...]) -> set[Path]:
    """The files of `module`, of the packages around it, and of `name` where that is a module or lives in one."""
    if name is not None:
        home = _lazy_home(module, name, roots)
        module = home or (f"{module}.{name}" if _find(f"{module}.{name}", roots) else module)
    parts = module.split(".")
    found = (_find(".".join(parts[: i + 1]), roots) for i in range(len(parts)))
    return {file for file in found if file}


def _lazy_home(module: str, name: str, roots: tuple[Path, ...]) -> str | None:
    """The module that a package's `_HOME` table names for a name which it loads when first used."""
    file = _find(module, roots)
    return _home_table(file).get(name) if file and file.name == "__init__.py" else None


@cache
def _home_table(file: Path) -> dict[str, str]:
    for node in ast.parse(file.read_bytes()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "_HOME":
            return ast.literal_eval(node.value)
    return {}


def _find(module: str, roots: tuple[Path, ...]) -> Path | None:
    return next((file for root in roots if (file := _file_of(module, root))), None)


@cache
def _file_of(module: str, root: Path) -> Path | None:
    path = root.joinpath(*module.split("."))
    for candidate in (path / "__init__.py", path.with_suffix(".py")):
        if candidate.is_file():
            return candidate
    return None
