"""numba's `njit`, with a cache on disk that several processes may fill at the same time.

numba numbers what it compiles of a function for different types .1, .2, … by what the function's index names so far.
Two processes that compile it for two types at the same time take the same number; whose index is written last names
the machine code of the other, and from then on every process that loads it crashes, or computes nonsense. Here every
file has a name that no other one can have. What is left of the race is an index without one of the two: that one is
compiled again, and its file stays behind until the sources change.

The names of numba's attributes below are private: tests/test_kernel_cache.py fails if another version renames them.
"""

from collections.abc import Callable
from uuid import uuid4

import numba


def njit(*, cache: bool = False, **options) -> Callable[[Callable], Callable]:
    """Like numba's, to be called with options: `@njit(nogil=True, cache=True)`."""

    def compiled(function: Callable) -> Callable:
        dispatcher = numba.njit(cache=cache, **options)(function)
        if cache and not numba.config.DISABLE_JIT:
            files = dispatcher._cache._cache_file
            files._data_name = lambda number: files._data_name_pattern.format(number=uuid4().int >> 64)
        return dispatcher

    return compiled
