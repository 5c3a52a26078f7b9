"""Label trees that look at frequencies alone: Huffman's, of least expected depth, and Fano's, from the top down."""

import numpy as np
from numpy.typing import ArrayLike

from orchard.trees._numbering import frequencies as checked
from orchard.trees.label_tree import LabelTree


def huffman_label_tree(frequencies: ArrayLike, rarest_first: np.ndarray | None = None) -> LabelTree:
    """Huffman's binary tree: the two rarest nodes are joined, again and again; every label is alone in its leaf.

    frequencies : non-negative (n_labels,).  rarest_first : the labels by rising frequency, where ties are to go in an
    order of one's own; by label id otherwise. Of a joined node and a label that are as frequent, the joined one goes
    first, as in fastText.
    """
    frequencies = checked("frequencies", frequencies)
    n_labels = frequencies.size
    labels = np.argsort(frequencies, kind="stable") if rarest_first is None else np.asarray(rarest_first)
    if not np.array_equal(np.sort(labels), np.arange(n_labels)) or (np.diff(frequencies[labels]) < 0).any():
        raise ValueError("rarest_first must be all labels by rising frequency")
    weights, parents = [*frequencies[labels].tolist(), *[0.0] * (n_labels - 1)], np.full(2 * n_labels - 1, -1)
    label, joined = 0, n_labels  # the rarest that are left of both kinds; joined nodes come in ascending order
    for node in range(n_labels, 2 * n_labels - 1):
        for _ in range(2):
            if label < n_labels and (joined == node or weights[label] < weights[joined]):
                child, label = label, label + 1
            else:
                child, joined = joined, joined + 1
            parents[child] = node
            weights[node] += weights[child]
    return LabelTree.from_parents(parents, np.arange(n_labels), labels)


def fano_label_tree(frequencies: ArrayLike, max_leaf: int = 1) -> LabelTree:
    """Fano's binary tree: labels by descending frequency, cut where both parts are as frequent as they can be alike.

    frequencies : non-negative (n_labels,).  Ties go by label id; of two cuts that are equally good the one with more on
    the left is taken (labeltrees §2.2 and §3.2); a node of labels that never occur is cut in the middle.
    """
    frequencies = checked("frequencies", frequencies)
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
