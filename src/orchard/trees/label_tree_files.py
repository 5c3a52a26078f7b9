"""Label trees as files: an npz archive without pickled objects, checked in full when it is read."""

import io
from pathlib import Path

import numpy as np

from orchard.errors import FormatError
from orchard.files import atomic_file

FORMAT, VERSION = "orchard label tree", 1
ARRAYS = ("children", "label_indptr", "label_indices")


def write(path, tree) -> None:
    """Write the three arrays, the number of labels and what kind of file this is."""
    arrays = {name: getattr(tree, name) for name in ARRAYS}
    # Through an open file: np.savez would add .npz to the temporary name.
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        np.savez(file, format=FORMAT, version=VERSION, n_labels=tree.n_labels, **arrays)


def read(path, make_tree):
    """make_tree(children, label_indptr, label_indices, n_labels) of what the file holds; FormatError if it is wrong."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(path, None, f"cannot be read: {error.strerror}") from None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            members = {name: archive[name] for name in ("format", "version", "n_labels", *ARRAYS) if name in archive}
    except Exception as error:  # zipfile, zlib and numpy raise a dozen kinds for damaged bytes
        raise FormatError(path, None, f"not a label tree, or damaged: {error}") from None
    if _single(members.get("format"), "U") != FORMAT:
        raise FormatError(path, None, f"not a label tree: its format is not '{FORMAT}'")
    version = _single(members.get("version"), "iu")
    if version is not None and version > VERSION:
        problem = f"written by a newer Orchard: label tree of version {version}, this one reads version {VERSION}"
        raise FormatError(path, None, problem)
    if version != VERSION:
        raise FormatError(path, None, f"damaged: its version is {version}, not {VERSION}")
    missing = [name for name in ("n_labels", *ARRAYS) if name not in members]
    if missing:
        raise FormatError(path, None, f"damaged: {', '.join(missing)} is missing")
    n_labels = _single(members["n_labels"], "iu")
    if n_labels is None:
        raise FormatError(path, None, "damaged: n_labels is not one integer")
    try:
        return make_tree(*(members[name] for name in ARRAYS), n_labels)
    except ValueError as error:
        raise FormatError(path, None, f"damaged: {error}") from None


def _single(value, kinds: str):
    """The one value of a zero-dimensional array of one of these kinds; None for anything else."""
    return value.item() if isinstance(value, np.ndarray) and value.shape == () and value.dtype.kind in kinds else None
