"""Kernels of the tree builders.

Strict floating point (no fastmath): the same split on every machine, whatever its vector units.
"""

import numpy as np
from numba import njit

PLUS, MINUS = 0, 1


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
def _add_row(indptr, indices, data, row, sign, side, sums):
    for entry in range(indptr[row], indptr[row + 1]):
        sums[indices[entry], side] += sign * data[entry]


@njit(nogil=True, cache=True)
def bisect(indptr, indices, data, rows, seeds, fewest_plus, most_plus, tolerance, max_iterations, sums):
    """Balanced spherical 2-means over `rows`: the side of each and the final objective (labeltrees §3.1, Eq. 1).

    rows : row ids of the CSR matrix, ascending.  seeds : the positions in `rows` of the two first centres.
    fewest_plus, most_plus : equal, or one apart; the row in the middle then goes by the sign of its score (step 3).
    sums : zeros (d, 2), zeros again on return; Σ v of the plus and of the minus side, so μ± = sums / ‖sums‖.
    """
    n = rows.size
    side = np.full(n, -1, np.int8)  # −1: on no side yet
    dots = np.empty((n, 2), np.float64)
    scores = np.empty(n, np.float64)
    selected = np.empty(n, np.float64)
    for s in (PLUS, MINUS):
        side[seeds[s]] = s
        _add_row(indptr, indices, data, rows[seeds[s]], 1.0, s, sums)

    objective = -np.inf
    for _ in range(max_iterations):
        # ‖sums‖² is the sum of ⟨v, sums⟩ over a side's own rows: no pass over the d features is needed.
        squared_norms = np.zeros(2, np.float64)
        for i in range(n):
            plus, minus = 0.0, 0.0
            for entry in range(indptr[rows[i]], indptr[rows[i] + 1]):
                plus += data[entry] * sums[indices[entry], PLUS]
                minus += data[entry] * sums[indices[entry], MINUS]
            dots[i, PLUS], dots[i, MINUS] = plus, minus
            if side[i] >= 0:
                squared_norms[side[i]] += dots[i, side[i]]
        for s in (PLUS, MINUS):
            scale = 1.0 / np.sqrt(squared_norms[s]) if squared_norms[s] > 0 else 0.0
            for i in range(n):
                dots[i, s] *= scale  # now ⟨v, μ⟩
        for i in range(n):
            scores[i] = dots[i, PLUS] - dots[i, MINUS]
            selected[i] = scores[i]

        # Sorting is more than is needed: the score of the last row on the plus side decides, ties by row id.
        n_plus, cut = most_plus, kth_smallest(selected, n - most_plus)
        if fewest_plus < most_plus and cut <= 0:
            n_plus, cut = fewest_plus, kth_smallest(selected, n - fewest_plus)
        ties_allowed = n_plus
        for i in range(n):
            if scores[i] > cut:
                ties_allowed -= 1

        previous, objective = objective, 0.0
        for i in range(n):
            new_side = MINUS
            if scores[i] > cut:
                new_side = PLUS
            elif scores[i] == cut and ties_allowed > 0:
                new_side = PLUS
                ties_allowed -= 1
            objective += dots[i, new_side]
            # Only the rows that change sides move the centres: after a few rounds that is almost none.
            if side[i] != new_side:
                if side[i] >= 0:
                    _add_row(indptr, indices, data, rows[i], -1.0, side[i], sums)
                _add_row(indptr, indices, data, rows[i], 1.0, new_side, sums)
                side[i] = new_side
        objective /= n
        if objective - previous <= tolerance:
            break

    for i in range(n):
        for entry in range(indptr[rows[i]], indptr[rows[i] + 1]):
            sums[indices[entry], PLUS] = 0.0
            sums[indices[entry], MINUS] = 0.0
    return side, objective


@njit(nogil=True, cache=True)
def split_nodes(
    indptr, indices, data, n_features, order, boundaries, clusters, seeds, tolerance, max_iterations, cuts, first, last
):
    """Bisect the nodes `first` … `last` − 1 of a level in place: plus rows first, each side in ascending order.

    order : int64 (n,), node i holds order[boundaries[i] : boundaries[i + 1]] and must become clusters[i] clusters.
    cuts : (n_nodes,), receives the position in `order` where a node's minus side begins (its end if it is a leaf).
    """
    sums = np.zeros((n_features, 2), np.float64)
    for node in range(first, last):
        begin, end = boundaries[node], boundaries[node + 1]
        if clusters[node] == 1:
            cuts[node] = end
            continue
        rows = order[begin:end].copy()
        # In proportion to the clusters of each side, so that all clusters can end with ⌊n/K⌋ or ⌈n/K⌉ rows.
        share = rows.size * ((clusters[node] + 1) // 2)
        fewest_plus = share // clusters[node]
        most_plus = -(-share // clusters[node])
        side, _ = bisect(
            indptr, indices, data, rows, seeds[node], fewest_plus, most_plus, tolerance, max_iterations, sums
        )
        position = begin
        for s in (PLUS, MINUS):
            for i in range(rows.size):
                if side[i] == s:
                    order[position] = rows[i]
                    position += 1
            if s == PLUS:
                cuts[node] = position
