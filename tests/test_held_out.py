"""Held-out samples are training samples, and the test samples are nowhere to be seen."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from orchard.data.store import Dataset
from orchard.errors import OrchardError
from orchard.held_out import with_validation, without_test
from orchard.variants.aggregate import group_matrix


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


def test_what_fits_the_real_rows_only_is_gone():
    data = numbered(50)
    lines = [str(row) for row in range(50)]
    texts = {f"texts_{split}": lines for split in ("train", "valid", "test")}
    whole = replace(data, **texts, groups_train=np.arange(50) // 5, X_valid=data.X_test, Y_valid=data.Y_test)
    half = without_test(whole, data.Y_train, seed=0)
    assert [getattr(half, name) for name in (*texts, "groups_train", "X_valid", "Y_valid")] == [None] * 6
    assert half.splits == ["train", "test"]


def test_seeds_hold_out_other_samples_and_the_same_ones_again():
    data = numbered(50)
    first, again, other = (without_test(data, data.Y_train, seed).X_test.toarray() for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_too_few_samples_are_refused():
    data = numbered(2)
    with pytest.raises(ValueError, match="2 training samples are too few"):
        without_test(data, data.Y_train, seed=0)


def grouped(n=48, size=4):
    """A numbered data set in groups of neighbours, whose labels are the numbers of their samples, summed up."""
    data = numbered(n)
    groups = np.arange(n) // size
    Y1 = group_matrix(groups)
    Y = sp.csr_matrix(np.arange(101, n + 101, dtype=np.float32)[:, None])
    return replace(data, Y_train=Y), Y1, sp.csr_matrix(Y1.T @ Y)


def test_a_twelfth_of_the_groups_validates_sample_by_sample():
    data, Y1, Y2 = grouped()
    split = with_validation(data, Y1, Y2, seed=0)
    seen, validating = (X.toarray().ravel() for X in (split.X, split.X_valid))
    assert (len(seen), len(validating), split.Y1.shape) == (44, 4, (44, 11))
    np.testing.assert_array_equal(np.sort(np.concatenate([seen, validating])), np.arange(1, 49))
    assert len(set((validating - 1) // 4)) == 1  # a whole group
    np.testing.assert_array_equal(split.Y_valid.toarray().ravel(), validating + 100)
    np.testing.assert_array_equal((split.Y1.T @ split.X).toarray() + 4 * 100, split.Y2.toarray())


def test_other_seeds_hold_out_other_groups_and_the_same_ones_again():
    first, again, other = (with_validation(*grouped(), seed).X_valid.toarray() for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_a_validation_set_that_comes_with_the_data_is_taken():
    data, Y1, Y2 = grouped()
    own = replace(data, X_valid=data.X_test[:3], Y_valid=data.Y_test[:3])
    split = with_validation(own, Y1, Y2, seed=0)
    assert split.X is data.X_train
    assert split.Y1 is Y1
    assert split.X_valid is own.X_valid


def test_too_few_groups_are_refused():
    with pytest.raises(OrchardError, match="2 groups are too few to hold some out"):
        with_validation(*grouped(8), seed=0)
