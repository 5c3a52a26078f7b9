"""Threads: how many, and how they end."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from numbers import Integral

FEWEST_ROWS = 32  # that are worth a thread of their own


def n_threads(n_jobs: int | None) -> int:
    """`n_jobs` itself, or all cores that this process may use for None and, as scikit-learn has it, for −1."""
    if n_jobs is None or (n_jobs == -1 and not isinstance(n_jobs, bool)):
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs < 1:
        raise ValueError(f"n_jobs must be a positive number of threads, or None for all cores, not {n_jobs!r}")
    return int(n_jobs)


@contextmanager
def cancelling(pool: ThreadPoolExecutor) -> Iterator[ThreadPoolExecutor]:
    """On an error or Ctrl-C the jobs that have not begun are dropped; the pool alone would do all of them first."""
    with pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def in_chunks(do: Callable[[int, int], None], n: int, chunk: int, n_jobs: int | None) -> None:
    """Call do(first, last) for 0 … n − 1 in pieces of at most `chunk`, in threads where there is enough to do."""
    if n > FEWEST_ROWS and (n_jobs := n_threads(n_jobs)) > 1:
        chunk = max(1, min(chunk, max(FEWEST_ROWS, -(-n // n_jobs))))
        with ThreadPoolExecutor(n_jobs) as pool:
            list(pool.map(lambda first: do(first, min(first + chunk, n)), range(0, n, chunk)))
    else:
        for first in range(0, n, chunk):
            do(first, min(first + chunk, n))
