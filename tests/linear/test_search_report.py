"""What a search asks and what it can find, against a plain search and by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_engine import plain_beam, random_tree, random_X, random_Y, scaled

from orchard import DiSMEC, Parabel, XRLinear
from orchard.linear.search import SearchSettings
from orchard.linear.search_report import n_scored
from orchard.linear.training import SolverSettings, train_tree
from orchard.trees.label_tree import LabelTree


def plain_scored(model, x, where):
    """Classifiers of inner nodes and of labels, counted along a search that is written down level by level."""
    tree, nodes = model.tree, 0
    for level in range(tree.max_depth):
        nodes += sum(int(np.diff(tree.children)[node]) for _, node in plain_beam(model, x, where, level))
    held = [tree.labels_of(node).size for _, node in plain_beam(model, x, where)]
    return nodes, sum(n for n in held if n > 1 or tree.n_nodes == 1)


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(0, 2))
@settings(max_examples=25)
def test_classifiers_are_counted_as_a_plain_search_asks_them(seed, beam, copies):
    """Leaves at any depth, some with one label, which has no classifier; a leaf that waits in the beam counts once."""
    rng = np.random.default_rng(seed)
    X, Y, tree = random_X(rng, 40, 12), random_Y(rng, 40, 14), random_tree(rng, 14, copies=copies)
    model, where = train_tree(X, Y, tree, SolverSettings()), SearchSettings(beam=beam).validate()
    nodes, labels = n_scored(model, X, where)
    for row, x in enumerate(scaled(X, where)[:10]):
        assert (nodes[row], labels[row]) == plain_scored(model, x, where)


def test_a_report_by_hand():
    """Two leaves of two labels and one of three, all in the beam: 3 nodes and 7 labels, label 0 twice; all is found.

    With a beam of one a query sees one leaf; what is there of its labels is the matcher's recall.
    """
    tree = LabelTree.from_groups([[0, 1], [2, 3], [0, 4, 5]])
    X = sp.csr_matrix(np.eye(6, dtype=np.float32))
    Y = sp.csr_matrix(np.eye(6, dtype=np.float32))
    model = XRLinear().fit(X, Y, trees=[tree])
    report = model.search_report(X, Y)
    assert report == {
        "scored": 10, "scored nodes": 3, "scored labels": 7, "matcher recall": 100, "copies per label": 7 / 6,
        "largest cluster": 3,
    }  # fmt: skip
    narrow = model.set_params(query_beam=1).search_report(X, np.ones((6, 6)))
    assert narrow["scored nodes"] == 3
    assert 2 <= narrow["scored labels"] <= 3
    assert narrow["matcher recall"] == pytest.approx(100 * narrow["scored labels"] / 6)


def test_trees_add_up_and_recall_is_that_of_any_tree():
    """Three trees ask three times as much as one on average, and find a label if one of them does."""
    rng = np.random.default_rng(0)
    X, Y = random_X(rng, 80, 30), random_Y(rng, 80, 24)
    three = Parabel(max_leaf=3, beam=2).fit(X, Y)
    reports = []
    for model in three.models_:
        one = Parabel(n_trees=1, max_leaf=3, beam=2).fit(X, Y, trees=[model.tree])
        one.models_ = [model]
        reports.append(one.search_report(X, Y))
    together = three.search_report(X, Y)
    assert together["scored"] == pytest.approx(sum(report["scored"] for report in reports))
    assert together["matcher recall"] > max(report["matcher recall"] for report in reports)
    assert together["copies per label"] == 1


def test_one_versus_all_asks_every_label():
    rng = np.random.default_rng(0)
    X, Y = random_X(rng, 30, 10), random_Y(rng, 30, 7)
    report = DiSMEC().fit(X, Y).search_report(X, Y)
    assert (report["scored nodes"], report["scored labels"], report["matcher recall"]) == (0, 7, 100)
