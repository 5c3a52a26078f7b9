"""Beam search over a trained tree, for one query or many.

Queries go down the tree together, level by level, and those that reach the same bundle of nodes are scored one after
the other, while its weights are in the cache.
"""

import numpy as np

from orchard.jit import njit
from orchard.linear._pair_kernels import margins_by_bundle, pairs_of_band, pairs_room
from orchard.linear._scoring_kernels import log_gain

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
    X, first, last, scales, tree, weights, combiner, discount, n_levels, room, beam_nodes, beam_scores, beam_sizes
):
    """The best nodes of the rows first … last − 1 of X after `n_levels` levels; a leaf that is reached earlier stays.

    scales : float32 (last − first,).  tree : (children, levels, bands, bundles of the nodes, their first outputs).
    beam_nodes, beam_scores : int32, float32 (last − first, beam), receive the nodes and their log scores, best first.
    beam_sizes : int64 (last − first,).
    """
    children, _, bands, _, first_output = tree
    output_begins = weights[0]
    n_queries, beam = beam_nodes.shape
    pairs = pairs_room(n_queries, beam, output_begins.size)
    margins = np.empty(0, np.float32)
    begins = np.empty((n_queries, beam), np.int64)  # of the margins of the bundle that a node of the beam is in
    scratch = np.empty(beam, np.float32), np.empty(beam, np.int64), np.empty(beam, np.int64)

    beam_sizes[:] = 1
    beam_nodes[:, 0] = 0
    beam_scores[:, 0] = 0
    all_places = np.zeros(n_queries, np.int64)
    for band in range(bands.size - 1):
        if bands[band] >= n_levels:
            break
        n_pairs, n_margins = pairs_of_band(tree, output_begins, beam_nodes, all_places, beam_sizes, pairs[0], begins)
        if n_pairs == 0:
            break
        margins = margins_by_bundle(X, first, scales, pairs, n_pairs, n_margins, weights, room, margins)
        for _ in range(bands[band], min(bands[band + 1], n_levels)):
            for query in range(n_queries):
                one_level_down(
                    (children, first_output),
                    combiner,
                    discount,
                    margins,
                    begins[query],
                    beam_nodes[query],
                    beam_scores[query],
                    beam_sizes[query : query + 1],
                    scratch,
                )


@njit(nogil=True, cache=True)
def one_level_down(tree, combiner, discount, margins, begins, nodes, scores, size, scratch):
    """Replace the nodes of a query's beam by the best of their children; leaves keep their place as long as they can.

    begins, nodes, scores : (beam,), the node's margins begin at begins[place] + the first output of the node.
    size : int64 (1,), how many there are.  scratch : float32, int64, int64 (beam,).
    """
    children, first_output = tree
    best_scores, best_items, old_begins = scratch
    n_best = 0
    for place in range(size[0]):
        node = nodes[place]
        old_begins[place] = begins[place]
        item = np.int64(place) << 32
        first_child, last_child = children[node], children[node + 1]
        if first_child == last_child:
            n_best = insert_best(scores[place], item | np.int64(node), n_best, best_scores, best_items)
            continue
        score = discount * scores[place]
        if n_best == nodes.size and score <= best_scores[n_best - 1]:
            continue  # an edge never adds to a score, so no child gets in
        at = begins[place] + first_output[node] - first_child
        for child in range(first_child, last_child):
            gain = log_gain(margins[at + child], combiner)
            n_best = insert_best(score + gain, item | np.int64(child), n_best, best_scores, best_items)
    size[0] = n_best
    for rank in range(n_best):
        nodes[rank] = best_items[rank] & 0xFFFFFFFF
        begins[rank] = old_begins[best_items[rank] >> 32]
        scores[rank] = best_scores[rank]
