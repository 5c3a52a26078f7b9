"""Which nodes' classifiers are stored together, so that a query looks its features up once for several levels.

A binary node has two classifiers: finding a feature's row costs more than using it. So the levels of a tree are cut
into bands, and a node at the top of a band is bundled with the nodes under it in the same band: one table for all of
them. The beam still goes down level by level; a bundle's margins are computed at once, those of some nodes in vain.
"""

from functools import cached_property

import numpy as np

from orchard.trees.label_tree import LabelTree

# Outputs of a bundle of several nodes at most: three binary levels, as many as are trained at once.
# Part of the file format: which nodes are bundled is stored nowhere.
MOST_OUTPUTS = 16


class Bundles:
    """The bundles of a tree, numbered in the order of their top nodes; a leaf is a bundle of its own.

    top : int64 (n_nodes,), the top node of every node's bundle.  of_node : int64 (n_nodes,), the number of its bundle.
    n_outputs : int64 (n_bundles,), how many classifiers each has.
    first_output : int64 (n_nodes,), where a node's outputs begin in its bundle; its nodes come in ascending order.
    bands : int64, the levels at which bundles begin, ascending, and the depth of the tree last.
    """

    def __init__(self, tree: LabelTree):
        n_outputs = outputs_of_nodes(tree)
        self.top, bands = np.arange(tree.n_nodes), [0]
        size = n_outputs.copy()  # of the bundle, for a node that is the top of one
        for level in range(1, tree.max_depth):
            nodes = np.arange(tree.levels[level], tree.levels[level + 1])
            nodes = nodes[~tree.is_leaf[nodes]]
            top = self.top[tree.parent[nodes]]
            tops, number = np.unique(top, return_inverse=True)
            joined = size[tops] + np.bincount(number, n_outputs[nodes]).astype(np.int64)
            if joined.max() <= MOST_OUTPUTS:
                self.top[nodes], size[tops] = top, joined
            else:
                bands.append(level)
        tops, self.of_node = np.unique(self.top, return_inverse=True)
        self.n_outputs = size[tops]
        self.bands = np.array([*bands, tree.max_depth], np.int64)
        before_node = np.empty_like(n_outputs)  # outputs of all nodes that come earlier
        before_node[self.order] = np.cumsum(n_outputs[self.order]) - n_outputs[self.order]
        self.first_output = before_node - before_node[self.top]

    def __len__(self) -> int:
        return self.n_outputs.size

    @cached_property
    def order(self) -> np.ndarray:
        """All nodes, bundle by bundle, ascending in each."""
        return np.argsort(self.of_node, kind="stable")

    @cached_property
    def n_nodes(self) -> np.ndarray:
        """How many nodes are in every bundle."""
        return np.bincount(self.of_node, minlength=len(self))

    @property
    def most_outputs(self) -> int:
        return int(self.n_outputs.max())


def outputs_of_nodes(tree: LabelTree) -> np.ndarray:
    """How many classifiers every node has, int64 (n_nodes,): one per child, or per label of a leaf.

    A leaf with one label has none, since the edge that leads to it says it all; a root has no such edge.
    """
    n_held = np.diff(tree.label_indptr)
    needed = np.where(n_held == 1, 0, n_held)
    needed[0] = n_held[0]
    return np.where(tree.is_leaf, needed, np.diff(tree.children))
