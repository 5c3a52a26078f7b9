"""The PECOS folder: sparse matrices as npz, raw texts and label names where the archive has them."""

from pathlib import Path

from orchard.data.formats import read_label_names, read_pecos, read_texts
from orchard.data.store import LABEL_NAMES, SPLITS, Dataset, text_file


def read(folder: Path, options: dict) -> Dataset:
    X_train, Y_train = read_pecos(folder, SPLITS["train"])
    X_test, Y_test = read_pecos(folder, SPLITS["test"])
    texts = {
        f"texts_{split}": read_texts(folder / text_file(split))
        for split in SPLITS
        if (folder / text_file(split)).exists()
    }
    names = folder / LABEL_NAMES
    label_names = read_label_names(names, n_labels=Y_train.shape[1]) if names.exists() else None
    return Dataset(X_train, Y_train, X_test, Y_test, **texts, label_names=label_names)
