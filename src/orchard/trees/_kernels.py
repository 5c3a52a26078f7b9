"""Kernels of the tree builders.

Strict floating point (no fastmath), sums in a fixed order: the same split on every machine and with any number of
threads. Centres are float32 pairs (plus, minus), side by side because every feature of a row needs both: half the
memory of doubles, and the time goes into waiting for memory.
"""

import numpy as np
from numba import njit

PLUS, MINUS, NOWHERE = 0, 1, -1
ZERO = np.float32(0)
LAST_ID = 1 << 30
SMALLEST_SAMPLE = 128  # rows, about
SAMPLE_TOLERANCE = np.float64(1e-3)  # what is gained beyond it on a sample is not gained on all rows


@njit(nogil=True, cache=True)
def kth_smallest(values, k):
    """Hoare's selection: reorders `values` so that values[:k] ≤ values[k] ≤ values[k + 1:], and returns values[k].

    numba's own np.partition would do, but takes seven seconds to compile.
    """
    left, right = 0, values.size - 1
    while left < right:
        pivot = values[k]
        i, j = left, right
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if j < k:
            left = i
        if i > k:
            right = j
    return values[k]


@njit(nogil=True, cache=True)
def dot_rows(indptr, indices, data, rows, sums, dots, first, last):
    """⟨v, sums⟩ with both sides, for the rows at `first` … `last` − 1; dots : float32 (n, 2).

    Four entries at a time, each with a sum of its own: a sum must wait for the addition before it, four need not.
    """
    for i in range(first, last):
        begin, end = indptr[rows[i]], indptr[rows[i] + 1]
        plus_0, plus_1, plus_2, plus_3 = ZERO, ZERO, ZERO, ZERO
        minus_0, minus_1, minus_2, minus_3 = ZERO, ZERO, ZERO, ZERO
        rest = begin + (end - begin) // 4 * 4
        for e in range(begin, rest, 4):
            f, g, h, k = (
                np.uint32(indices[e]),
                np.uint32(indices[e + 1]),
                np.uint32(indices[e + 2]),
                np.uint32(indices[e + 3]),
            )
            plus_0 += data[e] * sums[f, PLUS]
            minus_0 += data[e] * sums[f, MINUS]
            plus_1 += data[e + 1] * sums[g, PLUS]
            minus_1 += data[e + 1] * sums[g, MINUS]
            plus_2 += data[e + 2] * sums[h, PLUS]
            minus_2 += data[e + 2] * sums[h, MINUS]
            plus_3 += data[e + 3] * sums[k, PLUS]
            minus_3 += data[e + 3] * sums[k, MINUS]
        for e in range(rest, end):
            f = np.uint32(indices[e])
            plus_0 += data[e] * sums[f, PLUS]
            minus_0 += data[e] * sums[f, MINUS]
        dots[i, PLUS] = (plus_0 + plus_1) + (plus_2 + plus_3)
        dots[i, MINUS] = (minus_0 + minus_1) + (minus_2 + minus_3)


@njit(nogil=True, cache=True)
def assign(dots, side, fewest_plus, most_plus, new_side):
    """Steps 1 to 3 of labeltrees §3.1 from the dots with the sums of each side; the objective, and how many rows move.

    side : int8 (n,), NOWHERE for a row that is in neither sum.  new_side : int8 (n,), receives the sides.
    """
    n = side.size
    # ‖sums‖² is the sum of ⟨v, sums⟩ over a side's own rows: no pass over the d features is needed.
    plus_squared, minus_squared = 0.0, 0.0
    for i in range(n):
        if side[i] == PLUS:
            plus_squared += dots[i, PLUS]
        elif side[i] == MINUS:
            minus_squared += dots[i, MINUS]
    plus_scale = np.float32(1 / np.sqrt(plus_squared)) if plus_squared > 0 else ZERO
    minus_scale = np.float32(1 / np.sqrt(minus_squared)) if minus_squared > 0 else ZERO
    scores = np.empty(n, np.float32)
    for i in range(n):
        scores[i] = dots[i, PLUS] * plus_scale - dots[i, MINUS] * minus_scale

    # Sorting is more than is needed: the score of the last row on the plus side decides, ties by row id.
    selected = scores.copy()
    n_plus, cut = most_plus, kth_smallest(selected, n - most_plus)
    if fewest_plus < most_plus and cut <= 0:
        n_plus, cut = fewest_plus, kth_smallest(selected, n - fewest_plus)
    ties_allowed = n_plus
    for i in range(n):
        ties_allowed -= scores[i] > cut

    plus, minus, n_moved = 0.0, 0.0, 0
    for i in range(n):
        new_side[i] = MINUS
        if scores[i] > cut:
            new_side[i] = PLUS
        elif scores[i] == cut and ties_allowed > 0:
            new_side[i] = PLUS
            ties_allowed -= 1
        if new_side[i] == PLUS:
            plus += dots[i, PLUS]
        else:
            minus += dots[i, MINUS]
        n_moved += new_side[i] != side[i]
    return (plus * plus_scale + minus * minus_scale) / n, n_moved


@njit(nogil=True, cache=True)
def move_rows(indptr, indices, data, rows, side, new_side, sums, first, last):
    """Bring the sums up to the new sides of the rows at `first` … `last` − 1, and `side` too.

    Only the rows that change sides move the centres: after a few rounds that is almost none.
    """
    for i in range(first, last):
        if side[i] == new_side[i]:
            continue
        begin, end = indptr[rows[i]], indptr[rows[i] + 1]
        if side[i] == NOWHERE:
            for e in range(begin, end):
                sums[np.uint32(indices[e]), new_side[i]] += data[e]
        else:
            for e in range(begin, end):
                sums[np.uint32(indices[e]), new_side[i]] += data[e]
                sums[np.uint32(indices[e]), side[i]] -= data[e]
        side[i] = new_side[i]


@njit(nogil=True, cache=True)
def alternate(indptr, indices, data, rows, side, new_side, fewest_plus, most_plus, tolerance, max_iterations, sums):
    """Centres from sides, sides from centres, until the mean cosine gains no more than `tolerance`.

    side, new_side : int8 (n,); the sides that `sums` knows of, and the sides to start from. Returns the objective of
    Eq. 1 for the last `new_side`, and the number of iterations.
    """
    dots = np.empty((rows.size, 2), np.float32)
    objective, iterations = -np.inf, 0
    while iterations < max_iterations:
        move_rows(indptr, indices, data, rows, side, new_side, sums, 0, rows.size)
        dot_rows(indptr, indices, data, rows, sums, dots, 0, rows.size)
        previous = objective
        objective, n_moved = assign(dots, side, fewest_plus, most_plus, new_side)
        iterations += 1
        if n_moved == 0 or objective - previous <= tolerance:
            break
    return objective, iterations


@njit(nogil=True, cache=True)
def scramble(key, i):
    """64 bits that look random (the finaliser of splitmix64): who is in a sample depends on the seeds alone."""
    z = np.uint64(key) + np.uint64(i) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(nogil=True, cache=True)
def start_from_samples(indptr, indices, data, rows, seeds, most_plus, tolerance, max_iterations, sums):
    """The state to start `alternate` from: two seeds, improved on a 16th and then on a quarter of the rows.

    An iteration over a sample costs little, and the rows of a large node are much alike: full iterations are saved,
    and the objective ends higher than from two seeds alone. No more than half of the iterations left go to a sample.
    Returns side, new_side (NOWHERE outside of the sample) and the number of iterations.
    """
    n = rows.size
    side, new_side = np.full(n, NOWHERE, np.int8), np.full(n, NOWHERE, np.int8)
    new_side[seeds[PLUS]], new_side[seeds[MINUS]] = PLUS, MINUS
    key = scramble(seeds[PLUS], seeds[MINUS])
    iterations = 0
    for one_in in (16, 4):
        limit = (max_iterations - iterations) // 2
        if n < one_in * SMALLEST_SAMPLE or limit == 0:
            continue
        sample = np.empty(n, np.int64)
        size = 0
        for i in range(n):
            if new_side[i] != NOWHERE or scramble(key, i) % np.uint64(one_in) == 0:
                sample[size] = i
                size += 1
        sample = sample[:size]
        n_plus = min(max(1, size * most_plus // n), size - 1)
        sides = side[sample], new_side[sample]
        _, used = alternate(
            indptr, indices, data, rows[sample], *sides, n_plus, n_plus, max(tolerance, SAMPLE_TOLERANCE), limit, sums
        )
        side[sample], new_side[sample] = sides
        iterations += used
    return side, new_side, iterations


@njit(nogil=True, cache=True)
def bisect(indptr, indices, data, rows, seeds, fewest_plus, most_plus, tolerance, max_iterations, sums):
    """Balanced spherical 2-means over `rows`: the side of each and the final objective (labeltrees §3.1, Eq. 1).

    rows : row ids of the CSR matrix, ascending.  seeds : the positions in `rows` of the two first centres.
    fewest_plus, most_plus : equal, or one apart; the row in the middle then goes by the sign of its score (step 3).
    sums : zeros float32 (d, 2), zeros again on return; Σ v of the plus and of the minus side, so μ± = sums / ‖sums‖.
    """
    side, new_side, used = start_from_samples(
        indptr, indices, data, rows, seeds, most_plus, tolerance, max_iterations, sums
    )
    limits = fewest_plus, most_plus, tolerance, max_iterations - used
    objective, _ = alternate(indptr, indices, data, rows, side, new_side, *limits, sums)

    n_entries = 0
    for row in rows:
        n_entries += indptr[row + 1] - indptr[row]
    if n_entries > sums.shape[0]:
        sums[:] = ZERO
    else:
        for row in rows:
            for e in range(indptr[row], indptr[row + 1]):
                sums[indices[e], PLUS], sums[indices[e], MINUS] = ZERO, ZERO
    return new_side, objective


@njit(nogil=True, cache=True)
def plus_range(n_rows, n_clusters):
    """The fewest and the most rows of the plus side: in proportion to its clusters, ⌈K/2⌉ of K.

    So that all clusters can end with ⌊n/K⌋ or ⌈n/K⌉ rows.
    """
    share = n_rows * ((n_clusters + 1) // 2)
    return share // n_clusters, -(-share // n_clusters)


@njit(nogil=True, cache=True)
def part(order, side):
    """Put the plus rows of `order` first, each side in its old order; how many they are."""
    rows = order.copy()
    position = 0
    for s in (PLUS, MINUS):
        for i in range(rows.size):
            if side[i] == s:
                order[position] = rows[i]
                position += 1
        if s == PLUS:
            n_plus = position
    return n_plus


@njit(nogil=True, cache=True)
def split_nodes(
    indptr, indices, data, n_features, order, boundaries, clusters, seeds, tolerance, max_iterations, cuts, first, last
):
    """Bisect the nodes `first` … `last` − 1 of a level in place: plus rows first, each side in ascending order.

    order : int64 (n,), node i holds order[boundaries[i] : boundaries[i + 1]] and must become clusters[i] clusters.
    cuts : (n_nodes,), receives the position in `order` where a node's minus side begins (its end if it is a leaf).
    """
    sums = np.zeros((n_features, 2), np.float32)
    for node in range(first, last):
        begin, end = boundaries[node], boundaries[node + 1]
        cuts[node] = end
        if clusters[node] > 1:
            rows = order[begin:end]
            fewest, most = plus_range(rows.size, clusters[node])
            side, _ = bisect(indptr, indices, data, rows, seeds[node], fewest, most, tolerance, max_iterations, sums)
            cuts[node] = begin + part(rows, side)


@njit(nogil=True, cache=True)
def gather_nodes(
    indptr, indices, data, n_features, order, boundaries, new_indptr, new_indices, new_data, widths, first, last
):
    """Copy the rows of the nodes `first` … `last` − 1 into their new order, and number each node's features anew.

    new_indptr : int64 (n + 1,), the lengths of the rows in `order`, summed.  widths : (n_nodes,), receives the number
    of features of each node. A node's centres then lie close together, and so do its rows.
    """
    ids = np.full(n_features, -1, np.int32)  # ids below `start` belong to nodes that are done
    next_id = 0
    for node in range(first, last):
        if next_id > LAST_ID:
            ids[:] = -1
            next_id = 0
        start = next_id
        for i in range(boundaries[node], boundaries[node + 1]):
            out = new_indptr[i]
            for e in range(indptr[order[i]], indptr[order[i] + 1]):
                feature = np.uint32(indices[e])
                if ids[feature] < start:
                    ids[feature] = next_id
                    next_id += 1
                new_indices[out] = ids[feature] - start
                new_data[out] = data[e]
                out += 1
        widths[node] = next_id - start


@njit(nogil=True, cache=True)
def add_sums(sums_of_piece, sums, first, last):
    """Sum the pieces, in their order, for the features `first` … `last` − 1; sums_of_piece : (pieces, d, 2)."""
    for feature in range(first, last):
        plus, minus = ZERO, ZERO
        for piece in range(sums_of_piece.shape[0]):
            plus += sums_of_piece[piece, feature, PLUS]
            minus += sums_of_piece[piece, feature, MINUS]
        sums[feature, PLUS], sums[feature, MINUS] = plus, minus
