"""The data as every engine gets it: the prepared data set with rows of length 1, as arrays and as text files."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.preprocessing import normalize

from orchard.data.store import load_csr, matrix_file, save_csr
from orchard.files import atomic_file

ROOT = Path(__file__).resolve().parent.parent
PREPARED = ROOT / "results/data"
UNIT_ROWS = ROOT / "results/bench/data"


def prepare(names: list[str]) -> None:
    """Have the workflow make those data sets that are not there."""
    missing = [f"results/data/{name}" for name in names if not (PREPARED / name / "stats.json").is_file()]
    if missing:
        make(*missing)


def make(*targets: str) -> None:
    """Have the workflow make these, where they are not there."""
    subprocess.run([Path(sys.executable).with_name("snakemake"), *targets], cwd=ROOT, check=True)


def export(name: str, files: set[str]) -> Path:
    """Write the arrays and those text `files` that engines ask for (where they are not there); returns the folder."""
    folder, source = UNIT_ROWS / name, PREPARED / name
    edition = str((source / "stats.json").stat().st_mtime_ns)
    stamp = folder / "edition.txt"
    if not stamp.is_file() or stamp.read_text() != edition:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for split in ("train", "test"):
            X, Y = (load_csr(source / matrix_file(letter, split)) for letter in "XY")
            X = normalize(X).astype(np.float32)
            X.sort_indices()
            save_csr(folder / matrix_file("X", split), X)
            save_csr(folder / matrix_file("Y", split), Y.astype(np.float32))
        stamp.write_text(edition)
    for file in files:
        if not (folder / file).is_file():
            _WRITERS[file](folder, file)
    return folder


def write_xmc(path, X, Y) -> None:
    """The XMC repository's format: `n d L`, then `label,label feature:value feature:value` a row."""
    with atomic_file(path) as temporary, temporary.open("w") as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
        for row in range(X.shape[0]):
            here = slice(X.indptr[row], X.indptr[row + 1])
            features = map("%d:%.9g".__mod__, zip(X.indices[here].tolist(), X.data[here].tolist(), strict=True))
            file.write(f"{','.join(map(str, _labels(Y, row)))} {' '.join(features)}\n")


def write_fasttext(path, X, Y=None) -> None:
    """A feature is a word, and its value is lost; rows without a label are left out, since fastText cannot use them."""
    with atomic_file(path) as temporary, temporary.open("w") as file:
        for row in range(X.shape[0]):
            labels = [] if Y is None else [f"__label__{label}" for label in _labels(Y, row)]
            if labels or Y is None:
                words = map(str, X.indices[X.indptr[row] : X.indptr[row + 1]].tolist())
                file.write(" ".join([*labels, *words]) + "\n")


def _labels(Y, row):
    return Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()


def _write_from_train(write):
    return lambda folder, file: write(folder / file, load_csr(folder / "X.trn.npz"), load_csr(folder / "Y.trn.npz"))


_WRITERS = {
    "train.xmc.txt": _write_from_train(write_xmc),
    "train.fasttext.txt": _write_from_train(write_fasttext),
    "test.fasttext.txt": lambda folder, file: write_fasttext(folder / file, load_csr(folder / "X.tst.npz")),
}

# The text files that each engine reads; the others start from arrays.
FILES_OF_ENGINE = {"omikuji": {"train.xmc.txt"}, "fasttext": {"train.fasttext.txt", "test.fasttext.txt"}}
