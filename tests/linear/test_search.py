"""Search against the scores of every path, and narrow beams against a beam in plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_engine import every_leaf, plain_beam, plain_topk, random_model, random_tree, random_X, scaled

from orchard.linear import search
from orchard.linear.search import COMBINERS, SearchSettings
from orchard.trees.label_tree import LabelTree

N_FEATURES = 25


def random_models(seed, n_trees=1, n_labels=20, copies=0, depth=3):
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, n_labels, depth, copies=copies) for _ in range(n_trees)]
    return [random_model(rng, tree, N_FEATURES) for tree in trees], random_X(rng, 6, N_FEATURES)


def assert_topk(models, X, k, how, everything=False):
    """ids, scores and depths are those of the plain search, best first; −1, −∞ and NaN where it found no more."""
    ids, scores, depths = search.topk(models, X, k, how, n_jobs=1)
    assert (ids.dtype, scores.dtype, depths.dtype) == (np.int32, np.float32, np.float32)
    for row, x in enumerate(scaled(X, how)):
        expected = plain_topk(models, x, how, everything)
        n_found = min(k, len(expected))
        found = ids[row, :n_found].tolist()
        assert len(set(found)) == n_found and set(found) <= set(expected)
        np.testing.assert_allclose(scores[row, :n_found], [expected[label][0] for label in found], rtol=2e-4, atol=1e-6)
        np.testing.assert_allclose(depths[row, :n_found], [expected[label][1] for label in found])
        best = sorted((score for score, _ in expected.values()), reverse=True)[:n_found]
        np.testing.assert_allclose(scores[row, :n_found], best, rtol=2e-4, atol=1e-6)
        assert (np.diff(scores[row, :n_found]) <= 0).all()
        assert (ids[row, n_found:] == -1).all() and (scores[row, n_found:] == -np.inf).all()
        assert np.isnan(depths[row, n_found:]).all()


@pytest.mark.parametrize("discount", [1.0, 0.9])
@pytest.mark.parametrize("combiner", COMBINERS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=5)
def test_a_beam_that_covers_the_tree_scores_every_path(seed, combiner, discount):
    """Any tree, leaves at any depth, single labels in a leaf: nothing is lost and every factor is counted once."""
    models, X = random_models(seed)
    how = SearchSettings(beam=30, combiner=combiner, discount=discount)
    assert_topk(models, X, 20, how, everything=True)


@given(st.integers(0, 10_000), st.integers(1, 8), st.sampled_from(["l2-hinge", "l3-hinge", "sigmoid"]), st.booleans())
@settings(max_examples=30)
def test_a_narrow_beam_keeps_the_best_of_every_level(seed, beam, combiner, normalise):
    """The same nodes, level by level, as a plain Python beam; k may be less or more than the labels found."""
    models, X = random_models(seed, n_labels=30)
    how = SearchSettings(beam=beam, combiner=combiner, discount=0.95, normalise=normalise)
    assert_topk(models, X, 4, how)
    assert_topk(models, X, 35, how)


@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from(["mean", "max", "best-path"]))
@settings(max_examples=20)
def test_copies_of_a_label_are_merged(seed, beam, merge):
    """Only the copies that were reached count: by one of three rules, and with the mean of their depths."""
    models, X = random_models(seed, copies=2)
    assert_topk(models, X, 25, SearchSettings(beam=beam, merge=merge))


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(2, 4), st.integers(0, 1))
@settings(max_examples=20)
def test_trees_are_averaged(seed, beam, n_trees, copies):
    """A label that a tree did not reach counts 0 there, so that being found by all trees is worth something."""
    models, X = random_models(seed, n_trees, copies=copies)
    assert_topk(models, X, 25, SearchSettings(beam=beam, combiner="l3-hinge"))


def test_a_tree_that_does_not_reach_a_label_scores_it_zero():
    """Worked by hand: two trees of two leaves each, one node in the beam."""
    rng = np.random.default_rng(0)
    models = [random_model(rng, LabelTree.from_groups(groups), 3) for groups in ([[0], [1, 2]], [[0, 1], [2]])]
    for model, biases in zip(models, ([0.5, 0.2, 0.9, 0.8], [0.1, 0.4, 0.3, 0.3]), strict=True):
        model.biases[:] = biases
    ids, scores, depths = search.topk(models, random_X(rng, 1, 3) * 0, 3, SearchSettings(beam=1, combiner="l1-hinge"))
    np.testing.assert_array_equal(ids, [[0, 2, -1]])
    np.testing.assert_allclose(scores[0, :2], [np.exp(-0.5) / 2, np.exp(-0.6) / 2], rtol=1e-6)
    np.testing.assert_array_equal(depths[0, :2], [1, 1])


def test_one_versus_all_ranks_by_margin():
    """A root that is the only leaf: depth 0, all labels scored, whatever the beam."""
    rng = np.random.default_rng(2)
    model, X = random_model(rng, LabelTree.from_groups(range(40)), N_FEATURES), random_X(rng, 5, N_FEATURES)
    how = SearchSettings(beam=1, combiner="sigmoid")
    assert_topk([model], X, 40, how)
    W, biases = model.weights_of(0)
    ids, _, depths = search.topk([model], X, 40, how)
    np.testing.assert_array_equal(ids, np.argsort(-(scaled(X, how) @ W.toarray() + biases), axis=1))
    assert (depths == 0).all()


def test_a_chain_of_only_children_multiplies_all_its_factors():
    """A node with one child has a classifier of its own, as in a chain of PECOS."""
    rng = np.random.default_rng(3)
    tree = LabelTree.from_groups([[[[0, 1]]], [[[2], [3, 4]]]])
    assert_topk([random_model(rng, tree, N_FEATURES)], random_X(rng, 5, N_FEATURES), 5, SearchSettings(beam=9), True)


def test_labels_with_equal_scores_all_come():
    """Hinge scores tie at exactly 1: all are kept, each label once, and the order is the same in every run."""
    rng = np.random.default_rng(4)
    model = random_model(rng, LabelTree.from_groups([[0, 3, 5], [1, 2, 4]]), N_FEATURES)
    model.biases[:] = 50
    X = random_X(rng, 3, N_FEATURES)
    ids, scores, _ = search.topk([model], X, 6, SearchSettings())
    assert (scores == 1).all()
    np.testing.assert_array_equal(ids, [[0, 3, 5, 1, 2, 4]] * 3)


def test_scores_that_underflow_stay_in_order():
    """exp of a very bad margin is 0, but the labels are ranked by its logarithm."""
    rng = np.random.default_rng(5)
    model = random_model(rng, LabelTree.from_groups(range(4)), N_FEATURES, density=0)
    model.biases[:] = [-40, -20, -30, -1e25]
    ids, scores, _ = search.topk([model], random_X(rng, 2, N_FEATURES), 4, SearchSettings(combiner="l3-hinge"))
    np.testing.assert_array_equal(ids, [[1, 2, 0, 3]] * 2)
    np.testing.assert_array_equal(scores, 0)


# ---- beams and the matcher


@given(st.integers(0, 10_000), st.integers(1, 8))
@settings(max_examples=20)
def test_beams_after_any_number_of_levels(seed, beam):
    """The nodes and log scores of a plain beam after 0, 1, … levels; shallow leaves are carried along."""
    (model,), X = random_models(seed, n_labels=30)
    how = SearchSettings(beam=beam)
    for n_levels in (*range(model.tree.max_depth + 1), None):
        nodes, scores, sizes = search.beams(model, X, how, n_levels, n_jobs=1)
        assert (nodes.dtype, scores.dtype, sizes.dtype) == (np.int32, np.float32, np.int64)
        for row, x in enumerate(scaled(X, how)):
            expected_scores, expected_nodes = zip(*plain_beam(model, x, how, n_levels), strict=True)
            np.testing.assert_array_equal(nodes[row, : sizes[row]], expected_nodes)
            np.testing.assert_allclose(scores[row, : sizes[row]], expected_scores, rtol=1e-4, atol=1e-5)


@given(st.integers(0, 10_000), st.integers(1, 8))
@settings(max_examples=10)
def test_the_matchers_matrix_is_the_beam(seed, beam):
    """M has a column per leaf in the order of `tree.leaves`, and the score of every leaf in a row's beam."""
    (model,), X = random_models(seed, n_labels=30)
    how = SearchSettings(beam=beam)
    M = search.match(model, X, how, n_jobs=1)
    assert M.shape == (X.shape[0], model.tree.n_leaves) and M.has_canonical_format and M.dtype == np.float32
    expected = np.zeros(M.shape)
    for row, x in enumerate(scaled(X, how)):
        for score, leaf in plain_beam(model, x, how):
            expected[row, np.searchsorted(model.tree.leaves, leaf)] = np.exp(score)
    np.testing.assert_allclose(M.toarray(), expected, rtol=1e-4, atol=1e-6)
    assert (np.diff(M.indptr) <= beam).all()


def test_a_wide_beam_matches_every_leaf():
    """With room for all leaves, M is the score of every path."""
    (model,), X = random_models(11)
    how = SearchSettings(beam=30, discount=0.9)
    M = search.match(model, X, how)
    expected = [[np.exp(score) for score, _ in every_leaf(model, x, how)] for x in scaled(X, how)]
    np.testing.assert_allclose(M.toarray(), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"beam": 0}, "beam"),
        ({"combiner": "l6-hinge"}, "combiner"),
        ({"merge": "sum"}, "merge"),
        ({"discount": 0.0}, "discount"),
        ({"discount": 1.5}, "discount"),
        ({"discount": np.nan}, "discount"),
    ],
)
def test_settings_that_make_no_sense_are_named(wrong, name):
    """A search would silently return something."""
    with pytest.raises(ValueError, match=name):
        SearchSettings(**wrong).validate()
