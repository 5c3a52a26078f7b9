"""Beam search over a trained tree, for one query or many.

Queries go down the tree together, level by level, and those that reach the same node are scored one after the other,
while its weights are in the cache.
"""

import numpy as np
from numba import njit

from orchard.linear._scoring_kernels import score_pairs

_LARGEST_SCALE = 1e30  # a row that is shorter than all float32 can tell from zero is left as it is


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
    """order[:n_pairs] = the pairs sorted by node, stable; counts : int64 zeros, more than the level has nodes."""
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
        scale = 1 / np.sqrt(squares) if normalise and squares > 0 else 1.0
        scales[row - first] = scale if scale < _LARGEST_SCALE else 1.0
    return -1


@njit(nogil=True, cache=True)
def beam_search(
    X, first, last, scales, tree, weights, combiner, discount, n_levels, beam_nodes, beam_scores, beam_sizes
):
    """The best nodes of the rows first … last − 1 of X after `n_levels` levels; a leaf that is reached earlier stays.

    scales : float32 (last − first,).  tree : (children, levels).
    beam_nodes, beam_scores : int32, float32 (last − first, beam), receive the nodes and their log scores, best first.
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
        pairs = (pair_nodes, pair_queries, pair_scores, pair_begins)
        score_pairs(X, first, pairs, order[:n_pairs], scales, weights, combiner, scores)

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
    weights,
    combiner,
    discount,
    beam_nodes,
    beam_scores,
    beam_sizes,
    begins,
    scores,
):
    """The log scores of all labels in the leaves of the beams, leaf by leaf.

    begins : int64 (n_queries · beam + 1,), where the scores of a query's place in the beam begin.
    scores : float32 (begins[-1],).
    """
    node_outputs = weights[0]
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
            if node_outputs[node + 1] == node_outputs[node]:  # the edge to the leaf was the label's classifier
                scores[begin] = beam_scores[query, place]
                continue
            pair_nodes[n_pairs] = node
            pair_queries[n_pairs] = query
            pair_scores[n_pairs] = discount * beam_scores[query, place]
            pair_begins[n_pairs] = begin
            n_pairs += 1
    order = np.arange(n_pairs)
    if n_queries > 1:
        by_node(pair_nodes, n_pairs, 0, np.zeros(node_outputs.size, np.int64), order)
    pairs = (pair_nodes, pair_queries, pair_scores, pair_begins)
    score_pairs(X, first, pairs, order, scales, weights, combiner, scores)
