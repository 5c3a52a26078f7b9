"""How long one query waits for its answer, beside what it costs among many: one thread, searches in turns."""

import time
from contextlib import contextmanager
from functools import partial

import numpy as np
import scipy.sparse as sp

from orchard.linear.search_report import n_scored
from orchard.metrics import expected_depth, precision_at_k

REPETITIONS = 3
WARM_UP_ROWS = 20
# Searches of one and the same model, by what they change of it. Hinges without ties are for those whose answer must not
# depend on the order in which equals are met.
BASE = "beam-10"
SEARCHES = {
    BASE: {"query_beam": 10, "strategy": "beam"},
    "beam-5": {"query_beam": 5, "strategy": "beam"},
    "adaptive": {"query_beam": 10, "strategy": "adaptive", "combiner": "l2-hinge-untied"},
    "best-first": {"strategy": "best-first", "combiner": "l2-hinge-untied"},
    "budget-20": {"strategy": "best-first", "combiner": "l2-hinge-untied", "budget": 20},
}


def compare_searches(model, X: sp.csr_matrix, Y: sp.csr_matrix, ks, n_queries: int, seed: int) -> dict[str, dict]:
    """{search: metrics} of a fitted tree estimator over one tree, for samples X (n, d) with labels Y (n, n_labels).

    For every k 'P@k', 'depth@k', and what `measure_latency` tells as 'µs@k', 'p99@k', 'batch@k' (all in µs)
    and 'scored@k'; also 'of beam@k' and 'batch of beam@k', the shares of what a beam of 10 takes.
    """
    before = model.get_params()
    found = {name: {} for name in SEARCHES}
    try:
        for k in ks:
            asked = {name: partial(model.set_params, **(before | how)) for name, how in SEARCHES.items()}
            told = _in_turns(asked, X, k, n_queries, seed)
            for name, ask in asked.items():
                ids, _, depths = ask().predict_topk(X, k, return_depths=True)
                found[name] |= {
                    f"P@{k}": 100 * precision_at_k(ids, Y, k),
                    f"depth@{k}": expected_depth(np.where(np.isnan(depths), -1, depths), k),
                    f"µs@{k}": 1000 * told[name]["median_ms"],
                    f"p99@{k}": 1000 * told[name]["p99_ms"],
                    f"batch@{k}": 1000 * told[name]["batch_ms_per_sample"],
                    f"scored@{k}": told[name]["scored"],
                    f"of beam@{k}": told[name]["median_ms"] / told[BASE]["median_ms"],
                    f"batch of beam@{k}": told[name]["batch_ms_per_sample"] / told[BASE]["batch_ms_per_sample"],
                }
    finally:
        model.set_params(**before)
    return found


def measure_latency(model, X: sp.csr_matrix, k: int, n_queries: int, seed: int) -> dict[str, float]:
    """What a fitted tree estimator takes for k labels of the samples X (n, d).

    'median_ms', 'p99_ms' : of `n_queries` samples drawn with `seed`, asked one by one. Each is measured REPETITIONS
        times, some time apart, and its median counts: what disturbs the machine now and then is no slow query.
    'batch_ms_per_sample' : all of X at once, the median of REPETITIONS.
    'scored' : classifiers that a query asks, of nodes and labels, the mean over X (see `n_scored`).
    """
    return _in_turns({"": lambda: model}, X, k, n_queries, seed)[""]


def _in_turns(models: dict, X: sp.csr_matrix, k: int, n_queries: int, seed: int) -> dict[str, dict[str, float]]:
    """`measure_latency` of several models that take turns; models : {name: a function that returns it, ready}."""
    rows = np.random.default_rng(seed).permutation(X.shape[0])[:n_queries]
    alone, together = ({name: [] for name in models} for _ in range(2))
    for _ in range(REPETITIONS):
        for name, make in models.items():
            with _one_thread(make()) as model:
                for row in rows[:WARM_UP_ROWS]:
                    model.predict_topk(X[row], k)
                # A row is cut out anew each time: scipy remembers what was found out about a matrix, a server cannot.
                alone[name].append([_seconds(model, X[row], k) for row in rows])
                together[name].append(_seconds(model, X, k))
    told = {}
    for name, make in models.items():
        of_queries = np.median(alone[name], axis=0)
        with _one_thread(make()) as model:
            scored = sum(sum(n_scored(one, X, model._query_search(), 1, k)).mean() for one in model.models_)
        told[name] = {
            "median_ms": 1000 * float(np.median(of_queries)),
            "p99_ms": 1000 * float(np.quantile(of_queries, 0.99)),
            "batch_ms_per_sample": 1000 * float(np.median(together[name])) / X.shape[0],
            "scored": float(scored),
        }
    return told


@contextmanager
def _one_thread(model):
    threads = model.n_jobs
    try:
        yield model.set_params(n_jobs=1)
    finally:
        model.set_params(n_jobs=threads)


def _seconds(model, X: sp.csr_matrix, k: int) -> float:
    started = time.perf_counter()
    model.predict_topk(X, k)
    return time.perf_counter() - started
