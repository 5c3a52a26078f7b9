"""A trained tree: one linear classifier per child and per label of a leaf, laid out for search."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from orchard.linear._layout_kernels import unpack
from orchard.trees.label_tree import LabelTree


@dataclass(frozen=True, eq=False)
class TreeModel:
    """The weights of every node's classifiers; how they lie in `slots` and `words` is told in `_layout_kernels`.

    A node has an output for each of its children or, if it is a leaf, for each of its labels; a leaf with one label
    has none, since the edge that leads to it says it all.

    tree : LabelTree.  n_features : int.  biases : float32 (n_outputs,).  slots : uint64.  words : uint32.
    node_outputs, node_slots, node_words : int64 (n_nodes + 1), where a node's biases, slots and words begin.
    """

    tree: LabelTree
    n_features: int
    node_outputs: np.ndarray
    biases: np.ndarray
    node_slots: np.ndarray
    slots: np.ndarray
    node_words: np.ndarray
    words: np.ndarray

    @classmethod
    def from_nodes(cls, tree: LabelTree, n_features: int, nodes: list) -> "TreeModel":
        """Join what was trained node by node; empties `nodes`, so that the weights are never held twice.

        nodes : for every node (biases, slots, words), or None if it was not trained.
        """
        nothing = np.empty(0, np.float32), np.empty(0, np.uint64), np.empty(0, np.uint32)
        sizes = np.array([[part.size for part in node or nothing] for node in nodes])
        begins = np.concatenate([np.zeros((1, 3), np.int64), np.cumsum(sizes, axis=0)])
        joined = [np.empty(n, part.dtype) for n, part in zip(begins[-1], nothing, strict=True)]
        for number in range(len(nodes)):
            node, nodes[number] = nodes[number] or nothing, None
            for whole, part, begin in zip(joined, node, begins[number], strict=True):
                whole[begin : begin + part.size] = part
        node_outputs, node_slots, node_words = np.ascontiguousarray(begins.T)
        biases, slots, words = joined
        return cls(tree, n_features, node_outputs, biases, node_slots, slots, node_words, words)

    @property
    def nbytes(self) -> int:
        """The bytes of the weights and of what says where they belong, in memory."""
        return self.biases.nbytes + self.slots.nbytes + self.words.nbytes

    def rows_of(self, node: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The weights of a node, one row per feature: (features, row_begins, outputs, weights)."""
        slots = self.slots[self.node_slots[node] : self.node_slots[node + 1]]
        words = self.words[self.node_words[node] : self.node_words[node + 1]]
        n_outputs = self.node_outputs[node + 1] - self.node_outputs[node]
        return unpack(slots, words, n_outputs, np.empty(0, self.code_type))

    def weights_of(self, node: int) -> tuple[sp.csr_matrix, np.ndarray]:
        """The classifiers of a node for people to look at: weights CSR (n_features, n_outputs) and biases."""
        biases = self.biases[self.node_outputs[node] : self.node_outputs[node + 1]]
        features, row_begins, outputs, weights = self.rows_of(node)
        rows = np.repeat(features, np.diff(row_begins))
        return sp.csr_matrix((weights, (rows, outputs)), shape=(self.n_features, biases.size)), biases

    @cached_property
    def has_copies(self) -> bool:
        """Whether a label stands in more than one leaf."""
        return self.tree.label_indices.size > self.tree.n_labels

    @cached_property
    def most_outputs(self) -> int:
        return int(outputs_of_nodes(self.tree).max())

    @property
    def code_type(self):
        return code_type(self.most_outputs)

    @cached_property
    def for_search(self) -> tuple:
        """The arrays that the search kernels take: (tree, weights)."""
        tree = self.tree
        return (
            (tree.children, tree.levels, tree.label_indptr, tree.label_indices, tree.depth),
            (
                self.node_outputs,
                self.biases,
                self.node_slots,
                self.slots,
                self.node_words,
                self.words.view(self.code_type),
                self.words.view(np.float32),
            ),
        )


def outputs_of_nodes(tree: LabelTree) -> np.ndarray:
    """How many classifiers every node has, int64 (n_nodes,)."""
    n_held = np.diff(tree.label_indptr)
    return np.where(tree.is_leaf, np.where(n_held > 1, n_held, 0), np.diff(tree.children))


def code_type(most_outputs: int):
    """The type of an output's number within its node; the largest value is a mark."""
    return np.uint16 if most_outputs < (1 << 16) - 1 else np.uint32
