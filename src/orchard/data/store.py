"""The canonical form of a data set: a folder that PECOS's tools read too, and the object it is loaded into.

`X.trn.npz`, `Y.trn.npz`, `X.tst.npz`, `Y.tst.npz` (CSR float32), where there is text `X.trn.txt` and `X.tst.txt` (one
document per line), where labels have names `output-items.txt`, and `stats.json`. A data set that brings a validation
split along has `X.val.npz`, `Y.val.npz` and `X.val.txt` too, one whose samples come in groups `groups.trn.npy`.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from orchard.errors import OrchardError
from orchard.files import atomic_file, read_json

SPLITS = {"train": "trn", "test": "tst"}  # what every data set has
ALL_SPLITS = {"train": "trn", "valid": "val", "test": "tst"}
LABEL_NAMES = "output-items.txt"
GROUPS = "groups.trn.npy"


@dataclass(frozen=True)
class Dataset:
    """Features X (n, d) and labels Y (n, L) of both splits, CSR float32; texts and label names where there are any.

    Where samples are parts of something larger, such as the sentences of a document, `groups_train` tells which one
    they belong to, and a row of Y_train has the labels of that whole: no label is known to be the sample's own.
    """

    X_train: sp.csr_matrix
    Y_train: sp.csr_matrix
    X_test: sp.csr_matrix
    Y_test: sp.csr_matrix
    texts_train: list[str] | None = None
    texts_test: list[str] | None = None
    label_names: list[str] | None = None
    stats: dict = field(default_factory=dict)
    groups_train: np.ndarray | None = None  # int32 (n_train,): the group of every sample, 0 … m − 1
    X_valid: sp.csr_matrix | None = None
    Y_valid: sp.csr_matrix | None = None
    texts_valid: list[str] | None = None

    @property
    def splits(self) -> list[str]:
        """The names of the splits that there are, in the order of `ALL_SPLITS`."""
        return [split for split in ALL_SPLITS if getattr(self, f"X_{split}") is not None]


def matrix_file(letter: str, split: str) -> str:
    """The file name of X or Y of a split, as PECOS names it."""
    return f"{letter}.{ALL_SPLITS[split]}.npz"


def text_file(split: str) -> str:
    return f"X.{ALL_SPLITS[split]}.txt"


def save_dataset(folder, dataset: Dataset) -> None:
    """Write the matrices, groups, texts and label names (not the statistics) into an existing folder."""
    folder = Path(folder)
    for split in dataset.splits:
        for letter in "XY":
            save_csr(folder / matrix_file(letter, split), getattr(dataset, f"{letter}_{split}"))
        texts = getattr(dataset, f"texts_{split}")
        if texts is not None:
            _write_lines(folder / text_file(split), texts)
    if dataset.label_names is not None:
        _write_lines(folder / LABEL_NAMES, dataset.label_names)
    if dataset.groups_train is not None:
        np.save(folder / GROUPS, dataset.groups_train, allow_pickle=False)


def load_dataset(name, root="results/data") -> Dataset:
    """Load the prepared data set `name` (or the folder of one)."""
    folder = Path(name) if Path(name).is_dir() else Path(root) / name
    if not (folder / "stats.json").is_file():
        raise OrchardError(f"{folder}: not a prepared data set; `snakemake {Path(root) / name}` makes it")
    splits = [split for split in ALL_SPLITS if split in SPLITS or (folder / matrix_file("X", split)).is_file()]
    matrices = {
        f"{letter}_{split}": load_csr(folder / matrix_file(letter, split)) for split in splits for letter in "XY"
    }
    return Dataset(
        **matrices,
        **{f"texts_{split}": _read_lines(folder / text_file(split)) for split in splits},
        label_names=_read_lines(folder / LABEL_NAMES),
        stats=read_json(folder / "stats.json"),
        groups_train=np.load(folder / GROUPS, allow_pickle=False) if (folder / GROUPS).is_file() else None,
    )


def save_csr(path, matrix: sp.csr_matrix) -> None:
    """Write one matrix so that `load_csr`, scipy and PECOS read it; uncompressed, for speed, and never half."""
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        sp.save_npz(file, matrix, compressed=False)


def load_csr(path) -> sp.csr_matrix:
    return sp.csr_matrix(sp.load_npz(path))


def sha256_of_csr(matrix: sp.csr_matrix) -> str:
    """A digest of the values alone: the same for the same matrix, whatever integer type scipy chose for its indices."""
    digest = hashlib.sha256(f"{matrix.shape[0]} {matrix.shape[1]}".encode())
    for array, kind in ((matrix.indptr, np.int64), (matrix.indices, np.int32), (matrix.data, np.float32)):
        digest.update(np.ascontiguousarray(array, dtype=kind).data)
    return digest.hexdigest()


def _write_lines(path: Path, lines: list[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        # A line break inside a document would shift every later one.
        file.writelines(" ".join(line.splitlines()) + "\n" for line in lines)


def _read_lines(path: Path) -> list[str] | None:
    return path.read_text(encoding="utf-8").split("\n")[:-1] if path.is_file() else None
