"""Counts and objective of label clusters agree with their definitions, and with ten lines of scipy."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from plain_clusters import dense, plain_objective, random_problem

from orchard.disentanglement import project_top_lambda, random_clusters
from orchard.label_clusters import clusters_of, label_counts, objective
from orchard.trees.label_tree import LabelTree


def overlapping(seed, Y, M, C):
    """Some clustering in which labels have one to three clusters."""
    rng = np.random.default_rng(seed)
    return sp.csr_matrix((dense(C) + (rng.random(C.shape) < 0.3)) > 0, dtype=np.float32)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_counts_are_the_product(seed, n_jobs):
    """YᵀM with ones for entries, whatever the scores and the threads."""
    Y, M, _ = random_problem(seed, n=30, n_labels=11, n_clusters=9, beam=3)
    counts = label_counts(Y, M, n_jobs)
    np.testing.assert_array_equal(counts.toarray(), dense(Y).T @ dense(M))
    assert counts.has_sorted_indices
    assert (counts.data > 0).all()


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_the_objective_is_the_trace(seed, n_jobs):
    """Both traces are computed without the n × L matrix that their definitions have."""
    Y, M, C = random_problem(seed, n=20)
    C = overlapping(seed, Y, M, C)
    assert objective(Y, M, C, n_jobs) == plain_objective(Y, M, C)


def test_the_objective_by_hand():
    """Two samples, labels 0 and 1; sample 0 is matched to clusters 0 and 1, sample 1 to cluster 2.

    Label 0 stands in 0 and 1, so sample 0 finds it twice; label 1 stands in 0 only, where sample 1 does not look.
    """
    Y = sp.csr_matrix([[1.0, 0], [0, 1]])
    M = sp.csr_matrix([[0.5, 0.2, 0], [0, 0, 0.9]])
    C = sp.csr_matrix([[1.0, 1, 0], [1, 0, 0]])
    assert objective(Y, M, C) == (1, 2)
    with pytest.raises(ValueError, match="do not fit"):
        objective(Y, M, C.T.tocsr())


def ten_lines_of_scipy(Y, M, copies, C):
    """Eq. 10 by somebody who has not seen our kernels: the largest counts, then old clusters, then lower ones."""
    Y, M = (Y > 0).astype(int), (M > 0).astype(int)
    counts = (Y.T @ M).toarray() * 2.0 + (C.toarray() > 0)
    counts[(Y.T @ M).toarray() == 0] = 0
    new = np.zeros(C.shape)
    for label, row in enumerate(counts):
        best = np.argsort(-row, kind="stable")[:copies]
        new[label, best[row[best] > 0]] = 1
        if not new[label].any():
            new[label, C[label].indices[:copies]] = 1
    return new


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_the_closed_form_agrees_with_scipy(seed, copies):
    Y, M, C = random_problem(seed, n=25, n_labels=10, share=0.2)
    C = overlapping(seed, Y, M, C)
    new = project_top_lambda(label_counts(Y, M), copies, C)
    np.testing.assert_array_equal(new.toarray(), ten_lines_of_scipy(Y, M, copies, C))
    assert new.dtype == np.float32


def test_labels_without_counts_keep_their_clusters():
    """Label 1 has no sample, label 2 one that was matched to nothing: the union must cover every label."""
    Y = sp.csr_matrix([[1.0, 0, 0], [0, 0, 1]])
    M = sp.csr_matrix([[0.5, 0.5, 0], [0, 0, 0]])
    C = sp.csr_matrix([[0, 0, 1.0], [0, 1, 1], [1, 0, 0]])
    new = project_top_lambda(label_counts(Y, M), 2, C)
    np.testing.assert_array_equal(new.toarray(), [[1, 1, 0], [0, 1, 1], [1, 0, 0]])


def test_equal_counts_stay_where_they_are():
    """A beam over all clusters says nothing about them: labels stay put instead of crowding into cluster 0."""
    Y, M = sp.csr_matrix(np.ones((2, 3), np.float32)), sp.csr_matrix(np.full((2, 3), 0.5, np.float32))
    C = sp.csr_matrix(np.eye(3, dtype=np.float32)[[2, 1, 0]])
    np.testing.assert_array_equal(project_top_lambda(label_counts(Y, M), 1, C).toarray(), C.toarray())
    two = project_top_lambda(label_counts(Y, M), 2, C).toarray()
    np.testing.assert_array_equal(two, [[1, 0, 1], [1, 1, 0], [1, 1, 0]])


@given(st.integers(0, 10_000))
def test_random_copies_are_as_many_and_begin_at_home(seed):
    """A.8: every label keeps its own cluster, and has as many others as projection gave it, each once."""
    Y, M, C = random_problem(seed, n=30, n_clusters=7)
    projected = project_top_lambda(label_counts(Y, M), 3, C)
    drawn = random_clusters(projected, C, random_state=seed)
    np.testing.assert_array_equal(np.diff(drawn.indptr), np.diff(projected.indptr))
    assert (drawn.data == 1).all()
    assert drawn.multiply(C).nnz == C.shape[0]
    again = random_clusters(projected, C, random_state=seed)
    np.testing.assert_array_equal(drawn.toarray(), again.toarray())


def test_random_clusters_are_spread_evenly():
    """Each of the other clusters is as likely as any: 3,000 draws of one among three."""
    C = sp.csr_matrix((np.ones(3000, np.float32), np.full(3000, 1), np.arange(3001)), shape=(3000, 4))
    like = sp.csr_matrix((np.ones(6000, np.float32), np.tile([0, 1], 3000), np.arange(0, 6001, 2)), shape=(3000, 4))
    drawn = np.asarray(random_clusters(like, C).sum(axis=0)).ravel()
    assert drawn[1] == 3000
    assert abs(drawn[[0, 2, 3]] - 1000).max() < 100


def test_the_clusters_of_a_tree_are_its_leaves():
    tree = LabelTree.from_groups([[0, 3], [[1], [2, 4, 0]]])
    expected = [[1, 0, 1], [0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1]]
    np.testing.assert_array_equal(clusters_of(tree).toarray(), expected)
