"""A trained tree: one linear classifier per child and per label of a leaf, laid out for search."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numba import typeof

from orchard.linear._layout_kernels import N_ROWS, unpack
from orchard.linear._scoring_kernels import MOST_ROWS, MOST_WORDS
from orchard.linear.bundles import Bundles, outputs_of_nodes
from orchard.trees.label_tree import LabelTree


@dataclass(frozen=True, eq=False)
class TreeModel:
    """The weights of every node's classifiers; how they lie in `tables` and `words` is told in `_layout_kernels`.

    A node has an output for each of its children or, if it is a leaf, for each of its labels (`outputs_of_nodes`);
    the outputs of several nodes are stored together (`Bundles`).

    biases : float32 (n_outputs,), bundle by bundle.  tables, words : uint32.
    bundle_outputs, bundle_tables, bundle_words : int64 (n_bundles + 1), where its biases, table and words begin.
    """

    tree: LabelTree
    bundles: Bundles
    n_features: int
    bundle_outputs: np.ndarray
    biases: np.ndarray
    bundle_tables: np.ndarray
    tables: np.ndarray
    bundle_words: np.ndarray
    words: np.ndarray

    @property
    def nbytes(self) -> int:
        """The bytes of the weights and of what says where they belong, in memory."""
        return self.biases.nbytes + self.tables.nbytes + self.words.nbytes

    def rows_of(self, bundle: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The weights of a bundle, one row per feature: (features, row_begins, outputs, weights)."""
        table = self.tables[self.bundle_tables[bundle] : self.bundle_tables[bundle + 1]]
        words = self.words[self.bundle_words[bundle] : self.bundle_words[bundle + 1]]
        return unpack(table, words, self.bundles.n_outputs[bundle], np.empty(0, self.code_type))

    def weights_of(self, node: int) -> tuple[sp.csr_matrix, np.ndarray]:
        """The classifiers of a node for people to look at: weights CSR (n_features, n_outputs) and biases."""
        bundle, first = self.bundles.of_node[node], self.bundles.first_output[node]
        own = slice(first, first + outputs_of_nodes(self.tree)[node])
        features, row_begins, outputs, weights = self.rows_of(bundle)
        shape = self.n_features, self.bundles.n_outputs[bundle]
        W = sp.csr_matrix((weights, (np.repeat(features, np.diff(row_begins)), outputs)), shape=shape)
        biases = self.biases[self.bundle_outputs[bundle] : self.bundle_outputs[bundle + 1]]
        return W[:, own], biases[own]

    @cached_property
    def has_copies(self) -> bool:
        """Whether a label stands in more than one leaf."""
        return self.tree.label_indices.size > self.tree.n_labels

    @property
    def code_type(self):
        return code_type(self.bundles.most_outputs)

    @cached_property
    def for_search(self) -> tuple:
        """The arrays that the search kernels take: (inner tree, labels, weights)."""
        tree, bundles = self.tree, self.bundles
        heads = self.bundle_tables[:-1][np.diff(self.bundle_tables) > 0]
        most = np.empty(2, np.int64)
        most[MOST_ROWS] = self.tables[heads + N_ROWS].max(initial=0)
        most[MOST_WORDS] = np.diff(self.bundle_words).max()
        return (
            (tree.children, tree.levels, bundles.bands, bundles.of_node, bundles.first_output),
            (tree.label_indptr, tree.label_indices, tree.depth),
            (
                self.bundle_outputs,
                self.biases,
                self.bundle_tables,
                self.tables,
                self.bundle_words,
                self.words.view(self.code_type),
                self.words.view(np.float32),
                most,
            ),
        )

    @cached_property
    def search_type(self):
        """What numba takes the arrays for; a kernel for several trees wants them alike."""
        return typeof(self.for_search)


class ModelBuilder:
    """Joins what was trained, bundle after bundle; the weights are never held twice.

    room : at most how many biases, table words and words will come, if that is known.
    """

    def __init__(self, tree: LabelTree, bundles: Bundles, n_features: int, room: tuple[int, int, int] = (0, 0, 0)):
        self.tree, self.bundles, self.n_features = tree, bundles, n_features
        self.parts = [Growing(*part) for part in zip((np.float32, np.uint32, np.uint32), room, strict=True)]
        self.begins = np.zeros((3, len(bundles) + 1), np.int64)
        self.n_bundles = 0

    def add(self, biases: np.ndarray, table: np.ndarray, words: np.ndarray) -> None:
        """The weights of the next bundle; empty arrays if it has no outputs."""
        self.n_bundles += 1
        for begins, part, array in zip(self.begins, self.parts, (biases, table, words), strict=True):
            part.append(array)
            begins[self.n_bundles] = part.size

    def copy(self) -> "ModelBuilder":
        """Another one with the same bundles so far."""
        other = ModelBuilder(self.tree, self.bundles, self.n_features)
        for part, own in zip(other.parts, self.parts, strict=True):
            part.append(own.array[: own.size])
        other.begins, other.n_bundles = self.begins.copy(), self.n_bundles
        return other

    def model(self) -> TreeModel:
        """What was added, all bundles; the builder is empty then."""
        if self.n_bundles < len(self.bundles):
            raise RuntimeError(f"only {self.n_bundles} of {len(self.bundles)} bundles have been added")
        biases, tables, words = (part.done() for part in self.parts)
        outputs, table_begins, word_begins = self.begins.copy()
        begins_and_parts = outputs, biases, table_begins, tables, word_begins, words
        return TreeModel(self.tree, self.bundles, self.n_features, *begins_and_parts)


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


def code_type(most_outputs: int):
    """The type of an output's number within its bundle; the largest value is a mark."""
    return np.uint16 if most_outputs < (1 << 16) - 1 else np.uint32
