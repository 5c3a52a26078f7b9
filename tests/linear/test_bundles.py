"""Which nodes are stored together."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_engine import binary_tree, random_tree

from orchard.linear.bundles import MOST_OUTPUTS, Bundles, outputs_of_nodes
from orchard.trees.label_tree import LabelTree


def test_three_binary_levels_are_one_bundle():
    """2 + 4 + 8 = 14 classifiers; the level below begins 8 new bundles, and each leaf is one of its own."""
    tree = binary_tree(6)
    bundles = Bundles(tree)
    assert bundles.bands.tolist() == [0, 3, 6]
    assert bundles.n_nodes.tolist() == 9 * [7] + 64 * [1]
    assert bundles.n_outputs.tolist() == 9 * [14] + 64 * [2]
    assert bundles.first_output[:7].tolist() == list(range(0, 14, 2))


def test_wide_nodes_stay_alone():
    """Nothing is gained where a node has many classifiers of its own."""
    tree = LabelTree.from_groups([[[2 * (7 * i + j), 2 * (7 * i + j) + 1] for j in range(7)] for i in range(7)])
    bundles = Bundles(tree)
    assert bundles.bands.tolist() == [0, 1, 2] and len(bundles) == tree.n_nodes


def test_a_tree_of_one_leaf_is_one_bundle():
    """One-vs-all: no band at all, one bundle with every label."""
    bundles = Bundles(LabelTree.from_groups(range(40)))
    assert bundles.bands.tolist() == [0, 0] and bundles.n_outputs.tolist() == [40]


@given(st.integers(0, 10_000), st.integers(2, 12))
@settings(max_examples=60)
def test_bundles_are_subtrees_that_begin_at_a_band_and_share_out_the_outputs(seed, n_splits):
    """Every node is in one bundle, leaves alone; a bundle hangs together, keeps to its band and to the limit."""
    tree = random_tree(np.random.default_rng(seed), 60, depth=6, n_splits=n_splits)
    bundles, n_outputs = Bundles(tree), outputs_of_nodes(tree)
    assert sorted(bundles.order) == list(range(tree.n_nodes))
    for bundle in range(len(bundles)):
        nodes = bundles.order[bundles.of_node[bundles.order] == bundle]
        top = nodes[0]
        assert (bundles.top[nodes] == top).all() and (np.diff(nodes) > 0).all()
        assert bundles.n_outputs[bundle] == n_outputs[nodes].sum()
        assert bundles.first_output[nodes].tolist() == (np.cumsum(n_outputs[nodes]) - n_outputs[nodes]).tolist()
        if tree.is_leaf[top]:
            assert nodes.size == 1
            continue
        band = np.searchsorted(bundles.bands, tree.depth[top])
        assert bundles.bands[band] == tree.depth[top] and (tree.depth[nodes] < bundles.bands[band + 1]).all()
        assert all(bundles.of_node[tree.parent[node]] == bundle for node in nodes[1:])
        assert nodes.size == 1 or bundles.n_outputs[bundle] <= MOST_OUTPUTS
    assert (np.diff(bundles.top[bundles.order]) >= 0).all()
