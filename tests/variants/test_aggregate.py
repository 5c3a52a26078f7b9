import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from orchard.errors import ConfigError
from orchard.trees.embeddings import pifa, unit_rows
from orchard.variants.aggregate import aggregate, group_matrix, hierarchical_groups, merge_labels, random_groups


def topic_samples(n_topics=16, per_topic=32, n_features=400, words=20, seed=0):
    """Sparse samples, each about one topic: a topic has its own favourite features, all share the rest."""
    rng = np.random.default_rng(seed)
    favourites = [rng.choice(n_features, 40, replace=False) for _ in range(n_topics)]
    X = np.zeros((n_topics * per_topic, n_features))
    for i in range(len(X)):
        X[i, rng.choice(favourites[i % n_topics], words)] = 1
        X[i, rng.choice(n_features, words // 2)] = 1
    return sp.csr_matrix(X)


def mean_cosine_within(groups, X):
    """The mean cosine of two different samples of the same group."""
    V = unit_rows(X).toarray()
    same = (groups[:, None] == groups) & ~np.eye(groups.size, dtype=bool)
    return (V @ V.T)[same].mean()


@settings(deadline=None)
@given(st.integers(0, 200), st.integers(1, 30), st.integers(0, 100))
def test_random_groups_are_a_partition_with_one_smaller_group_at_most(n, group_size, seed):
    """All groups are full but the last."""
    sizes = np.bincount(random_groups(n, group_size, seed))
    assert sizes.sum() == n and sizes.size == -(-n // group_size)
    assert (sizes[:-1] == group_size).all()


def test_random_groups_follow_the_seed():
    """Reproducible, and not the order of the samples."""
    np.testing.assert_array_equal(random_groups(50, 4, seed=1), random_groups(50, 4, seed=1))
    assert (random_groups(50, 4, seed=1) != random_groups(50, 4, seed=2)).any()
    assert (random_groups(50, 4, seed=1) != np.arange(50) // 4).any()


@pytest.mark.parametrize("noise", [0.0, 0.5, 1.0])
def test_hierarchical_groups_are_equal_in_size_at_any_noise(noise):
    """2^depth groups whose sizes differ by one at most, from the seed alone."""
    X = topic_samples()[:501]
    groups = hierarchical_groups(X, depth=4, seed=3, noise=noise)
    assert set(np.bincount(groups, minlength=16)) == {31, 32}
    np.testing.assert_array_equal(groups, hierarchical_groups(X, depth=4, seed=3, noise=noise, n_jobs=1))


def test_noise_leads_from_clustered_to_random_groups():
    """Figure 4c: heterogeneity grows with noise; at 1 groups are as mixed as the whole data set."""
    X = topic_samples()
    cosines = [mean_cosine_within(hierarchical_groups(X, 4, seed=0, noise=noise), X) for noise in (0, 0.5, 1)]
    everything = mean_cosine_within(np.zeros(X.shape[0]), X)
    assert cosines[0] > 1.2 * cosines[1] > 1.44 * cosines[2]
    assert cosines[2] == pytest.approx(everything, abs=0.01)


def test_the_length_of_a_sample_does_not_matter_to_its_group():
    """Clustering is spherical: powers of two change no direction, not even in the last bit."""
    X = topic_samples(n_topics=4)
    scales = sp.diags(2.0 ** np.random.default_rng(0).integers(-3, 4, X.shape[0]))
    np.testing.assert_array_equal(hierarchical_groups(X, 3, seed=0), hierarchical_groups(scales @ X, 3, seed=0))


def test_the_toy_example_of_eagle():
    """Figure 1: each group {x, −x} has both labels, so Eq. 1 embeds both as 0; the true labels are ±x."""
    x = np.array([0.6, 0.8])
    X = sp.csr_matrix(np.kron(np.ones((3, 1)), [x, -x]))
    Y = sp.csr_matrix(np.kron(np.ones((3, 1)), np.eye(2)))
    Y1 = group_matrix(np.array([0, 0, 1, 1, 2, 2]))
    Y2 = merge_labels(Y, Y1)
    np.testing.assert_array_equal(Y1.toarray(), np.kron(np.eye(3), np.ones((2, 1))))
    np.testing.assert_array_equal(Y2.toarray(), np.ones((3, 2)))
    np.testing.assert_array_equal(pifa(X, Y1 @ Y2).toarray(), np.zeros((2, 2)))
    np.testing.assert_allclose(pifa(X, Y).toarray(), [x, -x], rtol=1e-6)


def test_list_merge_counts_and_set_merge_does_not():
    """Label 1 occurs twice in the first group."""
    Y = sp.csr_matrix([[1.0, 1, 0], [0, 1, 0], [0, 0, 1]])
    Y1 = group_matrix(np.array([0, 0, 1]))
    np.testing.assert_array_equal(merge_labels(Y, Y1, "list").toarray(), [[1, 2, 0], [0, 0, 1]])
    np.testing.assert_array_equal(merge_labels(Y, Y1, "set").toarray(), [[1, 1, 0], [0, 0, 1]])


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_merging_agrees_with_a_loop_for_samples_in_several_groups(seed):
    """Any Y¹: a sample in no group, one, or many."""
    rng = np.random.default_rng(seed)
    Y, Y1 = rng.random((10, 6)) < 0.3, rng.random((10, 4)) < 0.4
    expected = np.zeros((4, 6))
    for sample, group in zip(*Y1.nonzero(), strict=True):
        expected[group] += Y[sample]
    Y, Y1 = sp.csr_matrix(Y, dtype=np.float32), sp.csr_matrix(Y1, dtype=np.float32)
    Y2 = merge_labels(Y, Y1, "list")
    np.testing.assert_array_equal(Y2.toarray(), expected)
    np.testing.assert_array_equal(merge_labels(Y, Y1, "set").toarray(), expected > 0)
    np.testing.assert_array_equal((Y1 @ Y2).toarray(), Y1.toarray() @ expected)
    assert Y2.dtype == np.float32 and Y2.has_sorted_indices


def test_wrong_arguments_are_named():
    """A value out of range is told in a sentence."""
    X = topic_samples(n_topics=2, per_topic=4)
    with pytest.raises(ValueError, match=r"noise must be between 0 and 1, not 1\.5"):
        hierarchical_groups(X, 1, seed=0, noise=1.5)
    with pytest.raises(ValueError, match="group_size must be at least 1, not 0"):
        random_groups(10, 0, seed=0)
    with pytest.raises(ValueError, match="'bag'"):
        merge_labels(X, group_matrix(np.zeros(8, int)), "bag")


def test_a_grouping_by_its_name():
    """The name holds every parameter, so that a path of the workflow does."""
    X = sp.random(32, 20, 0.3, format="csr", dtype=np.float32, random_state=0)
    Y = sp.csr_matrix((np.random.default_rng(0).random((32, 5)) < 0.6).astype(np.float32))
    Y1, Y2 = aggregate(X, Y, "random-4", seed=3)
    assert (group_matrix(random_groups(32, 4, 3)) != Y1).nnz == 0
    assert (merge_labels(Y, Y1, "list") != Y2).nnz == 0
    Y1, Y2 = aggregate(X, Y, "clustered-2-noise-25-set", seed=3)
    assert (group_matrix(hierarchical_groups(X, 2, 3, noise=0.25)) != Y1).nnz == 0
    assert Y2.max() == 1


def test_groups_that_the_data_brings_along():
    """Their labels are known once: a bag of four sentences does not have a label four times."""
    X, Y = sp.csr_matrix((5, 3), dtype=np.float32), sp.csr_matrix([[1.0, 0], [1, 0], [1, 0], [0, 1], [1, 1]])
    Y1, Y2 = aggregate(X, Y, "given", seed=0, groups=np.array([1, 1, 1, 0, 0], np.int32))
    np.testing.assert_array_equal(Y1.toarray(), [[0, 1]] * 3 + [[1, 0]] * 2)
    np.testing.assert_array_equal(Y2.toarray(), [[1, 1], [1, 0]])
    with pytest.raises(ConfigError, match="given: the data set brings no groups along"):
        aggregate(X, Y, "given", seed=0)


@pytest.mark.parametrize(
    "problem",
    [
        "'random'",
        "random-0: the group size",
        "random-33: the group size",
        "clustered-6: 64 groups are more than the 32 training samples",
        "clustered-2-noise-101: a noise of at most 100",
        "'knn-4'",
        "'given-set'",
    ],
)
def test_an_impossible_grouping_is_named(problem):
    X = sp.random(32, 20, 0.3, format="csr", dtype=np.float32, random_state=0)
    with pytest.raises(ConfigError, match=problem):
        aggregate(X, sp.csr_matrix((32, 5), dtype=np.float32), problem.partition(":")[0].strip("'"), seed=0)
