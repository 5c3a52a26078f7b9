import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from orchard.trees import _kernels, _step_kernels, bisection
from orchard.trees.balanced import balanced_kmeans, balanced_tree
from orchard.trees.bisection import _two_distinct
from orchard.trees.embeddings import unit_rows

# The first call of a kernel may compile it, so hypothesis must not watch the clock.
untimed = settings(deadline=None)


def random_unit_rows(seed, n, n_features=30, density=0.3):
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal((n, n_features)) * (rng.random((n, n_features)) < density)
    return unit_rows(sp.csr_matrix(dense))


def unweighted(fewest_plus, most_plus):
    """How a node is split whose rows all weigh the same, see `_step_kernels`."""
    return fewest_plus, most_plus, np.empty(0, np.float32), np.float32(1), np.float32(0)


def bisect(V, seeds, fewest_plus, most_plus, tolerance=1e-4, max_iterations=100, rows=None):
    sums = np.zeros((V.shape[1], 2), np.float32)
    side, objective = _kernels.bisect(
        *(V.indptr.astype(np.int64), V.indices, V.data, np.arange(V.shape[0]) if rows is None else rows),
        *(np.array(seeds), unweighted(fewest_plus, most_plus), tolerance, max_iterations, sums),
    )
    assert not sums.any(), "the scratch space must be returned clean"
    return side == _kernels.PLUS, objective


def bisect_in_numpy(V, seeds, fewest_plus, most_plus, tolerance):
    """labeltrees §3.1, steps 1 to 3, alternated with the update of the centres."""
    centres, objective = V[list(seeds)], -np.inf
    while True:
        cosines = V @ (centres / np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-300)).T
        scores = cosines[:, 0] - cosines[:, 1]
        descending = np.argsort(-scores, kind="stable")
        n_plus = most_plus if scores[descending[most_plus - 1]] > 0 else fewest_plus
        plus = np.isin(np.arange(len(V)), descending[:n_plus])
        previous, objective = objective, np.where(plus, cosines[:, 0], cosines[:, 1]).mean()
        if objective - previous <= tolerance:
            return plus, objective
        centres = np.array([V[plus].sum(axis=0), V[~plus].sum(axis=0)])


@untimed
@given(st.integers(0, 100_000), st.integers(2, 60), st.sampled_from([0.0, 1e-4, 0.03]))
def test_a_bisection_agrees_with_numpy(seed, n, tolerance):
    """The kernel's shortcuts (norms from dots, moved rows only, selection for sorting) change nothing."""
    V = random_unit_rows(seed, n)
    seeds = np.random.default_rng(seed).choice(n, 2, replace=False)
    plus, objective = bisect(V, seeds, n // 2, (n + 1) // 2, tolerance)
    expected, expected_objective = bisect_in_numpy(V.toarray().astype(float), seeds, n // 2, (n + 1) // 2, tolerance)
    np.testing.assert_array_equal(plus, expected)
    assert objective == pytest.approx(expected_objective, abs=1e-6)


def rows_with_twins_and_empty_rows(seed, n):
    rng = np.random.default_rng(seed)
    rows = np.where(rng.random(n) < 0.7, np.arange(n), rng.integers(n, size=n))
    keep = sp.diags((rng.random(n) < rng.uniform(0.3, 1)).astype(np.float32))
    V = sp.csr_matrix(keep @ random_unit_rows(seed, n)[rows])
    V.eliminate_zeros()
    return V


@untimed
@given(st.integers(0, 100_000), st.integers(8, 90), st.sampled_from([0.0, 1e-4]), st.booleans())
def test_one_difference_of_centres_scores_as_two_centres_do(seed, n, tolerance, odd):
    """Ties, empty rows and sides without a centre included: the same sides and the same objective."""
    V = rows_with_twins_and_empty_rows(seed, n)
    matrix = V.indptr.astype(np.int64), V.indices, V.data, np.arange(n)
    seeds = np.random.default_rng(seed).choice(n, 2, replace=False)
    results = []
    for alternate in (_kernels.alternate_by_pairs, _kernels.alternate_by_difference):
        side, new_side = np.full((2, n), _kernels.NOWHERE, np.int8)
        new_side[seeds] = _kernels.PLUS, _kernels.MINUS
        sums = np.zeros((V.shape[1], 2), np.float32)
        objective, iterations = alternate(
            *matrix, side, new_side, unweighted(n // 2, n // 2 + odd), tolerance, 20, sums
        )
        results.append((new_side, objective, iterations))
    (by_pairs, *expected), (by_difference, *found) = results
    np.testing.assert_array_equal(by_difference, by_pairs)
    assert found[0] == pytest.approx(expected[0], abs=1e-6)


def test_what_rounding_leaves_of_a_sum_is_no_centre():
    """All rows with entries leave the minus side: its sum is not zero, but it has no direction either."""
    V = sp.csr_matrix(np.vstack([random_unit_rows(0, 3).toarray(), np.zeros((3, 30), np.float32)]))
    sums = np.zeros((30, 2), np.float32)
    sums[:, _kernels.MINUS] = 1e-9
    squares = np.array([3.0, 3e-17])
    side = np.repeat(np.array([_kernels.PLUS, _kernels.MINUS], np.int8), 3)
    _step_kernels.clear_empty_sides(V.indptr.astype(np.int64), np.arange(6), side, sums, squares)
    assert squares.tolist() == [3.0, 0.0] and not sums.any()


@untimed
@given(st.integers(0, 100_000), st.integers(2, 60))
def test_the_objective_never_falls(seed, n):
    """Both steps maximise Eq. 1, so each iteration must be at least as good as the one before."""
    V = random_unit_rows(seed, n)
    objectives = [bisect(V, (0, n - 1), n // 2, (n + 1) // 2, -np.inf, limit)[1] for limit in range(1, 12)]
    assert np.all(np.diff(objectives) >= -1e-6)


def test_two_topics_are_told_apart():
    """Rows near e₁ and near e₂, shuffled: one centre in each finds them, whatever the order."""
    V = unit_rows(sp.csr_matrix([[9.0, 1], [1, 9], [8, 1], [1, 8], [7, 1], [2, 9]]))
    plus, _ = bisect(V, (1, 0), 3, 3)
    np.testing.assert_array_equal(plus, [False, True, False, True, False, True])


def test_ties_go_to_the_lower_row():
    """Six equal rows cannot be told apart: the first three are plus, for any seeds."""
    V = sp.csr_matrix(np.ones((6, 1), np.float32))
    for seeds in [(0, 1), (5, 2)]:
        np.testing.assert_array_equal(bisect(V, seeds, 3, 3)[0], [True] * 3 + [False] * 3)


def test_every_pair_of_first_centres_is_as_likely():
    """The two rows that start a split are distinct and uniform: six ordered pairs of three rows, 10,000 draws each."""
    pairs = _two_distinct(np.random.default_rng(0), np.full(60_000, 3))
    assert (pairs[:, 0] != pairs[:, 1]).all()
    counts = np.bincount(pairs @ [3, 1], minlength=9)
    assert counts[[1, 2, 3, 5, 6, 7]] == pytest.approx(np.full(6, 10_000), rel=0.05)


@pytest.mark.parametrize(("middle", "side"), [([2.0, 1.0], True), ([1.0, 2.0], False)])
def test_the_middle_row_of_an_odd_node_goes_by_the_sign_of_its_score(middle, side):
    """Step 3 of §3.1: the middle row joins the centre it is nearer to, not always the same side."""
    V = unit_rows(sp.csr_matrix([[1.0, 0.0], middle, [0.0, 1.0]]))
    np.testing.assert_array_equal(bisect(V, (0, 2), 1, 2)[0], [True, side, False])


def test_a_node_sees_only_its_own_rows():
    """Rows outside the node must not pull its centres."""
    V = random_unit_rows(3, 40)
    rows = np.arange(5, 35, 2)
    inside, _ = bisect(V, (0, 7), 7, 8, rows=rows)
    alone, _ = bisect(V[rows], (0, 7), 7, 8)
    np.testing.assert_array_equal(inside, alone)


@untimed
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=40), st.data())
def test_selection_agrees_with_sorting(values, data):
    """Also with many ties."""
    k = data.draw(st.integers(0, len(values) - 1))
    selected = np.array(values, dtype=float)
    assert _step_kernels.kth_smallest(selected, k) == sorted(values)[k]
    assert (selected[:k] <= selected[k]).all() and (selected[k + 1 :] >= selected[k]).all()


@untimed
@given(st.integers(0, 1000), st.integers(1, 70), st.data())
def test_clusters_are_a_balanced_partition(seed, n, data):
    """Any number of clusters: each has ⌊n/K⌋ or ⌈n/K⌉ rows, and none is empty."""
    n_clusters = data.draw(st.integers(1, n))
    clusters = balanced_kmeans(random_unit_rows(seed, n), n_clusters, seed, n_jobs=1)
    sizes = np.bincount(clusters, minlength=n_clusters)
    assert clusters.dtype == np.int32 and sizes.size == n_clusters
    assert set(sizes) <= {n // n_clusters, -(-n // n_clusters)}


def test_the_levels_of_a_tree_are_nested_and_halve():
    """Depth 3 over 41 rows: 1, 2, 4, 8 nodes, each boundary kept below, all nodes of a level alike in size."""
    tree = balanced_tree(random_unit_rows(0, 41), 8, seed=0)
    np.testing.assert_array_equal(np.sort(tree.leaf_order), np.arange(41))
    assert [level.size - 1 for level in tree.boundaries] == [1, 2, 4, 8]
    for depth, level in enumerate(tree.boundaries):
        assert set(np.diff(level)) <= {41 // 2**depth, 41 // 2**depth + 1}
        np.testing.assert_array_equal(level, tree.boundaries[-1][:: 2 ** (3 - depth)])


def test_a_tree_of_five_clusters_splits_three_to_two():
    """K = 5 over ten rows: 6 + 4, then (4 + 2) + (2 + 2), then (2 + 2) + 2 beside two finished clusters."""
    tree = balanced_tree(random_unit_rows(1, 10), 5, seed=1)
    assert [level.tolist() for level in tree.boundaries] == [[0, 10], [0, 6, 10], [0, 4, 6, 8, 10], [0, 2, 4, 6, 8, 10]]


def test_the_result_depends_on_the_seed_and_not_on_the_threads():
    """Same seed, same clusters with one thread or many; another seed, other clusters."""
    V = random_unit_rows(7, 500)
    one = balanced_kmeans(V, 37, seed=5, n_jobs=1)
    for n_jobs in (2, 3, 8):
        np.testing.assert_array_equal(balanced_kmeans(V, 37, seed=5, n_jobs=n_jobs), one)
    assert (balanced_kmeans(V, 37, seed=6, n_jobs=1) != one).any()


def two_topics(n, seed=0):
    """Rows of two topics in random order, and which topic each is about."""
    rng = np.random.default_rng(seed)
    topic = rng.permutation(n) % 2
    dense = rng.random((n, 40)) * (rng.random((n, 40)) < 0.3)
    dense[np.arange(n), topic * 20 + rng.integers(20, size=n)] += 2
    dense[:, :20] *= np.where(topic == 0, 1, 0.2)[:, None]
    dense[:, 20:] *= np.where(topic == 1, 1, 0.2)[:, None]
    return unit_rows(sp.csr_matrix(dense)), topic


@pytest.mark.parametrize("n", [600, 3000])
def test_a_start_from_samples_finds_the_topics(n):
    """A node that is large enough for samples (a quarter of 600 rows, a 16th of 3,000) is still split as it should."""
    V, topic = two_topics(n)
    plus, _ = bisect(V, (0, 1), n // 2, n // 2)
    assert (plus == (topic == topic[plus][0])).all()


@pytest.mark.parametrize("max_iterations", [1, 2, 3])
def test_iterations_over_samples_count(max_iterations):
    """However few iterations are allowed, every row gets a side and the sides are balanced."""
    V, _ = two_topics(3000)
    plus, objective = bisect(V, (0, 1), 1500, 1500, max_iterations=max_iterations)
    assert plus.sum() == 1500 and np.isfinite(objective)


def test_all_threads_together_split_a_large_node_as_one_thread_does(monkeypatch):
    """Sums in pieces are rounded otherwise, no more: the tree is the same, and any number of threads gives it."""
    V = random_unit_rows(11, 2500, n_features=200, density=0.1)
    alone = balanced_tree(V, 19, seed=3, n_jobs=1)
    monkeypatch.setattr(bisection, "MANY_ENTRIES", 0)
    for n_jobs in (1, 2, 5):
        together = balanced_tree(V, 19, seed=3, n_jobs=n_jobs)
        np.testing.assert_array_equal(together.leaf_order, alone.leaf_order)
        np.testing.assert_array_equal(together.boundaries[-1], alone.boundaries[-1])


def test_a_copy_in_node_order_changes_no_split(monkeypatch):
    """New places for the rows and new feature ids for each node: the tree stays the same, to the last row."""
    V = random_unit_rows(12, 700, n_features=300, density=0.1)
    expected = balanced_tree(V, 45, seed=3, n_jobs=2)
    monkeypatch.setattr(bisection, "FEW_FEATURES", 0)
    monkeypatch.setattr(bisection, "SMALL_NODE", 1000)
    for levels in (1, 2):
        monkeypatch.setattr(bisection, "LEVELS_PER_COPY", levels)
        np.testing.assert_array_equal(balanced_tree(V, 45, seed=3, n_jobs=2).leaf_order, expected.leaf_order)


def test_the_order_of_a_rows_entries_does_not_matter():
    """Rounding follows the order of the sum, so unsorted rows are sorted first; the argument is left alone."""
    V = random_unit_rows(13, 300)
    backwards = sp.csr_matrix((V.data, V.indices, V.indptr), shape=V.shape, copy=True)
    for begin, end in zip(V.indptr, V.indptr[1:], strict=False):
        backwards.indices[begin:end] = V.indices[begin:end][::-1]
        backwards.data[begin:end] = V.data[begin:end][::-1]
    before = backwards.indices.copy()
    np.testing.assert_array_equal(balanced_kmeans(backwards, 16, seed=0), balanced_kmeans(V, 16, seed=0))
    np.testing.assert_array_equal(backwards.indices, before)


def test_empty_rows_find_a_place():
    """Labels without positives are clustered like all others; an all-empty matrix still splits evenly."""
    clusters = balanced_kmeans(sp.csr_matrix((9, 4), dtype=np.float32), 4, seed=0)
    np.testing.assert_array_equal(np.sort(np.bincount(clusters)), [2, 2, 2, 3])


@pytest.mark.parametrize("n_clusters", [0, 5])
def test_more_clusters_than_rows_are_refused(n_clusters):
    """A cluster cannot be empty."""
    with pytest.raises(ValueError, match=f"between 1 and the number of rows \\(4\\), not {n_clusters}"):
        balanced_kmeans(random_unit_rows(0, 4), n_clusters, seed=0)
