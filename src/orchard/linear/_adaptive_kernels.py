"""The level-wise beam that ends early: a query leaves the tree as soon as nothing in its beam can change its labels."""

import numpy as np

from orchard.jit import njit
from orchard.linear._best_label_kernels import LABELS, NODES, NOTHING_FOUND, keep_best, keep_labels, key_of, write_best
from orchard.linear._pair_kernels import add_pair, margins_by_bundle, pairs_of_band, pairs_room
from orchard.linear._scoring_kernels import scoring_room
from orchard.linear._search_kernels import one_level_down, row_scales


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
    pairs = pairs_room(n_queries, beam, output_begins.size)
    _, pair_queries, pair_begins = pairs[0]
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
                    if output_begins[bundle] < output_begins[bundle + 1]:
                        n_pairs, n_margins = add_pair(bundle, query, output_begins, pairs[0], n_pairs, n_margins)
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
            margins = margins_by_bundle(X, first, scales, pairs, n_pairs, n_margins, weights, room, margins)
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
        n_pairs, n_margins = pairs_of_band(tree, output_begins, nodes, n_ranked, sizes, pairs[0], begins)
        if n_pairs == 0:
            continue
        margins = margins_by_bundle(X, first, scales, pairs, n_pairs, n_margins, weights, room, margins)
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
