"""Beam search over a trained tree, for one query or many.

Queries go down the tree together, level by level, and those that reach the same node are scored one after the other,
while its weights are in the cache. A query's sums run over its features in ascending order whichever way it came, so
one query alone gets the same scores to the bit as among thousands.
"""

import numpy as np
from numba import njit

LOG_SIGMOID = 0  # combiner codes; a code p > 0 is the hinge to the power of p


@njit(nogil=True, cache=True)
def fill_buckets(node_rows, row_features, shifts, node_buckets, buckets):
    """See TreeModel.lookup."""
    for node in range(shifts.size):
        begin, end = node_rows[node], node_rows[node + 1]
        row = begin
        for bucket in range(node_buckets[node], node_buckets[node + 1]):
            first_feature = (bucket - node_buckets[node]) << np.int64(shifts[node])
            while row < end and row_features[row] < first_feature:
                row += 1
            buckets[bucket] = row - begin


@njit(nogil=True, cache=True)
def log_gain(margin, combiner):
    """log g(z): −max(0, 1 − z)^p for the hinges (Parabel p = 2, XR-Linear p = 3), log σ(z) for the sigmoid."""
    if combiner == LOG_SIGMOID:
        return np.float32(-np.log1p(np.exp(-margin)) if margin > 0 else margin - np.log1p(np.exp(margin)))
    loss = max(np.float32(0), np.float32(1) - margin)
    power = loss
    for _ in range(combiner - 1):
        power *= loss
    return -power


@njit(nogil=True, cache=True)
def score_outputs(features, values, scale, node, weights, lookup, combiner, parent_score, scores):
    """scores[o] = parent_score + log g(w_o·x + b_o) for every output o of a node; x is `values` times `scale`."""
    node_outputs, biases, node_rows, row_features, node_entries, row_begins, entry_outputs, entry_weights = weights
    shifts, node_buckets, buckets = lookup
    n_outputs = node_outputs[node + 1] - node_outputs[node]
    for output in range(n_outputs):
        scores[output] = 0
    shift = np.int64(shifts[node])
    first_bucket, first_row = node_buckets[node], node_rows[node]
    first_begin, first_entry = first_row + node, node_entries[node]
    for place in range(features.size):
        feature = features[place]
        bucket = first_bucket + (feature >> shift)
        row, end = buckets[bucket], buckets[bucket + 1]
        if shift > 0:
            while row < end and row_features[first_row + row] < feature:
                row += 1
            if row < end and row_features[first_row + row] != feature:
                continue
        if row < end:
            value = values[place]
            begin = first_begin + row
            for entry in range(first_entry + row_begins[begin], first_entry + row_begins[begin + 1]):
                scores[entry_outputs[entry]] += value * entry_weights[entry]
    bias = node_outputs[node]
    for output in range(n_outputs):
        scores[output] = parent_score + log_gain(scale * scores[output] + biases[bias + output], combiner)


@njit(nogil=True, cache=True)
def insert_best(score, item, n_best, best_scores, best_items):
    """Keep the best, in descending order; among equals the one that came first. Returns how many there are now."""
    size = best_scores.size
    if n_best == size:
        if size == 0 or score <= best_scores[size - 1]:
            return n_best
        place = size - 1
    else:
        place = n_best
        n_best += 1
    while place > 0 and best_scores[place - 1] < score:
        best_scores[place] = best_scores[place - 1]
        best_items[place] = best_items[place - 1]
        place -= 1
    best_scores[place] = score
    best_items[place] = item
    return n_best


@njit(nogil=True, cache=True)
def by_node(nodes, n_pairs, first_node, counts, order):
    """order[:n_pairs] = the pairs sorted by node, stable; counts : int64, zeros, at least the nodes of the level + 1."""
    largest = 0
    for pair in range(n_pairs):
        number = nodes[pair] - first_node
        counts[number + 1] += 1
        largest = max(largest, number)
    for number in range(largest + 1):
        counts[number + 1] += counts[number]
    for pair in range(n_pairs):
        number = nodes[pair] - first_node
        order[counts[number]] = pair
        counts[number] += 1
    counts[: largest + 2] = 0


@njit(nogil=True, cache=True)
def row_scales(X, first, last, normalise, scales):
    """1 / ‖x‖ of the rows first … last − 1, or 1; returns the first row that is not finite, or −1."""
    indptr, _, data = X
    for row in range(first, last):
        squares = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            squares += np.float64(data[entry]) * np.float64(data[entry])
        if not np.isfinite(squares):
            return row
        scales[row - first] = 1 / np.sqrt(squares) if normalise and squares > 0 else 1.0
    return -1


@njit(nogil=True, cache=True)
def beam_search(
    X, first, last, scales, tree, weights, lookup, combiner, discount, n_levels, beam_nodes, beam_scores, beam_sizes
):
    """The best nodes of the rows first … last − 1 of X after `n_levels` levels; a leaf that is reached earlier stays.

    scales : float32 (last − first,).  tree : (children, levels).
    beam_nodes, beam_scores : int32 and float32 (last − first, beam), receive the nodes and their log scores, best first.
    beam_sizes : int64 (last − first,).
    """
    indptr, indices, data = X
    children, levels = tree
    n_queries, beam = beam_nodes.shape
    widest = 1
    for level in range(n_levels):
        widest = max(widest, levels[level + 1] - levels[level])
    pair_nodes = np.empty(n_queries * beam, np.int32)
    pair_places = np.empty(n_queries * beam, np.int64)
    pair_begins = np.empty(n_queries * beam + 1, np.int64)
    order = np.empty(n_queries * beam, np.int64)
    counts = np.zeros(widest + 1 if n_queries > 1 else 0, np.int64)
    scores = np.empty(0, np.float32)
    best_scores, best_nodes = np.empty(beam, np.float32), np.empty(beam, np.int32)

    beam_sizes[:] = 1
    beam_nodes[:, 0] = 0
    beam_scores[:, 0] = 0
    for level in range(n_levels):
        n_pairs = 0
        pair_begins[0] = 0
        for query in range(n_queries):
            for place in range(beam_sizes[query]):
                node = beam_nodes[query, place]
                n_children = children[node + 1] - children[node]
                if n_children:
                    pair_nodes[n_pairs] = node
                    pair_places[n_pairs] = query * beam + place
                    pair_begins[n_pairs + 1] = pair_begins[n_pairs] + n_children
                    n_pairs += 1
        if n_pairs == 0:
            break
        if scores.size < pair_begins[n_pairs]:
            scores = np.empty(pair_begins[n_pairs], np.float32)
        if n_queries > 1:
            by_node(pair_nodes, n_pairs, levels[level], counts, order)
        else:
            for pair in range(n_pairs):
                order[pair] = pair
        for turn in range(n_pairs):
            pair = order[turn]
            query, place = divmod(pair_places[pair], beam)
            begin, end = indptr[first + query], indptr[first + query + 1]
            score_outputs(
                indices[begin:end],
                data[begin:end],
                scales[query],
                pair_nodes[pair],
                weights,
                lookup,
                combiner,
                discount * beam_scores[query, place],
                scores[pair_begins[pair] : pair_begins[pair + 1]],
            )

        pair = 0
        for query in range(n_queries):
            n_best = 0
            for place in range(beam_sizes[query]):
                node = beam_nodes[query, place]
                first_child = children[node]
                n_children = children[node + 1] - first_child
                if n_children == 0:  # a leaf above the others keeps its place as long as its score does
                    n_best = insert_best(beam_scores[query, place], node, n_best, best_scores, best_nodes)
                    continue
                for child in range(n_children):
                    score = scores[pair_begins[pair] + child]
                    n_best = insert_best(score, first_child + child, n_best, best_scores, best_nodes)
                pair += 1
            beam_sizes[query] = n_best
            for place in range(n_best):
                beam_nodes[query, place] = best_nodes[place]
                beam_scores[query, place] = best_scores[place]


@njit(nogil=True, cache=True)
def score_labels(
    X,
    first,
    scales,
    labels,
    weights,
    lookup,
    combiner,
    discount,
    beam_nodes,
    beam_scores,
    beam_sizes,
    pair_begins,
    scores,
):
    """The log scores of all labels in the leaves of the beams, leaf by leaf.

    labels : (label_indptr, label_indices) of the tree.
    pair_begins : int64 (n_queries · beam + 1,), where the scores of a query's place in the beam begin.
    scores : float32 (pair_begins[-1],).
    """
    indptr, indices, data = X
    label_indptr, _ = labels
    n_queries, beam = beam_nodes.shape
    pair_places = np.empty(n_queries * beam, np.int64)
    pair_nodes = np.empty(n_queries * beam, np.int32)
    order = np.empty(n_queries * beam, np.int64)
    n_pairs = 0
    for query in range(n_queries):
        for place in range(beam_sizes[query]):
            pair_nodes[n_pairs] = beam_nodes[query, place]
            pair_places[n_pairs] = query * beam + place
            n_pairs += 1
    if n_queries > 1:
        by_node(pair_nodes, n_pairs, 0, np.zeros(label_indptr.size, np.int64), order)
    else:
        for pair in range(n_pairs):
            order[pair] = pair
    for turn in range(n_pairs):
        at = pair_places[order[turn]]
        query, place = divmod(at, beam)
        node = beam_nodes[query, place]
        if label_indptr[node + 1] - label_indptr[node] == 1:  # the edge to the leaf was the label's classifier
            scores[pair_begins[at]] = beam_scores[query, place]
            continue
        begin, end = indptr[first + query], indptr[first + query + 1]
        score_outputs(
            indices[begin:end],
            data[begin:end],
            scales[query],
            node,
            weights,
            lookup,
            combiner,
            discount * beam_scores[query, place],
            scores[pair_begins[at] : pair_begins[at + 1]],
        )
