"""Files that are never half written: everything goes to a temporary name beside its target and is renamed."""

import glob
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def _temporary_beside(path: Path) -> Path:
    """A name of this process alone: the orphan of a killed run may still be writing. What the dead left is removed."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        owner = left.name.split(".")[-2]
        if owner.isdigit() and not _is_alive(int(owner)):
            shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's, and alive
        pass
    return True


@contextmanager
def atomic_file(path) -> Iterator[Path]:
    """Yield a temporary path in the target's folder; rename it to `path` on success, remove it on failure."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary_beside(path)
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path) -> Iterator[Path]:
    """Like `atomic_file`, for a whole folder; a folder that was at `path` before is replaced."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary_beside(path)
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        yield temporary
        shutil.rmtree(path, ignore_errors=True)
        temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_text(path, text: str) -> None:
    """Write `text` as UTF-8, atomically, with Unix line ends on every system."""
    with atomic_file(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def write_json(path, value) -> None:
    """Write `value` as JSON that is the same bytes for the same value: sorted keys, no NaN."""
    write_text(path, json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def sha256_of_file(path) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
