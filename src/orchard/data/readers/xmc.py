"""The XMC repository's text format: one file per split."""

from pathlib import Path

from orchard.data.formats import read_xmc
from orchard.data.store import Dataset


def read(folder: Path, options: dict) -> Dataset:
    X_train, Y_train = read_xmc(folder / options["train"])
    X_test, Y_test = read_xmc(folder / options["test"])
    return Dataset(X_train, Y_train, X_test, Y_test)
