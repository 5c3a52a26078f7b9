"""Searches that stop early find what a search of the whole tree, or the whole beam, finds."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_engine import binary_tree, random_model, random_tree, random_X

from orchard.linear import _scoring_kernels as scoring
from orchard.linear import search
from orchard.linear._best_label_kernels import OPENED
from orchard.linear._search_kernels import row_scales
from orchard.linear.inputs import csr_arrays
from orchard.linear.search import COMBINERS, SearchSettings
from orchard.linear.search_report import n_scored
from orchard.trees.label_tree import LabelTree

N_FEATURES = 25


def ranked(model, X, how):
    """For every row all labels in the leaves of the engine's beam: (−log score, label, depth), best first.

    Log scores are the engine's own, to the bit; of several copies the best counts.
    """
    arrays, (tree, labels, weights) = csr_arrays(X), model.for_search
    nodes, log_scores, sizes = search.beams(model, X, how, n_jobs=1)
    scales = np.empty(X.shape[0], np.float32)
    row_scales(arrays, 0, X.shape[0], how.normalise, scales)
    room, rows = scoring.scoring_room(arrays, 0, X.shape[0], weights), []
    for row in range(X.shape[0]):
        best = {}
        for node, path in zip(nodes[row, : sizes[row]], log_scores[row], strict=False):
            held, bundle = model.tree.labels_of(node), tree[3][node]
            totals = [path]
            if model.bundles.n_outputs[bundle]:
                margins = np.empty(held.size, np.float32)
                n_hits = scoring.hits_of(X[row].indices, X[row].data, bundle, weights, *room[:2], 0)
                scoring.margins_alone(n_hits, *room[:2], scales[row], bundle, weights, room[7], margins)
                totals = [path + scoring.log_gain(margin, COMBINERS[how.combiner]) for margin in margins]
            for label, total in zip(held.tolist(), totals, strict=True):
                one = -np.float32(total), label, int(labels[2][node])
                best[label] = min(best.get(label, one), one)
        rows.append(sorted(best.values()))
    return rows


def assert_ranked(found, expected, k):
    """ids, scores and depths are the first k of the list; −1, −∞ and NaN where it is shorter."""
    ids, scores, depths = found
    for row, labels in enumerate(expected):
        best = labels[:k]
        assert ids[row].tolist() == [label for _, label, _ in best] + [-1] * (k - len(best))
        np.testing.assert_allclose(scores[row, : len(best)], [np.exp(-size) for size, _, _ in best], rtol=1e-6)
        assert depths[row, : len(best)].tolist() == [depth for _, _, depth in best]
        assert (scores[row, len(best) :] == -np.inf).all() and np.isnan(depths[row, len(best) :]).all()


def one_by_one(models, X, k, how):
    parts = [search.topk(models, X[row], k, how, n_jobs=1) for row in range(X.shape[0])]
    return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


# A high bias makes hinge scores tie at 1; a large scale makes them underflow.
cases = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10_000),
        "copies": st.integers(0, 2),
        "depth": st.integers(0, 6),
        "bias": st.sampled_from([0.0, 0.0, 1.0, 3.0]),
        "scale": st.sampled_from([0.0, 0.7, 5.0]),
    }
)


def random_case(seed, copies, depth, bias, scale):
    rng = np.random.default_rng(seed)
    model = random_model(rng, random_tree(rng, 40, depth, copies=copies), N_FEATURES, scale=scale)
    model.biases[:] += np.float32(bias)
    return model, random_X(rng, 20, N_FEATURES)


@given(cases, st.sampled_from([1, 2, 5, 45]), st.sampled_from([*COMBINERS]))
@settings(max_examples=60)
def test_best_first_finds_what_the_whole_tree_holds(case, k, combiner):
    """Leaves at all depths, single labels, copies, ties: the ids of an exhaustive search, in its order."""
    model, X = random_case(**case)
    how = SearchSettings(combiner=combiner, merge="max", strategy="best-first")
    everything = replace(how, strategy="beam", beam=model.tree.n_leaves)
    expected = ranked(model, X, everything)
    assert all(len(labels) == 40 for labels in expected)
    assert_ranked(search.topk([model], X, k, how, n_jobs=1), expected, k)
    assert_ranked(one_by_one([model], X, k, how), expected, k)
    np.testing.assert_array_equal(search.topk([model], X, k, how)[1], search.topk([model], X, k, everything)[1])


@given(cases, st.sampled_from([1, 2, 5, 45]), st.integers(1, 8), st.sampled_from([*COMBINERS]))
@settings(max_examples=60)
def test_the_adaptive_beam_finds_what_the_beam_holds(case, k, beam, combiner):
    """The same labels and scores as the engine's beam of that width; it asks no more nodes, and no more labels."""
    model, X = random_case(**case)
    how = SearchSettings(beam=beam, combiner=combiner, merge="max", strategy="adaptive")
    plain = replace(how, strategy="beam")
    expected = ranked(model, X, plain)
    assert_ranked(search.topk([model], X, k, how, n_jobs=1), expected, k)
    assert_ranked(one_by_one([model], X, k, how), expected, k)
    np.testing.assert_array_equal(search.topk([model], X, k, how)[1], search.topk([model], X, k, plain)[1])
    for asked, at_most in zip(n_scored(model, X, how, 1, k), n_scored(model, X, plain), strict=True):
        assert (asked <= at_most).all()


@pytest.mark.parametrize(("strategy", "budget"), [("best-first", None), ("best-first", 4), ("adaptive", None)])
@pytest.mark.parametrize(("tree", "density"), [("deep", 0.2), ("wide", 0.1), ("copies", 0.5)])
def test_neither_threads_nor_chunks_change_a_bit(monkeypatch, tree, density, strategy, budget):
    """In rounds with many others, alone, with more open nodes than there is room for at first: the same to the bit."""
    rng = np.random.default_rng(3)
    trees = {
        "deep": lambda: binary_tree(7),
        "wide": lambda: LabelTree.from_groups([range(first, first + 3) for first in range(0, 1500, 3)]),
        "copies": lambda: random_tree(rng, 80, 5, copies=2),
    }
    model = random_model(rng, trees[tree](), 60, density)
    parts = [random_X(rng, 60, 60, share) for share in (0.05, 0.5)]
    X = sp.vstack([*parts, parts[0][:5] * 0, *[parts[1][:1]] * 9], format="csr").astype(np.float32)
    how = SearchSettings(beam=4, combiner="l3-hinge-untied", merge="max", strategy=strategy, budget=budget)
    expected = search.topk([model], X, 5, how, n_jobs=1)
    asked = search.stopping_early([model], X, 5, how, 1)[3]
    assert_same(one_by_one([model], X, 5, how), expected)
    for chunk, n_jobs in ((7, 1), (40, 2), (100_000, 3)):
        monkeypatch.setattr(search, "_chunk", lambda *_, chunk=chunk: chunk)
        assert_same(search.topk([model], X, 5, how, n_jobs), expected)
        np.testing.assert_array_equal(search.stopping_early([model], X, 5, how, n_jobs)[3], asked)


@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([1, 5]))
@settings(max_examples=20)
def test_a_budget_is_kept_unless_labels_are_missing(seed, budget, k):
    """With k labels in hand a search ends at its budget; a large one changes nothing; none ends with too few labels."""
    rng = np.random.default_rng(seed)
    model, X = random_model(rng, binary_tree(6), N_FEATURES), random_X(rng, 20, N_FEATURES)
    how = SearchSettings(strategy="best-first", combiner="l2-hinge-untied")
    ids, scores, _, asked = search.stopping_early([model], X, k, replace(how, budget=budget), 1)
    assert (ids >= 0).all()
    to_k_labels = search.stopping_early([model], X, k, replace(how, budget=1), 1)[3][:, OPENED]
    assert (asked[:, OPENED] <= np.maximum(budget, to_k_labels)).all()
    exact, unlimited = (search.topk([model], X, k, replace(how, budget=limit)) for limit in (10_000, None))
    assert_same(exact, unlimited)
    assert (scores <= exact[1]).all()


def test_what_is_asked_by_hand():
    """Leaves whose edges score 0, −1 and −2: the labels of the third are never asked, those of the second if k > 2.

    The beam asks all of them; the adaptive beam as few labels as best-first.
    """
    rng = np.random.default_rng(0)
    model = random_model(rng, LabelTree.from_groups([[0, 1], [2, 3, 4], [5, 6]]), 3, density=0)
    model.biases[:] = [1, 0, -1, 0.5, 0.4, 1, 1, 1, 1, 1]
    X = random_X(rng, 1, 3)
    for strategy in ("best-first", "adaptive"):
        how = SearchSettings(combiner="l1-hinge", strategy=strategy)
        for k, n_labels in ((1, 2), (2, 2), (3, 5), (5, 5)):
            nodes, labels = n_scored(model, X, how, 1, k)
            assert (nodes.item(), labels.item()) == (3, n_labels)
        assert search.topk([model], X, 4, how)[0].tolist() == [[0, 1, 2, 3]]
    assert n_scored(model, X, SearchSettings(combiner="l1-hinge"))[1].item() == 7


def test_a_shallow_leaf_spares_the_levels_below():
    """A good label at depth 1: neither strategy looks at what is under its sibling."""
    rng = np.random.default_rng(0)
    deep = [[[[[2, 3], [4, 5]], [[6, 7], [8, 9]]], [[10, 11], [12, 13]]], [[14, 15], [16, 17]]]
    model = random_model(rng, LabelTree.from_groups([[0, 1], deep]), 3, density=0)
    model.biases[:] = 0
    model.biases[0] = 1  # the edge to the leaf with the labels 0 and 1
    first = model.bundle_outputs[model.bundles.of_node[1]]
    model.biases[first : first + 2] = [1, 0.9]
    X = random_X(rng, 1, 3)
    plain = sum(n_scored(model, X, SearchSettings())).item()
    for strategy in ("best-first", "adaptive"):
        how = SearchSettings(strategy=strategy)
        assert search.topk([model], X, 1, how)[0].tolist() == [[0]]
        assert sum(n_scored(model, X, how, 1, 1)).item() < plain


def test_untied_hinges_keep_the_bound_and_the_order_of_margins():
    """Never above 0, never falling; strictly rising where the hinge is flat, and next to the hinge elsewhere."""
    z = np.linspace(-5, 6, 500, dtype=np.float32)
    for name, code in COMBINERS.items():
        gains = np.array([scoring.log_gain(margin, code) for margin in z])
        assert (gains <= 0).all() and (np.diff(gains) >= 0).all()
        if name.endswith("-untied"):
            assert (np.diff(gains) > 0).all()
            hinge = [scoring.log_gain(margin, COMBINERS[name.removesuffix("-untied")]) for margin in z]
            np.testing.assert_allclose(gains, hinge, atol=6e-3)
            assert (gains < hinge).all()


@pytest.mark.parametrize("strategy", ["best-first", "adaptive"])
def test_what_has_no_bound_is_refused(strategy):
    """A discount, several trees, copies that are averaged: the answer would depend on what is not looked at."""
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="discount 1"):
        SearchSettings(strategy=strategy, discount=0.98).validate()
    X, how = random_X(rng, 2, N_FEATURES), SearchSettings(strategy=strategy)
    plain = random_model(rng, binary_tree(2), N_FEATURES)
    with pytest.raises(ValueError, match="one tree, not 2"):
        search.topk([plain, plain], X, 2, how)
    copies = random_model(rng, LabelTree.from_groups([[0, 1], [1, 2]]), N_FEATURES)
    for merge in ("mean", "best-path"):
        with pytest.raises(ValueError, match="'max' alone"):
            search.topk([copies], X, 2, replace(how, merge=merge))
    search.topk([copies], X, 2, replace(how, merge="max"))


@pytest.mark.parametrize("strategy", ["best-first", "adaptive"])
def test_a_row_that_is_not_finite_is_named(strategy):
    rng = np.random.default_rng(0)
    model, X = random_model(rng, binary_tree(2), N_FEATURES), random_X(rng, 3, N_FEATURES, 1.0)
    X.data[X.indptr[1]] = np.nan
    with pytest.raises(ValueError, match="row 1 of X"):
        search.topk([model], X, 2, SearchSettings(strategy=strategy))


@pytest.mark.parametrize(
    "wrong",
    [{"strategy": "greedy"}, {"strategy": 3}, {"budget": 0}, {"budget": 1.5}, {"strategy": "adaptive", "budget": 3}],
)
def test_settings_that_make_no_sense_are_named(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SearchSettings(**wrong).validate()
