"""Best-first search: the open node with the highest score is next, until no open node can change the best k labels."""

import numpy as np

from orchard.jit import njit
from orchard.linear._best_label_kernels import (
    ID,
    LABELS,
    NODES,
    NOTHING_FOUND,
    OPENED,
    keep_best,
    keep_labels,
    key_of,
    log_score_of,
    write_best,
)
from orchard.linear._pair_kernels import add_pair, margins_by_bundle, pairs_room
from orchard.linear._scoring_kernels import hits_of, log_gain, margins_alone, scoring_room
from orchard.linear._search_kernels import row_scales
from orchard.linear.bundles import MOST_OUTPUTS

_HEAP = 256  # open nodes of a query for which there is room from the beginning
_FEW = 16  # queries that are left go on alone
_LEAVES_AHEAD = 4  # that a query among many takes at once: the more queries meet in a leaf, the cheaper it is


@njit(nogil=True, cache=True)
def push(key, heap, size):
    """Add a key to a heap, the least first; there is room. Returns the new size."""
    place = size
    while place > 0 and heap[(place - 1) >> 1] > key:
        heap[place] = heap[(place - 1) >> 1]
        place = (place - 1) >> 1
    heap[place] = key
    return size + 1


@njit(nogil=True, cache=True)
def drop_least(heap, size):
    """Remove heap[0]; returns the new size."""
    size -= 1
    key, place = heap[size], 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = key
    return size


@njit(nogil=True, cache=True)
def open_bundle(top, log_score, margins, tree, labels, combiner, has_copies, heap, size, best_keys, best_leaves):
    """Push the nodes at which the paths from a bundle's top node leave it; a label that is alone in a leaf is kept.

    heap : with room for all of them.  Returns (the new size, how many children were looked at).
    """
    children, _, _, bundle_of, first_output = tree
    label_indptr, label_indices, node_depths = labels
    last = best_keys.size - 1
    nodes, log_scores = np.empty(MOST_OUTPUTS, np.int64), np.empty(MOST_OUTPUTS, np.float32)
    nodes[0], log_scores[0] = top, log_score
    n_nodes, turn, n_asked = 1, 0, 0
    while turn < n_nodes:
        node, score = nodes[turn], log_scores[turn]
        turn += 1
        first_child = children[node]
        n_children = children[node + 1] - first_child
        n_asked += n_children
        for number in range(n_children):
            child = first_child + number
            child_score = score + log_gain(margins[first_output[node] + number], combiner)
            key = key_of(child_score, child)
            if key >> 32 > best_keys[last] >> 32:
                continue
            if children[child] < children[child + 1] and bundle_of[child] == bundle_of[top]:
                nodes[n_nodes], log_scores[n_nodes] = child, child_score
                n_nodes += 1
            elif label_indptr[child + 1] - label_indptr[child] == 1:  # the edge to the leaf is the label's classifier
                key = key_of(child_score, label_indices[label_indptr[child]])
                keep_best(key, child, has_copies, node_depths, best_keys, best_leaves)
            else:
                size = push(key, heap, size)
    return size, n_asked


@njit(nogil=True, cache=True)
def is_done(heap, size, best_keys, budget, asked):
    """Whether no open node can change the best k labels, or k were found and the budget is spent."""
    worst = best_keys[-1]
    return size == 0 or heap[0] >> 32 > worst >> 32 or (asked[OPENED] >= budget and worst != NOTHING_FOUND)


@njit(nogil=True, cache=True)
def go_on_alone(
    features,
    values,
    scale,
    memory,
    tree,
    labels,
    weights,
    combiner,
    has_copies,
    budget,
    heap,
    size,
    best_keys,
    best_leaves,
    asked,
):
    """Best-first for one query, from the open nodes in its heap to the end.

    memory : (hit rows, hit values, lanes), see `scoring_room`.  best_keys, best_leaves : int64 (k,), what was found so
    far.  asked : int64 (3,), added to, see `best_first`.
    """
    hit_rows, hit_values, lanes = memory
    children, bundle_of, output_begins = tree[0], tree[3], weights[0]
    margins = np.empty(128, np.float32)
    while not is_done(heap, size, best_keys, budget, asked):
        asked[OPENED] += 1
        node, log_score = heap[0] & ID, log_score_of(heap[0])
        size = drop_least(heap, size)
        bundle = bundle_of[node]
        n_outputs = output_begins[bundle + 1] - output_begins[bundle]
        if margins.size < n_outputs:
            margins = np.empty(n_outputs, np.float32)
        n_hits = hits_of(features, values, bundle, weights, hit_rows, hit_values, 0)
        margins_alone(n_hits, hit_rows, hit_values, scale, bundle, weights, lanes, margins)
        if children[node] == children[node + 1]:
            asked[LABELS] += keep_labels(node, log_score, margins, labels, combiner, has_copies, best_keys, best_leaves)
            continue
        if size + n_outputs > heap.size:
            larger = np.empty(2 * (size + n_outputs), np.int64)
            larger[:size] = heap[:size]
            heap = larger
        found = tree, labels, combiner, has_copies, heap, size, best_keys, best_leaves
        size, n_asked = open_bundle(node, log_score, margins, *found)
        asked[NODES] += n_asked


@njit(nogil=True, cache=True)
def best_first(
    X, first, last, normalise, tree, labels, weights, combiner, has_copies, budget, ids, scores, depths, asked
):
    """The best k labels of the whole tree for the rows first … last − 1 of X.

    Many queries go on in rounds: each takes its best open node, or some leaves if these are the best, and those that
    meet in a bundle share its weights. What a leaf that was taken ahead holds is looked at only if a query alone would.
    budget : bundles and leaves that a query opens at most, or until it has found k labels.
    ids, scores, depths : int32, float32, float32 (n, k).  asked : int64 (n, 3), what a query asked: NODES, LABELS,
    OPENED.
    Returns a row that is not finite, or −1.
    """
    indptr, indices, data = X
    children, bundle_of, output_begins = tree[0], tree[3], weights[0]
    n_queries, k = last - first, ids.shape[1]
    scales = np.empty(n_queries, np.float32)
    bad_row = row_scales(X, first, last, normalise, scales)
    if bad_row >= 0:
        return bad_row
    room = scoring_room(X, first, last, weights)
    memory = room[0], room[1], room[7]
    best_keys, best_leaves = np.full((n_queries, k), NOTHING_FOUND), np.empty((n_queries, k), np.int64)
    heaps, sizes = np.empty((n_queries, _HEAP), np.int64), np.ones(n_queries, np.int64)
    heaps[:, 0] = 0  # the root, whose log score is 0
    asked[first:last] = 0

    ahead = min(k, _LEAVES_AHEAD)
    pairs = pairs_room(n_queries, ahead, output_begins.size)
    _, pair_queries, pair_begins = pairs[0]
    keys, margins = np.empty(n_queries * ahead, np.int64), np.empty(0, np.float32)
    waiting, n_waiting = np.arange(n_queries), n_queries  # queries that are not done
    while n_waiting > _FEW:
        n_pairs, n_margins, n_going_on = 0, 0, 0
        for place in range(n_waiting):
            query = waiting[place]
            n_taken = 0
            while n_taken < ahead and not is_done(
                heaps[query], sizes[query], best_keys[query], budget, asked[first + query]
            ):
                key = heaps[query, 0]
                node = key & ID
                is_inner = children[node] < children[node + 1]
                bundle = bundle_of[node]
                n_outputs = output_begins[bundle + 1] - output_begins[bundle]
                if is_inner and (n_taken > 0 or sizes[query] + n_outputs > _HEAP):
                    break  # an inner node waits for the next round; a query with too many open nodes goes on alone
                sizes[query] = drop_least(heaps[query], sizes[query])
                keys[n_pairs] = key
                n_pairs, n_margins = add_pair(bundle, query, output_begins, pairs[0], n_pairs, n_margins)
                n_taken += 1
                if is_inner:
                    break
            if n_taken > 0:
                waiting[n_going_on] = query
                n_going_on += 1
        n_waiting = n_going_on
        margins = margins_by_bundle(X, first, scales, pairs, n_pairs, n_margins, weights, room, margins)
        for pair in range(n_pairs):
            query, node, log_score = pair_queries[pair], keys[pair] & ID, log_score_of(keys[pair])
            own, found, told = (
                margins[pair_begins[pair] :],
                (best_keys[query], best_leaves[query]),
                asked[first + query],
            )
            if is_done(keys[pair : pair + 1], 1, best_keys[query], budget, told):
                continue  # a leaf that was taken ahead, and is not needed any more
            told[OPENED] += 1
            if children[node] == children[node + 1]:
                told[LABELS] += keep_labels(node, log_score, own, labels, combiner, has_copies, *found)
            else:
                open_nodes = heaps[query], sizes[query]
                sizes[query], n_asked = open_bundle(
                    node, log_score, own, tree, labels, combiner, has_copies, *open_nodes, *found
                )
                told[NODES] += n_asked
    for query in range(n_queries):
        row = first + query
        features, values = indices[indptr[row] : indptr[row + 1]], data[indptr[row] : indptr[row + 1]]
        how, found = (tree, labels, weights, combiner, has_copies, budget), (best_keys[query], best_leaves[query])
        go_on_alone(features, values, scales[query], memory, *how, heaps[query], sizes[query], *found, asked[row])
        write_best(row, labels, best_keys[query], best_leaves[query], ids, scores, depths)
    return -1
