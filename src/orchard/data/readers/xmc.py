"""The XMC repository's text format: one file per split."""

from pathlib import Path

from orchard.data.formats import read_xmc
from orchard.data.store import SPLITS, Dataset


def read(folder: Path, options: dict) -> Dataset:
    """`every`: 3 asks for the first of every three samples, with all features and labels: a slice of a larger set."""
    matrices = (matrix for split in SPLITS for matrix in read_xmc(folder / options[split]))
    return Dataset(*(matrix[:: options.get("every", 1)] for matrix in matrices))
