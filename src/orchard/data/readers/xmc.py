"""The XMC repository's text format: one file per split."""

from pathlib import Path

from orchard.data.formats import read_xmc
from orchard.data.store import SPLITS, Dataset


def read(folder: Path, options: dict) -> Dataset:
    return Dataset(*(matrix for split in SPLITS for matrix in read_xmc(folder / options[split])))
