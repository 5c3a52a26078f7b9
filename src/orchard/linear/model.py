"""A trained tree: one linear classifier per child and per label of a leaf, laid out for search."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from orchard.linear._layout_kernels import unpack
from orchard.trees.label_tree import LabelTree


@dataclass(frozen=True, eq=False)
class TreeModel:
    """The weights of every node's classifiers; how they lie in `tables` and `words` is told in `_layout_kernels`.

    A node has an output for each of its children or, if it is a leaf, for each of its labels; a leaf with one label
    has none, since the edge that leads to it says it all (a root has no such edge).

    tree : LabelTree.  n_features : int.  biases : float32 (n_outputs,).  tables, words : uint32.
    node_outputs, node_tables, node_words : int64 (n_nodes + 1), where a node's biases, table and words begin.
    """

    tree: LabelTree
    n_features: int
    node_outputs: np.ndarray
    biases: np.ndarray
    node_tables: np.ndarray
    tables: np.ndarray
    node_words: np.ndarray
    words: np.ndarray

    @property
    def nbytes(self) -> int:
        """The bytes of the weights and of what says where they belong, in memory."""
        return self.biases.nbytes + self.tables.nbytes + self.words.nbytes

    def rows_of(self, node: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The weights of a node, one row per feature: (features, row_begins, outputs, weights)."""
        table = self.tables[self.node_tables[node] : self.node_tables[node + 1]]
        words = self.words[self.node_words[node] : self.node_words[node + 1]]
        n_outputs = self.node_outputs[node + 1] - self.node_outputs[node]
        return unpack(table, words, n_outputs, np.empty(0, self.code_type))

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
                self.node_tables,
                self.tables,
                self.node_words,
                self.words.view(self.code_type),
                self.words.view(np.float32),
            ),
        )


class ModelBuilder:
    """Joins what was trained, node after node; the weights are never held twice.

    room : at most how many biases, table words and words will come, if that is known.
    """

    def __init__(self, tree: LabelTree, n_features: int, room: tuple[int, int, int] = (0, 0, 0)):
        self.tree, self.n_features = tree, n_features
        self.parts = [Growing(*part) for part in zip((np.float32, np.uint32, np.uint32), room, strict=True)]
        self.begins = np.zeros((3, tree.n_nodes + 1), np.int64)
        self.n_nodes = 0

    def add(self, biases: np.ndarray, table: np.ndarray, words: np.ndarray) -> None:
        """The weights of the next node; empty arrays if it has no outputs."""
        self.n_nodes += 1
        for begins, part, array in zip(self.begins, self.parts, (biases, table, words), strict=True):
            part.append(array)
            begins[self.n_nodes] = part.size

    def so_far(self) -> TreeModel:
        """A copy of what is there; a node that is still to come has no weights."""
        return self._model([part.array[: part.size].copy() for part in self.parts])

    def model(self) -> TreeModel:
        """What was added; the builder is empty then."""
        return self._model([part.done() for part in self.parts])

    def _model(self, arrays) -> TreeModel:
        begins = self.begins.copy()
        begins[:, self.n_nodes :] = begins[:, self.n_nodes, None]
        (biases, tables, words), (node_outputs, node_tables, node_words) = arrays, begins
        return TreeModel(self.tree, self.n_features, node_outputs, biases, node_tables, tables, node_words, words)


class Growing:
    """An array that grows where it is: the system moves its pages, nothing is copied.

    room : reserved from the beginning, on huge pages if it is large; what is not used takes no memory.
    """

    def __init__(self, kind, room: int = 0):
        self.array, self.size = np.empty(room, kind), 0

    def append(self, more: np.ndarray) -> None:
        end = self.size + more.size
        if end > self.array.size:
            self.array.resize(max(end, self.array.size * 9 // 8), refcheck=False)
        self.array[self.size : end] = more
        self.size = end

    def done(self) -> np.ndarray:
        self.array.resize(self.size, refcheck=False)
        array, self.array, self.size = self.array, np.empty(0, self.array.dtype), 0
        return array


def outputs_of_nodes(tree: LabelTree) -> np.ndarray:
    """How many classifiers every node has, int64 (n_nodes,)."""
    n_held = np.diff(tree.label_indptr)
    needed = np.where(n_held == 1, 0, n_held)
    needed[0] = n_held[0]
    return np.where(tree.is_leaf, needed, np.diff(tree.children))


def code_type(most_outputs: int):
    """The type of an output's number within its node; the largest value is a mark."""
    return np.uint16 if most_outputs < (1 << 16) - 1 else np.uint32
