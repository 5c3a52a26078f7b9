"""The handwritten digits that scikit-learn brings along: 8 by 8 pixels, one class each, no file and no network."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from orchard.data.corpora import label_matrix, split_by_hash
from orchard.data.store import Dataset


def read(folder: Path, options: dict) -> Dataset:
    """They have no official split: the hash of a picture's number in scikit-learn's order decides."""
    from sklearn.datasets import load_digits

    pixels, digits = load_digits(return_X_y=True)
    X = sp.csr_matrix(pixels, dtype=np.float32)
    Y, names = label_matrix([[str(digit)] for digit in digits])
    is_test = split_by_hash([str(number) for number in range(len(digits))], options["test_fraction"])
    return Dataset(X[~is_test], Y[~is_test], X[is_test], Y[is_test], label_names=names)
