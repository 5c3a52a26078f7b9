"""Label trees that look at frequencies alone: Huffman's, of least expected depth, and Fano's, from the top down."""

import heapq

import numpy as np
from numpy.typing import ArrayLike

from orchard.trees.label_tree import LabelTree


def huffman_label_tree(frequencies: ArrayLike) -> LabelTree:
    """Huffman's binary tree: the two rarest nodes are joined, again and again; every label is alone in its leaf.

    frequencies : non-negative (n_labels,).  Of equal nodes the older comes first: labels before joined ones, and labels
    by descending id, as if they had been sorted by frequency, ties by id, and read from the end.
    """
    frequencies = _checked(frequencies)
    n_labels = frequencies.size
    parents = np.full(2 * n_labels - 1, -1)
    heap = [(frequency, n_labels - 1 - label, label) for label, frequency in enumerate(frequencies.tolist())]
    heapq.heapify(heap)
    for node in range(n_labels, 2 * n_labels - 1):
        rarest, _, one = heapq.heappop(heap)
        rare, _, other = heapq.heappop(heap)
        parents[[one, other]] = node
        heapq.heappush(heap, (rarest + rare, node, node))
    labels = np.arange(n_labels)
    return LabelTree.from_parents(parents, labels, labels)


def fano_label_tree(frequencies: ArrayLike, max_leaf: int = 1) -> LabelTree:
    """Fano's binary tree: labels by descending frequency, cut where both parts are as frequent as they can be alike.

    frequencies : non-negative (n_labels,).  Ties go by label id; of two cuts that are equally good the one with more on
    the left is taken (labeltrees §2.2 and §3.2); a node of labels that never occur is cut in the middle.
    """
    frequencies = _checked(frequencies)
    if max_leaf < 1:
        raise ValueError(f"max_leaf must be at least 1, not {max_leaf}")
    order = np.argsort(-frequencies, kind="stable")
    n_labels, cumulative = order.size, np.append(0, np.cumsum(frequencies[order]))
    parents, nodes = [-1], np.empty(n_labels, np.int64)
    waiting = [(0, 0, n_labels)]
    while waiting:
        node, begin, end = waiting.pop()
        if end - begin <= max_leaf:
            nodes[begin:end] = node
            continue
        half = (cumulative[begin] + cumulative[end]) / 2
        cut = int(np.searchsorted(cumulative[begin : end + 1], half, side="left")) + begin
        if cumulative[end] == cumulative[begin]:
            cut = (begin + end + 1) // 2
        elif cut > begin and half - cumulative[cut - 1] < cumulative[cut] - half:
            cut -= 1
        cut = min(max(cut, begin + 1), end - 1)
        children = len(parents), len(parents) + 1
        parents.extend([node, node])
        waiting += [(children[0], begin, cut), (children[1], cut, end)]
    return LabelTree.from_parents(np.array(parents), nodes, order, n_labels)


def _checked(frequencies: ArrayLike) -> np.ndarray:
    frequencies = np.asarray(frequencies, np.float64)
    if frequencies.ndim != 1 or not frequencies.size or not np.isfinite(frequencies).all() or (frequencies < 0).any():
        raise ValueError("frequencies must be one number per label, at least one, none negative or not finite")
    return frequencies
