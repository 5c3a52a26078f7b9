"""Kernels of the steps of 2-means, balanced or weighted: rows into sums, sums into scores, scores into sides.

Strict floating point (no fastmath), sums in a fixed order: the same split on every machine and with any number of
threads. Sums are float32 pairs (plus, minus), side by side because a row that changes sides needs both: half the
memory of doubles, and the time goes into waiting for memory.

How a node is to be split is told by its `target`, (fewest_plus, most_plus, weights, similarity, bonus):
  without weights (none, float32 (0,)) the plus side gets between fewest_plus and most_plus rows (labeltrees, Eq. 1);
  with weights, float32 (n,) of mean 1, it gets half of the weight (labeltrees, Eq. 4): f_ℓ(λ) is a row's weight times
  a constant of the node, its score β_ℓ / f_ℓ(λ) is similarity · ⟨v, μ⁺ − μ⁻⟩ + bonus · weight.
"""

import numpy as np

from orchard.jit import njit

PLUS, MINUS, NOWHERE = 0, 1, -1
ZERO, ONE = np.float32(0), np.float32(1)
TIE = 1e-5  # shares of float32 weights that differ by less are the same


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
def choose_sides(scores, fewest_plus, most_plus, new_side):
    """Steps 2 and 3 of labeltrees §3.1: the rows of the largest scores are plus, ties by row id; new_side : int8 (n,).

    Sorting is more than is needed: the score of the last row on the plus side decides.
    """
    n = scores.size
    selected = scores.copy()
    n_plus, cut = most_plus, kth_smallest(selected, n - most_plus)
    if fewest_plus < most_plus and cut <= 0:
        n_plus, cut = fewest_plus, kth_smallest(selected, n - fewest_plus)
    ties_allowed = n_plus
    for i in range(n):
        ties_allowed -= scores[i] > cut
    for i in range(n):
        new_side[i] = MINUS
        if scores[i] > cut:
            new_side[i] = PLUS
        elif scores[i] == cut and ties_allowed > 0:
            new_side[i] = PLUS
            ties_allowed -= 1


@njit(nogil=True, cache=True)
def score_at_half(scores, weights, half):
    """The score at which the weight of rows in descending order of their scores exceeds `half`; the weight above it.

    Quickselect with three parts, since scores that are frequencies are often equal.
    """
    scores, weights = scores.copy(), weights.copy()
    left, right = 0, scores.size - 1
    above = 0.0
    while left < right:
        pivot = scores[(left + right) // 2]
        greater, smaller, i = left, right, left  # greater ones end before `greater`, smaller ones begin after `smaller`
        more, equal = 0.0, 0.0
        while i <= smaller:
            if scores[i] > pivot:
                more += weights[i]
                scores[i], scores[greater] = scores[greater], scores[i]
                weights[i], weights[greater] = weights[greater], weights[i]
                greater += 1
                i += 1
            elif scores[i] < pivot:
                scores[i], scores[smaller] = scores[smaller], scores[i]
                weights[i], weights[smaller] = weights[smaller], weights[i]
                smaller -= 1
            else:
                equal += weights[i]
                i += 1
        if greater > left and above + more > half:
            right = greater - 1
        elif smaller < right and above + more + equal <= half:
            above += more + equal
            left = smaller + 1
        else:
            return pivot, above + more
    return scores[left], above


@njit(nogil=True, cache=True)
def choose_half(scores, weights, new_side):
    """Lemma 1 of labeltrees, α rounded: the best scores are plus until they weigh half; new_side : int8 (n,).

    Returns (place, α) of the one row whose α need not be ±1. It is rounded (§5.4.3); an α of exactly 0 goes by the sign
    of the score (step 3 of §3.1). Ties in the score go by row id. No side is left empty.
    """
    n = scores.size
    half = 0.0
    for weight in weights:
        half += weight
    half /= 2
    cut, weight_of_plus = score_at_half(scores, weights, half)
    last, n_plus = -1, 0
    for i in range(n):
        new_side[i] = MINUS
        if scores[i] > cut:
            new_side[i] = PLUS
            n_plus += 1
        elif scores[i] == cut and weight_of_plus <= half:
            new_side[i] = PLUS
            n_plus += 1
            weight_of_plus += weights[i]
            last = i
    if last < 0 or weight_of_plus <= half:  # all of the weight is above the cut, or none is anywhere
        last, share = np.argmin(scores), 1.0
    else:
        share = (half - (weight_of_plus - weights[last])) / weights[last]
        if share < 0.5 - TIE or (share <= 0.5 + TIE and scores[last] <= 0):
            new_side[last] = MINUS
            n_plus -= 1
    if n_plus == n:
        new_side[last] = MINUS
    elif n_plus == 0:
        new_side[last] = PLUS
    return last, 2 * share - 1


@njit(nogil=True, cache=True)
def scale(squared):
    """1 / the norm, float32; 0 for no vector at all."""
    return np.float32(1 / np.sqrt(squared)) if squared > 0 else ZERO


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
def assign(dots, side, target, new_side):
    """The sides from the dots with the sums of each side, by labeltrees §3.1 or Lemma 1; the objective, how many move.

    side : int8 (n,), NOWHERE for a row that is in neither sum.  new_side : int8 (n,), receives the sides.
    """
    n = side.size
    fewest_plus, most_plus, weights, similarity, bonus = target
    # ‖sums‖² is the sum of ⟨v, sums⟩ over a side's own rows: no pass over the d features is needed.
    plus_squared, minus_squared = 0.0, 0.0
    for i in range(n):
        weight = weights[i] if weights.size else ONE
        if side[i] == PLUS:
            plus_squared += weight * dots[i, PLUS]
        elif side[i] == MINUS:
            minus_squared += weight * dots[i, MINUS]
    plus_scale, minus_scale = scale(plus_squared), scale(minus_squared)
    scores = np.empty(n, np.float32)
    for i in range(n):
        scores[i] = dots[i, PLUS] * plus_scale - dots[i, MINUS] * minus_scale
    if weights.size:
        for i in range(n):
            scores[i] = similarity * scores[i] + bonus * weights[i]
        choose_half(scores, weights, new_side)
    else:
        choose_sides(scores, fewest_plus, most_plus, new_side)
    plus, minus, more, n_moved = 0.0, 0.0, 0.0, 0
    for i in range(n):
        weight = weights[i] if weights.size else ONE
        if new_side[i] == PLUS:
            plus += weight * dots[i, PLUS]
            more += bonus * weight * weight
        else:
            minus += weight * dots[i, MINUS]
        n_moved += new_side[i] != side[i]
    return (similarity * (plus * plus_scale + minus * minus_scale) + more) / n, n_moved


@njit(nogil=True, cache=True)
def squared_norms(sums, squares):
    """squares = ‖sums‖² of the plus and of the minus side, float64 (2,)."""
    plus, minus = np.zeros(4), np.zeros(4)
    n = sums.shape[0]
    for first in range(0, n, 4):
        for k in range(min(4, n - first)):  # four sums each: none waits for the addition before it
            plus[k] += np.float64(sums[first + k, PLUS]) ** 2
            minus[k] += np.float64(sums[first + k, MINUS]) ** 2
    squares[PLUS], squares[MINUS] = plus.sum(), minus.sum()


@njit(nogil=True, cache=True)
def clear_empty_sides(indptr, rows, side, sums, squares):
    """A side of empty rows only has no centre: what rounding left of the rows that moved out of its sum is not one."""
    for s in (PLUS, MINUS):
        if squares[s] < 1:  # less than a unit row
            has_entries = False
            for i in range(rows.size):
                has_entries |= side[i] == s and indptr[rows[i] + 1] > indptr[rows[i]]
            if not has_entries:
                sums[:, s] = ZERO
            if not has_entries or squares[s] < 0:
                squares[s] = 0.0


@njit(nogil=True, cache=True)
def set_difference(sums, squares, difference):
    """difference = μ⁺ − μ⁻, float32 (d,): the score of a row is its dot with one vector then, not with two."""
    plus_scale, minus_scale = scale(squares[PLUS]), scale(squares[MINUS])
    for feature in range(difference.size):
        difference[feature] = sums[feature, PLUS] * plus_scale - sums[feature, MINUS] * minus_scale


@njit(nogil=True, cache=True)
def score_rows(indptr, indices, data, rows, difference, scores, first, last):
    """⟨v, difference⟩ for the rows at `first` … `last` − 1; scores : float32 (n,).  Four sums, as in `dot_rows`."""
    for i in range(first, last):
        features = indices[indptr[rows[i]] : indptr[rows[i] + 1]]  # positions from 0 need no test of their sign
        values = data[indptr[rows[i]] : indptr[rows[i] + 1]]
        s_0, s_1, s_2, s_3 = ZERO, ZERO, ZERO, ZERO
        rest = features.size // 4 * 4
        for e in range(0, rest, 4):
            s_0 += values[e] * difference[np.uint32(features[e])]
            s_1 += values[e + 1] * difference[np.uint32(features[e + 1])]
            s_2 += values[e + 2] * difference[np.uint32(features[e + 2])]
            s_3 += values[e + 3] * difference[np.uint32(features[e + 3])]
        for e in range(rest, features.size):
            s_0 += values[e] * difference[np.uint32(features[e])]
        scores[i] = (s_0 + s_1) + (s_2 + s_3)


@njit(nogil=True, cache=True)
def assign_by_scores(scores, side, target, new_side):
    """The sides from ⟨v, μ⁺ − μ⁻⟩: labeltrees §3.1, or Lemma 1; how many rows move, and two parts of the objective.

    They are n · similarity times what the old plus rows have more by being plus, and the same for the new ones, with
    their bonus.  scores : float32 (n,), may be overwritten.
    """
    fewest_plus, most_plus, weights, similarity, bonus = target
    n_moved, old_plus, new_plus = 0, 0.0, 0.0
    if weights.size:
        for i in range(side.size):
            if side[i] == PLUS:
                old_plus += similarity * weights[i] * scores[i]
            scores[i] = similarity * scores[i] + bonus * weights[i]
        choose_half(scores, weights, new_side)
        for i in range(side.size):
            n_moved += new_side[i] != side[i]
            if new_side[i] == PLUS:
                new_plus += weights[i] * scores[i]
        return n_moved, old_plus, new_plus
    choose_sides(scores, fewest_plus, most_plus, new_side)
    for i in range(side.size):
        n_moved += new_side[i] != side[i]
        if side[i] == PLUS:
            old_plus += scores[i]
        if new_side[i] == PLUS:
            new_plus += scores[i]
    return n_moved, old_plus, new_plus


@njit(nogil=True, cache=True)
def total_along(sums, vector):
    """⟨the sums of both sides together, vector⟩."""
    along = np.zeros(4)
    n = sums.shape[0]
    for first in range(0, n, 4):
        for k in range(min(4, n - first)):
            both = np.float64(sums[first + k, PLUS]) + np.float64(sums[first + k, MINUS])
            along[k] += both * np.float64(vector[first + k])
    return along.sum()


@njit(nogil=True, cache=True)
def move_rows(indptr, indices, data, rows, weights, side, new_side, sums, squares, first, last):
    """Bring the sums up to the new sides of the rows at `first` … `last` − 1, and `side` too.

    Only the rows that change sides move the centres: after a few rounds that is almost none.
    squares : float64 (2,), ‖sums‖², follows the rows that change from side to side; not the rows from nowhere, which
    are so many that `squared_norms` is cheaper.
    """
    for i in range(first, last):
        if side[i] == new_side[i]:
            continue
        begin, end = indptr[rows[i]], indptr[rows[i] + 1]
        weight = weights[i] if weights.size else ONE
        if side[i] == NOWHERE:
            for e in range(begin, end):
                sums[np.uint32(indices[e]), new_side[i]] += weight * data[e]
        else:
            more, less = 0.0, 0.0
            for e in range(begin, end):
                feature = np.uint32(indices[e])
                there, here = sums[feature, new_side[i]], sums[feature, side[i]]
                value = weight * data[e]
                sums[feature, new_side[i]] = there + value
                sums[feature, side[i]] = here - value
                more += np.float64(there + value) ** 2 - np.float64(there) ** 2
                less += np.float64(here - value) ** 2 - np.float64(here) ** 2
            squares[new_side[i]] += more
            squares[side[i]] += less
        side[i] = new_side[i]


@njit(nogil=True, cache=True)
def add_sums(sums_of_piece, sums, first, last):
    """Sum the pieces, in their order, for the features `first` … `last` − 1; sums_of_piece : (pieces, d, 2)."""
    for feature in range(first, last):
        plus, minus = ZERO, ZERO
        for piece in range(sums_of_piece.shape[0]):
            plus += sums_of_piece[piece, feature, PLUS]
            minus += sums_of_piece[piece, feature, MINUS]
        sums[feature, PLUS], sums[feature, MINUS] = plus, minus
