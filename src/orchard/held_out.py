"""Judge a method on training samples that it has not seen: what is chosen this way never looks at the test samples."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from orchard.data.store import Dataset
from orchard.errors import OrchardError

HELD_OUT = 0.2  # of the training samples
GROUPS_HELD_OUT = 1 / 12  # 5,000 of MNIST's 60,000 pictures


def without_test(dataset: Dataset, Y: sp.csr_matrix, seed: int) -> Dataset:
    """A data set whose test samples are a random fifth of the training samples; the real ones are gone.

    So are texts, groups and validation samples, which fit neither these rows nor these labels.

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
    others = ("texts_train", "texts_test", "groups_train", "X_valid", "Y_valid", "texts_valid")
    return replace(dataset, **split, **dict.fromkeys(others))


@dataclass(frozen=True)
class GroupsToLearnFrom:
    """Groups to train on, and single samples with labels of their own to judge that by."""

    X: sp.csr_matrix
    Y1: sp.csr_matrix
    Y2: sp.csr_matrix
    X_valid: sp.csr_matrix
    Y_valid: sp.csr_matrix


def with_validation(dataset: Dataset, Y1: sp.csr_matrix, Y2: sp.csr_matrix, seed: int) -> GroupsToLearnFrom:
    """All groups and the data set's own validation samples; if it has none, most groups and the samples of the rest.

    A twelfth of the groups, at random, is held out: their samples and these samples' own labels validate, one by one,
    as the test samples are scored (eagle §7.3 validates by reviews of a single sentence).
    """
    if dataset.X_valid is not None:
        return GroupsToLearnFrom(dataset.X_train, Y1, Y2, dataset.X_valid, dataset.Y_valid)
    m = Y1.shape[1]
    n_held_out = round(GROUPS_HELD_OUT * m)
    if n_held_out == 0:
        raise OrchardError(f"{m} groups are too few to hold some out for validation")
    group_is_out = np.zeros(m, bool)
    group_is_out[np.random.default_rng(seed).permutation(m)[:n_held_out]] = True
    is_out = Y1 @ group_is_out.astype(np.float32) > 0
    X = dataset.X_train
    kept = X[~is_out], Y1[~is_out][:, ~group_is_out], Y2[~group_is_out]
    return GroupsToLearnFrom(*kept, X[is_out], dataset.Y_train[is_out])
