"""Parabel over interpolated trees: λ′ = 0 is Parabel, depths are those of the tree, wide trees hold the same labels."""

import numpy as np
import pytest
import scipy.sparse as sp

from orchard import InterpolatedParabel, Parabel
from orchard.metrics import expected_depth
from orchard.softmax import TextSoftmax
from orchard.trees.merging import with_more_children


@pytest.fixture(scope="module")
def data():
    """Labels whose frequencies fall as a power law, features that tell them."""
    rng = np.random.default_rng(0)
    n, n_labels, d = 600, 80, 60
    Y = rng.random((n, n_labels)) < 0.6 / np.arange(1, n_labels + 1)
    Y[np.arange(n), rng.integers(n_labels, size=n)] = True
    topics = rng.random((n_labels, d)) * (rng.random((n_labels, d)) < 0.15)
    X = sp.csr_matrix((Y @ topics + 0.05 * rng.random((n, d)) * (rng.random((n, d)) < 0.2)).astype(np.float32))
    return X, sp.csr_matrix(Y.astype(np.float32))


def test_lambda_0_is_parabel_with_one_tree(data):
    X, Y = data
    plain, own = Parabel(n_trees=1, max_leaf=6), InterpolatedParabel(max_leaf=6)
    assert plain.build_trees(X, Y)[0].same_as(own.build_trees(X, Y)[0])
    for one, other in zip(plain.fit(X, Y).predict_topk(X), own.fit(X, Y).predict_topk(X), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_splits", [2, 5])
@pytest.mark.parametrize("lambda_prime", [0.0, 1.0, 1e5])
def test_expected_depth_is_that_of_the_deepest_label_returned(data, lambda_prime, n_splits):
    """§5, label by label: also labels of a leaf that holds several are as deep as their leaf."""
    X, Y = data
    model = InterpolatedParabel(max_leaf=4, lambda_prime=lambda_prime, n_splits=n_splits).fit(X, Y)
    tree = model.models_[0].tree
    assert np.diff(tree.children).max() <= n_splits and np.diff(tree.label_indptr).max() > 1
    ids, _, depths = model.predict_topk(X, k=3, return_depths=True)
    deepest = []
    for labels in ids:
        edges = []
        for label in labels:
            (leaf,) = np.flatnonzero([label in tree.labels_of(node) for node in range(tree.n_nodes)])
            node, n_edges = leaf, 0
            while node > 0:
                node, n_edges = tree.parent[node], n_edges + 1
            edges.append(n_edges)
        deepest.append(max(edges))
        if len(deepest) == 40:
            break
    assert expected_depth(depths[:40], 3) == pytest.approx(np.mean(deepest))


def test_coding_lowers_the_depth_of_what_is_returned(data):
    X, Y = data
    depths = {}
    for lambda_prime in (0.0, 1e5):
        model = InterpolatedParabel(max_leaf=4, lambda_prime=lambda_prime, renormalise="once").fit(X, Y)
        depths[lambda_prime] = expected_depth(model.predict_topk(X, k=1, return_depths=True)[2], 1)
    assert depths[1e5] < depths[0.0]


def test_wide_trees_are_shallower_and_have_the_same_leaves(data):
    X, Y = data
    (binary,), (wide,) = (
        InterpolatedParabel(max_leaf=4, lambda_prime=1.0, n_splits=n).build_trees(X, Y) for n in (2, 8)
    )
    assert wide.n_leaves == binary.n_leaves and wide.max_depth < binary.max_depth
    held = [sorted(tuple(tree.labels_of(leaf)) for leaf in tree.leaves) for tree in (binary, wide)]
    assert held[0] == held[1]


def test_frequent_parts_come_up_first(data):
    """What is asked for often is nearer to the root than if all labels weighed the same."""
    X, Y = data
    f = np.asarray(Y.sum(axis=0)).ravel()
    binary, wide = (InterpolatedParabel(max_leaf=2, n_splits=n).build_trees(X, Y)[0] for n in (2, 6))
    alike = with_more_children(binary, 6, np.ones(80))
    assert f @ wide.label_depths < f @ alike.label_depths


CHANGES = [
    {"lambda_prime": 3.0}, {"gamma": 2.0}, {"frequencies": "greedy"}, {"sharpness": 0.3}, {"route": "direct"},
    {"renormalise": "once"},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", [InterpolatedParabel, TextSoftmax])
def test_every_part_of_the_scheme_reaches_the_tree(data, kind, change):
    scheme = {"lambda_prime": 4.0} | ({"tree": "interpolated"} if kind is TextSoftmax else {"max_leaf": 2})
    (plain,), (changed,) = (kind(**one).build_trees(*data) for one in (scheme, scheme | change))
    assert not changed.same_as(plain)


def test_a_saved_model_is_the_same(data, tmp_path):
    X, Y = data
    model = InterpolatedParabel(max_leaf=6, lambda_prime=0.5, frequencies="greedy").fit(X, Y)
    model.save(tmp_path / "model")
    loaded = Parabel.load(tmp_path / "model")
    assert isinstance(loaded, InterpolatedParabel) and loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.predict_topk(X)[0], model.predict_topk(X)[0])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"lambda_prime": -1.0}, "λ′ must be at least 0"),
        ({"lambda_prime": "1"}, "lambda_prime must be a number"),
        ({"n_splits": 1}, "n_splits must be at least 2"),
        ({"frequencies": "often"}, "frequencies must be one of"),
    ],
)
def test_wrong_parameters_are_refused_before_any_work(data, wrong, words):
    with pytest.raises(ValueError, match=words):
        InterpolatedParabel(**wrong).fit(*data)
