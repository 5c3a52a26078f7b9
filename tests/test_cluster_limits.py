"""Cluster-size limits (A.4): exactly against a linear program of our own, greedily never above it, never exceeded."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_clusters import all_clusterings, dense, random_problem
from scipy.optimize import linprog

from orchard import cluster_limits
from orchard.cluster_limits import limited_projection
from orchard.disentanglement import project_top_lambda
from orchard.label_clusters import label_counts


def optimum(counts, C, copies, limit, total):
    """The value of the linear relaxation with a variable for every label and cluster."""
    n_labels, n_clusters = counts.shape
    limit = max(limit, dense(C).sum(axis=0).max())
    of_label = np.kron(np.eye(n_labels), np.ones(n_clusters))
    of_cluster = np.kron(np.ones(n_labels), np.eye(n_clusters))
    upper = np.vstack([of_label, -of_label, of_cluster, np.ones(counts.size)])
    bounds = [*[copies] * n_labels, *[-1] * n_labels, *[limit] * n_clusters, total]
    # A label without a count in a cluster may stand there only if it does now.
    allowed = (counts > 0) | (dense(C) > 0)
    found = linprog(-counts.ravel(), upper, bounds, bounds=[(0, int(one)) for one in allowed.ravel()])
    assert found.success
    return -found.fun


def value_of(counts, C):
    return int((counts * dense(C)).sum())


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 5), st.integers(8, 20))
@settings(max_examples=40)
def test_exact_is_the_optimum(seed, copies, limit, total):
    """Greedy has no guarantee; on problems of this kind it has come within a fifth of the optimum."""
    Y, M, C = random_problem(seed, n=30, n_labels=8, n_clusters=6, beam=3)
    counts = label_counts(Y, M)
    best = optimum(counts.toarray(), C, copies, limit, total)
    exact = limited_projection(counts, C, copies, limit, total, exact=True)
    filled = limited_projection(counts, C, copies, limit, total, exact=False)
    assert value_of(counts.toarray(), exact) == pytest.approx(best)
    assert 0.7 * best <= value_of(counts.toarray(), filled) <= best + 1e-9
    for chosen in (dense(exact), dense(filled)):
        assert chosen.sum(axis=0).max() <= max(limit, dense(C).sum(axis=0).max())
        assert chosen.sum() <= max(total, 8)
        assert 1 <= chosen.sum(axis=1).min() <= chosen.sum(axis=1).max() <= copies


@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_exact_against_exhaustive_search(seed):
    """No clustering at all is better: three labels, three clusters, two copies."""
    Y, M, C = random_problem(seed, n=8, n_labels=3, n_clusters=3, beam=2)
    counts, limit = label_counts(Y, M), max(2, dense(C).sum(axis=0).max())
    best = max(
        value_of(counts.toarray(), one) for one in all_clusterings(3, 3, 2) if dense(one).sum(axis=0).max() <= limit
    )
    assert value_of(counts.toarray(), limited_projection(counts, C, 2, limit, exact=True)) == best


@given(st.integers(0, 10_000), st.integers(1, 3))
@settings(max_examples=30)
def test_without_limits_it_is_the_closed_form(seed, copies):
    Y, M, C = random_problem(seed, n=30, n_labels=8)
    counts = label_counts(Y, M)
    filled = limited_projection(counts, C, copies, exact=False)
    np.testing.assert_array_equal(filled.toarray(), project_top_lambda(counts, copies, C).toarray())


def test_large_problems_are_filled_in_descending_count(monkeypatch):
    """Labels 0, 1 and 2 want cluster 0, which has room for two: the one with the smallest count stays at home.

    Exactly it would be the same, but for the choice between equals.
    """
    counts = sp.csr_matrix(np.array([[3, 0], [9, 1], [5, 0]], np.int32))
    C = sp.csr_matrix(np.array([[0, 1], [0, 1], [1, 0]], np.float32))
    expected = [[0, 1], [1, 0], [1, 0]]
    np.testing.assert_array_equal(limited_projection(counts, C, 1, limit=2).toarray(), expected)
    monkeypatch.setattr(cluster_limits, "EXACT_PAIRS", 0)
    monkeypatch.setattr("scipy.optimize.milp", None)
    np.testing.assert_array_equal(limited_projection(counts, C, 1, limit=2).toarray(), expected)


def test_a_limit_below_what_is_there_lets_everybody_stay():
    """Three labels share a cluster and have nowhere to go: a limit of one cannot move them."""
    counts = sp.csr_matrix((3, 2), dtype=np.int32)
    C = sp.csr_matrix(np.array([[1, 0]] * 3, np.float32))
    for exact in (True, False):
        np.testing.assert_array_equal(limited_projection(counts, C, 2, limit=1, exact=exact).toarray(), C.toarray())
    with pytest.raises(ValueError, match="total must be at least the number of labels, 3, not 2"):
        limited_projection(counts, C, 2, total=2)


def test_greedy_does_not_swap_labels():
    """Both would gain by changing places, and neither can go first: the exact solution is a hundred times better."""
    counts = sp.csr_matrix(np.array([[1, 100], [99, 1]], np.int32))
    C = sp.csr_matrix(np.eye(2, dtype=np.float32))
    exact, filled = (limited_projection(counts, C, 1, limit=1, exact=exact).toarray() for exact in (True, False))
    np.testing.assert_array_equal(exact, [[0, 1], [1, 0]])
    np.testing.assert_array_equal(filled, [[1, 0], [0, 1]])
