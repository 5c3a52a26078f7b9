"""LIBSVM's multi-label text format: the XMC repository's without its header, and with features counted from 1."""

from pathlib import Path

from orchard.data.formats import read_xmc
from orchard.data.store import Dataset


def read(folder: Path, options: dict) -> Dataset:
    sizes = options["n_features"] + 1, options["n_labels"]  # column 0 stays empty, and is cut off
    X_train, Y_train = read_xmc(folder / options["train"], sizes)
    X_test, Y_test = read_xmc(folder / options["test"], sizes)
    return Dataset(X_train[:, 1:], Y_train, X_test[:, 1:], Y_test)
