"""Dual coordinate descent for many labels that share their samples (Hsieh et al. 2008; Yu et al. 2011).

A pass visits the samples in random order and takes one coordinate step for every lane. A lane that has converged
hands its weights over and takes the next label, so that the lanes wait for nobody; W never has more than `width`
columns. Samples that no lane can learn from are left out of the passes until a last one looks at all of them.
"""

import numpy as np
from numba import njit

from orchard.linear._lanes import (
    BIAS,
    CEILING,
    DOT,
    HIGHEST,
    LOWEST,
    MOVING,
    N_STATE_ROWS,
    STEP,
    address_of,
    lanes_add,
    lanes_dot,
    lanes_hinge_step,
)

SQUARED_HINGE, LOGISTIC = 0, 1
NARROW, WIDE = 4, 16  # lanes of a block
_NEWTON_STEPS = 100


@njit(nogil=True, cache=True)
def next_random(state):
    """xorshift64: advances state[0] (uint64, not zero)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x


@njit(nogil=True, cache=True)
def shuffle(order, n, random):
    """Fisher and Yates; order[:n] in place."""
    for last in range(n - 1, 0, -1):
        other = np.int64(((next_random(random) >> np.uint64(32)) * np.uint64(last + 1)) >> np.uint64(32))
        order[last], order[other] = order[other], order[last]


@njit(nogil=True, cache=True)
def on_cache_lines(n_floats):
    """Zeros (n_floats,) float32 that begin on a cache line of 64 bytes, so that a row of 16 lanes is one line."""
    padded = np.zeros(n_floats + 16, np.float32)
    skipped = np.int64((-address_of(padded) // 4) % 16)
    return padded[skipped : skipped + n_floats]


@njit(nogil=True, cache=True)
def with_room(array, n_used, n_more):
    """The array itself, or a copy of at least twice its size if there is no room for n_more elements."""
    if n_used + n_more <= array.size:
        return array
    larger = np.empty(max(2 * array.size, n_used + n_more), array.dtype)
    larger[:n_used] = array[:n_used]
    return larger


@njit(nogil=True, cache=True)
def logistic_step(margin, alpha, C, norm, tolerance):
    """Δα of one variable of the dual logistic problem by Newton steps on the smaller of α and C − α.

    Minimises norm/2·(z − α)² + margin·(z − α) + z log z + (C − z) log(C − z) over z (Yu et al. 2011, Alg. 5).
    """
    flipped = 0.5 * norm * (C - 2 * alpha) + margin < 0
    start = C - alpha if flipped else alpha
    slope = -margin if flipped else margin
    z = start if C - start >= 0.5 * C else 0.1 * start
    for _ in range(_NEWTON_STEPS):
        gradient = norm * (z - start) + slope + np.log(z / (C - z))
        if abs(gradient) < tolerance:
            break
        curvature = norm + C / (C - z) / z
        lower = z - gradient / curvature
        z = 0.1 * z if lower <= 0 else lower
    return (C - z if flipped else z) - alpha


@njit(nogil=True, cache=True)
def dual_objective(alpha, C, loss):
    """The part of the dual objective that is not ½‖w‖² (for tests)."""
    total = 0.0
    for a in alpha:
        if loss == SQUARED_HINGE:
            total += a * a / (4 * C) - a
        else:
            total += (a * np.log(a) if a > 0 else 0.0) + ((C - a) * np.log(C - a) if a < C else 0.0) - C * np.log(C)
    return total


def _make_solver(width):
    """The solver for blocks of `width` lanes; the width must be a constant when numba compiles it."""

    @njit(nogil=True, cache=True, error_model="numpy")
    def solve(
        rows,
        private,
        samples_of,
        outputs,
        position,
        n_features,
        room,
        bias,
        costs,
        loss,
        tolerance,
        max_passes,
        threshold,
        seed,
    ):
        """See `train_node`; room : float32 zeros, at least n_features · width, on a cache line; zeros on return."""
        indptr, indices, data = rows
        list_indptr, list_indices = samples_of
        C_positive, C_negative = costs
        n, n_outputs = indptr.size - 1, outputs.size

        W = room[: n_features * width].reshape(n_features, width)
        alpha = np.zeros(n * width, np.float32)
        state = np.zeros(N_STATE_ROWS * width, np.float32)
        dots = state[DOT * width : (DOT + 1) * width]
        steps = state[STEP * width : (STEP + 1) * width]
        norms = np.empty(n, np.float32)
        for i in range(n):
            squares = np.float64(bias) * np.float64(bias) + private[i]
            for entry in range(indptr[i], indptr[i + 1]):
                squares += np.float64(data[entry]) * np.float64(data[entry])
            norms[i] = squares
        half_positive, half_negative = np.float32(0.5 / C_positive), np.float32(0.5 / C_negative)

        positives = np.zeros(n, np.uint32)
        active = np.zeros(n, np.uint32)  # bit b: lane b must see the sample in the next pass
        order = np.empty(n, np.int32)
        random = np.full(1, seed, np.uint64)
        output_of = np.full(width, -1, np.int64)
        passes = np.zeros(width, np.int64)
        waiting = np.zeros(width, np.bool_)  # converged on the samples it saw; the others are still to be seen
        next_output, n_busy, n_visits, n_passes = 0, 0, 0, 0

        counts = np.zeros(n_outputs, np.int64)
        begins = np.zeros(n_outputs, np.int64)
        biases = np.zeros(n_outputs, np.float32)
        found_features = np.empty(64 * max(n_outputs, 1), np.int32)
        found_weights = np.empty(found_features.size, np.float32)
        n_found = 0

        while True:
            for lane in range(width):  # hand out labels
                if output_of[lane] >= 0 or next_output == n_outputs:
                    continue
                bit = np.uint32(1) << np.uint32(lane)
                for i in range(n):
                    positives[i] &= ~bit
                    active[i] |= bit
                for entry in range(list_indptr[outputs[next_output]], list_indptr[outputs[next_output] + 1]):
                    i = position[list_indices[entry]]
                    if i >= 0:
                        positives[i] |= bit
                output_of[lane] = next_output
                passes[lane] = 0
                waiting[lane] = False
                state[MOVING * width + lane] = 1.0
                state[CEILING * width + lane] = np.inf
                next_output += 1
                n_busy += 1
                if loss == LOGISTIC:  # α must stay inside (0, C): it starts a little above zero
                    for i in range(n):
                        is_positive = (positives[i] & bit) != 0
                        first = np.float32(min(1e-3 * (C_positive if is_positive else C_negative), 1e-8))
                        alpha[i * width + lane] = first
                        step = first if is_positive else -first
                        state[BIAS * width + lane] += step * bias
                        for entry in range(indptr[i], indptr[i + 1]):
                            W[indices[entry], lane] += step * data[entry]
            if n_busy == 0:
                break

            n_active = 0
            learning = np.uint32(0)
            for lane in range(width):
                if output_of[lane] >= 0 and not waiting[lane]:
                    learning |= np.uint32(1) << np.uint32(lane)
                state[HIGHEST * width + lane] = -np.inf
                state[LOWEST * width + lane] = np.inf
            for i in range(n):
                order[n_active] = i
                n_active += 1 if active[i] & learning else 0
            saw_all = n_active == n
            shuffle(order, n_active, random)

            for place in range(n_active):
                i = order[place]
                begin, end = indptr[i], indptr[i + 1]
                lanes_dot(width, W, indices, data, begin, end, dots)
                if loss == SQUARED_HINGE:
                    flags = lanes_hinge_step(
                        width,
                        state,
                        alpha,
                        i * width,
                        positives[i],
                        bias,
                        (half_positive + private[i], half_negative + private[i]),
                        (np.float32(1) / (norms[i] + half_positive), np.float32(1) / (norms[i] + half_negative)),
                    )
                    active[i] = np.uint32(flags)
                    moved = (flags >> np.uint64(32)) != 0
                else:
                    moved = True
                    for lane in range(width):
                        at = i * width + lane
                        if state[MOVING * width + lane] == 0:
                            steps[lane] = 0
                            continue
                        is_positive = (positives[i] >> np.uint32(lane)) & np.uint32(1)
                        y = np.float32(1) if is_positive else np.float32(-1)
                        C = C_positive if is_positive else C_negative
                        margin = y * (dots[lane] + bias * state[BIAS * width + lane]) + alpha[at] * private[i]
                        gradient = margin + np.log(alpha[at] / (C - alpha[at]))
                        state[HIGHEST * width + lane] = max(state[HIGHEST * width + lane], abs(gradient))
                        delta = np.float32(logistic_step(margin, alpha[at], C, norms[i], 0.1 * tolerance))
                        alpha[at] = min(max(alpha[at] + delta, np.float32(1e-30)), np.float32(C * (1 - 1e-7)))
                        steps[lane] = y * delta
                        state[BIAS * width + lane] += y * delta * bias
                        state[LOWEST * width + lane] = 0
                if moved:
                    lanes_add(width, W, indices, data, begin, end, steps)
            n_visits += n_active
            n_passes += 1

            n_waiting = 0
            for lane in range(width):
                if output_of[lane] < 0:
                    continue
                passes[lane] += 0 if waiting[lane] and not saw_all else 1
                highest, lowest = state[HIGHEST * width + lane], state[LOWEST * width + lane]
                converged = highest - lowest <= tolerance or n_active == 0
                waiting[lane] = converged or (waiting[lane] and not saw_all)
                if (waiting[lane] and saw_all) or passes[lane] >= max_passes:
                    output = output_of[lane]
                    begins[output] = n_found
                    biases[output] = state[BIAS * width + lane]
                    found_features = with_room(found_features, n_found, n_features)
                    found_weights = with_room(found_weights, n_found, n_features)
                    for feature in range(n_features):
                        weight = W[feature, lane]
                        W[feature, lane] = 0
                        found_features[n_found] = feature
                        found_weights[n_found] = weight
                        n_found += 1 if abs(weight) >= threshold and weight != 0 else 0
                    for i in range(n):
                        # The weight of a feature that one sample alone has is y·α·x; the caller knows x.
                        if private[i] > 0 and alpha[i * width + lane] != 0:
                            found_features = with_room(found_features, n_found, 1)
                            found_weights = with_room(found_weights, n_found, 1)
                            found_features[n_found] = -1 - i
                            is_positive = (positives[i] >> np.uint32(lane)) & np.uint32(1)
                            found_weights[n_found] = alpha[i * width + lane] * (1 if is_positive else -1)
                            n_found += 1
                        alpha[i * width + lane] = 0
                    counts[output] = n_found - begins[output]
                    state[BIAS * width + lane] = 0
                    state[MOVING * width + lane] = 0
                    output_of[lane] = -1
                    waiting[lane] = False
                    n_busy -= 1
                else:
                    state[CEILING * width + lane] = highest if highest > 0 else np.inf
                    state[MOVING * width + lane] = 0.0 if waiting[lane] else 1.0
                    n_waiting += 1 if waiting[lane] else 0

            # A look at all samples costs a whole pass: worth it if that frees lanes for more labels, or at the end.
            if n_waiting == n_busy or (n_waiting > 0 and next_output < n_outputs):
                for lane in range(width):
                    if output_of[lane] >= 0:
                        state[CEILING * width + lane] = np.inf
                        if waiting[lane]:
                            waiting[lane] = False
                            state[MOVING * width + lane] = 1.0
                for i in range(n):
                    active[i] = np.uint32(0xFFFFFFFF)
        return counts, begins, found_features[:n_found], found_weights[:n_found], biases, n_visits, n_passes

    return solve


solve_narrow = _make_solver(NARROW)
solve_wide = _make_solver(WIDE)
