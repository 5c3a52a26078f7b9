"""The tree over labels that all methods share: Parabel, Bonsai, XR-Linear, Huffman, Fano, overlapping."""

import operator
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from orchard.trees import label_tree_files
from orchard.trees._numbering import breadth_first, cluster_matrix, integers, ranges, starts, without_only_children
from orchard.trees.label_tree_text import draw_tree


@dataclass(frozen=True, eq=False)
class LabelTree:
    """Nodes in breadth-first order, the children of a node contiguous, leaves at any depth, labels in the leaves.

    children : int64 (n_nodes + 1); the children of node i are the nodes children[i] : children[i + 1].  Node 0 is the
        root, so children[0] = 1 and children[n_nodes] = n_nodes.  A root that is a leaf is a one-vs-all model.
    label_indptr : int64 (n_nodes + 1) and label_indices : int32 are a CSR map from node to labels: node i holds
        label_indices[label_indptr[i] : label_indptr[i + 1]], ascending.  Only leaves hold labels, every leaf holds
        some, and a label may stand in several leaves.

    The arrays are checked and converted, not copied where they fit already; nobody may write to them afterwards.
    """

    children: np.ndarray
    label_indptr: np.ndarray
    label_indices: np.ndarray
    n_labels: int

    def __post_init__(self):
        limits = {"children": np.int64, "label_indptr": np.int64, "label_indices": np.int32}
        for name, kind in limits.items():
            object.__setattr__(self, name, integers(name, getattr(self, name), kind))
        object.__setattr__(self, "n_labels", operator.index(self.n_labels))
        _check_nodes(self.children)
        _check_labels(self)

    # ---- builders

    @classmethod
    def from_parents(cls, parents, nodes, labels, n_labels: int | None = None) -> "LabelTree":
        """The tree of any numbering: parents[i] is the parent of node i (−1 for the root), labels[j] is in nodes[j].

        parents : int (n_nodes,).  nodes, labels : int, of equal length, in any order.  Siblings keep their order.
        n_labels : one more than the largest label unless given.
        """
        parents = integers("parents", parents, np.int64)
        nodes, labels = integers("nodes", nodes, np.int64), integers("labels", labels, np.int64)
        if nodes.size != labels.size:
            raise ValueError(f"{nodes.size} nodes for {labels.size} labels")
        if nodes.size and not 0 <= nodes.min() <= nodes.max() < parents.size:
            raise ValueError(f"a label stands in a node out of range: they go from 0 to {parents.size - 1}")
        order = breadth_first(parents)
        rank = np.empty_like(order)  # the new number of every node
        rank[order] = np.arange(order.size)
        n_children = np.bincount(rank[parents[order[1:]]], minlength=order.size)
        by_node = np.lexsort((labels, rank[nodes]))
        return cls(
            children=np.concatenate([[1], 1 + np.cumsum(n_children)]),
            label_indptr=starts(np.bincount(rank[nodes], minlength=order.size)),
            label_indices=labels[by_node],
            n_labels=int(labels.max(initial=-1)) + 1 if n_labels is None else n_labels,
        )

    @classmethod
    def from_groups(cls, groups: Sequence, n_labels: int | None = None) -> "LabelTree":
        """The tree of nested lists: a leaf is a list of labels, any other node a list of its children.

        `from_groups([[0, 3], [[1], [2, 4]]])` has two leaves at depth 2 and one at depth 1.
        """
        parents, nodes, labels = [-1], [], []
        waiting = deque([(0, groups)])
        while waiting:
            node, members = waiting.popleft()
            if isinstance(members, str | bytes):  # a sequence of sequences, for ever
                raise ValueError(f"a group holds labels, which are numbers, not {members!r}")
            are_groups = {isinstance(member, Sequence | np.ndarray) for member in members}
            if len(are_groups) > 1:
                raise ValueError(f"a group holds either labels or groups, not both: {members!r}")
            if are_groups == {True}:
                waiting.extend(enumerate(members, start=len(parents)))
                parents.extend([node] * len(members))
            else:
                labels.extend(members)
                nodes.extend([node] * len(members))
        as_array = [np.array(values, np.int64) if not len(values) else np.array(values) for values in (nodes, labels)]
        return cls.from_parents(np.array(parents), *as_array, n_labels=n_labels)

    @classmethod
    def from_partitions(cls, order: np.ndarray, boundaries: Sequence[np.ndarray]) -> "LabelTree":
        """The tree of nested partitions of the labels, the way `orchard.trees.bisection.Partitions` tells them.

        order : int (n_labels,), the labels from left to right.  boundaries : one ascending array per level, [0, n] for
        the root first; part i of a level holds order[boundaries[level][i] : boundaries[level][i + 1]].
        A part that is repeated on the level below is the same node, so a leaf may end at any level.
        """
        order = integers("order", order, np.int64)
        parents, node_of_part = [np.array([-1])], np.array([0])
        n_nodes = 1
        if not np.array_equal(boundaries[0], [0, order.size]):
            raise ValueError(f"the first level must be [0, {order.size}], one part with all labels")
        for above, below in pairwise(boundaries):
            cuts = np.searchsorted(below, above)
            if below[-1] != order.size or not np.array_equal(np.asarray(below)[cuts], above):
                raise ValueError("each level must keep the boundaries of the level above")
            n_parts = np.diff(cuts)
            is_new = np.repeat(n_parts > 1, n_parts)
            parent_of_part = np.repeat(node_of_part, n_parts)
            node_of_part = np.where(is_new, n_nodes - 1 + np.cumsum(is_new), parent_of_part)
            parents.append(parent_of_part[is_new])
            n_nodes += int(is_new.sum())
        nodes = np.repeat(node_of_part, np.diff(boundaries[-1]))
        return cls.from_parents(np.concatenate(parents), nodes, order, n_labels=order.size)

    @classmethod
    def from_chain(cls, chain: Sequence[sp.spmatrix], collapse: bool = False) -> "LabelTree":
        """The tree of a chain of cluster matrices, as PECOS keeps them; clusters may come in any order.

        chain[t] : sparse (n_t, n_{t−1}), n_{−1} = 1; row i has its entry in the column of i's parent.  The last one has
        a row for every label, with several entries where clusters overlap.
        collapse : make one node of a path of only children, so that leaves padded by `to_chain` are shallow again.
        """
        parents, n_above, offset = [np.array([-1])], 1, 0
        for level, matrix in enumerate(chain):
            if matrix.shape[1] != n_above:
                raise ValueError(f"chain[{level}] has {matrix.shape[1]} columns, the level above has {n_above} nodes")
            matrix = sp.csr_matrix(matrix, copy=True)
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
            if level == len(chain) - 1:
                break
            if (np.diff(matrix.indptr) != 1).any():
                raise ValueError(f"chain[{level}]: every cluster must have exactly one parent")
            parents.append(offset + matrix.indices.astype(np.int64))
            offset, n_above = offset + n_above, matrix.shape[0]
        else:
            raise ValueError("the chain is empty")
        labels = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        parents, nodes = np.concatenate(parents), offset + matrix.indices.astype(np.int64)
        if collapse:
            parents, nodes = without_only_children(parents, nodes)
        return cls.from_parents(parents, nodes, labels, n_labels=matrix.shape[0])

    def to_chain(self) -> list[sp.csc_matrix]:
        """The chain of cluster matrices (see `from_chain`), CSC float32, clusters from left to right on every level.

        A leaf above the deepest level is continued downwards by only children, since all labels of a chain are at
        the same depth.
        """
        chain, level = [], np.array([0])
        for _ in range(self.max_depth):
            is_leaf = self.is_leaf[level]
            n_below = np.where(is_leaf, 1, np.diff(self.children)[level])
            begins = np.where(is_leaf, level, self.children[level])
            chain.append(cluster_matrix(np.repeat(np.arange(level.size), n_below), level.size))
            level = ranges(begins, n_below)
        leaf_number = np.cumsum(self.is_leaf) - 1  # the row of a leaf in leaf_labels
        return [*chain, self.leaf_labels[leaf_number[level]].T.tocsc()]

    def with_leaf_labels(self, leaf_labels: sp.spmatrix, drop_empty: bool = False) -> "LabelTree":
        """The same inner tree over another assignment of labels to leaves (overlapping clusters of disentangle).

        leaf_labels : sparse (n_leaves, n_labels), rows in the order of `leaves`, its non-zeros say which labels.
        drop_empty : remove leaves that are left without labels, and inner nodes that are left without children;
            otherwise an empty leaf is refused.
        """
        leaf_labels = sp.csr_matrix(leaf_labels, copy=True)
        leaf_labels.sum_duplicates()
        leaf_labels.eliminate_zeros()
        if leaf_labels.shape[0] != self.n_leaves:
            raise ValueError(f"leaf_labels has {leaf_labels.shape[0]} rows, the tree has {self.n_leaves} leaves")
        n_held = np.zeros(self.n_nodes, np.int64)
        n_held[self.leaves] = np.diff(leaf_labels.indptr)
        children = self.children
        if drop_empty:
            kept = self.nodes_above(n_held[self.leaves] > 0)
            n_children = np.bincount(self.parent[kept[1:]], minlength=self.n_nodes)
            children, n_held = 1 + starts(n_children[kept]), n_held[kept]
        return LabelTree(children, starts(n_held), leaf_labels.indices, leaf_labels.shape[1])

    def nodes_above(self, leaves: np.ndarray) -> np.ndarray:
        """The root, some leaves and all nodes on the way to them, ascending, int64; leaves : bool (n_leaves,).

        With those that hold labels, these are the nodes of `with_leaf_labels(…, drop_empty=True)`, in its order.
        """
        keep = np.zeros(self.n_nodes, bool)
        keep[self.leaves] = leaves
        for begin, end in zip(self.levels[-2:0:-1], self.levels[:1:-1], strict=True):  # from the deepest level up
            keep[self.parent[begin:end][keep[begin:end]]] = True
        keep[0] = True
        return np.flatnonzero(keep)

    # ---- what a tree knows about itself

    @property
    def n_nodes(self) -> int:
        return self.children.size - 1

    @cached_property
    def is_leaf(self) -> np.ndarray:
        """bool (n_nodes,)."""
        return self.children[1:] == self.children[:-1]

    @cached_property
    def leaves(self) -> np.ndarray:
        """The node ids of the leaves, ascending, int64 (n_leaves,)."""
        return np.flatnonzero(self.is_leaf).astype(np.int64, copy=False)

    @property
    def n_leaves(self) -> int:
        return self.leaves.size

    @cached_property
    def parent(self) -> np.ndarray:
        """The parent of every node, int64 (n_nodes,), −1 for the root."""
        return np.concatenate([[-1], np.repeat(np.arange(self.n_nodes), np.diff(self.children))])

    @cached_property
    def levels(self) -> np.ndarray:
        """The nodes at depth t are levels[t] : levels[t + 1], int64 (max_depth + 2,)."""
        bounds = [0, 1]
        while bounds[-1] < self.n_nodes:
            bounds.append(int(self.children[bounds[-1]]))
        return np.array(bounds, np.int64)

    @property
    def max_depth(self) -> int:
        return self.levels.size - 2

    @cached_property
    def depth(self) -> np.ndarray:
        """The edges between the root and every node, int32 (n_nodes,)."""
        return np.repeat(np.arange(self.max_depth + 1, dtype=np.int32), np.diff(self.levels))

    @cached_property
    def n_copies(self) -> np.ndarray:
        """In how many leaves every label stands, int64 (n_labels,)."""
        return np.bincount(self.label_indices, minlength=self.n_labels).astype(np.int64, copy=False)

    @cached_property
    def label_depths(self) -> np.ndarray:
        """The depth of every label's shallowest leaf, int32 (n_labels,)."""
        depths = np.full(self.n_labels, np.iinfo(np.int32).max, np.int32)
        np.minimum.at(depths, self.label_indices, np.repeat(self.depth, np.diff(self.label_indptr)))
        return depths

    @cached_property
    def leaf_labels(self) -> sp.csr_matrix:
        """Which labels every leaf holds, CSR float32 ones (n_leaves, n_labels); its transpose is the papers' C."""
        indptr = np.append(self.label_indptr[self.leaves], self.label_indices.size)
        ones = np.ones(self.label_indices.size, np.float32)
        return sp.csr_matrix((ones, self.label_indices, indptr), shape=(self.n_leaves, self.n_labels))

    def labels_of(self, node: int) -> np.ndarray:
        """The labels that node holds itself, ascending; none for an inner node."""
        return self.label_indices[self.label_indptr[node] : self.label_indptr[node + 1]]

    def same_as(self, other: "LabelTree") -> bool:
        """Whether both have the same nodes and the same labels in them."""
        return self.n_labels == other.n_labels and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in label_tree_files.ARRAYS
        )

    def __repr__(self) -> str:
        return (
            f"LabelTree({self.n_labels} labels in {self.n_leaves} leaves, {self.n_nodes} nodes, {self.max_depth} deep)"
        )

    def draw(self, label_names: Sequence[str] | None = None, max_lines: int = 60, max_labels: int = 8) -> str:
        """The tree as indented text, a node a line; says how much was left out."""
        return draw_tree(self, label_names, max_lines, max_labels)

    def save(self, path) -> None:
        """Write an npz archive that `load` reads, never half; the same tree gives the same bytes."""
        label_tree_files.write(path, self)

    @classmethod
    def load(cls, path) -> "LabelTree":
        """Read what `save` wrote; anything else is refused with an OrchardError that names the file."""
        return label_tree_files.read(path, cls)


def _check_nodes(children: np.ndarray) -> None:
    n_nodes = children.size - 1
    if n_nodes < 1:
        raise ValueError("a tree has at least a root: children needs two entries or more")
    if children[0] != 1 or children[-1] != n_nodes:
        raise ValueError(
            f"children must go from 1 to the number of nodes, {n_nodes}, not from {children[0]} to {children[-1]}"
        )
    if (np.diff(children) < 0).any():
        raise ValueError("children must not fall: nodes are not in breadth-first order")
    early = np.flatnonzero(children[:-1] <= np.arange(n_nodes))
    if early.size:
        raise ValueError(f"node {early[0]} stands before its parent: nodes are not in breadth-first order")


def _check_labels(tree: LabelTree) -> None:
    indptr, labels, n_nodes = tree.label_indptr, tree.label_indices, tree.n_nodes
    if tree.n_labels < 1:
        raise ValueError(f"a tree has at least one label, not {tree.n_labels}")
    if indptr.size != n_nodes + 1:
        raise ValueError(f"label_indptr has {indptr.size} entries, {n_nodes} nodes need {n_nodes + 1}")
    n_held = np.diff(indptr)
    if indptr[0] != 0 or indptr[-1] != labels.size or (n_held < 0).any():
        raise ValueError(f"label_indptr must rise from 0 to the number of labels held, {labels.size}")
    if ((n_held > 0) & ~tree.is_leaf).any():
        raise ValueError(
            f"node {np.argmax((n_held > 0) & ~tree.is_leaf)} has children and labels; only leaves hold labels"
        )
    if (n_held[tree.leaves] == 0).any():
        raise ValueError(f"leaf {tree.leaves[np.argmin(n_held[tree.leaves])]} holds no labels")
    if not 0 <= labels.min() <= labels.max() < tree.n_labels:
        raise ValueError(f"a label is out of range: they go from 0 to {tree.n_labels - 1}")
    steps = np.diff(labels.astype(np.int64))
    steps[indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < labels.size)] - 1] = 1  # from one leaf to the next
    if (steps <= 0).any():
        entry = int(np.argmax(steps <= 0)) + 1
        leaf = int(np.searchsorted(indptr, entry, side="right")) - 1
        problem = (
            f"holds label {labels[entry]} twice"
            if steps[entry - 1] == 0
            else "does not hold its labels in ascending order"
        )
        raise ValueError(f"leaf {leaf} {problem}")
    if (tree.n_copies == 0).any():
        raise ValueError(f"label {np.argmin(tree.n_copies)} is in no leaf")
