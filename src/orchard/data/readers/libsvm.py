"""LIBSVM's multi-label text format: the XMC repository's without its header, and with features counted from 1."""

from pathlib import Path

import numpy as np

from orchard.data.formats import read_xmc
from orchard.data.store import Dataset
from orchard.errors import FormatError


def read(folder: Path, options: dict) -> Dataset:
    X_train, Y_train = _read_split(folder / options["train"], options["n_features"], options["n_labels"])
    X_test, Y_test = _read_split(folder / options["test"], options["n_features"], options["n_labels"])
    return Dataset(X_train, Y_train, X_test, Y_test)


def _read_split(path: Path, n_features: int, n_labels: int):
    X, Y = read_xmc(path, sizes=(n_features + 1, n_labels))  # column 0 stays empty, and is cut off
    if (entries := np.flatnonzero(X.indices == 0)).size:
        row = int(np.searchsorted(X.indptr, entries[0], side="right"))
        raise FormatError(path, row, "feature 0, but LIBSVM's features are counted from 1")
    return X[:, 1:], Y
