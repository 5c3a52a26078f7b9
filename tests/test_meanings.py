"""Meanings of fused labels and where the matcher leads them: by hand, and where there is nothing to tell."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from orchard.meanings import NOWHERE, best_of, examples, judge_meanings, meanings_report
from orchard.metrics import variation_of_information


def two_meanings(n=24, apart=True):
    """Labels 0 and 1 are fused to 0, labels 2 and 3 to 1; samples have 0 and 1 in turn, the last one has both.

    Samples of label 0 are matched to cluster 0 and those of label 1 to cluster 1; or everybody to both alike.
    """
    Y = np.zeros((n, 4), np.float32)
    Y[np.arange(n), np.arange(n) % 2] = 1
    Y[-1, :2] = 1
    Y[:3, 2:] = 1
    M = np.full((n, 3), 0.1, np.float32)
    M[:, 2] = 0
    if apart:
        M[np.arange(n), np.arange(n) % 2] = 0.9
    C = sp.csr_matrix(np.array([[1, 1, 0], [0, 0, 1]], np.float32))
    return sp.csr_matrix(Y), np.array([0, 0, 1, 1]), sp.csr_matrix(M), C


def test_meanings_that_go_to_clusters_of_their_own_are_told_apart():
    """VI is 0, random ones are not; the sample with both meanings is left out, labels with few samples too."""
    (one,) = judge_meanings(*two_meanings())
    assert one.fused == 0
    assert one.samples.tolist() == list(range(23))
    np.testing.assert_array_equal(one.meanings, one.clusters)
    assert one.vi == 0
    assert one.random.min() > 0.5
    report = meanings_report([one])
    assert report["fused labels"] == 1
    assert (report["VI"], report["told apart"]) == (0, 100)
    assert report["VI, random"] == pytest.approx(one.random.mean())


def test_clusters_that_do_not_care_tell_nothing():
    """All samples prefer the lower of two equal clusters: VI is the entropy of the meanings, as that of random ones."""
    (one,) = judge_meanings(*two_meanings(apart=False))
    assert set(one.clusters) == {0}
    np.testing.assert_allclose(one.random, one.vi)
    assert one.vi == pytest.approx(variation_of_information(one.meanings, np.zeros(23, int)))
    assert meanings_report([one])["told apart"] == 0


def test_without_large_labels_there_is_nothing_to_judge():
    """Ten samples are not more than ten."""
    assert judge_meanings(*two_meanings(n=20)) == []
    assert meanings_report([]) == {"fused labels": 0}


@given(st.integers(0, 1000))
def test_the_best_cluster_of_a_sample(seed):
    """The highest score among the clusters that hold the label; none if the sample is matched to none of them."""
    rng = np.random.default_rng(seed)
    M = sp.random(15, 8, 0.3, "csr", np.float32, random_state=rng)
    clusters = np.sort(rng.choice(8, 3, replace=False)).astype(np.int32)
    found = best_of(np.arange(15), (M.indptr, M.indices, M.data), clusters)
    for row, cluster in zip(M.toarray(), found, strict=True):
        expected = clusters[np.argmax(row[clusters])] if row[clusters].any() else NOWHERE
        assert cluster == expected


def test_the_same_seed_draws_the_same_random_partitions():
    first, second = (judge_meanings(*two_meanings(), random_state=3)[0].random for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_examples_show_a_document_of_each_meaning():
    """The one with the highest score in the cluster that most of the meaning's samples go to."""
    Y, fused_of_label, M, C = two_meanings()
    M[4, 0], M[7, 1] = 0.95, 0.99
    judged = judge_meanings(Y, fused_of_label, M, C)
    shown = examples(judged, M, ["mice", "keyboards", "x", "y"], [f"document {row}" for row in range(24)])
    assert [one["told apart"] for one in shown] == ["best", "median", "worst"]
    assert shown[0]["vi"] == 0
    assert shown[0]["meanings"] == [
        {"meaning": "mice", "samples": 12, "cluster": 0, "share": 100, "text": "document 4"},
        {"meaning": "keyboards", "samples": 11, "cluster": 1, "share": 100, "text": "document 7"},
    ]
    assert examples([], M, [], []) == []
