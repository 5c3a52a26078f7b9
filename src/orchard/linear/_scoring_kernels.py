"""The margins of a bundle's outputs, for one query or for many that meet in it.

A query's sums run over its features in ascending order whichever way it came, with fused multiply-adds, so one query
alone gets the same margins to the bit as among thousands.
"""

import numpy as np
from numba.core.codegen import get_host_cpu_features

from orchard.jit import njit
from orchard.linear._lanes import (
    count_ones,
    fma,
    lanes_dot_block,
    lanes_dot_in_order,
    lanes_dot_packed,
    lowest_one,
    prefetch,
)
from orchard.linear._layout_kernels import (
    BIT_WORDS,
    BLOCK,
    DIRECT,
    HEAD,
    KIND,
    MOST_BITS,
    N_ROWS,
    NOTHING,
    SIZE,
    bits_at,
    codes_per_word,
    dense_mark,
    find_direct,
    find_hashed,
    first_slot,
    row_size,
    sparse_header,
)
from orchard.linear._solver_kernels import on_cache_lines

SPREAD = 32  # lanes of a dense row, and room for the sums of one
# How large things can be, the last of a model's arrays.
MOST_ROWS, MOST_WORDS = range(2)
HAS_EXPAND = "+avx512f" in get_host_cpu_features().split(",")  # see `lanes_dot_packed`
# Combiner codes: a code p from 1 to 7 is the hinge to the power of p; p + UNTIED breaks its ties.
LOG_SIGMOID, UNTIED = 0, 8
TIE_BREAKER = np.float32(1e-3)


@njit(nogil=True, cache=True)
def log_gain(margin, combiner):
    """log g(z): −max(0, 1 − z)^p for the hinges (Parabel p = 2, XR-Linear p = 3), log σ(z) for the sigmoid.

    Hinges are all 0 from z = 1 on. Without ties they lose a little more, the less the higher z is: 0.001 / (1 + z)²
    from z = 0 on. That is near 0.001 · log σ(z), and a division is quicker than two logarithms.
    """
    if combiner == LOG_SIGMOID:
        return np.float32(-np.log1p(np.exp(-margin)) if margin > 0 else margin - np.log1p(np.exp(margin)))
    power = hinge(margin, combiner % UNTIED)
    if combiner > UNTIED:
        above = np.float32(1) + max(np.float32(0), margin)
        power += TIE_BREAKER / (above * above)
    return -power


@njit(nogil=True, cache=True)
def hinge(margin, power):
    """max(0, 1 − z)^p."""
    loss = max(np.float32(0), np.float32(1) - margin)
    product = loss
    for _ in range(power - 1):
        product *= loss
    return product


@njit(nogil=True, cache=True)
def scoring_room(X, first, last, weights):
    """Memory for `margins_of_pairs` with the rows first … last − 1 of X, so that nothing is allocated while scoring.

    (hit rows, hit values; for queries together: where each one's hits begin, the dense rows of weights (zeros), the row
    number of every word, where rows begin, how many of a row's outputs are done; a row of lanes).
    """
    n_values = X[0][last] - X[0][first]
    most_rows, most_words = 0, 0
    if last - first > 1:
        # More rows than values are not worth spreading, and the zeros of a large bundle would cost a few queries dear.
        most_rows, most_words = min(weights[-1][MOST_ROWS], n_values), weights[-1][MOST_WORDS]
    return (
        np.empty(n_values + 1, np.uint32),
        np.empty(n_values + 1, np.float32),
        np.zeros(last - first + 1, np.int64),
        on_cache_lines(most_rows * SPREAD),
        np.empty(most_words, np.int32),
        np.empty(most_rows, np.int64),
        np.empty(most_rows, np.int64),
        np.empty(SPREAD, np.float32),
    )


@njit(nogil=True, cache=True)
def hits_of(features, values, bundle, weights, hit_rows, hit_values, n_hits):
    """Append where the bundle's rows for a query's features begin, and the query's values; returns how many there are.

    The rows are asked for from memory here and read later: one by one, each would be waited for.
    """
    _, _, table_begins, tables, word_begins, _, all_weights, _ = weights
    head, end, first_word = table_begins[bundle], table_begins[bundle + 1], word_begins[bundle]
    if head == end:
        return n_hits
    size = np.int64(tables[head + SIZE])
    table = tables[head + HEAD : end]
    is_direct = tables[head + KIND] == DIRECT
    if not is_direct:  # whether a slot has the feature cannot be foreseen: without this every wrong guess would wait
        for feature in features:
            prefetch(table, 2 * first_slot(feature, size))
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
def margins_alone(n_hits, hit_rows, hit_values, scale, bundle, weights, lanes, margins):
    """margins[o] = w_o·x + b_o for every output o of a bundle; x is hit_values times `scale`.  lanes : see SPREAD.

    hit_rows are used up.
    """
    output_begins, biases, table_begins, tables, word_begins, codes, all_weights, _ = weights
    n_outputs = output_begins[bundle + 1] - output_begins[bundle]
    own_codes = codes[codes_per_word(codes) * word_begins[bundle] :]
    own_weights = all_weights[word_begins[bundle] :]
    bit_words = np.int64(tables[table_begins[bundle] + BIT_WORDS])
    if bit_words == 0:
        dot_of_codes(n_hits, hit_rows, hit_values, n_outputs, own_codes, own_weights, margins)
    elif not HAS_EXPAND:
        dot_of_bits(n_hits, hit_rows, hit_values, n_outputs, bit_words, own_codes, own_weights, margins)
    elif n_outputs <= MOST_BITS:
        lanes_dot_packed(MOST_BITS, own_weights, hit_rows, hit_values, n_hits, lanes)
        margins[:n_outputs] = lanes[:n_outputs]
    else:
        for begin in range(0, n_outputs, BLOCK):
            lanes_dot_block(BLOCK, own_weights, hit_rows, hit_values, n_hits, lanes)
            end = min(begin + BLOCK, n_outputs)
            margins[begin:end] = lanes[: end - begin]
    first_bias = output_begins[bundle]
    for output in range(n_outputs):
        margins[output] = scale * margins[output] + biases[first_bias + output]


@njit(nogil=True, cache=True)
def dot_of_codes(n_hits, hit_rows, hit_values, n_outputs, codes, weights, dots):
    """dots[o] = Σ hit_values · (weight of output o in the row that begins at hit_rows)."""
    per_word, mark = codes_per_word(codes), dense_mark(codes)
    dots[:n_outputs] = 0
    for hit in range(n_hits):
        at, value = np.int64(hit_rows[hit]), hit_values[hit]
        n = np.int64(codes[per_word * at])
        if n == mark:
            for output in range(n_outputs):
                dots[output] = fma(value, weights[at + 1 + output], dots[output])
        else:
            first_code, first_weight = per_word * at + 1, at + sparse_header(n, per_word)
            for place in range(n):
                output = codes[first_code + place]
                dots[output] = fma(value, weights[first_weight + place], dots[output])


@njit(nogil=True, cache=True)
def dot_of_bits(n_hits, hit_rows, hit_values, n_outputs, bit_words, codes, weights, dots):
    """`dot_of_codes` where rows have bits: what `lanes_dot_packed` does, weight by weight."""
    dots[:n_outputs] = 0
    for hit in range(n_hits):
        at, value = np.int64(hit_rows[hit]), hit_values[hit]
        for block in range(bit_words):
            bits = bits_at(codes, at)
            at += 1
            while bits:
                output = BLOCK * block + lowest_one(bits)
                dots[output] = fma(value, weights[at], dots[output])
                at += 1
                bits &= bits - 1


@njit(nogil=True, cache=True)
def margins_together(X, first, pairs, order, scales, bundle, weights, room, margins):
    """`margins_alone` for several queries: the weights are spread into dense rows of SPREAD lanes, as in training.

    pairs, order, margins : as in `margins_of_pairs`; all of these pairs have the same bundle.
    """
    indptr, indices, data = X
    _, pair_queries, pair_begins = pairs
    output_begins, biases, table_begins, tables, word_begins, codes, all_weights, _ = weights
    hit_rows, hit_values, hit_indptr, spread, row_numbers, row_begins, n_done, lanes = room
    n_outputs = output_begins[bundle + 1] - output_begins[bundle]
    per_word, mark = codes_per_word(codes), dense_mark(codes)
    first_word, last_word = word_begins[bundle], word_begins[bundle + 1]
    bit_words = np.int64(tables[table_begins[bundle] + BIT_WORDS])
    n_rows, at = 0, first_word
    while at < last_word:
        row_begins[n_rows] = at
        row_numbers[at - first_word] = n_rows
        n_done[n_rows] = 0  # outputs ascend in a row: every block goes on where the last one stopped
        at += row_size(codes, at, n_outputs, bit_words)
        n_rows += 1

    n_hits = 0
    for turn in range(order.size):
        query = first + pair_queries[order[turn]]
        begin, end = indptr[query], indptr[query + 1]
        n_hits = hits_of(indices[begin:end], data[begin:end], bundle, weights, hit_rows, hit_values, n_hits)
        hit_indptr[turn + 1] = n_hits
    for hit in range(n_hits):
        hit_rows[hit] = row_numbers[hit_rows[hit]]

    W = spread[: n_rows * SPREAD].reshape(n_rows, SPREAD)
    for block in range(0, n_outputs, SPREAD):
        block_end = min(block + SPREAD, n_outputs)
        for row in range(n_rows):
            at = row_begins[row]
            n = np.int64(codes[per_word * at])
            if bit_words:
                bits = bits_at(codes, at)
                row_begins[row] += 1 + count_ones(bits)  # of the next block
                while bits:
                    at += 1
                    W[row, lowest_one(bits)] = all_weights[at]
                    bits &= bits - 1
            elif n == mark:
                for output in range(block, block_end):
                    W[row, output - block] = all_weights[at + 1 + output]
            else:
                first_code, first_weight = per_word * at + 1, at + sparse_header(n, per_word)
                place = n_done[row]
                while place < n and codes[first_code + place] < block_end:
                    W[row, codes[first_code + place] - block] = all_weights[first_weight + place]
                    place += 1
                n_done[row] = place
        for turn in range(order.size):
            pair = order[turn]
            lanes_dot_in_order(SPREAD, W, hit_rows, hit_values, hit_indptr[turn], hit_indptr[turn + 1], lanes)
            scale, begin = scales[pair_queries[pair]], pair_begins[pair]
            for output in range(block, block_end):
                margins[begin + output] = scale * lanes[output - block] + biases[output_begins[bundle] + output]
        spread[: n_rows * SPREAD] = 0


@njit(nogil=True, cache=True)
def margins_of_pairs(X, first, pairs, order, scales, weights, room, margins):
    """The margins of all outputs of a bundle for a query, for many such pairs, in the given order (sorted by bundle).

    pairs : (bundles, queries counted from `first`, where the margins of a pair begin).  room : see `scoring_room`.
    """
    pair_bundles, pair_queries, pair_begins = pairs
    n_pairs = order.size
    indptr, indices, data = X
    output_begins, _, table_begins, tables, word_begins, _, _, _ = weights
    hit_rows, hit_values, spread, lanes = room[0], room[1], room[3], room[7]
    turn = 0
    while turn < n_pairs:
        bundle = pair_bundles[order[turn]]
        stop, n_values = turn, 0
        while stop < n_pairs and pair_bundles[order[stop]] == bundle:
            query = first + pair_queries[order[stop]]
            n_values += indptr[query + 1] - indptr[query]
            stop += 1
        n_outputs = output_begins[bundle + 1] - output_begins[bundle]
        n_words = word_begins[bundle + 1] - word_begins[bundle]
        n_rows = np.int64(tables[table_begins[bundle] + N_ROWS]) if n_words else 0
        n_blocks = -(-n_outputs // SPREAD)
        bit_words = np.int64(tables[table_begins[bundle] + BIT_WORDS]) if n_words else 0
        # Nanoseconds, roughly: a dense row is a few loads, a sparse one a loop of unforeseeable length, unless the
        # processor expands it.
        alone = n_values * (2.5 + 2.5 * bit_words if HAS_EXPAND and bit_words else 6.0 + n_words / (n_rows + 1))
        together = n_blocks * (10.0 * n_rows + 1.5 * n_values) + 2.0 * n_words + 1.5 * n_values
        is_expanded = HAS_EXPAND and n_outputs <= MOST_BITS
        if stop - turn > 1 and not is_expanded and together < alone and n_rows * SPREAD <= spread.size:
            margins_together(X, first, pairs, order[turn:stop], scales, bundle, weights, room, margins)
        else:
            for pair in order[turn:stop]:
                query = pair_queries[pair]
                begin, end = indptr[first + query], indptr[first + query + 1]
                n_hits = hits_of(indices[begin:end], data[begin:end], bundle, weights, hit_rows, hit_values, 0)
                own = margins[pair_begins[pair] : pair_begins[pair] + n_outputs]
                margins_alone(n_hits, hit_rows, hit_values, scales[query], bundle, weights, lanes, own)
        turn = stop
