"""What methods cost to train and to ask, measured alone: all cores, warmed up, several times in turn."""

import time
from math import sqrt
from statistics import median, stdev

import scipy.sparse as sp

from orchard.data.store import Dataset
from orchard.methods import train_method

WARM_UP_ROWS = 300


def measure_costs(
    dataset: Dataset, Y: sp.csr_matrix, methods: list[dict], seed: int, threads: int, repetitions: int = 3
) -> list[dict]:
    """Seconds to train and milliseconds to ask, the medians of some repetitions, for every one of `methods`.

    `train_s_error` and `query_ms_error` are the standard errors of their means, None of a single repetition.

    methods : {method, estimator, parameters, overlap}, the overlap None for a plain one.  Training is all of it: trees,
    classifiers, and for overlapping clusters the matches, the choice of clusters and the training over them.
    What drifts on the machine hits all methods alike, since they take turns.
    """
    few = slice(min(WARM_UP_ROWS, dataset.X_train.shape[0]))
    took = {method["method"]: [] for method in methods}
    for method in methods:
        _train(method, dataset.X_train[few], Y[few], seed, threads).predict_topk(dataset.X_test[few])
    for _ in range(repetitions):
        for method in methods:
            started = time.perf_counter()
            model = _train(method, dataset.X_train, Y, seed, threads)
            trained = time.perf_counter()
            model.predict_topk(dataset.X_test)
            took[method["method"]].append((trained - started, time.perf_counter() - trained))
    n = dataset.X_test.shape[0]
    return [
        {
            "method": name,
            **_summary("train_s", [train for train, _ in times]),
            **_summary("query_ms", [1000 * predict / n for _, predict in times]),
            "repetitions": len(times),
        }
        for name, times in took.items()
    ]


def _summary(name: str, times: list[float]) -> dict[str, float | None]:
    error = stdev(times) / sqrt(len(times)) if len(times) > 1 else None
    return {name: median(times), f"{name}_error": error}


def _train(method: dict, X: sp.csr_matrix, Y: sp.csr_matrix, seed: int, threads: int):
    return train_method(method["estimator"], method["parameters"], method["overlap"], X, Y, seed, threads)
