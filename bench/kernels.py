"""The engine's hot kernels, as `bench/limits.py` measures them: the place to plug one in.

A kernel is one entry of HOT_KERNELS: a name and a function that takes nothing, prepares the kernel's arguments (from
EurLex-4K, say) and returns a `HotKernel`:

    run           calls the kernel once, on one thread; what it must not measure has been done before
    bytes_moved   what one call has to read and write at least, in bytes: every array once for each time the algorithm
                  passes over it (an epoch of dual coordinate descent reads the node's rows of X once and reads and
                  writes the lanes of W that they touch)
    multiply_adds how many it does in one call: 2 · nnz · lanes for such an epoch (the product and the update)
    working_set   bytes that it comes back to; below the caches' size the copy is no limit, and the table says so

For example:

    def dual_epoch() -> HotKernel:
        X, W, alpha, ... = ...
        return HotKernel(lambda: _kernels.epoch(X, W, alpha, ...), bytes_moved=..., multiply_adds=..., working_set=...)

    HOT_KERNELS["dual coordinate descent, one epoch, 16 lanes"] = dual_epoch
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class HotKernel:
    run: Callable[[], object]
    bytes_moved: float
    multiply_adds: float
    working_set: float


# Wanted: an epoch of dual coordinate descent, batch search, 2-means, PIFA.
HOT_KERNELS: dict[str, Callable[[], HotKernel]] = {}
