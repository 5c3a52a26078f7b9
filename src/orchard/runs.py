"""A run: fit a method on a variant of a data set, predict the test samples, score; what is true, and what it took."""

import inspect
import platform
import resource
import sys
import time
from importlib import import_module
from importlib.metadata import version

import numpy as np
import scipy.sparse as sp

from orchard.data.store import Dataset
from orchard.errors import ConfigError, OrchardError
from orchard.metrics import propensities, score_report

KS = (1, 3, 5)


def make_estimator(method: dict, dataset: str, seed: int, threads: int):
    """Construct a method's estimator for a data set; returns it with all of its parameters, defaults included.

    Hyper-parameters belong to (method, data set): the method's own, overridden by those for this data set. An estimator
    that takes a `random_state` gets the seed; one that takes `n_jobs` gets the threads, which are no parameter, since
    results must not depend on them.
    """
    module, _, class_name = method["estimator"].rpartition(".")
    try:
        estimator = getattr(import_module(module), class_name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"the method's estimator {method['estimator']!r} cannot be imported: {error}") from None
    accepted = inspect.signature(estimator).parameters
    given = method.get("parameters", {}) | method.get("per_dataset", {}).get(dataset, {})
    unknown = [name for name in given if name not in accepted]
    if unknown:
        raise ConfigError(
            f"{method['estimator']} has no parameter {', '.join(unknown)} (it has: {', '.join(accepted)})"
        )
    defaults = {name: p.default for name, p in accepted.items() if name != "n_jobs" and p.default is not p.empty}
    parameters = defaults | given | ({"random_state": seed} if "random_state" in accepted else {})
    return estimator(**parameters, **({"n_jobs": threads} if "n_jobs" in accepted else {})), parameters


def run(dataset: Dataset, Y_observed: sp.csr_matrix, estimator, threads: int) -> tuple[dict, dict]:
    """Fit on the observed labels, predict the test samples and score; returns (metrics, cost).

    Propensities come from the data set's own training labels: those that aggregation smeared over a group would count
    labels that nobody has.
    """
    started = time.perf_counter()
    estimator.fit(dataset.X_train, Y_observed)
    fitted = time.perf_counter()
    ids, scores = estimator.predict_topk(dataset.X_test, k=max(KS))
    predicted = time.perf_counter()
    rising = np.flatnonzero((scores[:, 1:] > scores[:, :-1]).any(axis=1))
    if rising.size:
        raise OrchardError(f"predict_topk must give the best label first; the scores of sample {rising[0]} rise")
    p = propensities(dataset.Y_train, **dataset.stats["propensity"])
    metrics = score_report(ids, dataset.Y_test, p, ks=KS)
    cost = {
        "seconds": {"fit": fitted - started, "predict": predicted - fitted},
        "ms_per_sample": 1000 * (predicted - fitted) / dataset.X_test.shape[0],
        "peak_rss_mb": _peak_rss_mb(),
        "model_mb": estimator.model_bytes_ / 2**20 if hasattr(estimator, "model_bytes_") else None,
        "threads": threads,
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in ("orchard-xmc", "numpy", "scipy", "numba", "scikit-learn")},
        "machine": {"system": platform.system(), "processor": platform.machine()},
    }
    return metrics, cost


def _peak_rss_mb() -> float:
    # Linux counts in kilobytes, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
