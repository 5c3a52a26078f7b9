"""Kernels of the tree builders: 2-means of a node, balanced or weighted, and of all nodes of a level.

Strict floating point (no fastmath), sums in a fixed order: the same split on every machine and with any number of
threads.
"""

import numpy as np

from orchard.jit import njit
from orchard.trees._step_kernels import (
    MINUS,
    NOWHERE,
    PLUS,
    ZERO,
    assign,
    assign_by_scores,
    clear_empty_sides,
    dot_rows,
    move_rows,
    scale,
    score_rows,
    set_difference,
    squared_norms,
    total_along,
)

WEIGHTS, SIMILARITY = 2, 3  # in a target, see `_step_kernels`
FEW_ENTRIES = 2  # per feature: a node with fewer does not pay for passes over its features
LAST_ID = 1 << 30
SMALLEST_SAMPLE = 128  # rows, about
SAMPLE_TOLERANCE = np.float64(1e-3)  # what is gained beyond it on a sample is not gained on all rows


@njit(nogil=True, cache=True)
def alternate_by_pairs(indptr, indices, data, rows, side, new_side, target, tolerance, max_iterations, sums):
    """`alternate` without a pass over the features: a row's dots with both sums say all."""
    dots = np.empty((rows.size, 2), np.float32)
    squares = np.zeros(2)  # nobody asks for them
    objective, iterations = -np.inf, 0
    while iterations < max_iterations:
        move_rows(indptr, indices, data, rows, target[WEIGHTS], side, new_side, sums, squares, 0, rows.size)
        dot_rows(indptr, indices, data, rows, sums, dots, 0, rows.size)
        previous = objective
        objective, n_moved = assign(dots, side, target, new_side)
        iterations += 1
        if n_moved == 0 or objective - previous <= tolerance:
            break
    return objective, iterations


@njit(nogil=True, cache=True)
def alternate_by_difference(indptr, indices, data, rows, side, new_side, target, tolerance, max_iterations, sums):
    """`alternate` with one vector μ⁺ − μ⁻ to score the rows by: half the memory to wait for.

    The objective is that of `alternate_by_pairs`, without the cosines of a row. Before its rows change sides it is
    ‖S⁺‖ + ‖S⁻‖; a row that changes adds its score or takes it away. In the first iteration most rows are in no sum
    yet: a row's cosine is ⟨v, μ⁻⟩, and its score more if it is plus, and Σ v is known once all rows are in the sums.
    """
    n, similarity = rows.size, target[SIMILARITY]
    scores, difference = np.empty(n, np.float32), np.empty(sums.shape[0], np.float32)
    squares = np.empty(2)
    objective, iterations = -np.inf, 0
    while iterations < max_iterations:
        move_rows(indptr, indices, data, rows, target[WEIGHTS], side, new_side, sums, squares, 0, n)
        if iterations == 0:
            squared_norms(sums, squares)
        clear_empty_sides(indptr, rows, side, sums, squares)
        set_difference(sums, squares, difference)
        score_rows(indptr, indices, data, rows, difference, scores, 0, n)
        n_moved, old_plus, new_plus = assign_by_scores(scores, side, target, new_side)
        previous = objective
        if iterations == 0:
            old_minus, minus_scale = sums[:, MINUS].copy(), scale(squares[MINUS])
            move_rows(indptr, indices, data, rows, target[WEIGHTS], side, new_side, sums, squares, 0, n)
            squared_norms(sums, squares)
            objective = (similarity * total_along(sums, old_minus) * minus_scale + new_plus) / n
        else:
            norms = np.sqrt(squares[PLUS]) + np.sqrt(squares[MINUS])
            objective = (similarity * norms + new_plus - old_plus) / n
        iterations += 1
        if n_moved == 0 or objective - previous <= tolerance:
            break
    return objective, iterations


@njit(nogil=True, cache=True)
def alternate(indptr, indices, data, rows, side, new_side, target, tolerance, max_iterations, sums):
    """Centres from sides, sides from centres, until the objective gains no more than `tolerance`.

    side, new_side : int8 (n,); the sides that `sums` knows of, and the sides to start from.  target : see
    `_step_kernels`. Returns the objective for the last `new_side` and the centres that it was chosen by, and the number
    of iterations; it is that of Eq. 1, or half of that of Eq. 4 (but for a constant) over the weight of the node.
    """
    n_entries = 0
    for row in rows:
        n_entries += indptr[row + 1] - indptr[row]
    arguments = indptr, indices, data, rows, side, new_side, target, tolerance, max_iterations, sums
    if n_entries < FEW_ENTRIES * sums.shape[0]:
        return alternate_by_pairs(*arguments)
    return alternate_by_difference(*arguments)


@njit(nogil=True, cache=True)
def scramble(key, i):
    """64 bits that look random (the finaliser of splitmix64): who is in a sample depends on the seeds alone."""
    z = np.uint64(key) + np.uint64(i) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(nogil=True, cache=True)
def start_from_samples(indptr, indices, data, rows, seeds, target, tolerance, max_iterations, sums):
    """The state to start `alternate` from: two seeds, improved on a 16th and then on a quarter of the rows.

    An iteration over a sample costs little, and the rows of a large node are much alike: full iterations are saved,
    and the objective ends higher than from two seeds alone. No more than half of the iterations left go to a sample.
    Returns side, new_side (NOWHERE outside of the sample) and the number of iterations.
    """
    n = rows.size
    _, most_plus, weights, similarity, bonus = target
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
        small = n_plus, n_plus, weights[sample] if weights.size else weights, similarity, bonus
        enough = max(tolerance, similarity * SAMPLE_TOLERANCE)
        _, used = alternate(indptr, indices, data, rows[sample], *sides, small, enough, limit, sums)
        side[sample], new_side[sample] = sides
        iterations += used
    return side, new_side, iterations


@njit(nogil=True, cache=True)
def bisect(indptr, indices, data, rows, seeds, target, tolerance, max_iterations, sums):
    """Spherical 2-means over `rows`: the side of each and the final objective (labeltrees, Eq. 1 or Eq. 4).

    rows : row ids of the CSR matrix, ascending.  seeds : the positions in `rows` of the two first centres.
    target : see `_step_kernels`; fewest_plus and most_plus are equal, or one apart, and the row in the middle then goes
    by the sign of its score (step 3 of §3.1).
    sums : zeros float32 (d, 2), zeros again on return; Σ weight · v of either side, so μ± = sums / ‖sums‖.
    """
    side, new_side, used = start_from_samples(
        indptr, indices, data, rows, seeds, target, tolerance, max_iterations, sums
    )
    left = max_iterations - used
    objective, _ = alternate(indptr, indices, data, rows, side, new_side, target, tolerance, left, sums)

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
def target_of(node, boundaries, targets):
    """How a node is to be split (see `_step_kernels`), out of what is told for all nodes of a level.

    targets : (fewest_plus, most_plus : int64 (n_nodes,); weights : float32 (n,), or none; similarity : float32;
    bonus : float32 (n_nodes,)).
    """
    fewest, most, weights, similarity, bonus = targets
    return fewest[node], most[node], weights[boundaries[node] : boundaries[node + 1]], similarity, bonus[node]


@njit(nogil=True, cache=True)
def split_nodes(
    indptr,
    indices,
    data,
    widths,
    order,
    boundaries,
    splits,
    targets,
    seeds,
    tolerance,
    max_iterations,
    cuts,
    first,
    last,
):
    """Bisect the nodes `first` … `last` − 1 of a level in place: plus rows first, each side in ascending order.

    order : int64 (n,), node i holds order[boundaries[i] : boundaries[i + 1]].  splits : bool (n_nodes,), false for a
    node that is left alone.  targets : see `target_of`.  widths : (n_nodes,), the feature ids of a node are below.
    cuts : (n_nodes,), receives the position in `order` where the minus side of a node that was split begins.
    """
    sums = np.zeros((widths[first:last].max(), 2), np.float32)
    for node in range(first, last):
        begin, end = boundaries[node], boundaries[node + 1]
        if splits[node]:
            rows, target = order[begin:end], target_of(node, boundaries, targets)
            rule = target, tolerance, max_iterations
            side, _ = bisect(indptr, indices, data, rows, seeds[node], *rule, sums[: widths[node]])
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
