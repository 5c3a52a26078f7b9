"""Pictures in the IDX format, one class each: a row of raw pixels, a row with one label."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from orchard.data.formats import read_image_labels, read_images
from orchard.data.store import SPLITS, Dataset
from orchard.errors import ConfigError, FormatError


def read(folder: Path, options: dict) -> Dataset:
    """`n_train` and `n_test` ask for the first so many pictures only: a slice of a larger set."""
    names = [str(name) for name in options["label_names"]]
    matrices = {}
    for split in SPLITS:
        X, Y = _read_split(folder, options[f"{split}_images"], options[f"{split}_labels"], len(names))
        n = options.get(f"n_{split}", X.shape[0])
        if n > X.shape[0]:
            raise ConfigError(f"n_{split}: {n} pictures asked for, and there are {X.shape[0]}")
        matrices |= {f"X_{split}": X[:n], f"Y_{split}": Y[:n]}
    return Dataset(**matrices, label_names=names)


def _read_split(folder: Path, images_file: str, labels_file: str, n_labels: int):
    images, labels = read_images(folder / images_file), read_image_labels(folder / labels_file)
    if not len(images):
        raise FormatError(folder / images_file, None, "there is no image in it")
    if len(images) != len(labels):
        raise FormatError(folder / labels_file, None, f"{len(labels)} labels for {len(images)} images")
    if labels.max() >= n_labels:
        raise FormatError(folder / labels_file, None, f"label {labels.max()} among {n_labels} label names")
    X = sp.csr_matrix(images.reshape(len(images), -1).astype(np.float32))
    Y = sp.csr_matrix(
        (np.ones(len(labels), np.float32), labels.astype(np.int32), np.arange(len(labels) + 1, dtype=np.int32)),
        shape=(len(labels), n_labels),
    )
    return X, Y
