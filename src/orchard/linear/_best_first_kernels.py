"""Searches of one tree that stop as soon as nothing can change the answer.

No edge adds to the log score of a path, in float32 neither, so a node's score is a bound for all that is under it. Once
k labels beat every open node, they are the best ones. Nodes and labels rank by keys: a log score and an id in an int64,
the smaller the better, equal scores by the lower id. The order is total, so what is found does not depend on the way.
"""

import numpy as np
from numba import njit

from orchard.linear._ranking_kernels import pairs_room
from orchard.linear._scoring_kernels import (
    LOG_SIGMOID,
    UNTIED,
    hinge,
    hits_of,
    log_gain,
    margins_alone,
    margins_of_pairs,
    scoring_room,
)
from orchard.linear._search_kernels import by_bundle, one_level_down, row_scales
from orchard.linear.bundles import MOST_OUTPUTS

NOTHING_FOUND = np.int64(0x7FFFFFFFFFFFFFFF)  # worse than any key
NODES, LABELS, OPENED = range(3)  # of a query: classifiers of nodes and of labels, bundles and leaves
_ID = np.int64(0xFFFFFFFF)
_HEAP = 256  # open nodes of a query for which there is room from the beginning
_FEW = 16  # queries that are left go on alone
_LEAVES_AHEAD = 4  # that a query among many takes at once: the more queries meet in a leaf, the cheaper it is


# ---- keys


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


# ---- labels


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
            if best_keys[place] & _ID == key & _ID:
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
            ids[row, rank], scores[row, rank] = key & _ID, np.exp(log_score_of(key))
            depths[row, rank] = labels[2][best_leaves[rank]]


# ---- best-first


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
        node, log_score = heap[0] & _ID, log_score_of(heap[0])
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
    pairs, order, counts = pairs_room(n_queries, ahead, output_begins.size)
    pair_bundles, pair_queries, pair_begins = pairs
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
                node = key & _ID
                is_inner = children[node] < children[node + 1]
                bundle = bundle_of[node]
                n_outputs = output_begins[bundle + 1] - output_begins[bundle]
                if (is_inner and n_taken > 0) or sizes[query] + n_outputs > _HEAP:
                    break  # an inner node waits for the next round; a query with too many open nodes goes on alone
                sizes[query] = drop_least(heaps[query], sizes[query])
                keys[n_pairs], pair_bundles[n_pairs], pair_queries[n_pairs] = key, bundle, query
                pair_begins[n_pairs] = n_margins
                n_margins += n_outputs
                n_pairs += 1
                n_taken += 1
                if is_inner:
                    break
            if n_taken > 0:
                waiting[n_going_on] = query
                n_going_on += 1
        n_waiting = n_going_on
        by_bundle(pair_bundles, n_pairs, 0, counts, order)
        if margins.size < n_margins:
            margins = np.empty(n_margins, np.float32)
        margins_of_pairs(X, first, pairs, order[:n_pairs], scales, weights, room, margins)
        for pair in range(n_pairs):
            query, node, log_score = pair_queries[pair], keys[pair] & _ID, log_score_of(keys[pair])
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


# ---- the beam that ends early


@njit(nogil=True, cache=True)
def leads(children, nodes, log_scores, place, size):
    """Whether there is a leaf in this place of a beam, better than all that follows and is not a leaf."""
    if place >= size or children[nodes[place]] < children[nodes[place] + 1]:
        return False
    for other in range(place + 1, size):
        if log_scores[other] < log_scores[place]:
            break
        if children[nodes[other]] < children[nodes[other] + 1]:
            return False
    return True


@njit(nogil=True, cache=True)
def adaptive_beam(
    X, first, last, normalise, tree, labels, weights, combiner, has_copies, beam, ids, scores, depths, asked
):
    """The labels that a level-wise beam finds; a query leaves the tree as soon as nothing in its beam can change them.

    Leaves at the head of a beam, better than all that is not a leaf, can never be pushed out of it: their labels are
    scored at once, the best leaf first.  Arguments as in `best_first`.
    """
    children, _, bands, bundle_of, first_output = tree
    label_indptr, label_indices, node_depths = labels
    output_begins = weights[0]
    n_queries, k = last - first, ids.shape[1]
    scales = np.empty(n_queries, np.float32)
    bad_row = row_scales(X, first, last, normalise, scales)
    if bad_row >= 0:
        return bad_row
    room = scoring_room(X, first, last, weights)
    best_keys, best_leaves = np.full((n_queries, k), NOTHING_FOUND), np.empty((n_queries, k), np.int64)
    asked[first:last] = 0

    nodes, log_scores = np.zeros((n_queries, beam), np.int32), np.zeros((n_queries, beam), np.float32)
    sizes = np.ones(n_queries, np.int64)  # 0 for a query that is done
    n_ranked = np.zeros(n_queries, np.int64)  # leaves at the head of the beam whose labels are among the found
    begins = np.empty((n_queries, beam), np.int64)
    scratch = np.empty(beam, np.float32), np.empty(beam, np.int64), np.empty(beam, np.int64)
    pairs, order, counts = pairs_room(n_queries, beam, output_begins.size)
    pair_bundles, pair_queries, pair_begins = pairs
    margins = np.empty(0, np.float32)
    for band in range(bands.size):
        while True:  # a leaf of every query at a time
            n_pairs, n_margins = 0, 0
            for query in range(n_queries):
                while leads(children, nodes[query], log_scores[query], n_ranked[query], sizes[query]):
                    place = n_ranked[query]
                    node, log_score = nodes[query, place], log_scores[query, place]
                    if key_of(log_score, 0) >> 32 > best_keys[query, k - 1] >> 32:
                        break
                    n_ranked[query] += 1
                    bundle = bundle_of[node]
                    n_outputs = output_begins[bundle + 1] - output_begins[bundle]
                    if n_outputs > 0:
                        pair_bundles[n_pairs], pair_queries[n_pairs] = bundle, query
                        pair_begins[n_pairs] = n_margins
                        n_margins += n_outputs
                        n_pairs += 1
                        break
                    key = key_of(log_score, label_indices[label_indptr[node]])
                    keep_best(key, node, has_copies, node_depths, best_keys[query], best_leaves[query])
                if n_ranked[query] < sizes[query]:
                    best_left = key_of(log_scores[query, n_ranked[query]], 0)
                    sizes[query] *= best_left >> 32 <= best_keys[query, k - 1] >> 32
                else:
                    sizes[query] = 0
            if n_pairs == 0:
                break
            margins = _margins(X, first, scales, pairs, order, counts, n_pairs, n_margins, weights, room, margins)
            for pair in range(n_pairs):
                query = pair_queries[pair]
                place = n_ranked[query] - 1
                found = best_keys[query], best_leaves[query]
                leaf, own = nodes[query, place], margins[pair_begins[pair] :]
                asked[first + query, LABELS] += keep_labels(
                    leaf, log_scores[query, place], own, labels, combiner, has_copies, *found
                )
        if band == bands.size - 1:
            break
        n_pairs, n_margins = 0, 0
        for query in range(n_queries):
            for place in range(n_ranked[query], sizes[query]):
                node = nodes[query, place]
                if children[node] < children[node + 1]:
                    bundle = bundle_of[node]
                    pair_bundles[n_pairs], pair_queries[n_pairs], pair_begins[n_pairs] = bundle, query, n_margins
                    begins[query, place] = n_margins
                    n_margins += output_begins[bundle + 1] - output_begins[bundle]
                    n_pairs += 1
        if n_pairs == 0:
            continue
        margins = _margins(X, first, scales, pairs, order, counts, n_pairs, n_margins, weights, room, margins)
        for _ in range(bands[band], bands[band + 1]):
            for query in range(n_queries):
                if sizes[query] == 0:
                    continue
                for node in nodes[query, : sizes[query]]:
                    asked[first + query, NODES] += children[node + 1] - children[node]
                own = begins[query], nodes[query], log_scores[query], sizes[query : query + 1]
                one_level_down((children, first_output), combiner, np.float32(1), margins, *own, scratch)
    for query in range(n_queries):
        write_best(first + query, labels, best_keys[query], best_leaves[query], ids, scores, depths)
    return -1


@njit(nogil=True, cache=True)
def _margins(X, first, scales, pairs, order, counts, n_pairs, n_margins, weights, room, margins):
    """`margins_of_pairs`, sorted by bundle; returns `margins`, or a larger array."""
    if scales.size > 1:
        by_bundle(pairs[0], n_pairs, 0, counts, order)
    if margins.size < n_margins:
        margins = np.empty(n_margins, np.float32)
    margins_of_pairs(X, first, pairs, order[:n_pairs], scales, weights, room, margins)
    return margins
