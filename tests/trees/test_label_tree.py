import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from orchard.errors import OrchardError
from orchard.trees.balanced import balanced_tree
from orchard.trees.label_tree import LabelTree

FIVE = [[0, 3], [[1], [2, 4]]]  # one leaf at depth 1, two at depth 2


@st.composite
def trees(draw, only_children=False):
    """Any tree of up to a dozen leaves, its labels shuffled, some of them in several leaves."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    fewest = 1 if only_children else 2

    def grow(depth):
        if depth == 0 or rng.random() < 0.3:
            return leaf_labels.pop()
        return [grow(depth - 1) for _ in range(rng.integers(fewest, 4))]

    depth = draw(st.integers(0, 3))
    n_labels = 81
    parts = np.array_split(rng.permutation(n_labels), 27)
    leaf_labels = [sorted({*part, *rng.integers(n_labels, size=rng.integers(3))}) for part in parts]
    groups = grow(depth)
    used = sorted({int(label) for label in _flat(groups)})
    return LabelTree.from_groups(_renamed(groups, {label: i for i, label in enumerate(used)}))


def _flat(groups):
    for member in groups:
        yield from _flat(member) if isinstance(member, list) else [member]


def _renamed(groups, names):
    return [_renamed(member, names) if isinstance(member, list) else names[int(member)] for member in groups]


def test_the_arrays_of_a_small_tree():
    """Breadth first: the root, the leaf {0, 3} and its sibling, then the sibling's two leaves."""
    tree = LabelTree.from_groups(FIVE)
    np.testing.assert_array_equal(tree.children, [1, 3, 3, 5, 5, 5])
    np.testing.assert_array_equal(tree.label_indptr, [0, 0, 2, 2, 3, 5])
    np.testing.assert_array_equal(tree.label_indices, [0, 3, 1, 2, 4])
    assert (tree.children.dtype, tree.label_indptr.dtype, tree.label_indices.dtype) == (np.int64, np.int64, np.int32)
    assert (tree.n_labels, tree.n_nodes, tree.n_leaves, tree.max_depth) == (5, 5, 3, 2)
    np.testing.assert_array_equal(tree.leaves, [1, 3, 4])
    np.testing.assert_array_equal(tree.is_leaf, [False, True, False, True, True])
    np.testing.assert_array_equal(tree.parent, [-1, 0, 0, 2, 2])
    np.testing.assert_array_equal(tree.depth, [0, 1, 1, 2, 2])
    np.testing.assert_array_equal(tree.levels, [0, 1, 3, 5])
    np.testing.assert_array_equal(tree.label_depths, [1, 2, 2, 1, 2])
    np.testing.assert_array_equal(tree.n_copies, np.ones(5))
    assert (tree.parent.dtype, tree.depth.dtype, tree.leaves.dtype) == (np.int64, np.int32, np.int64)


def test_a_root_that_is_a_leaf_is_one_versus_all():
    """All labels in node 0, at depth 0."""
    tree = LabelTree.from_groups([2, 0, 1])
    assert (tree.n_nodes, tree.n_leaves, tree.max_depth) == (1, 1, 0)
    np.testing.assert_array_equal(tree.labels_of(0), [0, 1, 2])
    np.testing.assert_array_equal(tree.label_depths, [0, 0, 0])


def test_a_label_in_several_leaves_counts_its_copies_and_its_shallowest_depth():
    """Label 1 stands at depth 1 and at depth 2."""
    tree = LabelTree.from_groups([[[0, 1], [2]], [1, 3]])
    np.testing.assert_array_equal(tree.n_copies, [1, 2, 1, 1])
    np.testing.assert_array_equal(tree.label_depths, [2, 1, 2, 1])


@given(trees())
def test_every_property_agrees_with_a_walk_over_the_tree(tree):
    """Parents, depths, leaves and labels' depths as a person would find them, node by node."""
    depth, parent = {0: 0}, {0: -1}
    for node in range(tree.n_nodes):
        for child in range(tree.children[node], tree.children[node + 1]):
            depth[child], parent[child] = depth[node] + 1, node
    nodes = range(tree.n_nodes)
    assert [depth[node] for node in nodes] == tree.depth.tolist()
    assert [parent[node] for node in nodes] == tree.parent.tolist()
    assert [node for node in nodes if node not in parent.values()] == tree.leaves.tolist()
    for label in range(tree.n_labels):
        holders = [node for node in nodes if label in tree.labels_of(node)]
        assert tree.n_copies[label] == len(holders)
        assert tree.label_depths[label] == min(depth[node] for node in holders)
    np.testing.assert_array_equal(tree.leaf_labels.sum(axis=1).A1, [tree.labels_of(leaf).size for leaf in tree.leaves])


@pytest.mark.parametrize(
    ("children", "label_indptr", "label_indices", "n_labels", "problem"),
    [
        ([], [], [], 1, "children must be one-dimensional integers, not float64"),
        (np.array([1]), [0], np.array([], int), 1, "at least a root"),
        ([1, 2], [0, 1], [0], 1, "children must go from 1 to the number of nodes, 1, not from 1 to 2"),
        ([1, 4, 3, 4, 4], [0, 0, 0, 1, 2], [0, 1], 2, "must not fall"),
        ([1, 2, 2, 4, 4], [0, 0, 1, 1, 2], [0, 1], 2, "node 2 stands before its parent"),
        ([1.5, 1.0], [0, 1], [0], 1, "children must be one-dimensional integers, not float64"),
        ([1, 1], [0, 1], [2**40], 1, "label_indices has values that do not fit into int32"),
        ([1, 1], [0, 1], [0], 0, "at least one label, not 0"),
        ([1, 1], [0, 1, 1], [0], 1, "label_indptr has 3 entries, 1 nodes need 2"),
        ([1, 1], [0, 2], [0], 1, "label_indptr must rise from 0 to the number of labels held, 1"),
        ([1, 3, 3, 3], [0, 2, 1, 3], [0, 1, 2], 3, "label_indptr must rise"),
        ([1, 3, 3, 3], [0, 1, 2, 3], [0, 1, 2], 3, "node 0 has children and labels"),
        ([1, 3, 3, 3], [0, 0, 2, 2], [0, 1], 2, "leaf 2 holds no labels"),
        ([1, 1], [0, 2], [0, 2], 2, "a label is out of range: they go from 0 to 1"),
        ([1, 1], [0, 2], [-1, 0], 2, "a label is out of range"),
        ([1, 3, 3, 3], [0, 0, 1, 3], [0, 1, 1], 2, "leaf 2 holds label 1 twice"),
        ([1, 3, 3, 3], [0, 0, 1, 3], [0, 2, 1], 3, "leaf 2 does not hold its labels in ascending order"),
        ([1, 1], [0, 2], [0, 2], 3, "label 1 is in no leaf"),
    ],
)
def test_what_is_not_a_tree_is_refused(children, label_indptr, label_indices, n_labels, problem):
    """Each rule of the structure has its own message; kernels trust these arrays without looking."""
    with pytest.raises(ValueError, match=problem):
        LabelTree(children, label_indptr, label_indices, n_labels)


def test_other_integer_types_are_converted():
    """What a caller's platform made of his numbers must not reach the kernels."""
    tree = LabelTree(np.array([1, 1], np.uint8), np.array([0, 2], np.int32), np.array([0, 1], np.int64), np.int16(2))
    assert (tree.children.dtype, tree.label_indptr.dtype, tree.label_indices.dtype) == (np.int64, np.int64, np.int32)
    assert type(tree.n_labels) is int


@given(trees(only_children=True), st.randoms(use_true_random=False))
def test_any_numbering_of_the_nodes_gives_the_same_tree(tree, random):
    """`from_parents` finds breadth-first order by itself, as long as siblings keep theirs."""
    keys = [random.random() for _ in range(tree.n_nodes)]
    for node in range(tree.n_nodes):  # siblings must ascend
        siblings = slice(tree.children[node], tree.children[node + 1])
        keys[siblings] = sorted(keys[siblings])
    order = np.argsort(keys, kind="stable")
    number = np.argsort(order)
    parents = np.where(tree.parent[order] < 0, -1, number[tree.parent[order]])
    nodes = number[np.repeat(np.arange(tree.n_nodes), np.diff(tree.label_indptr))]
    shuffled = np.array(random.sample(range(nodes.size), nodes.size))
    assert LabelTree.from_parents(parents, nodes[shuffled], tree.label_indices[shuffled]).same_as(tree)


@pytest.mark.parametrize(
    ("parents", "nodes", "labels", "problem"),
    [
        ([-1, -1], [0, 1], [0, 1], "one root, with parent -1; here are 2"),
        ([-1, 5], [1], [0], "a parent is out of range: they go from -1 to 1"),
        ([-1, 2, 1], [0], [0], "2 nodes do not descend from the root"),
        ([-1], [3], [0], "a node out of range"),
        ([-1], [0, 0], [0], "2 nodes for 1 labels"),
    ],
)
def test_parents_that_are_no_tree_are_refused(parents, nodes, labels, problem):
    """Two roots, circles and strangers are told."""
    with pytest.raises(ValueError, match=problem):
        LabelTree.from_parents(parents, nodes, labels)


def test_labels_and_groups_do_not_mix():
    """An inner node holds no labels, so nested lists must not ask for it."""
    with pytest.raises(ValueError, match="either labels or groups"):
        LabelTree.from_groups([0, [1, 2]])


def test_partitions_end_at_any_level():
    """Three of five clusters are finished a level earlier: they must not get an only child."""
    partitions = [[0, 10], [0, 6, 10], [0, 4, 6, 8, 10], [0, 2, 4, 6, 8, 10]]
    tree = LabelTree.from_partitions(np.arange(10)[::-1], [np.array(level) for level in partitions])
    assert tree.same_as(LabelTree.from_groups([[[[8, 9], [6, 7]], [4, 5]], [[2, 3], [0, 1]]]))


def test_the_nodes_of_a_balanced_tree_hold_its_parts():
    """Eight clusters of 41 labels: every cluster is a leaf, from left to right."""
    rng = np.random.default_rng(0)
    clusters = balanced_tree(sp.csr_matrix(rng.random((41, 6)).astype(np.float32)), 8, seed=0)
    tree = LabelTree.from_partitions(*clusters)
    assert tree.n_nodes == 15 and tree.n_leaves == 8
    expected = np.split(clusters.leaf_order, clusters.boundaries[-1][1:-1])
    for leaf, labels in zip(tree.leaves, expected, strict=True):
        np.testing.assert_array_equal(tree.labels_of(leaf), np.sort(labels))


@pytest.mark.parametrize("boundaries", [[[0, 3]], [[0, 4], [0, 1, 3]], [[0, 4], [0, 2, 4], [0, 1, 3, 4]]])
def test_partitions_must_be_nested(boundaries):
    """A level that cuts through a part above it has no tree."""
    with pytest.raises(ValueError, match="level"):
        LabelTree.from_partitions(np.arange(4), [np.array(level) for level in boundaries])


@given(trees())
def test_a_chain_comes_back_as_the_same_tree(tree):
    """Padding puts all leaves at one depth and `collapse` takes it away; the labels of overlapping leaves survive."""
    chain = tree.to_chain()
    assert [matrix.shape[1] for matrix in chain] == [1] + [matrix.shape[0] for matrix in chain[:-1]]
    assert chain[-1].shape == (tree.n_labels, tree.n_leaves) and len(chain) == tree.max_depth + 1
    assert LabelTree.from_chain(chain, collapse=True).same_as(tree)


@given(trees(only_children=True), st.integers(0, 1000))
def test_a_chain_in_any_order_gives_children_side_by_side(tree, seed):
    """Clusters are renumbered; what is nested in what must stay, label by label."""
    rng = np.random.default_rng(seed)
    chain, columns = tree.to_chain(), np.array([0])
    shuffled = []
    for level, matrix in enumerate(chain):
        last = level == len(chain) - 1
        rows = np.arange(matrix.shape[0]) if last else rng.permutation(matrix.shape[0])
        shuffled.append(sp.coo_matrix(matrix.tocsr()[rows][:, columns]))
        columns = rows
    padded, again = LabelTree.from_chain(chain), LabelTree.from_chain(shuffled)
    assert again.n_nodes == padded.n_nodes

    def nests(some):
        paths = set()
        product = sp.csr_matrix(some.to_chain()[-1])
        for matrix in reversed(some.to_chain()[:-1]):
            paths |= {frozenset(column.nonzero()[0]) for column in product.toarray().T}
            product = product @ matrix
        return paths

    assert nests(again) == nests(padded)


@pytest.mark.parametrize(
    ("chain", "problem"),
    [
        ([], "the chain is empty"),
        ([np.ones((2, 1)), np.ones((3, 3))], r"chain\[1\] has 3 columns, the level above has 2 nodes"),
        ([np.ones((2, 1)), np.ones((2, 2)), np.eye(2)], r"chain\[1\]: every cluster must have exactly one parent"),
        ([np.array([[1], [0]]), np.eye(2)], r"chain\[0\]: every cluster must have exactly one parent"),
        ([np.ones((2, 1)), np.array([[1, 0]])], "leaf 2 holds no labels"),
    ],
)
def test_a_broken_chain_is_refused(chain, problem):
    """Shapes that do not fit, clusters with no parent or two, clusters without labels."""
    with pytest.raises(ValueError, match=problem):
        LabelTree.from_chain([sp.csr_matrix(matrix) for matrix in chain])


@given(trees())
def test_the_same_leaves_give_the_same_tree(tree):
    """`with_leaf_labels` changes nothing but the labels."""
    assert tree.with_leaf_labels(tree.leaf_labels).same_as(tree)
    assert tree.with_leaf_labels(tree.leaf_labels, drop_empty=True).same_as(tree)


def test_other_labels_keep_the_inner_tree():
    """Label 0 gets a copy in the leaf of label 1; explicit zeros and unsorted columns are no labels."""
    tree = LabelTree.from_groups(FIVE)
    C = sp.csr_matrix(([1, 1, 1, 1, 2, 1, 0], [4, 3, 0, 1, 0, 2, 4], [0, 3, 5, 7]))
    assert tree.with_leaf_labels(C).same_as(LabelTree.from_groups([[0, 3, 4], [[0, 1], [2]]]))
    with pytest.raises(ValueError, match="2 rows, the tree has 3 leaves"):
        tree.with_leaf_labels(C[:2])


def test_leaves_left_without_labels_can_be_dropped():
    """When all labels of both deep leaves move away, their parent must go too, or it would be an empty leaf."""
    tree = LabelTree.from_groups(FIVE)
    C = sp.csr_matrix(np.array([[1, 1, 1, 1, 1], [0] * 5, [0] * 5]))
    with pytest.raises(ValueError, match="leaf 3 holds no labels"):
        tree.with_leaf_labels(C)
    assert tree.with_leaf_labels(C, drop_empty=True).same_as(LabelTree.from_groups([[0, 1, 2, 3, 4]]))


def test_a_drawing_names_labels_and_what_it_leaves_out():
    """Lines, labels of a leaf and the count of the rest, in the words of the data set."""
    tree = LabelTree.from_groups(FIVE)
    names = ["apple", "pear", "fig", "quince", "plum"]
    assert tree.draw(names).splitlines() == [
        "0: 2 children",
        "├─ 1: 2 labels: apple, quince",
        "└─ 2: 2 children",
        "   ├─ 3: 1 label: pear",
        "   └─ 4: 2 labels: fig, plum",
    ]
    assert tree.draw(max_lines=2).splitlines() == ["0: 2 children", "├─ 1: 2 labels: 0, 3", "… and 3 more nodes"]
    assert LabelTree.from_groups(range(1234)).draw(max_labels=2) == "0: 1,234 labels: 0, 1, … 1232 more"
    assert repr(tree) == "LabelTree(5 labels in 3 leaves, 5 nodes, 2 deep)"


@given(trees())
def test_a_saved_tree_comes_back(tmp_path_factory, tree):
    """Any name is kept as it is, and the same tree has the same bytes."""
    folder = tmp_path_factory.mktemp("tree")
    tree.save(folder / "tree")
    tree.save(folder / "again.npz")
    assert LabelTree.load(folder / "tree").same_as(tree)
    assert (folder / "tree").read_bytes() == (folder / "again.npz").read_bytes()
    assert {path.name for path in folder.iterdir()} == {"tree", "again.npz"}


def written(path, **changes):
    """A saved tree with some members changed; None removes one."""
    LabelTree.from_groups(FIVE).save(path)
    with np.load(path) as archive:
        members = dict(archive) | changes
    np.savez(path, **{name: value for name, value in members.items() if value is not None})
    return path


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"format": None}, "not a label tree: its format is not 'orchard label tree'"),
        ({"format": "orchard model"}, "not a label tree"),
        ({"format": 7}, "not a label tree"),
        ({"version": 2}, "newer Orchard: label tree of version 2, this one reads version 1"),
        ({"version": 0}, "damaged: its version is 0, not 1"),
        ({"version": None}, "damaged: its version is None"),
        ({"children": None, "label_indptr": None}, "damaged: children, label_indptr is missing"),
        ({"n_labels": None}, "damaged: n_labels is missing"),
        ({"n_labels": 5.0}, "damaged: n_labels is not one integer"),
        ({"n_labels": 6}, "damaged: label 5 is in no leaf"),
        ({"children": np.array([1, 3, 3, 5, 5, 6])}, "damaged: children must go from 1"),
        ({"label_indices": np.array([{}] * 5, dtype=object)}, "damaged: .*[Oo]bject"),
    ],
)
def test_a_foreign_newer_or_wrong_file_is_refused(tmp_path, changes, problem):
    """The message begins with the file and says what is wrong; nothing is ever unpickled."""
    path = written(tmp_path / "tree.npz", **changes)
    with pytest.raises(OrchardError, match=problem) as caught:
        LabelTree.load(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_missing_or_strange_file_is_refused(tmp_path):
    """No file, text, a single array: all are told in one sentence."""
    with pytest.raises(OrchardError, match="cannot be read: No such file"):
        LabelTree.load(tmp_path / "none.npz")
    (tmp_path / "text").write_text("children 1 2 3\n")
    with pytest.raises(OrchardError, match="not a label tree, or damaged"):
        LabelTree.load(tmp_path / "text")
    np.save(tmp_path / "array.npy", np.arange(3))
    with pytest.raises(OrchardError, match="not a label tree"):
        LabelTree.load(tmp_path / "array.npy")


def test_damaged_bytes_never_give_another_tree(tmp_path):
    """Cut anywhere or with a byte changed anywhere, the file is refused or still holds the same tree."""
    tree, path = LabelTree.from_groups(FIVE), tmp_path / "tree.npz"
    tree.save(path)
    content = path.read_bytes()
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        with pytest.raises(OrchardError, match=r"tree\.npz: "):
            LabelTree.load(path)
    for place in range(0, len(content), 3):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        try:
            assert LabelTree.load(path).same_as(tree)
        except OrchardError as error:
            assert "tree.npz: " in str(error)


@pytest.mark.parametrize("word", ["abc", [["a", "b"]], [b"ab"]])
def test_letters_are_no_labels(word):
    """A word is a sequence of words, for ever: the builder must not follow it."""
    with pytest.raises(ValueError, match="labels, which are numbers"):
        LabelTree.from_groups(word)
