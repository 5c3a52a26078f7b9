"""The scores of a node's outputs, for one query or for many that meet in it.

A query's sums run over its features in ascending order whichever way it came, with fused multiply-adds, so one query
alone gets the same scores to the bit as among thousands.
"""

import numpy as np
from numba import njit

from orchard.linear._lanes import fma, lanes_dot_in_order, prefetch
from orchard.linear._layout_kernels import (
    DIRECT,
    HEAD,
    KIND,
    N_ROWS,
    NOTHING,
    SIZE,
    codes_per_word,
    dense_mark,
    find_direct,
    find_hashed,
    sparse_header,
)
from orchard.linear._solver_kernels import on_cache_lines

SPREAD = 32  # lanes of a dense row
LOG_SIGMOID = 0  # combiner codes; a code p > 0 is the hinge to the power of p


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
def hits_of(features, values, node, weights, hit_rows, hit_values, n_hits):
    """Append where the node's rows for a query's features begin, and the query's values; returns how many there are.

    The rows are asked for from memory here and read later: one by one, each would be waited for.
    """
    _, _, node_tables, tables, node_words, _, all_weights = weights
    head, end, first_word = node_tables[node], node_tables[node + 1], node_words[node]
    if head == end:
        return n_hits
    size = np.int64(tables[head + SIZE])
    table = tables[head + HEAD : end]
    is_direct = tables[head + KIND] == DIRECT
    for place in range(features.size):
        feature = features[place]
        row = find_direct(feature, table, size) if is_direct else find_hashed(feature, table, size)
        hit_rows[n_hits] = row
        hit_values[n_hits] = values[place]
        if row != NOTHING:
            prefetch(all_weights, first_word + np.int64(row))
            n_hits += 1
    return n_hits


@njit(nogil=True, cache=True)
def score_alone(n_hits, hit_rows, hit_values, scale, node, weights, combiner, parent_score, scores):
    """scores[o] = parent_score + log g(w_o·x + b_o) for every output o of a node; x is hit_values times `scale`."""
    node_outputs, biases, _, _, node_words, codes, all_weights = weights
    n_outputs = node_outputs[node + 1] - node_outputs[node]
    per_word, mark = codes_per_word(codes), dense_mark(codes)
    for output in range(n_outputs):
        scores[output] = 0
    for hit in range(n_hits):
        at = node_words[node] + np.int64(hit_rows[hit])
        value = hit_values[hit]
        n = np.int64(codes[per_word * at])
        if n == mark:
            for output in range(n_outputs):
                scores[output] = fma(value, all_weights[at + 1 + output], scores[output])
        else:
            first_code, first_weight = per_word * at + 1, at + sparse_header(n, per_word)
            for place in range(n):
                output = codes[first_code + place]
                scores[output] = fma(value, all_weights[first_weight + place], scores[output])
    first_bias = node_outputs[node]
    for output in range(n_outputs):
        scores[output] = parent_score + log_gain(scale * scores[output] + biases[first_bias + output], combiner)


@njit(nogil=True, cache=True)
def score_together(
    X,
    first,
    queries,
    scales,
    node,
    weights,
    combiner,
    parent_scores,
    begins,
    scores,
    spread,
    row_numbers,
    hit_rows,
    hit_values,
):
    """`score_alone` for several queries: the weights are spread into dense rows of SPREAD lanes, as training has them.

    queries : int64 (n,), counted from `first`.  parent_scores : float32 (n,).  begins : int64 (n,), where scores go.
    spread : float32 zeros, zeros again on return, SPREAD for every row; row_numbers : int32, one for every word of the
    node; hit_rows, hit_values : room for all values of the queries.
    """
    indptr, indices, data = X
    node_outputs, biases, node_tables, tables, node_words, codes, all_weights = weights
    n_outputs = node_outputs[node + 1] - node_outputs[node]
    per_word, mark = codes_per_word(codes), dense_mark(codes)
    first_word, last_word = node_words[node], node_words[node + 1]
    row_begins = np.empty(tables[node_tables[node] + N_ROWS], np.int64)
    n_rows, at = 0, first_word
    while at < last_word:
        row_begins[n_rows] = at
        row_numbers[at - first_word] = n_rows
        n = np.int64(codes[per_word * at])
        at += 1 + n_outputs if n == mark else sparse_header(n, per_word) + n
        n_rows += 1

    hit_indptr = np.zeros(queries.size + 1, np.int64)
    n_hits = 0
    for turn in range(queries.size):
        begin, end = indptr[first + queries[turn]], indptr[first + queries[turn] + 1]
        n_hits = hits_of(indices[begin:end], data[begin:end], node, weights, hit_rows, hit_values, n_hits)
        hit_indptr[turn + 1] = n_hits
    for hit in range(n_hits):
        hit_rows[hit] = row_numbers[hit_rows[hit]]

    W = spread[: n_rows * SPREAD].reshape(n_rows, SPREAD)
    lanes = np.empty(SPREAD, np.float32)
    n_done = np.zeros(n_rows, np.int64)  # outputs ascend in a row: every block goes on where the last one stopped
    for block in range(0, n_outputs, SPREAD):
        block_end = min(block + SPREAD, n_outputs)
        for row in range(n_rows):
            at = row_begins[row]
            n = np.int64(codes[per_word * at])
            if n == mark:
                for output in range(block, block_end):
                    W[row, output - block] = all_weights[at + 1 + output]
            else:
                first_code, first_weight = per_word * at + 1, at + sparse_header(n, per_word)
                place = n_done[row]
                while place < n and codes[first_code + place] < block_end:
                    W[row, codes[first_code + place] - block] = all_weights[first_weight + place]
                    place += 1
                n_done[row] = place
        for turn in range(queries.size):
            lanes_dot_in_order(SPREAD, W, hit_rows, hit_values, hit_indptr[turn], hit_indptr[turn + 1], lanes)
            scale, parent_score = scales[queries[turn]], parent_scores[turn]
            for output in range(block, block_end):
                margin = scale * lanes[output - block] + biases[node_outputs[node] + output]
                scores[begins[turn] + output] = parent_score + log_gain(margin, combiner)
        spread[: n_rows * SPREAD] = 0


@njit(nogil=True, cache=True)
def score_pairs(X, first, pairs, order, scales, weights, combiner, scores):
    """The scores of all outputs of a node for a query, for many such pairs, in the given order (sorted by node).

    pairs : (nodes, queries, log scores of the paths so far, discounted, where the scores of a pair begin).
    """
    pair_nodes, pair_queries, pair_scores, pair_begins = pairs
    n_pairs = order.size
    indptr, indices, data = X
    node_outputs, _, node_tables, tables, node_words, _, _ = weights
    spread, row_numbers = np.empty(0, np.float32), np.empty(0, np.int32)
    hit_rows, hit_values = np.empty(0, np.uint32), np.empty(0, np.float32)
    turn = 0
    while turn < n_pairs:
        node = pair_nodes[order[turn]]
        stop, n_values = turn, 0
        while stop < n_pairs and pair_nodes[order[stop]] == node:
            query = first + pair_queries[order[stop]]
            n_values += indptr[query + 1] - indptr[query]
            stop += 1
        if hit_rows.size <= n_values:
            hit_rows, hit_values = np.empty(n_values + 1, np.uint32), np.empty(n_values + 1, np.float32)
        n_outputs = node_outputs[node + 1] - node_outputs[node]
        n_words = node_words[node + 1] - node_words[node]
        n_rows = np.int64(tables[node_tables[node] + N_ROWS]) if n_words else 0
        n_blocks = -(-n_outputs // SPREAD)
        # Nanoseconds, roughly: a dense row is a few loads, a sparse one a loop of unforeseeable length.
        alone = n_values * (6.0 + n_words / (n_rows + 1))
        together = n_blocks * (10.0 * n_rows + 1.5 * n_values) + 2.0 * n_words + 1.5 * n_values
        if stop - turn > 1 and together < alone:
            if spread.size < n_rows * SPREAD:
                spread = on_cache_lines(n_rows * SPREAD)
            if row_numbers.size < n_words:
                row_numbers = np.empty(n_words, np.int32)
            pairs = order[turn:stop]
            score_together(
                X,
                first,
                pair_queries[pairs],
                scales,
                node,
                weights,
                combiner,
                pair_scores[pairs],
                pair_begins[pairs],
                scores,
                spread,
                row_numbers,
                hit_rows,
                hit_values,
            )
        else:
            for pair in order[turn:stop]:
                query = pair_queries[pair]
                begin, end = indptr[first + query], indptr[first + query + 1]
                n_hits = hits_of(indices[begin:end], data[begin:end], node, weights, hit_rows, hit_values, 0)
                own_scores = scores[pair_begins[pair] : pair_begins[pair] + n_outputs]
                score_alone(
                    n_hits, hit_rows, hit_values, scales[query], node, weights, combiner, pair_scores[pair], own_scores
                )
        turn = stop
