"""How long one query waits for its answer, beside what it costs among many: one thread, warmed up."""

import time

import numpy as np
import scipy.sparse as sp

from orchard.linear.search_report import n_scored

REPETITIONS = 3
WARM_UP_ROWS = 20


def measure_latency(model, X: sp.csr_matrix, k: int, n_queries: int, seed: int) -> dict[str, float]:
    """What a fitted tree estimator takes for k labels of the samples X (n, d).

    'median_ms', 'p99_ms' : of `n_queries` samples drawn with `seed`, asked one by one. Each is measured REPETITIONS
        times, some time apart, and its median counts: what disturbs the machine now and then is no slow query.
    'batch_ms_per_sample' : all of X at once, the median of REPETITIONS.
    'scored' : classifiers that a query asks, of nodes and labels, the mean over X (see `n_scored`).
    """
    threads = model.n_jobs
    try:
        return _measured(model.set_params(n_jobs=1), X, k, n_queries, seed)
    finally:
        model.set_params(n_jobs=threads)


def _measured(model, X: sp.csr_matrix, k: int, n_queries: int, seed: int) -> dict[str, float]:
    rows = np.random.default_rng(seed).permutation(X.shape[0])[:n_queries]
    for row in rows[:WARM_UP_ROWS]:
        model.predict_topk(X[row], k)
    model.predict_topk(X[:WARM_UP_ROWS], k)
    # A row is cut out anew each time: scipy remembers what was once found out about a matrix, and a server cannot.
    alone = [[_seconds(model, X[row], k) for row in rows] for _ in range(REPETITIONS)]
    of_queries = np.median(alone, axis=0)
    together = np.median([_seconds(model, X, k) for _ in range(REPETITIONS)])
    scored = sum(sum(n_scored(one, X, model._query_search(), 1, k)).mean() for one in model.models_)
    return {
        "median_ms": 1000 * float(np.median(of_queries)),
        "p99_ms": 1000 * float(np.quantile(of_queries, 0.99)),
        "batch_ms_per_sample": 1000 * float(together) / X.shape[0],
        "scored": float(scored),
    }


def _seconds(model, X: sp.csr_matrix, k: int) -> float:
    started = time.perf_counter()
    model.predict_topk(X, k)
    return time.perf_counter() - started
