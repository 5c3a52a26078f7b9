"""A trained tree: one linear classifier per child and per label of a leaf, laid out for search."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from orchard.trees.label_tree import LabelTree


@dataclass(frozen=True, eq=False)
class TreeModel:
    """The weights of every node's classifiers, one row per feature: what a query's feature needs lies together.

    A node has an output for each of its children or, if it is a leaf, for each of its labels; a leaf with one label
    has none, since the edge that leads to it says it all.

    tree : LabelTree.  n_features : int.
    node_outputs : int64 (n_nodes + 1); biases : float32 (n_outputs,); those of node p are
        biases[node_outputs[p] : node_outputs[p + 1]].
    node_rows : int64 (n_nodes + 1); row_features : int32 (n_rows,); the features of node p, ascending.
    node_entries : int64 (n_nodes + 1); row_begins : uint32 (n_rows + n_nodes,); row r of node p has the entries
        node_entries[p] + row_begins[node_rows[p] + p + r] up to that of the next r.
    entry_outputs : uint16 or uint32 (n_entries,), which of the node's outputs; entry_weights : float32 (n_entries,).
    """

    tree: LabelTree
    n_features: int
    node_outputs: np.ndarray
    biases: np.ndarray
    node_rows: np.ndarray
    row_features: np.ndarray
    node_entries: np.ndarray
    row_begins: np.ndarray
    entry_outputs: np.ndarray
    entry_weights: np.ndarray

    @classmethod
    def from_nodes(cls, tree: LabelTree, n_features: int, nodes: list) -> "TreeModel":
        """Join what was trained node by node; empties `nodes`, so that the weights are never held twice.

        nodes : for every node (row_features, row_begins, outputs, weights, biases), or None if it has no outputs.
        """
        outputs_of = np.array([0 if node is None else node[4].size for node in nodes])
        rows_of = np.array([0 if node is None else node[0].size for node in nodes])
        entries_of = np.array([0 if node is None else node[3].size for node in nodes])
        node_outputs, node_rows, node_entries = (
            np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]) for sizes in (outputs_of, rows_of, entries_of)
        )
        joined = {
            "biases": np.empty(node_outputs[-1], np.float32),
            "row_features": np.empty(node_rows[-1], np.int32),
            "row_begins": np.zeros(node_rows[-1] + len(nodes), np.uint32),
            "entry_outputs": np.empty(node_entries[-1], output_type(outputs_of.max(initial=0))),
            "entry_weights": np.empty(node_entries[-1], np.float32),
        }
        for number in range(len(nodes)):
            node, nodes[number] = nodes[number], None
            if node is None:
                continue
            row_features, row_begins, outputs, weights, biases = node
            entries = slice(node_entries[number], node_entries[number + 1])
            joined["biases"][node_outputs[number] : node_outputs[number + 1]] = biases
            joined["row_features"][node_rows[number] : node_rows[number + 1]] = row_features
            joined["row_begins"][node_rows[number] + number : node_rows[number + 1] + number + 1] = row_begins
            joined["entry_outputs"][entries] = outputs
            joined["entry_weights"][entries] = weights
        return cls(
            tree, n_features, node_outputs=node_outputs, node_rows=node_rows, node_entries=node_entries, **joined
        )

    @property
    def nbytes(self) -> int:
        """The bytes of the weights and of what says where they belong."""
        return sum(
            array.nbytes
            for array in (self.biases, self.row_features, self.row_begins, self.entry_outputs, self.entry_weights)
        )

    def weights_of(self, node: int) -> tuple[sp.csr_matrix, np.ndarray]:
        """The classifiers of a node for people to look at: weights CSR (n_features, n_outputs) and biases."""
        n_outputs = self.node_outputs[node + 1] - self.node_outputs[node]
        rows = slice(self.node_rows[node], self.node_rows[node + 1])
        entries = slice(self.node_entries[node], self.node_entries[node + 1])
        begins = self.row_begins[rows.start + node : rows.stop + node + 1].astype(np.int64)
        features = np.repeat(self.row_features[rows], np.diff(begins))
        weights = sp.csr_matrix(
            (self.entry_weights[entries], (features, self.entry_outputs[entries])), shape=(self.n_features, n_outputs)
        )
        return weights, self.biases[self.node_outputs[node] : self.node_outputs[node + 1]]

    @cached_property
    def has_copies(self) -> bool:
        """Whether a label stands in more than one leaf."""
        return self.tree.label_indices.size > self.tree.n_labels

    @cached_property
    def most_outputs(self) -> int:
        return int(np.diff(self.node_outputs).max())

    @cached_property
    def for_search(self) -> tuple:
        """The arrays that the search kernels take: (tree, weights, lookup)."""
        tree = self.tree
        return (
            (tree.children, tree.levels, tree.label_indptr, tree.label_indices, tree.depth),
            (
                self.node_outputs,
                self.biases,
                self.node_rows,
                self.row_features,
                self.node_entries,
                self.row_begins,
                self.entry_outputs,
                self.entry_weights,
            ),
            self.lookup,
        )

    @cached_property
    def lookup(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where a feature's row is: (node_shifts uint8, node_buckets int64 (n_nodes + 1), buckets int32).

        Feature f of node p is in the rows buckets[b] … buckets[b + 1] − 1 of the node, b = node_buckets[p] + (f >> shift),
        about one row each, so that a look-up takes two neighbouring numbers and a comparison.
        """
        from orchard.linear._search_kernels import fill_buckets

        n_rows = np.diff(self.node_rows)
        shifts = np.zeros(n_rows.size, np.uint8)
        while (wide := (self.n_features >> shifts.astype(np.int64)) > 2 * n_rows).any() and shifts.max() < 31:
            shifts[wide] += 1
        sizes = (max(self.n_features - 1, 0) >> shifts.astype(np.int64)) + 2
        node_buckets = np.concatenate([[0], np.cumsum(sizes)])
        buckets = np.empty(node_buckets[-1], np.int32)
        fill_buckets(self.node_rows, self.row_features, shifts, node_buckets, buckets)
        return shifts, node_buckets, buckets


def output_type(most_outputs: int):
    return np.uint16 if most_outputs <= 1 << 16 else np.uint32
