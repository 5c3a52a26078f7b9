import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchard.trees.coding import fano_label_tree, huffman_label_tree

frequencies = st.lists(st.integers(0, 50), min_size=2, max_size=40).filter(any)


def expected_depth_of(tree, f):
    return float(np.dot(f, tree.label_depths) / np.sum(f))


def test_huffman_worked_by_hand():
    """5, 9, 12, 13, 16, 45: the textbook's code lengths 4, 4, 3, 3, 3, 1."""
    tree = huffman_label_tree([5, 9, 12, 13, 16, 45])
    np.testing.assert_array_equal(tree.label_depths, [4, 4, 3, 3, 3, 1])
    assert np.diff(tree.children)[~tree.is_leaf].tolist() == [2] * 5


def test_a_joined_node_goes_before_a_label_that_is_as_frequent():
    """1, 1, 2, 2: the two ones become a 2, which is joined with the first 2 before the labels are, as in fastText."""
    np.testing.assert_array_equal(huffman_label_tree([1, 1, 2, 2]).label_depths, [3, 3, 2, 1])
    np.testing.assert_array_equal(huffman_label_tree([1, 1, 2, 2], [0, 1, 3, 2]).label_depths, [3, 3, 1, 2])
    with pytest.raises(ValueError, match="all labels by rising frequency"):
        huffman_label_tree([1, 1, 2, 2], [3, 2, 1, 0])


def test_fano_worked_by_hand():
    """15, 7, 6, 6, 5 is cut 22 to 17, then 15 to 7 and 6 to 11, then 6 to 5: Fano's example, expected depth 89/39."""
    tree = fano_label_tree([15, 7, 6, 6, 5])
    np.testing.assert_array_equal(tree.label_depths, [2, 2, 2, 3, 3])
    assert expected_depth_of(tree, [15, 7, 6, 6, 5]) == pytest.approx(89 / 39)


def test_of_two_equal_cuts_fano_takes_the_larger_left_side():
    """2, 1, 1 … 1 to 1 is as good as 3 to 1 for 1, 2, 1: what surpasses one half goes to the left (§3.2)."""
    tree = fano_label_tree([1, 2, 1])
    assert tree.label_depths.tolist() == [2, 1, 2]
    assert fano_label_tree([1, 1, 1]).label_depths.tolist() == [2, 2, 1]


@given(frequencies)
def test_depths_are_within_one_of_the_entropy(f):
    """Huffman's is optimal, so below entropy + 1 and no deeper than Fano's, which is less than 2 above the entropy."""
    p = np.array(f) / np.sum(f)
    entropy = -(p[p > 0] * np.log2(p[p > 0])).sum()
    huffman, fano = (expected_depth_of(build(f), f) for build in (huffman_label_tree, fano_label_tree))
    assert entropy - 1e-9 <= huffman <= fano + 1e-9
    assert huffman < entropy + 1 + 1e-9
    assert fano < entropy + 2


@given(frequencies, st.integers(1, 5))
def test_leaves_hold_at_most_max_leaf_labels(f, max_leaf):
    tree = fano_label_tree(f, max_leaf)
    sizes = np.diff(tree.label_indptr)
    assert sizes.max() <= max_leaf and sizes.sum() == len(f)


def test_a_single_label_is_a_root():
    assert huffman_label_tree([3]).n_nodes == fano_label_tree([3]).n_nodes == 1


@pytest.mark.parametrize("build", [huffman_label_tree, fano_label_tree])
@pytest.mark.parametrize("wrong", [[], [1, -1], [np.inf, 1], [[1, 2]]])
def test_what_is_no_frequency_is_refused(build, wrong):
    with pytest.raises(ValueError, match="must be one or more frequencies"):
        build(wrong)
