"""From binary trees to wide ones: what is under a node comes up to it, the most frequent parts first."""

import heapq

import numpy as np
from numpy.typing import ArrayLike

from orchard.trees._numbering import frequencies
from orchard.trees.label_tree import LabelTree


def with_more_children(tree: LabelTree, n_splits: int, weights: ArrayLike) -> LabelTree:
    """The same leaves under nodes of up to `n_splits` children: by turns the heaviest child gives way to its own ones.

    weights : non-negative (n_labels,), such as frequencies; a node weighs as much as the labels under it. Of equally
    heavy ones the earlier node goes first, so that balanced trees of equal weights lose whole levels. A child whose own
    children would be too many stays. Those from nearer the root stand first among siblings.
    """
    weights = frequencies("weights", weights, tree.n_labels)
    if n_splits < 2:
        raise ValueError(f"n_splits must be at least 2, not {n_splits}")
    weight_of_node = _weights_below(tree, weights)
    parents = np.full(tree.n_nodes, -1)
    waiting = [0]
    while waiting:
        top = waiting.pop()
        heaviest, kept, n_children = [(-weight_of_node[top], top)], [], 1
        while heaviest:
            _, node = heapq.heappop(heaviest)
            own = range(int(tree.children[node]), int(tree.children[node + 1]))
            if not own or (n_children + len(own) - 1 > n_splits and node != top):
                kept.append(node)
                continue
            n_children += len(own) - 1
            for child in own:
                heapq.heappush(heaviest, (-weight_of_node[child], child))
        kept = [node for node in kept if node != top]
        parents[kept] = top
        waiting += [node for node in kept if not tree.is_leaf[node]]
    return _without(tree, parents)


def _weights_below(tree: LabelTree, weights: np.ndarray) -> np.ndarray:
    """What the labels under every node weigh, float64 (n_nodes,)."""
    nodes = np.repeat(np.arange(tree.n_nodes), np.diff(tree.label_indptr))
    below = np.bincount(nodes, weights[tree.label_indices], minlength=tree.n_nodes)
    for begin, end in zip(tree.levels[-2:0:-1], tree.levels[:1:-1], strict=True):  # from the deepest level up
        below += np.bincount(tree.parent[begin:end], below[begin:end], minlength=tree.n_nodes)
    return below


def _without(tree: LabelTree, parents: np.ndarray) -> LabelTree:
    """The tree of the nodes that have a parent, and the root."""
    kept = np.append(0, np.flatnonzero(parents >= 0))
    number = np.full(tree.n_nodes, -1)
    number[kept] = np.arange(kept.size)
    new_parents = np.append(-1, number[parents[kept[1:]]])
    nodes = np.repeat(np.arange(tree.n_nodes), np.diff(tree.label_indptr))
    return LabelTree.from_parents(new_parents, number[nodes], tree.label_indices, tree.n_labels)
