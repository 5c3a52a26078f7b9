"""The best k labels found so far, for searches that stop as soon as nothing can change them.

No edge adds to the log score of a path, in float32 neither, so a node's score is a bound for all that is under it. Once
k labels beat every open node, they are the best ones. Nodes and labels rank by keys: a log score and an id in an int64,
the smaller the better, equal scores by the lower id. The order is total, so what is found does not depend on the way.
"""

import numpy as np

from orchard.jit import njit
from orchard.linear._scoring_kernels import LOG_SIGMOID, UNTIED, hinge, log_gain

NOTHING_FOUND = np.int64(0x7FFFFFFFFFFFFFFF)  # worse than any key
NODES, LABELS, OPENED = range(3)  # what a query asked: classifiers of nodes and of labels, bundles and leaves
ID = np.int64(0xFFFFFFFF)  # the part of a key that is one


@njit(nogil=True, cache=True)
def key_of(log_score, number):
    """Ascending keys are falling log scores; these are 0 or negative, so their sizes, as bits, are in order."""
    size = np.float32(abs(log_score))
    return np.int64(size.view(np.int32)) << 32 | np.int64(number)


@njit(nogil=True, cache=True)
def log_score_of(key):
    bits = np.int32(key >> 32)
    return -bits.view(np.float32)


@njit(nogil=True, cache=True)
def keep_best(key, leaf, has_copies, node_depths, best_keys, best_leaves):
    """Put a label in its place among the best k; a copy counts if it is better than the label's others.

    best_keys : int64 (k,), ascending, NOTHING_FOUND at the end.  best_leaves : int64 (k,).
    """
    last = best_keys.size - 1
    if key > best_keys[last]:
        return
    if has_copies:
        for place in range(best_keys.size):
            if best_keys[place] & ID == key & ID:
                if best_keys[place] == key and node_depths[leaf] < node_depths[best_leaves[place]]:
                    best_leaves[place] = leaf
                if best_keys[place] <= key:
                    return
                last = place
                break
    place = last
    while place > 0 and best_keys[place - 1] > key:
        best_keys[place], best_leaves[place] = best_keys[place - 1], best_leaves[place - 1]
        place -= 1
    best_keys[place], best_leaves[place] = key, leaf


@njit(nogil=True, cache=True)
def largest_loss(log_score, worst):
    """A label of a leaf with this log score ranks below the key `worst` if its edge loses more, rounding or not."""
    if worst == NOTHING_FOUND:
        return np.float32(np.inf)
    bound = log_score_of(worst)
    return np.float32(1.00001) * (log_score - bound) - np.float32(1e-6) * bound + np.float32(1e-30)


@njit(nogil=True, cache=True)
def keep_labels(leaf, log_score, margins, labels, combiner, has_copies, best_keys, best_leaves):
    """The labels of a leaf with classifiers, whose margins are given, go among the best k. Returns how many there are.

    Most lose too much, and one comparison says so; log σ(z) is less than z.
    """
    label_indptr, label_indices, node_depths = labels
    first_label, n_labels = label_indptr[leaf], label_indptr[leaf + 1] - label_indptr[leaf]
    worst, power = best_keys[-1], combiner % UNTIED
    at_most = largest_loss(log_score, worst)
    for number in range(n_labels):
        margin = margins[number]
        if (-margin if power == LOG_SIGMOID else hinge(margin, power)) > at_most:
            continue
        key = key_of(log_score + log_gain(margin, combiner), label_indices[first_label + number])
        keep_best(key, leaf, has_copies, node_depths, best_keys, best_leaves)
        if best_keys[-1] < worst:
            worst = best_keys[-1]
            at_most = largest_loss(log_score, worst)
    return n_labels


@njit(nogil=True, cache=True)
def write_best(row, labels, best_keys, best_leaves, ids, scores, depths):
    """Row `row` of ids, scores, depths; −1, −∞, NaN where fewer than k labels were found."""
    for rank in range(best_keys.size):
        key = best_keys[rank]
        if key == NOTHING_FOUND:
            ids[row, rank], scores[row, rank], depths[row, rank] = -1, -np.inf, np.nan
        else:
            ids[row, rank], scores[row, rank] = key & ID, np.exp(log_score_of(key))
            depths[row, rank] = labels[2][best_leaves[rank]]
