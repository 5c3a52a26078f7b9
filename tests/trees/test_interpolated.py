import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from orchard.trees import _kernels, _step_kernels, bisection
from orchard.trees.builders import balanced_label_tree
from orchard.trees.coding import fano_label_tree
from orchard.trees.embeddings import unit_rows
from orchard.trees.interpolated import (
    FASTTEXT_GRID,
    LOGS_GRID,
    PARABEL_GRID,
    Interpolation,
    combined_frequencies,
    interpolated_label_tree,
    lambda_of,
)

# The first call of a kernel may compile it, so hypothesis must not watch the clock.
untimed = settings(deadline=None)


def labels(seed, n, n_features=30):
    """Unit embeddings, frequencies that fall as a power law, and an f̃ in which some labels have none."""
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal((n, n_features)) * (rng.random((n, n_features)) < 0.3)
    f = rng.permutation(np.ceil(100 / np.arange(1, n + 1)))
    return unit_rows(sp.csr_matrix(dense)), f, f * (rng.random(n) < 0.6)


# ---- λ and f(λ)


def test_lambda_of_the_grids():
    """λ = 2λ′/(1 + λ′): 0, weighted 2-means and Fano coding are at 0, 1 and (nearly) ∞."""
    assert [lambda_of(value) for value in (0, 0.5, 1, 3, np.inf)] == pytest.approx([0, 2 / 3, 1, 1.5, 2])
    for grid in (PARABEL_GRID, FASTTEXT_GRID, LOGS_GRID):
        assert grid[0] == 0 and list(grid) == sorted(grid) and lambda_of(grid[-1]) == pytest.approx(2, abs=1e-4)
    with pytest.raises(ValueError, match="at least 0, not -1"):
        lambda_of(-1)


def test_combined_frequencies_worked_by_hand():
    """Eq. 4 for two labels, f = (3/4, 1/4), f̃ = (1, 0), γ = 0.1."""
    f, f_tilde = np.array([3.0, 1.0]), np.array([5.0, 0.0])
    np.testing.assert_allclose(combined_frequencies(f, f_tilde, 0.0), [0.5, 0.5])
    roots = np.sqrt([0.75, 0.25])
    np.testing.assert_allclose(combined_frequencies(f, f_tilde, 0.5), (1.5 * roots + 0.05) / (1.5 * roots.sum() + 0.1))
    np.testing.assert_allclose(combined_frequencies(f, f_tilde, 1.0), [0.8 / 1.1, 0.3 / 1.1])
    np.testing.assert_allclose(combined_frequencies(f, f_tilde, 1.5), [(0.375 + 0.5 + 0.05) / 1.1, 0.175 / 1.1])
    np.testing.assert_allclose(combined_frequencies(f, f_tilde, 2.0), [1.05 / 1.1, 0.05 / 1.1])
    np.testing.assert_allclose(combined_frequencies(f, f_tilde, 1.0, route="direct"), [0.8 / 1.1, 0.3 / 1.1])
    np.testing.assert_allclose(combined_frequencies(f, f_tilde, 0.5, 0.0, "direct"), [0.375 + 0.25, 0.375])


@given(
    st.integers(0, 10_000), st.floats(0, 2), st.sampled_from([0.0, 0.1, 3.0]), st.sampled_from(["weighted", "direct"])
)
def test_the_nodes_of_a_level_are_problems_of_their_own(seed, lam, gamma, route):
    """All nodes at once give what every node gives alone, also where nothing ever occurs."""
    rng = np.random.default_rng(seed)
    f = rng.integers(0, 4, 12).astype(float)
    f_tilde = f * (rng.random(12) < 0.5)
    begins = np.array([0, 1, 4, 9])
    together = combined_frequencies(f, f_tilde, lam, gamma, route, begins)
    for begin, end in zip(begins, [1, 4, 9, 12], strict=True):
        alone = combined_frequencies(f[begin:end], f_tilde[begin:end], lam, gamma, route)
        np.testing.assert_allclose(together[begin:end], alone)
        assert alone.sum() == pytest.approx(1) and (alone >= 0).all()


# ---- Lemma 1


def lemma_1(scores, weights):
    """α of Lemma 1 as the kernel finds it, before it is rounded, and the sides that it rounds to."""
    side = np.empty(scores.size, np.int8)
    place, alpha_there = _step_kernels.choose_half(scores, weights, side)
    alpha = np.where(side == _step_kernels.PLUS, 1.0, -1.0)
    alpha[place] = alpha_there
    return alpha, side


numbers = st.integers(-8, 8).map(lambda value: value / 4)


@untimed
@given(st.lists(st.tuples(numbers, st.integers(1, 6)), min_size=2, max_size=25))
def test_lemma_1_solves_its_linear_programme(pairs):
    """max αᵀβ, −1 ≤ α ≤ 1, αᵀf = 0: as good as what an LP solver finds; many ties."""
    scores, f = np.array(pairs, np.float32).T.copy()
    beta = scores * f
    alpha, side = lemma_1(scores, f)
    solved = linprog(-beta, A_eq=[f], b_eq=[0], bounds=[(-1, 1)] * f.size)
    assert solved.status == 0
    assert alpha @ f == pytest.approx(0, abs=1e-5) and np.abs(alpha).max() <= 1 + 1e-9
    assert alpha @ beta == pytest.approx(-solved.fun, abs=1e-4)
    assert np.isin([0, 1], side).all(), "no side may be empty"


@untimed
@given(st.integers(0, 100_000), st.integers(2, 60), st.booleans())
def test_half_of_equal_weights_is_half_of_the_labels(seed, n, with_ties):
    """The rule of §3.1 for balanced 2-means, the middle row of an odd node included."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(-3, 4, n).astype(np.float32) if with_ties else rng.standard_normal(n).astype(np.float32)
    by_weight, by_count = np.empty((2, n), np.int8)
    _step_kernels.choose_half(scores, np.ones(n, np.float32), by_weight)
    _step_kernels.choose_sides(scores, n // 2, (n + 1) // 2, by_count)
    np.testing.assert_array_equal(by_weight, by_count)


def test_the_fraction_is_rounded_to_the_nearer_side():
    """5 of 10 is half: after 4 the label of 3 has a third of it left to take, after 4 that of 1 has all."""
    for f, place, alpha, sides in (
        ([4, 3, 3], 1, 2 / 3 - 1, [0, 1, 1]),
        ([4, 1, 5], 1, 1.0, [0, 0, 1]),
        ([3, 3, 4], 1, 4 / 3 - 1, [0, 0, 1]),
    ):
        side = np.empty(3, np.int8)
        found = _step_kernels.choose_half(np.array([3, 2, 1], np.float32), np.array(f, np.float32), side)
        assert found[0] in (place, place + 1) and side.tolist() == sides
        if found[0] == place:
            assert found[1] == pytest.approx(alpha, abs=1e-6)


# ---- Theorem 1


def objective_of(V, f, lam, alpha, centres):
    """Eq. 4."""
    plus, minus = V @ centres[0], V @ centres[1]
    similarity = (1 + alpha) / 2 * plus + (1 - alpha) / 2 * minus
    return (f * (2 - lam) * similarity + alpha * max(lam - 1, 0) * f**2).sum()


def unit(vector):
    return vector / max(np.linalg.norm(vector), 1e-300)


@untimed
@given(st.integers(0, 100_000), st.integers(3, 40), st.floats(0, 2))
def test_alternating_never_falls_and_stops(seed, n, lam):
    """Theorem 1, with the kernel's Lemma 1 and no rounding: the objective rises until an α comes back."""
    V, f, f_tilde = labels(seed, n)
    V, f = V.toarray().astype(float), combined_frequencies(f, f_tilde, lam)
    centres = V[0], V[1]
    objectives = []
    for _ in range(200):
        scores = (1 - lam / 2) * V @ (centres[0] - centres[1]) + max(lam - 1, 0) * f
        alpha, _ = lemma_1(scores.astype(np.float32), (f * n).astype(np.float32))
        objectives.append(objective_of(V, f, lam, alpha, centres))
        new = unit(V.T @ (f * (1 + alpha))), unit(V.T @ (f * (1 - alpha)))
        if np.allclose(new[0], centres[0], atol=1e-9) and np.allclose(new[1], centres[1], atol=1e-9):
            break
        centres = new
        objectives.append(objective_of(V, f, lam, alpha, centres))
    else:
        pytest.fail("it did not stop")
    assert np.all(np.diff(objectives) >= -1e-5)


def bisect_in_numpy(V, weights, similarity, bonus, seeds, tolerance):
    """Eq. 4 by turns, α rounded each time, as §5.4.3 has it."""
    centres, objective = V[list(seeds)] * weights[list(seeds), None], -np.inf
    while True:
        cosines = V @ (centres / np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-300)).T
        scores = similarity * (cosines[:, 0] - cosines[:, 1]) + bonus * weights
        _, side = lemma_1(scores.astype(np.float32), weights.astype(np.float32))
        plus = side == _step_kernels.PLUS
        gained = similarity * weights * np.where(plus, cosines[:, 0], cosines[:, 1]) + plus * bonus * weights**2
        previous, objective = objective, gained.mean()
        if objective - previous <= tolerance:
            return plus, objective
        centres = np.array([weights[side_of] @ V[side_of] for side_of in (plus, ~plus)])


def bisect_both_ways(seed, n, lam, by_difference):
    """(side PLUS, objective) of the kernels, then of numpy."""
    V, f, f_tilde = labels(seed, n)
    weights = (combined_frequencies(f, f_tilde, lam) * n).astype(np.float32)
    similarity, bonus = np.float32(1 - lam / 2), np.float32(max(lam - 1, 0) / n)
    seeds = np.random.default_rng(seed).choice(n, 2, replace=False)
    tolerance = 1e-4 * (1 - lam / 2)
    side, new_side = np.full((2, n), _kernels.NOWHERE, np.int8)
    new_side[seeds] = _kernels.PLUS, _kernels.MINUS
    alternate = _kernels.alternate_by_difference if by_difference else _kernels.alternate_by_pairs
    target = n // 2, (n + 1) // 2, weights, similarity, bonus
    matrix = V.indptr.astype(np.int64), V.indices, V.data, np.arange(n)
    objective, _ = alternate(*matrix, side, new_side, target, tolerance, 100, np.zeros((V.shape[1], 2), np.float32))
    dense = V.toarray().astype(float)
    expected = bisect_in_numpy(dense, weights.astype(float), float(similarity), float(bonus), seeds, tolerance)
    return (new_side == _kernels.PLUS, objective), expected


@pytest.mark.parametrize("by_difference", [False, True])
@pytest.mark.parametrize("lam", [0.3, 0.9, 1.0, 1.5, 1.9])
def test_a_weighted_bisection_is_that_of_numpy(lam, by_difference):
    """Both ways of alternating (the dots with both centres, or with their difference), to the last label."""
    for seed in range(12):
        (side, objective), (expected_side, expected) = bisect_both_ways(seed, 40, lam, by_difference)
        np.testing.assert_array_equal(side, expected_side)
        assert objective == pytest.approx(expected, rel=1e-6)


@untimed
@given(st.integers(0, 100_000), st.integers(2, 60), st.floats(0, 2), st.booleans())
def test_a_weighted_bisection_is_as_good_as_that_of_numpy(seed, n, lam, by_difference):
    """Anything goes in: a tie that rounding decides may lead elsewhere, but not far."""
    (_, objective), (_, expected) = bisect_both_ways(seed, n, lam, by_difference)
    assert objective == pytest.approx(expected, rel=0.05, abs=1e-3)


# ---- trees


@pytest.mark.parametrize(("n", "max_leaf"), [(64, 8), (130, 20), (1500, 60)])
@pytest.mark.parametrize("route", ["weighted", "direct"])
def test_lambda_0_is_balanced_2_means(n, max_leaf, route):
    """The same tree to the last label, whatever the frequencies are."""
    V, f, f_tilde = labels(1, n)
    tree = interpolated_label_tree(V, f, f_tilde, 0.0, max_leaf=max_leaf, seed=7, route=route)
    assert tree.same_as(balanced_label_tree(V, max_leaf, seed=7))


@pytest.mark.parametrize("n", [64, 150])
def test_lambda_near_0_is_balanced_2_means_too(n):
    """With the weighted kernels: equal frequencies at any λ ≤ 1 weigh the same, and the tree is Parabel's."""
    V, _, _ = labels(2, n)
    tree = interpolated_label_tree(V, np.ones(n), np.ones(n), 0.7, max_leaf=10, seed=3, tolerance=1e-4 / 0.65)
    assert tree.same_as(balanced_label_tree(V, 10, seed=3))


@untimed
@given(st.integers(0, 10_000), st.integers(2, 40))
def test_lambda_1_is_balanced_2_means_of_duplicated_labels(seed, n):
    """§4.1: a label that weighs c stands for c copies of itself, of which α is the mean."""
    rng = np.random.default_rng(seed)
    counts, scores = rng.integers(1, 5, n), rng.standard_normal(n).astype(np.float32)
    alpha, _ = lemma_1(scores, combined_frequencies(counts.astype(float), np.zeros(n), 1.0, 0.0).astype(np.float32))
    copies = np.repeat(np.arange(n), counts)
    order = np.argsort(-scores[copies], kind="stable")
    of_copies = -np.ones(copies.size)
    of_copies[order[: copies.size // 2]] = 1
    if copies.size % 2:
        of_copies[order[copies.size // 2]] = 0
    np.testing.assert_allclose(np.bincount(copies, of_copies, n) / counts, alpha, atol=1e-4)


def test_lambda_1_splits_as_weighted_2_means_does():
    """The root of a tree with γ = 0 against Eq. 3, by turns in numpy."""
    V, f, f_tilde = labels(4, 80)
    tree = interpolated_label_tree(V, f, f_tilde, 1.0, gamma=0.0, max_leaf=60, seed=11)
    seeds = bisection._two_distinct(np.random.default_rng(11), np.array([80]))[0]
    plus, _ = bisect_in_numpy(V.toarray().astype(float), f / f.mean(), 0.5, 0.0, seeds, 0.5e-4)
    depth_1 = np.arange(tree.levels[1], tree.levels[2])
    left = depth_1[0]
    below = [node for node in range(tree.n_nodes) if _is_under(tree, node, left)]
    assert sorted(np.concatenate([tree.labels_of(node) for node in below])) == np.flatnonzero(plus).tolist()


@pytest.mark.parametrize(("route", "renormalise"), [("direct", "node"), ("weighted", "once"), ("direct", "once")])
def test_splits_of_other_schemes_are_those_of_numpy(route, renormalise):
    """The root, and a node under it, whose f(λ) is that of the node or what it has of all labels'; λ = 1.3."""
    V, f, f_tilde = labels(14, 90)
    lam, dense = 1.3, V.toarray().astype(float)
    tree = interpolated_label_tree(V, f, f_tilde, lam, max_leaf=30, seed=5, route=route, renormalise=renormalise)
    rng = np.random.default_rng(5)
    fano = lam / 2 if route == "direct" else lam - 1
    everywhere = combined_frequencies(f, f_tilde, lam, route=route)
    nodes = [np.arange(90)]
    for level in range(2):
        seeds = bisection._two_distinct(rng, np.array([node.size for node in nodes]))
        below = []
        for number, node in enumerate(nodes):
            if node.size <= 30:
                below.append(node)
                continue
            own = combined_frequencies(f[node], f_tilde[node], lam, route=route)
            share = own if renormalise == "node" else everywhere[node]
            weights = share / share.mean()
            how = 1 - lam / 2, fano * share.mean(), seeds[number], 1e-4 * (1 - lam / 2)
            plus, _ = bisect_in_numpy(dense[node], weights, *how)
            below += [node[plus], node[~plus]]
        nodes = below
        found = [
            sorted(np.concatenate([tree.labels_of(n) for n in range(tree.n_nodes) if _is_under(tree, n, top)]))
            for top in range(tree.levels[level + 1], tree.levels[level + 2])
        ]
        assert all(labels_of in [node.tolist() for node in nodes] for labels_of in found)


@pytest.mark.parametrize(
    "change",
    [{"lambda_prime": 3.0}, {"gamma": 2.0}, {"frequencies": "greedy"}, {"sharpness": 0.3}, {"route": "direct"},
     {"renormalise": "once"}],
)  # fmt: skip
def test_every_part_of_a_scheme_makes_another_tree(change):
    rng = np.random.default_rng(2)
    Y = sp.csr_matrix(rng.random((400, 90)) < 0.5 / np.arange(1, 91), dtype=np.float32)
    V, _, _ = labels(2, 90)
    scheme = {"lambda_prime": 4.0}
    plain, changed = (Interpolation(**one).interpolated_tree(V, Y, max_leaf=3) for one in (scheme, scheme | change))
    assert not changed.same_as(plain)


def _is_under(tree, node, top):
    while node > top:
        node = tree.parent[node]
    return node == top


@pytest.mark.parametrize("max_leaf", [1, 7])
@pytest.mark.parametrize("route", ["weighted", "direct"])
@pytest.mark.parametrize("seed", range(4))
def test_lambda_2_is_fano_coding(seed, max_leaf, route):
    """Embeddings and f say nothing any more: the tree is that of f̃ alone."""
    V, f, f_tilde = labels(seed, 90)
    tree = interpolated_label_tree(V, f, f_tilde, 2.0, gamma=0.0, max_leaf=max_leaf, seed=seed, route=route)
    assert tree.same_as(fano_label_tree(f_tilde, max_leaf))


@pytest.mark.parametrize("renormalise", ["node", "once"])
@pytest.mark.parametrize("lam", [0.3, 1.0, 1.6, 2.0])
def test_leaves_are_small_and_every_label_is_somewhere(lam, renormalise):
    V, f, f_tilde = labels(5, 300)
    tree = interpolated_label_tree(V, f, f_tilde, lam, max_leaf=9, renormalise=renormalise)
    assert np.diff(tree.label_indptr).max() <= 9
    np.testing.assert_array_equal(np.sort(tree.label_indices), np.arange(300))


def test_frequent_labels_rise_with_lambda():
    """What λ is for: the expected depth of f̃ falls from 2-means over weighted 2-means to Fano coding."""
    V, f, f_tilde = labels(6, 500)
    trees = [interpolated_label_tree(V, f, f_tilde, lam, max_leaf=1) for lam in (0.0, 1.0, 2.0)]
    depths = [f_tilde @ tree.label_depths / f_tilde.sum() for tree in trees]
    assert depths == sorted(depths, reverse=True) and depths[2] < depths[0] - 1


def test_renormalising_once_is_another_tree():
    """In a node, smoothing has the share γ again; once for all, rare labels have little of it."""
    V, f, f_tilde = labels(8, 400)
    node, once = (
        interpolated_label_tree(V, f, f_tilde, 1.9, max_leaf=5, renormalise=how, seed=1) for how in ("node", "once")
    )
    assert not node.same_as(once)
    assert once.max_depth < node.max_depth


def test_the_tree_depends_on_the_seed_and_not_on_the_threads(monkeypatch):
    """Also where all threads split a node together, and where rows are copied into the order of the nodes."""
    V, f, f_tilde = labels(9, 900, n_features=60)
    trees = [interpolated_label_tree(V, f, f_tilde, 0.9, max_leaf=20, seed=2, n_jobs=n_jobs) for n_jobs in (1, 3)]
    monkeypatch.setattr(bisection, "FEW_FEATURES", 0)
    monkeypatch.setattr(bisection, "SMALL_NODE", 1000)
    monkeypatch.setattr(bisection, "LEVELS_PER_COPY", 1)
    trees.append(interpolated_label_tree(V, f, f_tilde, 0.9, max_leaf=20, seed=2, n_jobs=2))
    assert trees[0].same_as(trees[1]) and trees[0].same_as(trees[2])
    monkeypatch.setattr(bisection, "MANY_ENTRIES", 0)
    together = [interpolated_label_tree(V, f, f_tilde, 0.9, max_leaf=20, seed=2, n_jobs=n_jobs) for n_jobs in (1, 2, 5)]
    assert all(tree.same_as(trees[0]) for tree in together)
    assert not trees[0].same_as(interpolated_label_tree(V, f, f_tilde, 0.9, max_leaf=20, seed=3))


def test_the_embeddings_that_were_given_stay_as_they_are(monkeypatch):
    """Large nodes, and two copies on the way down, of which the second is written over the first."""
    for name, value in {"MANY_ENTRIES": 0, "FEW_FEATURES": 0, "SMALL_NODE": 1000, "LEVELS_PER_COPY": 2}.items():
        monkeypatch.setattr(bisection, name, value)
    V, f, f_tilde = labels(4, 900, n_features=60)
    before = V.copy()
    interpolated_label_tree(V, f, f_tilde, 0.9, max_leaf=5, seed=2)
    balanced_label_tree(V, 5, seed=2)
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(V, name), getattr(before, name))


@pytest.mark.parametrize("gamma", [0.0, 0.1])
@pytest.mark.parametrize("renormalise", ["node", "once"])
def test_labels_that_never_occur_find_a_place(gamma, renormalise):
    """No samples: no embedding and no frequency; also a node, and a tree, of nothing else."""
    V = sp.csr_matrix((40, 5), dtype=np.float32)
    for f in (np.zeros(40), np.r_[3.0, np.zeros(39)]):
        for lam in (0.5, 1.0, 2.0):
            tree = interpolated_label_tree(V, f, f, lam, gamma, max_leaf=3, renormalise=renormalise)
            np.testing.assert_array_equal(np.sort(tree.label_indices), np.arange(40))


def test_the_tree_of_a_label_matrix_uses_its_context_frequencies():
    """A context that is asked for a thousand times lifts its label."""
    rng = np.random.default_rng(0)
    Y = sp.csr_matrix(rng.random((200, 50)) < 0.05, dtype=np.float32)
    V, _, _ = labels(3, 50)
    contexts = np.ones(200)
    contexts[np.flatnonzero(Y[:, 17].toarray())] = 1000
    scheme = Interpolation(lambda_prime=1e5)
    plain, asked = (scheme.interpolated_tree(V, Y, p, max_leaf=1) for p in (None, contexts))
    assert asked.label_depths[17] < plain.label_depths[17]
    greedy = Interpolation(lambda_prime=1e5, frequencies="greedy").interpolated_tree(V, Y, max_leaf=1)
    assert not greedy.same_as(plain)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"lam": 2.1}, "lam must be between 0 and 2"),
        ({"gamma": -0.1}, "gamma must be at least 0"),
        ({"route": "scenic"}, "route must be one of weighted, direct"),
        ({"renormalise": "never"}, "renormalise must be one of node, once"),
        ({"f": np.ones(3)}, "f must be 6 frequencies"),
        ({"f_tilde": -np.ones(6)}, "f_tilde must be 6 frequencies"),
        ({"max_leaf": 0}, "max_leaf must be at least 1"),
    ],
)
def test_wrong_arguments_are_refused(wrong, words):
    V, f, f_tilde = labels(0, 6)
    with pytest.raises(ValueError, match=words):
        interpolated_label_tree(V, **({"f": f, "f_tilde": f_tilde, "lam": 1.0} | wrong))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"frequencies": "median"}, "frequencies must be one of marginal, greedy"),
        ({"sharpness": 2.0}, "sharpness must be between 0 and 1"),
        ({"frequencies": "greedy", "sharpness": 0.5}, "the greedy f̃ has none"),
        ({"lambda_prime": -1.0}, "λ′ must be at least 0"),
    ],
)
def test_wrong_schemes_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        Interpolation(**wrong).check_interpolation()
