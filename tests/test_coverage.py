"""Maximum coverage per label: exact where it says so, greedy within its guarantee, limits kept."""

import logging

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_clusters import best_coverage, dense, random_problem, worth

from orchard import coverage
from orchard.coverage import exact_coverage, greedy_coverage
from orchard.disentanglement import project_top_lambda
from orchard.label_clusters import label_counts, objective


def value_of(Y, M, C, label, weighted=False):
    """What the clusters of a label in C are worth to it."""
    mine = np.asarray(M.todense())[dense(Y)[:, label] > 0]
    return worth(mine if weighted else (mine != 0).astype(float), dense(C)[label])


@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans())
@settings(max_examples=40)
def test_greedy_keeps_its_guarantee(seed, copies, weighted):
    """Per label at least 1 − 1/e of the optimum by exhaustive search, with ones and with scores for values."""
    Y, M, C = random_problem(seed, n=20, n_labels=4, n_clusters=7, beam=3)
    chosen = greedy_coverage(Y, M, C, copies, weighted)
    for label in range(4):
        best = best_coverage(Y, M, label, copies, weighted)
        found = value_of(Y, M, chosen, label, weighted)
        # Scores are rounded to millionths before they are compared.
        assert (1 - 1 / np.e) * best - 1e-4 <= found <= best + 1e-9


def test_greedy_can_be_beaten_and_exact_is_not():
    """Six samples: the cluster of four is taken first, though two of three cover all."""
    Y = sp.csr_matrix(np.ones((6, 1), np.float32))
    M = sp.csr_matrix(np.array([[1, 1, 0], [1, 1, 0], [0, 1, 0], [1, 0, 1], [1, 0, 1], [0, 0, 1]], np.float32))
    C = sp.csr_matrix(np.array([[1, 0, 0]], np.float32))
    np.testing.assert_array_equal(greedy_coverage(Y, M, C, 2).toarray(), [[1, 1, 0]])
    np.testing.assert_array_equal(exact_coverage(Y, M, C, 2).toarray(), [[0, 1, 1]])
    assert objective(Y, M, greedy_coverage(Y, M, C, 2))[0] == 5
    assert objective(Y, M, exact_coverage(Y, M, C, 2))[0] == 6


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=40)
def test_exact_is_the_optimum(seed, copies, beam):
    """Branch and bound against exhaustive search, label by label."""
    Y, M, C = random_problem(seed, n=20, n_labels=4, n_clusters=8, beam=beam)
    chosen = exact_coverage(Y, M, C, copies)
    for label in range(4):
        assert value_of(Y, M, chosen, label) == best_coverage(Y, M, label, copies)
    assert np.diff(chosen.indptr).max() <= copies


def test_exact_gives_up_where_it_takes_too_long(monkeypatch, caplog):
    """The greedy choice stays, and somebody is told."""
    monkeypatch.setattr(coverage, "MOST_STEPS", 1)
    Y, M, C = random_problem(3, n=40, n_labels=4, n_clusters=12, beam=3, share=0.9)
    with caplog.at_level(logging.WARNING, "orchard"):
        chosen = exact_coverage(Y, M, C, 3)
    np.testing.assert_array_equal(chosen.toarray(), greedy_coverage(Y, M, C, 3).toarray())
    assert "4 labels were given up" in caplog.text


def test_labels_with_many_samples_are_left_to_greedy():
    """More than 64 samples do not fit into a word."""
    Y, M, C = random_problem(4, n=200, n_labels=3, n_clusters=8, beam=2, share=0.6)
    np.testing.assert_array_equal(exact_coverage(Y, M, C, 2).toarray(), greedy_coverage(Y, M, C, 2).toarray())


@given(st.integers(0, 10_000), st.integers(1, 4))
@settings(max_examples=40)
def test_coverage_against_projection(seed, copies):
    """With one copy they agree; exact coverage never covers less than projection, label by label."""
    Y, M, C = random_problem(seed, n=30, n_clusters=8, beam=3)
    projected = project_top_lambda(label_counts(Y, M), copies, C)
    exact = exact_coverage(Y, M, C, copies)
    for label in range(C.shape[0]):
        assert value_of(Y, M, exact, label) >= value_of(Y, M, projected, label)
    if copies == 1:
        np.testing.assert_array_equal(greedy_coverage(Y, M, C, 1).toarray(), projected.toarray())


@given(st.integers(0, 10_000), st.integers(1, 3), st.booleans())
@settings(max_examples=40)
def test_limits_that_do_not_bind_change_nothing(seed, copies, weighted):
    """The lazy greedy over all labels at once makes the choices of every label alone; so do threads."""
    Y, M, C = random_problem(seed, n=30, n_labels=9, n_clusters=8, beam=3)
    alone = greedy_coverage(Y, M, C, copies, weighted, n_jobs=1).toarray()
    np.testing.assert_array_equal(greedy_coverage(Y, M, C, copies, weighted, n_jobs=3).toarray(), alone)
    together = greedy_coverage(Y, M, C, copies, weighted, limit=9, total=9 * copies)
    np.testing.assert_array_equal(together.toarray(), alone)


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 5), st.floats(1, 3))
@settings(max_examples=60)
def test_limits_are_kept(seed, copies, limit, budget):
    """No cluster has more labels than it may, nor all together, and every label stands somewhere."""
    Y, M, C = random_problem(seed, n=40, n_labels=10, n_clusters=6, beam=3)
    total = int(10 * budget)
    chosen = dense(greedy_coverage(Y, M, C, copies, limit=limit, total=total))
    needed = max(limit, dense(C).sum(axis=0).max())
    assert chosen.sum(axis=0).max() <= needed
    assert chosen.sum() <= max(total, 10)
    assert 1 <= chosen.sum(axis=1).min() <= chosen.sum(axis=1).max() <= copies


def test_a_budget_goes_to_those_who_gain_most():
    """Label 1 has three samples in each of two clusters, label 0 one: one copy to spare goes to label 1."""
    Y = sp.csr_matrix(np.array([[0, 1]] * 6 + [[1, 0]] * 2, np.float32))
    M = sp.csr_matrix(np.array([[1, 0]] * 3 + [[0, 1]] * 3 + [[1, 0], [0, 1]], np.float32))
    C = sp.csr_matrix(np.array([[0, 1], [1, 0]], np.float32))
    np.testing.assert_array_equal(greedy_coverage(Y, M, C, 2, total=3).toarray(), [[0, 1], [1, 1]])
    with pytest.raises(ValueError, match="total must be at least the number of labels, 2"):
        greedy_coverage(Y, M, C, 2, total=1)


def test_labels_without_gain_keep_no_more_than_they_may():
    """Label 1 has two clusters and no sample: it keeps λ of them, or with limits the one that it was promised."""
    Y, M = sp.csr_matrix(np.array([[1, 0]] * 3, np.float32)), sp.csr_matrix(np.array([[1, 1, 0]] * 3, np.float32))
    C = sp.csr_matrix(np.array([[0, 0, 1], [0, 1, 1]], np.float32))
    assert greedy_coverage(Y, M, C, 2).toarray()[1].tolist() == [0, 1, 1]
    assert greedy_coverage(Y, M, C, 1).toarray()[1].tolist() == [0, 1, 0]
    assert greedy_coverage(Y, M, C, 2, limit=2).toarray()[1].tolist() == [0, 1, 0]


def test_a_full_cluster_passes_the_label_on():
    """Cluster 0 has room for two labels; label 0, whose count there is the smallest, takes its next best."""
    counts = [[2, 0, 1], [4, 0, 0], [5, 0, 0]]
    Y = sp.csr_matrix(np.repeat(np.eye(3), [2, 4, 5], axis=0), dtype=np.float32)
    M = sp.csr_matrix(np.array([[1, 0, 1], [1, 0, 0]] + [[1, 0, 0]] * 9, np.float32))
    assert label_counts(Y, M).toarray().tolist() == counts
    C = sp.csr_matrix(np.eye(3, dtype=np.float32)[[1, 1, 0]])
    np.testing.assert_array_equal(greedy_coverage(Y, M, C, 1, limit=2).toarray(), [[0, 0, 1], [1, 0, 0], [1, 0, 0]])


def served_one_by_one(Y, M, own, copies, limit, total):
    """Of all labels and clusters the pair that adds most, again and again; of equal ones the lower label and cluster.

    own : nobody but its label is interested in the cluster that a label stands in, so no place ever becomes free.
    """
    Y, M = dense(Y) > 0, dense(M) > 0
    chosen = np.zeros((Y.shape[1], M.shape[1]), bool)
    while True:
        covered = (M @ chosen.T) > 0
        gains = (Y & ~covered).T.astype(int) @ M.astype(int)
        n_copies = chosen.sum(axis=1)
        places = np.maximum(n_copies, 1).sum()
        gains[n_copies == copies] = 0
        gains[(n_copies > 0) & (places >= total)] = 0
        gains[:, chosen.sum(axis=0) >= limit] = 0
        label, cluster = np.unravel_index(np.argmax(gains), gains.shape)
        if gains[label, cluster] == 0:
            stays = chosen.sum(axis=1) == 0
            chosen[stays, own[stays]] = True
            return chosen
        chosen[label, cluster] = True


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 5), st.floats(1, 3))
@settings(max_examples=60)
def test_the_largest_gain_of_all_is_served_first(seed, copies, limit, budget):
    """Lazy greedy against a loop that looks at every label and cluster each time, with limits that bind."""
    Y, M, _ = random_problem(seed, n=40, n_labels=8, n_clusters=5, beam=2)
    M = sp.hstack([M, sp.csr_matrix((40, 8), dtype=np.float32)], format="csr")  # clusters that nobody is matched to
    own, total = 5 + np.arange(8), int(8 * budget)
    C = sp.csr_matrix(np.eye(13, dtype=np.float32)[own])
    found = greedy_coverage(Y, M, C, copies, limit=limit, total=total, n_jobs=1 + seed % 3)
    np.testing.assert_array_equal(dense(found) > 0, served_one_by_one(Y, M, own, copies, limit, total))


def test_scores_that_are_none_are_refused():
    Y, M, C = random_problem(0)
    M.data[0] = 1.5
    with pytest.raises(ValueError, match="scores between 0 and 1"):
        greedy_coverage(Y, M, C, 2, weighted=True)
    with pytest.raises(ValueError, match="do not fit"):
        greedy_coverage(Y, M[:5], C, 2)
