"""Our own binary files: npz archives without pickled objects, which say what they are and are checked when read."""

import zipfile
from pathlib import Path

import numpy as np

from orchard.errors import FormatError
from orchard.files import atomic_file


def write_archive(path, kind: str, version: int, arrays: dict[str, np.ndarray]) -> None:
    """Write the arrays, never half; the same arrays give the same bytes."""
    # Through an open file: np.savez would add .npz to the temporary name.
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        np.savez(file, format=f"orchard {kind}", version=version, **arrays)


def read_archive(path, kind: str, version: int) -> dict[str, np.ndarray]:
    """The arrays of a file that `write_archive` wrote; anything else is refused with a FormatError.

    Every member carries a checksum, which is verified here: a damaged file is not mistaken for a model.
    """
    try:
        with Path(path).open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise FormatError(path, None, f"not a {kind}, or damaged")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
    except FormatError:
        raise
    except OSError as error:
        raise FormatError(path, None, f"cannot be read: {error.strerror or error}") from None
    except Exception as error:  # zipfile, zlib and numpy raise a dozen kinds for damaged bytes
        raise FormatError(path, None, f"not a {kind}, or damaged: {error}") from None
    if single(arrays.pop("format", None), "U") != f"orchard {kind}":
        raise FormatError(path, None, f"not a {kind}: its format is not 'orchard {kind}'")
    found = single(arrays.pop("version", None), "iu")
    if found is not None and found > version:
        problem = f"written by a newer Orchard: {kind} of version {found}, this one reads version {version}"
        raise FormatError(path, None, problem)
    if found is not None and 0 < found < version:
        problem = f"written by an older Orchard: {kind} of version {found}, this one reads version {version}"
        raise FormatError(path, None, f"{problem}; make it again")
    if found != version:
        raise FormatError(path, None, f"damaged: its version is {found}, not {version}")
    return arrays


def single(value, kinds: str):
    """The one value of a zero-dimensional array of one of these kinds; None for anything else."""
    return value.item() if isinstance(value, np.ndarray) and value.shape == () and value.dtype.kind in kinds else None
