"""Label trees as files, checked in full when they are read."""

from orchard.archives import read_archive, single, write_archive
from orchard.errors import FormatError

KIND, VERSION = "label tree", 1
ARRAYS = ("children", "label_indptr", "label_indices")


def write(path, tree) -> None:
    """Write the three arrays, the number of labels and what kind of file this is."""
    arrays = {name: getattr(tree, name) for name in ARRAYS}
    write_archive(path, KIND, VERSION, {"n_labels": tree.n_labels, **arrays})


def read(path, make_tree):
    """make_tree(children, label_indptr, label_indices, n_labels) of what the file holds; FormatError if it is wrong."""
    members = read_archive(path, KIND, VERSION)
    missing = [name for name in ("n_labels", *ARRAYS) if name not in members]
    if missing:
        raise FormatError(path, None, f"damaged: {', '.join(missing)} is missing")
    n_labels = single(members["n_labels"], "iu")
    if n_labels is None:
        raise FormatError(path, None, "damaged: n_labels is not one integer")
    try:
        return make_tree(*(members[name] for name in ARRAYS), n_labels)
    except ValueError as error:
        raise FormatError(path, None, f"damaged: {error}") from None
