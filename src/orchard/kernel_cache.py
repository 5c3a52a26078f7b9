"""Compiled kernels that are out of date are forgotten.

numba keeps compiled functions in __pycache__ and compiles a function anew when its own file has changed, but not when a
kernel of another file that was compiled into it has: after an update, old and new code would be mixed.
"""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def forget_outdated_kernels(package: Path = _PACKAGE) -> None:
    """Remove the index of every cached kernel that is older than the youngest source file that kernels are made of."""
    sources = [path for path in package.rglob("_*.py") if path.name != "__init__.py"]
    youngest = max((path.stat().st_mtime for path in sources), default=0)
    for index in package.rglob("__pycache__/*.nbi"):
        try:
            if index.stat().st_mtime < youngest:
                index.unlink()
        except OSError:  # another process was faster, or the folder is not ours to change
            continue
