"""The intrinsics of the solver and of the search, for every number of lanes, against numpy."""

import numpy as np
import pytest
from numba import njit

from orchard.linear import _lanes
from orchard.linear._lanes import (
    fma,
    lanes_above,
    lanes_add,
    lanes_clear,
    lanes_dot,
    lanes_dot_in_order,
    lanes_hinge_step,
)
from orchard.linear._solver_kernels import on_cache_lines

WIDTHS = (4, 16, 32)
LENGTHS = (0, 1, 2, 3, 7, 8, 33)


def kernels_of(width):
    """Not cached on disk: numba would not notice that the intrinsics have changed."""

    @njit
    def dot(W, indices, values, begin, end, lanes):
        lanes_dot(width, W, indices, values, begin, end, lanes)

    @njit
    def dot_in_order(W, indices, values, begin, end, lanes):
        lanes_dot_in_order(width, W, indices, values, begin, end, lanes)

    @njit
    def add(W, indices, values, begin, end, lanes):
        lanes_add(width, W, indices, values, begin, end, lanes)

    @njit
    def hinge_step(state, alpha, at, positives, members, bias, diagonals, inverses):
        return lanes_hinge_step(width, state, alpha, at, positives, members, bias, diagonals, inverses)

    @njit
    def above(W, row, threshold):
        return lanes_above(width, W, row, threshold)

    @njit
    def clear(W, row, lanes):
        lanes_clear(width, W, row, lanes)

    kernels = dot, dot_in_order, add, hinge_step, above, clear
    return {kernel.__name__: kernel for kernel in kernels}


KERNELS = {width: kernels_of(width) for width in WIDTHS}


def a_row(width, length, seed=0, n=11):
    """W, and a row of `length` entries between others; features repeat."""
    rng = np.random.default_rng([seed, width, length])
    W = rng.normal(size=(n, width)).astype(np.float32)
    indices = rng.integers(n, size=length + 5).astype(np.int32)
    values = rng.normal(size=length + 5).astype(np.float32)
    return W, indices, values, 2, 2 + length


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kernel", ["dot", "dot_in_order"])
def test_a_dot_product_in_every_lane(kernel, width, length):
    """Empty, odd and even rows, repeated features; old lanes are overwritten, entries outside unread."""
    W, indices, values, begin, end = a_row(width, length)
    lanes = np.full(width, np.nan, np.float32)
    KERNELS[width][kernel](W, indices, values, begin, end, lanes)
    expected = values[begin:end].astype(np.float64) @ W[indices[begin:end]].astype(np.float64)
    np.testing.assert_allclose(lanes, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel", ["dot", "dot_in_order", "add"])
def test_a_lane_does_not_feel_how_many_there_are(kernel):
    """The first lanes of 32 are those of 16 and of 4 to the bit: results do not depend on the width that was chosen."""
    W, indices, values, begin, end = a_row(32, 33)
    results = []
    for width in WIDTHS:
        own = np.ascontiguousarray(W[:, :width])
        lanes = np.linspace(-1, 1, 32, dtype=np.float32)[:width].copy()
        KERNELS[width][kernel](own, indices, values, begin, end, lanes)
        results.append((own if kernel == "add" else lanes)[..., :4])
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


@pytest.mark.parametrize("width", WIDTHS)
def test_entries_without_weight_do_not_change_a_sum_in_order(width):
    """One query alone leaves out rows without weights, a batch multiplies with zeros: the sums are equal to the bit."""
    W, indices, values, begin, end = a_row(width, 33)
    W[::2] = 0
    all_entries, some = np.empty(width, np.float32), np.empty(width, np.float32)
    KERNELS[width]["dot_in_order"](W, indices, values, begin, end, all_entries)
    kept = indices[begin:end] % 2 == 1
    own_indices, own_values = indices[begin:end][kept], values[begin:end][kept]
    KERNELS[width]["dot_in_order"](W, own_indices, own_values, 0, own_indices.size, some)
    np.testing.assert_array_equal(all_entries, some)
    alone = np.float32(0)
    for feature, value in zip(own_indices, own_values, strict=True):
        alone = np.float32(one_fma(value, W[feature, 1], alone))
    assert alone == all_entries[1]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_step_is_added_to_every_feature_of_the_row(width, length):
    """A feature that stands twice in a row moves twice; all others stay as they were, to the bit."""
    W, indices, values, begin, end = a_row(width, length)
    step = np.random.default_rng(1).normal(size=width).astype(np.float32)
    expected = W.astype(np.float64)
    np.add.at(expected, indices[begin:end], values[begin:end, None].astype(np.float64) * step)
    untouched = np.setdiff1d(np.arange(W.shape[0]), indices[begin:end])
    before = W.copy()
    KERNELS[width]["add"](W, indices, values, begin, end, step)
    np.testing.assert_allclose(W, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(W[untouched], before[untouched])


@njit
def one_fma(a, b, c):
    return fma(a, b, c)


def test_a_fused_multiply_add_rounds_once():
    """(1 + 2⁻¹²)² − (1 + 2⁻¹¹) is 2⁻²⁴; rounding the square first would leave nothing."""
    a, c = np.float32(1 + 2**-12), np.float32(-(1 + 2**-11))
    assert a * a + c == 0
    assert one_fma(a, a, c) == np.float32(2**-24)


@pytest.mark.parametrize("width", WIDTHS)
def test_weights_that_reach_the_threshold_are_told(width):
    """Either sign, the threshold itself included; a weight of 0 never, not even where all others are kept."""
    W = np.random.default_rng(width).normal(size=(3, width)).astype(np.float32)
    W[1, 0], W[1, 1], W[1, 2], W[1, 3] = 0.5, -0.5, 0.0, np.nextafter(np.float32(0.5), np.float32(0))
    for threshold in (0.5, 0.0):
        expected = (np.abs(W[1]) >= threshold) & (W[1] != 0)
        found = int(KERNELS[width]["above"](W, 1, np.float32(threshold)))
        assert [found >> lane & 1 == 1 for lane in range(width)] == expected.tolist() and found >> width == 0


@pytest.mark.parametrize("width", WIDTHS)
def test_some_lanes_of_a_row_are_cleared(width):
    """Those whose bits are set, and nothing else."""
    rng = np.random.default_rng(width)
    W = rng.normal(size=(3, width)).astype(np.float32)
    lanes = rng.integers(0, 2**width, dtype=np.uint64).astype(np.uint32)
    expected = W.copy()
    expected[1, (int(lanes) >> np.arange(width)) & 1 == 1] = 0
    KERNELS[width]["clear"](W, 1, lanes)
    np.testing.assert_array_equal(W, expected)


def rows_of(state, width):
    names = ("DOT", "STEP", "BIAS", "HIGHEST", "LOWEST", "CEILING", "MOVING")
    return {name: state.reshape(-1, width)[getattr(_lanes, name)] for name in names}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("width", WIDTHS)
def test_one_coordinate_step_is_that_of_the_paper(width, seed):
    """Hsieh et al., Alg. 1 and 3: gradient, its projection, the new α, and who can be left out of the next pass."""
    rng = np.random.default_rng([seed, width])
    state = rng.normal(size=_lanes.N_STATE_ROWS * width).astype(np.float32)
    row = rows_of(state, width)
    row["CEILING"][:] = np.where(rng.random(width) < 0.3, np.inf, rng.random(width))
    row["MOVING"][:] = rng.random(width) < 0.7
    alpha = np.maximum(0, rng.normal(size=3 * width)).astype(np.float32)
    positives = rng.integers(0, 2**width, dtype=np.uint64).astype(np.uint32)
    members = rng.integers(0, 2**width, dtype=np.uint64).astype(np.uint32)
    bias = np.float32(rng.integers(2))
    diagonals = np.float32(0.5), np.float32(0.25)
    inverses = np.float32(1 / 2.5), np.float32(1 / 2.25)

    is_positive, is_member = ((int(word) >> np.arange(width)) & 1 == 1 for word in (positives, members))
    y = np.where(is_positive, 1.0, -1.0)
    old = {name: values.astype(np.float64) for name, values in row.items()}
    a = alpha[width : 2 * width].astype(np.float64)
    gradient = y * (old["DOT"] + bias * old["BIAS"]) - 1 + a * np.where(is_positive, *diagonals)
    projected = np.where((a == 0) & (gradient > 0), 0, gradient)
    new = np.maximum(0, a - gradient * np.where(is_positive, *inverses))
    delta = np.where(is_member, (new - a) * old["MOVING"], 0)
    others = alpha[:width].copy(), alpha[2 * width :].copy()

    flags = int(KERNELS[width]["hinge_step"](state, alpha, width, positives, members, bias, diagonals, inverses))
    close = {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(alpha[width : 2 * width], a + delta, **close)
    np.testing.assert_allclose(row["STEP"], y * delta, **close)
    np.testing.assert_allclose(row["BIAS"], old["BIAS"] + bias * y * delta, **close)
    for name, widened in (("HIGHEST", np.maximum), ("LOWEST", np.minimum)):
        expected = np.where(is_member, widened(old[name], projected), old[name])
        np.testing.assert_allclose(row[name], expected, **close)
    for name in ("DOT", "CEILING", "MOVING"):
        np.testing.assert_array_equal(row[name], old[name].astype(np.float32))
    np.testing.assert_array_equal(alpha[:width], others[0])
    np.testing.assert_array_equal(alpha[2 * width :], others[1])
    must_see, moved = ([flags >> (first + lane) & 1 == 1 for lane in range(width)] for first in (0, 32))
    np.testing.assert_array_equal(must_see, is_member & ((a > 0) | (gradient <= old["CEILING"])))
    np.testing.assert_array_equal(moved, delta != 0)
    assert flags >> (32 + width) == 0


@pytest.mark.parametrize("n_floats", [0, 1, 15, 16, 1000])
def test_room_for_the_weights_begins_on_a_cache_line(n_floats):
    """Rows of 16 floats would otherwise lie on two lines each; the room is zeros and all of it can be used."""
    kept = [on_cache_lines(n_floats) for _ in range(5)]
    for room in kept:
        assert room.ctypes.data % 64 == 0
        assert (room.size, room.dtype) == (n_floats, np.float32) and not room.any()
