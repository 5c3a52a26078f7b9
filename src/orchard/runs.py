"""A run: fit a method on a variant of a data set, predict the test samples, score; what is true, and what it took."""

import inspect
import logging
import platform
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version

import numpy as np
import scipy.sparse as sp
from numba.core import event

from orchard.data.store import Dataset
from orchard.errors import OrchardError, OversizedModel
from orchard.metrics import expected_depth, propensities, score_report
from orchard.shared_trees import timed_trees

KS = (1, 3, 5)

logger = logging.getLogger("orchard")


def run(
    dataset: Dataset,
    Y_observed: sp.csr_matrix,
    estimator,
    threads: int,
    trees: list | None = None,
    tree_seconds: float | None = None,
) -> tuple[dict | None, dict]:
    """Fit on the observed labels, predict the test samples and score; returns (metrics, cost).

    Of an estimator that gives up (OversizedModel) there are no metrics, None, and the cost until then.

    trees : label trees that were built before, in `tree_seconds`; without them an estimator that has `build_trees`
        builds its own here. Either way their time is in the cost apart from that of `fit`.
    Propensities come from the data set's own training labels: those that aggregation smeared over a group would count
    labels that nobody has.
    """
    with compilation() as compiled:
        if trees is None and hasattr(estimator, "build_trees"):
            trees, tree_seconds = timed_trees(estimator, dataset.X_train, Y_observed)
        started = time.perf_counter()
        try:
            estimator.fit(dataset.X_train, Y_observed, **({} if trees is None else {"trees": trees}))
            oversized = False
        except OversizedModel as error:
            logger.warning("given up: %s", error)
            oversized = True
        fitted = time.perf_counter()
        found = None if oversized else _predict(estimator, dataset.X_test)
        predicted = time.perf_counter()
    metrics = None if oversized else _score(dataset, *found)
    seconds = {"fit": fitted - started} | ({} if oversized else {"predict": predicted - fitted})
    has_size = not oversized and hasattr(estimator, "model_bytes_")
    cost = {
        "seconds": seconds | ({} if trees is None else {"tree": tree_seconds}),
        "compile_seconds": compiled["seconds"],
        "ms_per_sample": None if oversized else 1000 * (predicted - fitted) / dataset.X_test.shape[0],
        "peak_rss_mb": _peak_rss_mb(),
        "model_mb": estimator.model_bytes_ / 2**20 if has_size else None,
        "threads": threads,
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in ("orchard-xmc", "numpy", "scipy", "numba", "scikit-learn")},
        "machine": {"system": platform.system(), "processor": platform.machine()},
    }
    return metrics, cost


def _score(dataset: Dataset, ids: np.ndarray, scores: np.ndarray, depths: np.ndarray | None) -> dict[str, float]:
    rising = np.flatnonzero((scores[:, 1:] > scores[:, :-1]).any(axis=1))
    if rising.size:
        raise OrchardError(f"predict_topk must give the best label first; the scores of sample {rising[0]} rise")
    p = propensities(dataset.Y_train, **dataset.stats["propensity"])
    return score_report(ids, dataset.Y_test, p, ks=KS) | _depth_report(depths)


def timed(function: Callable) -> tuple[Callable, dict[str, float]]:
    """The same function, and a dictionary that has its seconds, compiling among them, once it was called."""
    took = {}

    def measured(*arguments):
        with compilation() as compiled:
            started = time.perf_counter()
            result = function(*arguments)
            took["seconds"] = time.perf_counter() - started
        took["compile_seconds"] = compiled["seconds"]
        return result

    return measured, took


@contextmanager
def compilation() -> Iterator[dict[str, float]]:
    """Yields {"seconds": s}, where s is at the end what numba has spent on compiling: 0 where its cache had it all."""
    timer, spent = event.TimingListener(), {"seconds": 0.0}
    with event.install_listener("numba:compile", timer):
        yield spent
    spent["seconds"] = timer.duration if timer.done else 0.0


def _predict(estimator, X: sp.csr_matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Label ids and scores, (n, 5) each, and the depths of their leaves from an estimator that tells them."""
    tells_depths = "return_depths" in inspect.signature(estimator.predict_topk).parameters
    options = {"return_depths": True} if tells_depths else {}
    ids, scores, *depths = (np.asarray(array) for array in estimator.predict_topk(X, k=max(KS), **options))
    return ids, scores, depths[0] if depths else None


def _depth_report(depths: np.ndarray | None) -> dict[str, float]:
    """'depth@k' (see `expected_depth`), if the estimator tells depths (NaN for none) and found everybody a label."""
    if depths is None:
        return {}
    depths = np.where(np.isnan(depths), -1, depths)
    if lost := int((depths[:, 0] < 0).sum()):
        logger.warning("no expected depth: nothing was found for %d of the samples", lost)
        return {}
    return {f"depth@{k}": expected_depth(depths, k) for k in KS}


def _peak_rss_mb() -> float:
    # Linux counts in kilobytes, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
