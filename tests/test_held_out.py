"""Held-out samples are training samples, and the test samples are nowhere to be seen."""

import numpy as np
import pytest
import scipy.sparse as sp

from orchard.data.store import Dataset
from orchard.held_out import without_test


def numbered(n):
    """A data set whose rows say which they are: the first feature is the row, from 1; test rows are negative."""
    X = sp.csr_matrix(np.arange(1, n + 1, dtype=np.float32)[:, None])
    return Dataset(X, X > 0, -X, X > 0, stats={"title": "Numbers"})


def test_a_fifth_of_the_training_samples_takes_the_place_of_the_test():
    data = numbered(50)
    Y = sp.csr_matrix(np.arange(101, 151, dtype=np.float32)[:, None])
    half = without_test(data, Y, seed=0)
    seen, held_out = (matrix.toarray().ravel() for matrix in (half.X_train, half.X_test))
    assert (len(seen), len(held_out)) == (40, 10)
    np.testing.assert_array_equal(np.sort(np.concatenate([seen, held_out])), np.arange(1, 51))
    for X, labels in ((seen, half.Y_train), (held_out, half.Y_test)):
        np.testing.assert_array_equal(labels.toarray().ravel(), X + 100)
    assert half.stats is data.stats


def test_seeds_hold_out_other_samples_and_the_same_ones_again():
    data = numbered(50)
    first, again, other = (without_test(data, data.Y_train, seed).X_test.toarray() for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_too_few_samples_are_refused():
    data = numbered(2)
    with pytest.raises(ValueError, match="2 training samples are too few"):
        without_test(data, data.Y_train, seed=0)
