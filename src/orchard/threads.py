"""How many threads to use."""

import os
from numbers import Integral


def n_threads(n_jobs: int | None) -> int:
    """`n_jobs` itself, or all cores for None and, as scikit-learn has it, for −1."""
    if n_jobs is None or (n_jobs == -1 and not isinstance(n_jobs, bool)):
        return os.cpu_count() or 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs < 1:
        raise ValueError(f"n_jobs must be a positive number of threads, or None for all cores, not {n_jobs!r}")
    return int(n_jobs)
