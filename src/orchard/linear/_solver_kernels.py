"""Dual coordinate descent for many labels that share most of their samples (Hsieh et al. 2008; Yu et al. 2011).

A pass visits the samples in random order and takes one coordinate step for every lane that has the sample. Lanes that
have converged hand their weights over, a few at a time, and take the next labels; W never has more columns than lanes.
Samples that no lane can learn from are left out of the passes until a last one looks at all of them.
"""

import numpy as np

from orchard.jit import njit
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
    lanes_above,
    lanes_add,
    lanes_clear,
    lanes_dot,
    lanes_hinge_step,
    prefetch,
)

NARROW, WIDE = 4, 16  # lanes of a block
# A lane has no label; learns; has converged on the samples that it saw, others are still to be seen; has converged.
FREE, LEARNING, WAITING, DONE = range(4)
_CACHED_FLOATS = 1 << 17  # weights that stay in a core's own cache: half a megabyte
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
def squared_norms(rows, private, bias):
    """‖x‖² of every sample, the bias and the private features among it; float32 (n,)."""
    indptr, _, data = rows
    norms = np.empty(private.size, np.float32)
    for i in range(private.size):
        squares = np.float64(bias) * np.float64(bias) + private[i]
        for entry in range(indptr[i], indptr[i + 1]):
            squares += np.float64(data[entry]) * np.float64(data[entry])
        norms[i] = squares
    return norms


@njit(nogil=True, cache=True)
def mark(lane, lists, number, position, bits):
    """Bit `lane` of bits[i] says whether sample i is in the list of this number; −1 is the list of all samples."""
    indptr, samples = lists
    bit = np.uint32(1) << np.uint32(lane)
    for i in range(bits.size):
        bits[i] = bits[i] | bit if number < 0 else bits[i] & ~bit
    if number >= 0:
        for sample in samples[indptr[number] : indptr[number + 1]]:
            if position[sample] >= 0:
                bits[position[sample]] |= bit


@njit(nogil=True, cache=True)
def activate(lane, members, active):
    """The lane must see all of its samples in the next pass."""
    bit = np.uint32(1) << np.uint32(lane)
    for i in range(active.size):
        active[i] |= members[i] & bit


@njit(nogil=True, cache=True)
def select_active(active, members, learning, order):
    """The samples that a learning lane must see, to order[:n]; returns n, and the lanes that miss some as bits."""
    n_active, missing = 0, np.uint32(0)
    for i in range(active.size):
        order[n_active] = i
        is_seen = active[i] & learning
        n_active += 1 if is_seen else 0
        missing |= np.uint32(0) if is_seen else members[i]
    return n_active, missing


def _make_harvest(width):
    @njit(nogil=True, cache=True)
    def harvest(lanes, output_of, W, alpha, positives, local_features, private_entries, threshold, found, n_found):
        """Move the weights of these lanes, if not below the threshold, from W to `found`; their columns are zero then.

        local_features : the features of W's rows.
        private_entries : (indptr, features, data, largest |data| of a sample); the weight of such a feature is y·α·x.
        found : (outputs, features, weights), growing.  Returns (found, how many there are).
        """
        outputs, features, weights = found
        done = np.uint32(0)
        for lane in lanes:
            done |= np.uint32(1) << np.uint32(lane)
        for row in range(W.shape[0]):
            kept = lanes_above(width, W, row, threshold) & done
            if kept:  # seldom: a label keeps few of its node's features
                outputs = with_room(outputs, n_found, lanes.size)
                features = with_room(features, n_found, lanes.size)
                weights = with_room(weights, n_found, lanes.size)
                for lane in lanes:
                    outputs[n_found] = output_of[lane]
                    features[n_found] = local_features[row]
                    weights[n_found] = W[row, lane]
                    n_found += (kept >> np.uint32(lane)) & np.uint32(1)
            lanes_clear(width, W, row, done)
        private_indptr, private_features, private_data, largest = private_entries
        for i in range(positives.size):
            for lane in lanes:
                a = alpha[i * width + lane]
                alpha[i * width + lane] = 0
                if a == 0 or a * largest[i] < threshold:
                    continue
                signed = a if (positives[i] >> np.uint32(lane)) & np.uint32(1) else -a
                n_more = private_indptr[i + 1] - private_indptr[i]
                outputs = with_room(outputs, n_found, n_more)
                features = with_room(features, n_found, n_more)
                weights = with_room(weights, n_found, n_more)
                for entry in range(private_indptr[i], private_indptr[i + 1]):
                    weight = signed * private_data[entry]
                    outputs[n_found] = output_of[lane]
                    features[n_found] = private_features[entry]
                    weights[n_found] = weight
                    n_found += 1 if abs(weight) >= threshold and weight != 0 else 0
        return (outputs, features, weights), n_found

    return harvest


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


def _make_hinge_pass(width):
    @njit(nogil=True, cache=True)
    def hinge_pass(order, rows, W, alpha, state, private, norms, positives, members, active, bias, costs, tolerance):
        """Visit the samples in this order, one step of squared hinge for every lane; which must be seen again."""
        indptr, indices, data = rows
        dots, steps = state[DOT * width : (DOT + 1) * width], state[STEP * width : (STEP + 1) * width]
        half_positive, half_negative = np.float32(0.5) / costs[0], np.float32(0.5) / costs[1]
        one = np.float32(1)
        is_large = W.size > _CACHED_FLOATS
        flat = W.ravel()
        for place in range(order.size):
            i = order[place]
            begin, end = indptr[i], indptr[i + 1]
            if is_large and place + 2 < order.size:  # the rows of W that the next sample needs are on their way then
                for entry in range(indptr[order[place + 2]], indptr[order[place + 2] + 1], 16):
                    prefetch(indices, entry)
                    prefetch(data, entry)
                for entry in range(indptr[order[place + 1]], indptr[order[place + 1] + 1]):
                    prefetch(flat, np.int64(indices[entry]) * width)
            lanes_dot(width, W, indices, data, begin, end, dots)
            diagonals = (half_positive + private[i], half_negative + private[i])
            inverses = (one / (norms[i] + half_positive), one / (norms[i] + half_negative))
            flags = lanes_hinge_step(
                width, state, alpha, i * width, positives[i], members[i], bias, diagonals, inverses
            )
            active[i] = np.uint32(flags)
            if flags >> np.uint64(32):
                lanes_add(width, W, indices, data, begin, end, steps)

    return hinge_pass


def _make_logistic_pass(width):
    @njit(nogil=True, cache=True)
    def logistic_pass(order, rows, W, alpha, state, private, norms, positives, members, active, bias, costs, tolerance):
        """Visit the samples in this order, one step of the logistic loss for every lane; all must be seen again."""
        indptr, indices, data = rows
        dots, steps = state[DOT * width : (DOT + 1) * width], state[STEP * width : (STEP + 1) * width]
        for i in order:
            begin, end = indptr[i], indptr[i + 1]
            lanes_dot(width, W, indices, data, begin, end, dots)
            for lane in range(width):
                at, bias_at = i * width + lane, BIAS * width + lane
                steps[lane] = 0
                if state[MOVING * width + lane] == 0 or not (members[i] >> np.uint32(lane)) & np.uint32(1):
                    continue
                is_positive = (positives[i] >> np.uint32(lane)) & np.uint32(1)
                y, C = (np.float32(1), costs[0]) if is_positive else (np.float32(-1), costs[1])
                first = alpha[at] if alpha[at] > 0 else np.float32(min(1e-3 * C, 1e-8))
                margin = y * (dots[lane] + bias * state[bias_at]) + alpha[at] * private[i]
                gradient = abs(margin + np.log(first / (C - first)))
                state[HIGHEST * width + lane] = max(state[HIGHEST * width + lane], gradient)
                state[LOWEST * width + lane] = 0
                new = np.float32(first + logistic_step(margin, first, C, norms[i], 0.1 * tolerance))
                new = min(max(new, np.float32(1e-30)), np.float32(C * (1 - 1e-7)))
                steps[lane] = y * (new - alpha[at])
                state[bias_at] += steps[lane] * bias
                alpha[at] = new
            lanes_add(width, W, indices, data, begin, end, steps)

    return logistic_pass


hinge_pass_narrow, hinge_pass_wide = _make_hinge_pass(NARROW), _make_hinge_pass(WIDE)
logistic_pass_wide = _make_logistic_pass(WIDE)
harvest_narrow, harvest_wide = _make_harvest(NARROW), _make_harvest(WIDE)


def _make_solver(width, is_logistic):
    """The solver for blocks of `width` lanes; constants when numba compiles it.

    It may close over plain values only: a kernel among them, numba's cache would not know it again.
    """

    @njit(nogil=True, cache=True)
    def solve(
        rows,
        local_features,
        private,
        private_entries,
        lists,
        positives_of,
        members_of,
        position,
        room,
        bias,
        costs,
        tolerance,
        max_passes,
        threshold,
        seed,
    ):
        """Train one classifier per output (child or label of a node), on the same samples or on some of them each.

        rows, local_features, private, private_entries : see `gather`.
        lists : CSR lists of samples.  position : int32 (n,), where a sample stands among the rows, or −1.
        positives_of, members_of : int64 (n_outputs,), the numbers of the lists with the positives of an output, and
            with all its samples; −1 for all rows.
        room : float32 (WIDE · d,), zeros, on a cache line; zeros again on return.
        costs : C of positives and of negatives.
        Returns ((output, feature, weight) of the weights of at least `threshold`, in no order; the weights of the bias;
        how many samples were visited in how many passes).
        """
        n, n_outputs = private.size, positives_of.size
        W = room[: local_features.size * width].reshape(local_features.size, width)
        norms = squared_norms(rows, private, bias)
        alpha = np.zeros(n * width, np.float32)
        state = np.zeros(N_STATE_ROWS * width, np.float32)
        positives, members = np.zeros(n, np.uint32), np.zeros(n, np.uint32)
        active = np.zeros(n, np.uint32)  # bit b: lane b must see the sample in the next pass
        order = np.empty(n, np.int32)
        random = np.full(1, seed, np.uint64)

        output_of = np.full(width, -1, np.int64)
        passes = np.zeros(width, np.int64)
        stage = np.full(width, FREE, np.int64)
        next_output, n_visits, n_passes = 0, 0, 0
        # Lanes that are done wait for each other, because going through W costs the same for one as for all, and so do
        # lanes that must see the samples left out: until their idling, counted in visits of a sample by one of `width`
        # lanes, has cost as much.
        done_idled, waiting_idled = 0, 0
        harvest_cost = (local_features.size + 2 * n) * n // max(1, rows[0][n])
        biases = np.zeros(n_outputs, np.float32)
        n_room = 64 * n_outputs + 64
        found = (np.empty(n_room, np.int32), np.empty(n_room, np.int32), np.empty(n_room, np.float32))
        n_found = 0

        while True:
            learning = np.uint32(0)
            for lane in range(width):
                if stage[lane] == FREE and next_output < n_outputs:
                    mark(lane, lists, positives_of[next_output], position, positives)
                    mark(lane, lists, members_of[next_output], position, members)
                    mark(lane, lists, members_of[next_output], position, active)
                    output_of[lane], passes[lane], stage[lane] = next_output, 0, LEARNING
                    state[MOVING * width + lane], state[CEILING * width + lane] = 1, np.inf
                    next_output += 1
                if stage[lane] == LEARNING:
                    learning |= np.uint32(1) << np.uint32(lane)
                state[HIGHEST * width + lane], state[LOWEST * width + lane] = -np.inf, np.inf
            if learning == 0:
                break

            n_active, missing = select_active(active, members, learning, order)
            shuffle(order, n_active, random)
            problem = (rows, W, alpha, state, private, norms, positives, members, active, bias, costs, tolerance)
            if is_logistic:
                logistic_pass_wide(order[:n_active], *problem)
            elif width == NARROW:
                hinge_pass_narrow(order[:n_active], *problem)
            else:
                hinge_pass_wide(order[:n_active], *problem)
            n_visits += n_active
            n_passes += 1

            for lane in range(width):
                if stage[lane] != LEARNING and stage[lane] != WAITING:
                    continue
                saw_all = not (missing >> np.uint32(lane)) & np.uint32(1)
                highest, lowest = state[HIGHEST * width + lane], state[LOWEST * width + lane]
                is_converged = highest - lowest <= tolerance
                if stage[lane] == LEARNING or saw_all:
                    passes[lane] += 1
                    stage[lane] = WAITING if is_converged else LEARNING
                if (stage[lane] == WAITING and saw_all) or passes[lane] >= max_passes:
                    stage[lane] = DONE
                state[CEILING * width + lane] = highest if highest > 0 else np.inf
                state[MOVING * width + lane] = 1 if stage[lane] == LEARNING else 0

            done, waiting = np.flatnonzero(stage == DONE), np.flatnonzero(stage == WAITING)
            n_busy = np.sum(stage != FREE)
            if next_output < n_outputs:  # others could have used these lanes
                done_idled += done.size * n_active
                waiting_idled += waiting.size * n_active
            if done.size > 0 and (done.size == n_busy or done_idled >= width * harvest_cost):
                solved = (output_of, W, alpha, positives, local_features, private_entries, threshold, found, n_found)
                if width == NARROW:
                    found, n_found = harvest_narrow(done, *solved)
                else:
                    found, n_found = harvest_wide(done, *solved)
                for lane in done:
                    biases[output_of[lane]] = state[BIAS * width + lane]
                    state[BIAS * width + lane], stage[lane] = 0, FREE
                done_idled = 0
            if waiting.size > 0 and (waiting.size + done.size == n_busy or waiting_idled >= width * (n - n_active)):
                for lane in waiting:
                    stage[lane] = LEARNING
                    state[MOVING * width + lane], state[CEILING * width + lane] = 1, np.inf
                    activate(lane, members, active)
                waiting_idled = 0
        return (found[0][:n_found], found[1][:n_found], found[2][:n_found]), biases, n_visits, n_passes

    return solve


solve_narrow, solve_wide = _make_solver(NARROW, False), _make_solver(WIDE, False)
solve_logistic = _make_solver(WIDE, True)
