"""Beam search over a trained tree, for one query or many.

Queries go down the tree together, level by level, and those that reach the same node are scored one after the other,
while its weights are in the cache. A query's sums run over its features in ascending order whichever way it came, so
one query alone gets the same scores to the bit as among thousands.
"""

import numpy as np
from numba import njit

from orchard.linear._lanes import fma, lanes_dot_in_order
from orchard.linear._solver_kernels import on_cache_lines

SPREAD = 32  # lanes of a dense row
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
def score_alone(features, values, scale, node, weights, lookup, combiner, parent_score, scores):
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
                output = entry_outputs[entry]
                scores[output] = fma(value, entry_weights[entry], scores[output])
    bias = node_outputs[node]
    for output in range(n_outputs):
        scores[output] = parent_score + log_gain(scale * scores[output] + biases[bias + output], combiner)


@njit(nogil=True, cache=True)
def hits_of(features, values, node, weights, lookup, hit_rows, hit_values, n_hits):
    """Append the node's rows for a query's features, and the query's values; returns how many there are now."""
    _, _, node_rows, row_features, _, _, _, _ = weights
    shifts, node_buckets, buckets = lookup
    shift = np.int64(shifts[node])
    first_bucket, first_row = node_buckets[node], node_rows[node]
    for place in range(features.size):
        feature = features[place]
        bucket = first_bucket + (feature >> shift)
        row, end = buckets[bucket], buckets[bucket + 1]
        if shift > 0:
            while row < end and row_features[first_row + row] < feature:
                row += 1
            end = end if row < end and row_features[first_row + row] == feature else row
        hit_rows[n_hits] = row
        hit_values[n_hits] = values[place]
        n_hits += 1 if row < end else 0
    return n_hits


@njit(nogil=True, cache=True)
def score_together(X, first, queries, scales, node, weights, lookup, combiner, parent_scores, begins, scores, scratch):
    """`score_alone` for several queries: the weights are spread into dense rows of SPREAD lanes, as training has them.

    queries : int64 (n,), counted from `first`; begins : int64 (n,), where the scores of each go; parent_scores : float32.
    scratch : (W float32 zeros, zeros again on return; hit_rows int32; hit_values float32), all large enough.
    """
    indptr, indices, data = X
    node_outputs, biases, node_rows, _, node_entries, row_begins, entry_outputs, entry_weights = weights
    spread, hit_rows, hit_values = scratch
    n_outputs = node_outputs[node + 1] - node_outputs[node]
    n_rows = node_rows[node + 1] - node_rows[node]
    first_begin, first_entry = node_rows[node] + node, node_entries[node]
    W = spread[: n_rows * SPREAD].reshape(n_rows, SPREAD)
    lanes = np.empty(SPREAD, np.float32)
    hit_indptr = np.zeros(queries.size + 1, np.int64)
    n_hits = 0
    for turn in range(queries.size):
        begin, end = indptr[first + queries[turn]], indptr[first + queries[turn] + 1]
        n_hits = hits_of(indices[begin:end], data[begin:end], node, weights, lookup, hit_rows, hit_values, n_hits)
        hit_indptr[turn + 1] = n_hits

    next_entry = np.empty(n_rows, np.int64)  # outputs ascend in a row: every block goes on where the last one stopped
    for row in range(n_rows):
        next_entry[row] = first_entry + row_begins[first_begin + row]
    for block in range(0, n_outputs, SPREAD):
        for row in range(n_rows):
            begin, end = next_entry[row], first_entry + row_begins[first_begin + row + 1]
            entry = begin
            while entry < end and entry_outputs[entry] < block + SPREAD:
                W[row, entry_outputs[entry] - block] = entry_weights[entry]
                entry += 1
            next_entry[row] = entry
        for turn in range(queries.size):
            lanes_dot_in_order(SPREAD, W, hit_rows, hit_values, hit_indptr[turn], hit_indptr[turn + 1], lanes)
            scale, parent_score = scales[queries[turn]], parent_scores[turn]
            for output in range(block, min(block + SPREAD, n_outputs)):
                margin = scale * lanes[output - block] + biases[node_outputs[node] + output]
                scores[begins[turn] + output] = parent_score + log_gain(margin, combiner)
        spread[: n_rows * SPREAD] = 0


@njit(nogil=True, cache=True)
def score_pairs(
    X, first, n_pairs, pair_nodes, pair_queries, pair_scores, pair_begins, order, scales, weights, lookup, combiner, scores
):
    """The scores of all outputs of a node for a query, for many such pairs, in the given order (sorted by node).

    pair_scores : the log score of the path so far, discounted.  scores : pair p's begin at pair_begins[p].
    """
    indptr, indices, data = X
    node_outputs, _, node_rows, _, node_entries, _, _, _ = weights
    spread, hit_rows, hit_values = np.empty(0, np.float32), np.empty(0, np.int32), np.empty(0, np.float32)
    turn = 0
    while turn < n_pairs:
        node = pair_nodes[order[turn]]
        stop, n_values = turn, 0
        while stop < n_pairs and pair_nodes[order[stop]] == node:
            query = first + pair_queries[order[stop]]
            n_values += indptr[query + 1] - indptr[query]
            stop += 1
        n_outputs = node_outputs[node + 1] - node_outputs[node]
        n_rows = node_rows[node + 1] - node_rows[node]
        n_entries = node_entries[node + 1] - node_entries[node]
        n_blocks = -(-n_outputs // SPREAD)
        # Nanoseconds, roughly: a dense row is a few loads, a sparse one a loop of unforeseeable length.
        alone = n_values * (6.0 + n_entries / (n_rows + 1))
        together = n_blocks * (10.0 * n_rows + 1.5 * n_values) + 2.0 * n_entries + 1.5 * n_values
        if n_outputs > 0 and stop - turn > 1 and together < alone:
            if spread.size < n_rows * SPREAD:
                spread = on_cache_lines(n_rows * SPREAD)
            if hit_rows.size < n_values:
                hit_rows, hit_values = np.empty(n_values, np.int32), np.empty(n_values, np.float32)
            pairs = order[turn:stop]
            score_together(
                X,
                first,
                pair_queries[pairs],
                scales,
                node,
                weights,
                lookup,
                combiner,
                pair_scores[pairs],
                pair_begins[pairs],
                scores,
                (spread, hit_rows, hit_values),
            )
        else:
            for pair in order[turn:stop]:
                begin, end = indptr[first + pair_queries[pair]], indptr[first + pair_queries[pair] + 1]
                score_alone(
                    indices[begin:end],
                    data[begin:end],
                    scales[pair_queries[pair]],
                    node,
                    weights,
                    lookup,
                    combiner,
                    pair_scores[pair],
                    scores[pair_begins[pair] : pair_begins[pair] + n_outputs],
                )
        turn = stop


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
    children, levels = tree
    n_queries, beam = beam_nodes.shape
    widest = 1
    for level in range(n_levels):
        widest = max(widest, levels[level + 1] - levels[level])
    pair_nodes = np.empty(n_queries * beam, np.int32)
    pair_queries = np.empty(n_queries * beam, np.int64)
    pair_scores = np.empty(n_queries * beam, np.float32)
    pair_begins = np.empty(n_queries * beam + 1, np.int64)
    order = np.arange(n_queries * beam)
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
                    pair_queries[n_pairs] = query
                    pair_scores[n_pairs] = discount * beam_scores[query, place]
                    pair_begins[n_pairs + 1] = pair_begins[n_pairs] + n_children
                    n_pairs += 1
        if n_pairs == 0:
            break
        if scores.size < pair_begins[n_pairs]:
            scores = np.empty(pair_begins[n_pairs], np.float32)
        if n_queries > 1:
            by_node(pair_nodes, n_pairs, levels[level], counts, order)
        score_pairs(
            X,
            first,
            n_pairs,
            pair_nodes,
            pair_queries,
            pair_scores,
            pair_begins,
            order,
            scales,
            weights,
            lookup,
            combiner,
            scores,
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
    begins,
    scores,
):
    """The log scores of all labels in the leaves of the beams, leaf by leaf.

    labels : (label_indptr, label_indices) of the tree.
    begins : int64 (n_queries · beam + 1,), where the scores of a query's place in the beam begin.
    scores : float32 (begins[-1],).
    """
    label_indptr, _ = labels
    n_queries, beam = beam_nodes.shape
    pair_nodes = np.empty(n_queries * beam, np.int32)
    pair_queries = np.empty(n_queries * beam, np.int64)
    pair_scores = np.empty(n_queries * beam, np.float32)
    pair_begins = np.empty(n_queries * beam, np.int64)
    n_pairs = 0
    for query in range(n_queries):
        for place in range(beam_sizes[query]):
            node = beam_nodes[query, place]
            begin = begins[query * beam + place]
            if label_indptr[node + 1] - label_indptr[node] == 1:  # the edge to the leaf was the label's classifier
                scores[begin] = beam_scores[query, place]
                continue
            pair_nodes[n_pairs] = node
            pair_queries[n_pairs] = query
            pair_scores[n_pairs] = discount * beam_scores[query, place]
            pair_begins[n_pairs] = begin
            n_pairs += 1
    order = np.arange(n_pairs)
    if n_queries > 1:
        by_node(pair_nodes, n_pairs, 0, np.zeros(label_indptr.size, np.int64), order)
    score_pairs(
        X,
        first,
        n_pairs,
        pair_nodes,
        pair_queries,
        pair_scores,
        pair_begins,
        order,
        scales,
        weights,
        lookup,
        combiner,
        scores,
    )
