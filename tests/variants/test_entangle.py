import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from orchard.trees.balanced import balanced_kmeans
from orchard.trees.embeddings import pifa
from orchard.variants.entangle import MODES, entangle, fuse_labels


def topic_labels(n_labels=256, n_topics=32, per_label=6, seed=0):
    """Samples with one label each; the labels of a topic share its features, and samples add noise."""
    rng = np.random.default_rng(seed)
    topics = rng.standard_normal((n_topics, 60))
    labels = topics[np.arange(n_labels) % n_topics] + 0.5 * rng.standard_normal((n_labels, 60))
    label_of_sample = np.repeat(np.arange(n_labels), per_label)
    X = labels[label_of_sample] + 0.5 * rng.standard_normal((label_of_sample.size, 60))
    Y = sp.csr_matrix((np.ones(label_of_sample.size), (np.arange(label_of_sample.size), label_of_sample)))
    return sp.csr_matrix(X), Y


def mean_cosine_of_fused(fused_of_label, X, Y):
    """The mean cosine of two different originals of the same fused label."""
    V = pifa(X, Y).toarray()
    same = (fused_of_label[:, None] == fused_of_label) & ~np.eye(fused_of_label.size, dtype=bool)
    return (V @ V.T)[same].mean()


def test_easy_fuses_more_similar_labels_than_medium_and_medium_than_hard():
    """The order of difficulty that §5.1 is about."""
    X, Y = topic_labels()
    easy, medium, hard = (mean_cosine_of_fused(fuse_labels(X, Y, mode, 2, seed=0), X, Y) for mode in MODES)
    assert easy > 2 * medium > 4 * hard


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 150), st.sampled_from(MODES), st.integers(0, 100), st.data())
def test_fusing_is_without_replacement_into_exactly_the_papers_number(n_labels, mode, seed, data):
    """⌈L/k⌉ fused labels of at most k; medium and hard have exactly k in all but one, easy is even."""
    k = data.draw(st.integers(1, n_labels))
    X, Y = topic_labels(n_labels, n_topics=4, per_label=1, seed=seed)
    fused_of_label = fuse_labels(X, Y, mode, k, seed, n_jobs=1)
    n_fused = -(-n_labels // k)
    sizes = np.bincount(fused_of_label, minlength=n_fused)
    assert fused_of_label.dtype == np.int32 and fused_of_label.shape == (n_labels,)
    assert sizes.size == n_fused and sizes.min() >= 1
    if mode == "easy":
        assert set(sizes) <= {n_labels // n_fused, -(-n_labels // n_fused)}
    else:
        assert (sizes[:-1] == k).all()
    assert sizes.max() <= k


def test_medium_mixes_clusters_at_their_borders_only():
    """A fused label is of one cluster, or of two neighbours at a border, and each border has one at most."""
    X, Y = topic_labels(n_labels=500)
    fused_of_label = fuse_labels(X, Y, "medium", 3, seed=0)
    clusters = balanced_kmeans(pifa(X, Y, "xr-linear"), 6, seed=0)  # ⌈500 / (32 · 3)⌉, of 83 or 84 labels
    spans = [np.unique(clusters[fused_of_label == fused]) for fused in range(167)]
    borders = [tuple(span) for span in spans if span.size > 1]
    assert borders and set(borders) <= {(c, c + 1) for c in range(5)}
    assert len(borders) == len(set(borders))


@pytest.mark.parametrize("mode", MODES)
def test_fusing_follows_the_seed_and_not_the_threads(mode):
    """Reproducible; another seed fuses otherwise."""
    X, Y = topic_labels(n_labels=100, n_topics=10)
    one = fuse_labels(X, Y, mode, 3, seed=4, n_jobs=1)
    np.testing.assert_array_equal(one, fuse_labels(X, Y, mode, 3, seed=4, n_jobs=2))
    assert (one != fuse_labels(X, Y, mode, 3, seed=5)).any()


def test_a_sample_has_a_fused_label_if_it_has_any_original():
    """Two originals of one fused label count once."""
    Y = sp.csr_matrix([[1.0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    fused = entangle(Y, np.array([0, 0, 1, 1], np.int32))
    np.testing.assert_array_equal(fused.toarray(), [[1, 0], [0, 1], [0, 0]])
    assert fused.dtype == np.float32


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_entangling_agrees_with_a_dense_maximum(seed):
    """Brute force: column by column, the maximum over the originals."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((8, 9)) < 0.3).astype(np.float32)
    fused_of_label = rng.permutation(np.arange(9) // 2).astype(np.int32)
    expected = np.stack([Y[:, fused_of_label == fused].max(axis=1) for fused in range(5)], axis=1)
    np.testing.assert_array_equal(entangle(sp.csr_matrix(Y), fused_of_label).toarray(), expected)


def test_wrong_arguments_are_named():
    """A mode, a k or a map that cannot be meant is told."""
    X, Y = topic_labels(n_labels=8, n_topics=2)
    with pytest.raises(ValueError, match="easy, medium, hard, not 'harder'"):
        fuse_labels(X, Y, "harder", 2, seed=0)
    with pytest.raises(ValueError, match=r"between 1 and the number of labels \(8\), not 9"):
        fuse_labels(X, Y, "easy", 9, seed=0)
    with pytest.raises(ValueError, match="Y has 8 labels, fused_of_label has 7"):
        entangle(Y, np.zeros(7, np.int32))
