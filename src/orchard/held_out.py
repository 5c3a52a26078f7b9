"""Judge a method on training samples that it has not seen: what is chosen this way never looks at the test samples."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from orchard.data.store import Dataset

HELD_OUT = 0.2  # of the training samples


def without_test(dataset: Dataset, Y: sp.csr_matrix, seed: int) -> Dataset:
    """A data set whose test samples are a random fifth of the training samples; the real ones are gone.

    Y : CSR (n, L), the labels of the training samples that a method gets to see.
    """
    n = dataset.X_train.shape[0]
    n_held_out = round(HELD_OUT * n)
    if n_held_out == 0:
        raise ValueError(f"{n} training samples are too few to hold some out")
    held_out = np.zeros(n, bool)
    held_out[np.random.default_rng(seed).permutation(n)[:n_held_out]] = True
    X = dataset.X_train
    split = {"X_train": X[~held_out], "Y_train": Y[~held_out], "X_test": X[held_out], "Y_test": Y[held_out]}
    return replace(dataset, **split, texts_train=None, texts_test=None)
