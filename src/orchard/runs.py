"""A run: fit a method on a variant of a data set, predict the test samples, score; what is true, and what it took."""

import inspect
import json
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


def make_estimator(estimator: str, parameters: dict, seed: int, threads: int):
    """Construct the named estimator; returns it with all of its parameters, defaults included.

    An estimator that takes a `random_state` gets the seed; one that takes `n_jobs` gets the threads, which are no
    parameter, since results must not depend on them.
    """
    module, _, class_name = estimator.rpartition(".")
    try:
        make = getattr(import_module(module), class_name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"the method's estimator {estimator!r} cannot be imported: {error}") from None
    accepted = inspect.signature(make).parameters
    if unknown := [name for name in parameters if name not in accepted]:
        known = ", ".join(accepted) or "none"
        raise ConfigError(f"{estimator} has no parameter {', '.join(unknown)} (its parameters: {known})")
    if reserved := [name for name in ("random_state", "n_jobs") if name in parameters]:
        raise ConfigError(f"{estimator}: {', '.join(reserved)} comes from the run (its seed, its threads)")
    defaults = {name: p.default for name, p in accepted.items() if name != "n_jobs" and p.default is not p.empty}
    resolved = defaults | parameters | ({"random_state": seed} if "random_state" in accepted else {})
    try:
        json.dumps(resolved)  # they go into score.json: better to know before hours of training
    except TypeError as error:
        raise ConfigError(f"{estimator}: a parameter cannot be written down: {error}") from None
    return make(**resolved, **({"n_jobs": threads} if "n_jobs" in accepted else {})), resolved


def run(dataset: Dataset, Y_observed: sp.csr_matrix, estimator, threads: int) -> tuple[dict, dict]:
    """Fit on the observed labels, predict the test samples and score; returns (metrics, cost).

    Propensities come from the data set's own training labels: those that aggregation smeared over a group would count
    labels that nobody has.
    """
    started = time.perf_counter()
    estimator.fit(dataset.X_train, Y_observed)
    fitted = time.perf_counter()
    ids, scores = (np.asarray(array) for array in estimator.predict_topk(dataset.X_test, k=max(KS)))
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
