import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from orchard.trees.builders import balanced_label_tree
from orchard.trees.coding import huffman_label_tree
from orchard.trees.label_tree import LabelTree
from orchard.trees.merging import with_more_children


def test_a_balanced_tree_of_equal_weights_loses_whole_levels():
    """16 leaves, four levels of two: two levels of four, the same leaves from left to right."""
    tree = balanced_label_tree(sp.eye(16, format="csr", dtype=np.float32), max_leaf=1)
    wide = with_more_children(tree, 4, np.ones(16))
    assert wide.levels.tolist() == [0, 1, 5, 21]
    np.testing.assert_array_equal(wide.label_indices, tree.label_indices)


def test_the_heaviest_child_gives_way_first():
    """((0, 1), (2, 3)) with all weight on 2: three children are (0, 1), 2 and 3."""
    tree = LabelTree.from_groups([[[0], [1]], [[2], [3]]])
    wide = with_more_children(tree, 3, [1, 1, 9, 1])
    np.testing.assert_array_equal(wide.label_depths, [2, 2, 1, 1])
    assert with_more_children(tree, 2, [1, 1, 9, 1]).same_as(tree)


@settings(deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=60).filter(any), st.integers(2, 8))
def test_leaves_stay_and_nobody_gets_deeper(f, n_splits):
    tree = huffman_label_tree(f)
    wide = with_more_children(tree, n_splits, f)
    assert np.diff(wide.children).max() <= n_splits
    assert wide.n_leaves == tree.n_leaves == len(f)
    assert (wide.label_depths <= tree.label_depths).all()


def test_wrong_arguments_are_refused():
    tree = LabelTree.from_groups([[0], [1]])
    with pytest.raises(ValueError, match="n_splits must be at least 2"):
        with_more_children(tree, 1, [1, 1])
    with pytest.raises(ValueError, match="weights must be 2 frequencies"):
        with_more_children(tree, 2, [1, -1])
