"""Pairs of a query and a bundle that it asks, gathered so that queries which meet in a bundle share its weights."""

import numpy as np

from orchard.jit import njit
from orchard.linear._scoring_kernels import margins_of_pairs


@njit(nogil=True, cache=True)
def pairs_room(n_queries, n_places, n_bundles):
    """Memory for n_places pairs of every query: (bundles, queries, begins of pairs; their order; counts, zeros)."""
    n = n_queries * n_places
    pairs = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    return pairs, np.arange(n), np.zeros(n_bundles + 1 if n_queries > 1 else 0, np.int64)


@njit(nogil=True, cache=True)
def add_pair(bundle, query, output_begins, pairs, n_pairs, n_margins):
    """A query asks a bundle: its margins begin at n_margins. Returns how many pairs and margins there are now."""
    pair_bundles, pair_queries, pair_begins = pairs
    pair_bundles[n_pairs], pair_queries[n_pairs], pair_begins[n_pairs] = bundle, query, n_margins
    return n_pairs + 1, n_margins + output_begins[bundle + 1] - output_begins[bundle]


@njit(nogil=True, cache=True)
def pairs_of_band(tree, output_begins, nodes, first_places, sizes, pairs, begins):
    """The inner nodes in the places first_places[query] … sizes[query] − 1 of every beam, each the top of its bundle.

    begins : int64 (n_queries, beam), receives where their margins begin.  Returns (how many pairs, how many margins).
    """
    children, _, _, bundle_of, _ = tree
    n_pairs, n_margins = 0, 0
    for query in range(sizes.size):
        for place in range(first_places[query], sizes[query]):
            node = nodes[query, place]
            if children[node] < children[node + 1]:
                begins[query, place] = n_margins
                n_pairs, n_margins = add_pair(bundle_of[node], query, output_begins, pairs, n_pairs, n_margins)
    return n_pairs, n_margins


@njit(nogil=True, cache=True)
def margins_by_bundle(X, first, scales, room, n_pairs, n_margins, weights, scoring_memory, margins):
    """`margins_of_pairs` for the first n_pairs of room, see `pairs_room`; returns `margins`, or a larger array."""
    pairs, order, counts = room
    if scales.size > 1:
        sort_by_bundle(pairs[0], n_pairs, counts, order)
    if margins.size < n_margins:
        margins = np.empty(n_margins, np.float32)
    margins_of_pairs(X, first, pairs, order[:n_pairs], scales, weights, scoring_memory, margins)
    return margins


@njit(nogil=True, cache=True)
def sort_by_bundle(bundles, n_pairs, counts, order):
    """order[:n_pairs] = the pairs sorted by bundle, stable; counts : int64 zeros, more than there are bundles."""
    largest = 0
    for bundle in bundles[:n_pairs]:
        counts[bundle + 1] += 1
        largest = max(largest, bundle)
    for bundle in range(largest + 1):
        counts[bundle + 1] += counts[bundle]
    for pair in range(n_pairs):
        order[counts[bundles[pair]]] = pair
        counts[bundles[pair]] += 1
    counts[: largest + 2] = 0
