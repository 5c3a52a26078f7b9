import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from orchard.trees.balanced import balanced_tree
from orchard.trees.bonsai_embeddings import bonsai_embeddings
from orchard.trees.builders import _spread, balanced_label_tree, kmeans_label_tree, merged_label_tree
from orchard.trees.embeddings import pifa, unit_rows

BUILDERS = [balanced_label_tree, merged_label_tree, kmeans_label_tree]


def random_embeddings(seed, n_labels, empty=0.1, repeated=0.2):
    """Unit rows, some of them empty, some of them copies of others."""
    rng = np.random.default_rng(seed)
    dense = rng.random((n_labels, 25)) * (rng.random((n_labels, 25)) < 0.2)
    copies = rng.random(n_labels) < repeated
    dense[copies] = dense[rng.integers(n_labels, size=copies.sum())]
    dense[rng.random(n_labels) < empty] = 0
    return unit_rows(sp.csr_matrix(dense))


def leaf_sizes(tree):
    return np.diff(tree.label_indptr)[tree.leaves]


def in_one_leaf_each(tree, n_labels):
    return tree.n_labels == n_labels and (tree.n_copies == 1).all()


def has_only_children(tree):
    return (np.diff(tree.children) == 1).any()


@given(st.integers(0, 1000), st.integers(1, 150), st.integers(1, 40))
def test_a_balanced_tree_is_binary_and_its_leaves_are_alike(seed, n_labels, max_leaf):
    """Every label in one leaf, no leaf over the limit, sizes that differ by one at most, two children each."""
    tree = balanced_label_tree(random_embeddings(seed, n_labels), max_leaf, seed, n_jobs=1)
    assert in_one_leaf_each(tree, n_labels)
    assert leaf_sizes(tree).max() <= max_leaf and np.ptp(leaf_sizes(tree)) <= 1
    assert set(np.diff(tree.children)) <= {0, 2}


@pytest.mark.parametrize(("n_labels", "n_leaves"), [(99, 1), (100, 1), (101, 2), (200, 2), (201, 4), (401, 8)])
def test_a_balanced_tree_has_the_depth_of_the_paper(n_labels, n_leaves):
    """2^⌈log2(L / max_leaf)⌉ leaves: a hundred labels still fit into one, one more takes two."""
    tree = balanced_label_tree(random_embeddings(0, n_labels), max_leaf=100)
    assert tree.n_leaves == n_leaves and 2**tree.max_depth == n_leaves


def test_more_leaves_than_labels_are_never_asked_for():
    """Leaves of one label: five labels get five leaves, not eight."""
    tree = balanced_label_tree(random_embeddings(0, 5), max_leaf=1)
    np.testing.assert_array_equal(leaf_sizes(tree), np.ones(5))


@given(st.integers(0, 1000), st.integers(1, 150), st.integers(1, 40), st.integers(2, 9))
def test_a_merged_tree_has_the_same_leaves_under_fewer_levels(seed, n_labels, max_leaf, n_splits):
    """XR-Linear's leaves are those of the binary tree, at most n_splits children to a node, and nobody is alone."""
    embeddings = random_embeddings(seed, n_labels)
    tree = merged_label_tree(embeddings, n_splits, max_leaf, seed, n_jobs=1)
    binary = balanced_label_tree(embeddings, max_leaf, seed, n_jobs=1, tolerance=0, max_iterations=20)

    def leaves(some):
        return sorted(some.labels_of(leaf).tolist() for leaf in some.leaves)

    assert in_one_leaf_each(tree, n_labels) and leaves(tree) == leaves(binary)
    assert np.diff(tree.children).max() <= n_splits and not has_only_children(tree)
    assert tree.max_depth <= binary.max_depth


def test_merging_is_integer_division():
    """64 clusters by 16: parents are clusters // 16, and the matrices of the chain say so."""
    embeddings = random_embeddings(3, 200)
    tree = merged_label_tree(embeddings, n_splits=16, max_leaf=4, seed=3)
    chain = tree.to_chain()
    np.testing.assert_array_equal(chain[0].toarray(), np.ones((4, 1)))
    np.testing.assert_array_equal(chain[1].tocsr().indices, np.arange(64) // 16)
    clusters = balanced_tree(embeddings, 64, 3, tolerance=0, max_iterations=20)
    first_cluster = clusters.leaf_order[: clusters.boundaries[-1][1]]
    np.testing.assert_array_equal(chain[2][:, [0]].nonzero()[0], np.sort(first_cluster))


def test_a_last_parent_of_one_child_is_that_child():
    """Eight clusters by 7: 7 + 1, and the eighth is a leaf beside the parent of seven."""
    tree = merged_label_tree(random_embeddings(0, 16), n_splits=7, max_leaf=2)
    np.testing.assert_array_equal(np.bincount(tree.depth), [1, 2, 7])


@given(st.integers(0, 1000), st.integers(1, 200), st.integers(2, 12), st.sampled_from([1, 3, 10, 30, None]))
def test_a_kmeans_tree_holds_every_label_once(seed, n_labels, n_splits, max_leaf):
    """Leaves within the limit, at most n_splits children, nobody alone, whatever is empty or repeated."""
    tree = kmeans_label_tree(random_embeddings(seed, n_labels), n_splits, max_leaf, seed=seed, n_jobs=1)
    assert in_one_leaf_each(tree, n_labels)
    assert leaf_sizes(tree).max() <= (n_splits if max_leaf is None else max_leaf)
    assert np.diff(tree.children).max() <= n_splits and not has_only_children(tree)


@given(st.integers(0, 1000), st.integers(0, 3))
def test_a_kmeans_tree_stops_at_its_depth(seed, max_depth):
    """Leaves at the last level are as large as they are."""
    tree = kmeans_label_tree(random_embeddings(seed, 150), 4, max_depth=max_depth, seed=seed, n_jobs=1)
    assert tree.max_depth == max_depth and in_one_leaf_each(tree, 150)
    assert (leaf_sizes(tree)[tree.depth[tree.leaves] < max_depth] <= 4).all()


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize("n_labels", [1, 2, 7])
def test_few_labels_are_a_root_with_all_of_them(build, n_labels):
    """Fewer labels than a leaf may hold: one-vs-all."""
    tree = build(random_embeddings(0, n_labels), max_leaf=7)
    assert (tree.n_nodes, tree.n_labels) == (1, n_labels)


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize("row", [[0.6, 0.8, 0.0], [0.0, 0.0, 0.0]])
def test_labels_that_look_alike_are_still_split(build, row):
    """A hundred equal or empty embeddings must neither loop for ever nor end in one leaf."""
    tree = build(sp.csr_matrix(np.tile(row, (100, 1)).astype(np.float32)), max_leaf=9)
    assert in_one_leaf_each(tree, 100) and leaf_sizes(tree).max() <= 9


@pytest.mark.parametrize("build", BUILDERS)
def test_a_tree_depends_on_the_seed_and_not_on_the_threads(build):
    """One, two, three threads or all: the same tree; another seed, another tree."""
    embeddings = random_embeddings(11, 900)
    one = build(embeddings, max_leaf=12, seed=4, n_jobs=1)
    for n_jobs in (1, 2, 3, None):
        assert build(embeddings, max_leaf=12, seed=4, n_jobs=n_jobs).same_as(one)
    assert not build(embeddings, max_leaf=12, seed=5, n_jobs=1).same_as(one)


def test_labels_of_three_topics_are_told_apart():
    """Nine labels around three axes: k-means with three splits finds the axes, when it starts in all of them."""
    topics = np.repeat(np.eye(3), 3, axis=0) + np.random.default_rng(0).random((9, 3)) / 10
    for seed in range(20):
        tree = kmeans_label_tree(unit_rows(sp.csr_matrix(topics)), n_splits=3, max_leaf=3, seed=seed)
        if tree.n_leaves == 3:
            break
    assert sorted(tree.labels_of(leaf).tolist() for leaf in tree.leaves) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_labels_without_positives_go_where_there_is_room():
    """Parts of 1, 3 and 2 labels: each of four more goes to what is the smallest part then, the first of equals."""
    parts = _spread(np.array([0, 4, 5, 9]), [np.array([1]), np.array([2, 6, 7]), np.array([3, 8])])
    assert [part.tolist() for part in parts] == [[0, 1, 4, 9], [2, 6, 7], [3, 5, 8]]


@pytest.mark.parametrize("build", BUILDERS)
def test_wrong_arguments_are_named(build):
    """No labels, leaves that hold nothing."""
    with pytest.raises(ValueError, match="at least one label"):
        build(sp.csr_matrix((0, 4), dtype=np.float32))
    with pytest.raises(ValueError, match="max_leaf must be at least 1, not 0"):
        build(random_embeddings(0, 5), max_leaf=0)


@pytest.mark.parametrize("build", [merged_label_tree, kmeans_label_tree])
def test_a_node_needs_two_children(build):
    """One child to a node would never end."""
    with pytest.raises(ValueError, match="n_splits must be at least 2, not 1"):
        build(random_embeddings(0, 5), n_splits=1)


def test_no_iterations_are_refused():
    """Without an assignment there are no clusters."""
    with pytest.raises(ValueError, match="max_iterations must be at least 1"):
        kmeans_label_tree(random_embeddings(0, 5), max_iterations=0)


def test_bonsai_embeddings_agree_with_dense_numpy():
    """Input, output and both side by side, unit rows; the label without positives has an empty row in each."""
    rng = np.random.default_rng(0)
    X, Y = rng.random((20, 6)), (rng.random((20, 5)) < 0.3).astype(np.float32)
    Y[:, 2] = 0

    def unit(A):
        norms = np.linalg.norm(A, axis=1, keepdims=True)
        return np.divide(A, norms, out=np.zeros_like(A), where=norms > 0)

    output = unit(Y.T @ Y)
    expected = {"output": output, "joint": unit(np.hstack([unit(Y.T @ unit(X)), output]))}
    for kind, dense in expected.items():
        V = bonsai_embeddings(sp.csr_matrix(X), sp.csr_matrix(Y), kind)
        np.testing.assert_allclose(V.toarray(), dense, atol=1e-6)
        assert V.format == "csr" and V.dtype == np.float32 and V.has_sorted_indices and not V[2].nnz
    V = bonsai_embeddings(sp.csr_matrix(X), sp.csr_matrix(Y), "input")
    assert (pifa(sp.csr_matrix(X), sp.csr_matrix(Y)) != V).nnz == 0
    with pytest.raises(ValueError, match="'input', 'output', 'joint', not 'both'"):
        bonsai_embeddings(X, Y, "both")


def test_a_tree_grows_on_joint_embeddings():
    """The width of the joint space is d + L, and the builders take it as it is."""
    rng = np.random.default_rng(1)
    X, Y = sp.random(80, 30, 0.2, "csr", random_state=1), sp.csr_matrix(rng.random((80, 40)) < 0.05)
    tree = kmeans_label_tree(bonsai_embeddings(X, Y), n_splits=5)
    assert in_one_leaf_each(tree, 40) and tree.n_leaves > 1
