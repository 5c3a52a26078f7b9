"""Label trees as a step of their own: built once, kept as files, given to every run that asks for the same."""

import time
from pathlib import Path

import scipy.sparse as sp

from orchard.errors import FormatError
from orchard.files import atomic_folder
from orchard.trees.label_tree import LabelTree


def timed_trees(estimator, X: sp.csr_matrix, Y: sp.csr_matrix) -> tuple[list[LabelTree], float]:
    """The estimator's trees over the labels of Y (n, L), and the seconds that they took."""
    started = time.perf_counter()
    trees = estimator.build_trees(X, Y)
    return trees, time.perf_counter() - started


def save_trees(folder, trees: list[LabelTree]) -> None:
    """Write one file per tree into a new folder, all of them or none."""
    with atomic_folder(folder) as temporary:
        for number, tree in enumerate(trees):
            tree.save(temporary / _file_name(number))


def load_trees(folder) -> list[LabelTree]:
    """Read what `save_trees` wrote, in the same order; a missing or damaged file is refused."""
    folder = Path(folder)
    found = {path.name for path in folder.glob("*.npz")}
    if not found or found != set(map(_file_name, range(len(found)))):
        raise FormatError(folder, None, f"not a folder of label trees: {', '.join(sorted(found)) or 'no tree'} in it")
    return [LabelTree.load(folder / _file_name(number)) for number in range(len(found))]


def _file_name(number: int) -> str:
    return f"tree-{number}.npz"
