"""Compiled kernels that are out of date are forgotten.

numba keeps compiled functions in __pycache__ and compiles a function anew when its own file has changed, but not when a
kernel of another file that was compiled into it has: after an update, old and new code would be mixed.
(A cache that is kept elsewhere, by NUMBA_CACHE_DIR, is its owner's to clear.)
"""

import hashlib
from contextlib import suppress
from pathlib import Path

from orchard.files import write_text

_PACKAGE = Path(__file__).parent


def forget_outdated_kernels(package: Path = _PACKAGE) -> None:
    """Remove all compiled kernels if the sources they are made of are not those that they were compiled from."""
    sources = sorted(path for path in package.rglob("_*.py") if path.name != "__init__.py")
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    stamp = package / "__pycache__" / "kernels.sha256"
    with suppress(OSError):  # a folder that is not ours to change has no compiled kernels either
        if stamp.is_file() and stamp.read_text() == digest:
            return
        for compiled in package.rglob("__pycache__/*.nb[ic]"):
            compiled.unlink(missing_ok=True)
        write_text(stamp, digest)
