"""Threads: how many, and how they end."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from numbers import Integral


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
