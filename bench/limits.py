"""How far from the machine's limit: a plain copy and a plain dot product on one core, then the engine's hot kernels.

The copy is the limit for what streams through memory, the dot product (of vectors that fit the first cache) for what
computes. A sparse kernel gathers, so the line between them, a dot product through an index, is the limit that a
kernel over CSR rows can hope for.
"""

import time

import numba
import numpy as np

from bench import records
from orchard.files import write_json

_SECONDS = 0.5  # of measuring, per kernel
_STREAM = 1 << 26  # float32: 256 MB, beyond every cache
_CACHED = 1 << 11  # float32: 8 KB, two of them fit every first cache
_TABLE = 1 << 12  # float32: 16 KB, the dense side of a gather


@numba.njit(fastmath=True)
def _repeated_dot(a, b, times):
    """Dot products one after the other; the changing weight keeps the compiler from doing it once."""
    total = np.float32(0)
    for turn in range(times):
        dot = np.float32(0)
        for i in range(a.size):
            dot += a[i] * b[i]
        total += dot * np.float32(turn)
        a[turn % a.size] += np.float32(1e-9)
    return total


@numba.njit(fastmath=True)
def _repeated_gather(values, indices, table, times):
    """A sparse row times a dense vector, as in w·x with x in CSR."""
    total = np.float32(0)
    for turn in range(times):
        dot = np.float32(0)
        for i in range(values.size):
            dot += values[i] * table[indices[i]]
        total += dot * np.float32(turn)
        table[turn % table.size] += np.float32(1e-9)
    return total


def measure() -> None:
    """Write results/bench/limits.json."""
    print("limits: copy and dot product", flush=True)
    copy, dot, gather = copy_bandwidth(), dot_rate(), gather_rate()
    lines = [
        _line("plain copy, 256 MB", copy, 0, "limit: bytes read and written"),
        _line("plain dot product, in cache", 8 * dot, dot, "limit: multiply-adds"),
        _line("dot product through an index, in cache", 12 * gather, gather, "limit of a sparse row"),
    ]
    for name, prepare in _hot_kernels().items():
        print(f"limits: {name}", flush=True)
        try:
            lines.append(_measure_kernel(name, prepare(), copy, dot, gather))
        except Exception as error:  # one kernel whose arguments have changed must not cost the other lines
            lines.append(_line(name, 0, 0, f"failed: {type(error).__name__}: {error}"))
    write_json(records.FOLDER / "limits.json", {"lines": lines})


def _hot_kernels():
    try:
        from bench.kernels import HOT_KERNELS
    except ImportError as error:  # the engine has changed its names; the limits themselves can still be measured
        reason = error

        def fail():
            raise reason

        return {"the engine's kernels": fail}
    return HOT_KERNELS


def copy_bandwidth() -> float:
    """Bytes per second, read and written, of a copy that no cache holds."""
    source, target = np.ones(_STREAM, np.float32), np.zeros(_STREAM, np.float32)
    return 2 * source.nbytes / best_seconds(lambda: np.copyto(target, source))


def dot_rate() -> float:
    """Multiply-adds per second of a dot product of two vectors in the first cache."""
    a, b, times = np.ones(_CACHED, np.float32), np.ones(_CACHED, np.float32), 1000
    return times * a.size / best_seconds(lambda: _repeated_dot(a, b, times))


def gather_rate() -> float:
    """Multiply-adds per second of a sparse row with a dense vector in the first cache."""
    random, times = np.random.default_rng(0), 1000
    indices = np.sort(random.choice(_TABLE, _CACHED // 4, replace=False)).astype(np.int32)
    values, table = np.ones(indices.size, np.float32), np.ones(_TABLE, np.float32)
    return times * indices.size / best_seconds(lambda: _repeated_gather(values, indices, table, times))


def best_seconds(call) -> float:
    """The shortest of many calls: what the machine can do when nothing disturbs it. The first one compiles."""
    call()
    best, started = float("inf"), time.perf_counter()
    while time.perf_counter() - started < _SECONDS:
        before = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - before)
    return best


def _measure_kernel(name, kernel, copy, dot, gather):
    seconds = best_seconds(kernel.run)
    bytes_per_second, rate = kernel.bytes_moved / seconds, kernel.multiply_adds / seconds
    note = f"working set {kernel.working_set / 1e3:.0f} KB, {1e3 * seconds:.1f} ms a call"
    shares = {"of_copy": bytes_per_second / copy, "of_dot": rate / dot, "of_gather": rate / gather}
    return _line(name, bytes_per_second, rate, note) | shares


def _line(name, bytes_per_second, multiply_adds, note):
    return {"name": name, "gb_per_s": bytes_per_second / 1e9, "gmadd_per_s": multiply_adds / 1e9, "note": note}
