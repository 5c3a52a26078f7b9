"""Centred features, and label embeddings of them; none of it needs PyTorch."""

import numpy as np
import pytest
import scipy.sparse as sp

from orchard.eagle import label_embeddings
from orchard.neural.features import CentredFeatures, embeddings_of_centred
from orchard.variants.aggregate import group_matrix, merge_labels, random_groups


def pictures(n=60, d=9, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.csr_matrix((rng.integers(0, 256, (n, d)) * (rng.random((n, d)) < 0.5)).astype(np.float32))
    Y = sp.csr_matrix((np.ones(n, np.float32), rng.integers(0, 3, n), np.arange(n + 1)), (n, 3))
    Y1 = group_matrix(random_groups(n, 4, seed))
    return X, Y1, merge_labels(Y, Y1)


def test_training_rows_are_centred_and_in_units_of_their_largest_value():
    X, *_ = pictures()
    features = CentredFeatures.of(X)
    dense = features(X)
    assert dense.dtype == np.float32
    np.testing.assert_allclose(dense.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(dense, X.toarray() / X.max() - X.toarray().mean(axis=0) / X.max(), atol=1e-6)
    other = X[:3] * 0.5
    np.testing.assert_allclose(features(other), other.toarray() / X.max() - features.mean, atol=1e-6)


def test_nothing_is_divided_by_zero():
    X = sp.csr_matrix((2, 3), dtype=np.float32)
    assert (CentredFeatures.of(X)(X) == 0).all()


@pytest.mark.parametrize("iterations", [0, 20])
def test_embeddings_are_those_of_algorithm_1_on_the_rows_as_they_are(iterations):
    """Through a CSR that stores every entry, zeros and all, and is the caller's memory: that stays as it was."""
    X, Y1, Y2 = pictures()
    dense = CentredFeatures.of(X)(X)
    dense[:, 4] = 0
    before = dense.copy()
    found = embeddings_of_centred(dense, Y1, Y2, iterations)
    expected = label_embeddings(sp.csr_matrix(dense), Y1, Y2, iterations, unit_samples=False).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_array_equal(dense, before)


def test_no_label_is_drawn_to_what_all_samples_share():
    """Every group has every label: the plain sums of unit rows would all point the same way."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 3000)
    X = sp.csr_matrix((rng.exponential(size=(3000, 6)) + 2 * np.eye(3, 6)[labels]).astype(np.float32))
    Y1 = group_matrix(random_groups(3000, 30, 0))
    Y = sp.csr_matrix((np.ones(3000, np.float32), labels, np.arange(3001)), (3000, 3))
    L = embeddings_of_centred(CentredFeatures.of(X)(X), Y1, merge_labels(Y, Y1), iterations=0)
    cosines = (L @ L.T)[~np.eye(3, dtype=bool)]
    assert cosines.max() < 0.1
    assert (L[:, :3].argmax(axis=1) == np.arange(3)).all()
