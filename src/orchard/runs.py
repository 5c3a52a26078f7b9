"""A run: fit a method on a variant of a data set, predict the test samples, score; what is true, and what it took."""

import inspect
import platform
import resource
import sys
import time
from importlib import import_module
from importlib.metadata import version

from orchard.data.store import Dataset
from orchard.errors import ConfigError
from orchard.metrics import propensities, score_report

KS = (1, 3, 5)


def parameters_for(method: dict, dataset: str) -> dict:
    """Hyper-parameters belong to (method, data set): the method's own, overridden by those for this data set."""
    return method.get("parameters", {}) | method.get("per_dataset", {}).get(dataset, {})


def make_estimator(method: dict, parameters: dict, seed: int):
    """Construct the estimator; one that takes a `random_state` gets the run's seed."""
    module, _, class_name = method["estimator"].rpartition(".")
    try:
        estimator = getattr(import_module(module), class_name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"the method's estimator {method['estimator']!r} cannot be imported: {error}") from None
    accepted = inspect.signature(estimator).parameters
    unknown = [name for name in parameters if name not in accepted]
    if unknown:
        raise ConfigError(
            f"{method['estimator']} has no parameter {', '.join(unknown)} (it has: {', '.join(accepted)})"
        )
    seeded = {"random_state": seed} if "random_state" in accepted else {}
    return estimator(**parameters, **seeded)


def run(dataset: Dataset, estimator, threads: int) -> tuple[dict, dict]:
    """Fit, predict and score; returns (metrics, cost) as score.json and cost.json hold them."""
    started = time.perf_counter()
    estimator.fit(dataset.X_train, dataset.Y_train)
    fitted = time.perf_counter()
    ids, _ = estimator.predict_topk(dataset.X_test, k=max(KS))
    predicted = time.perf_counter()
    p = propensities(dataset.Y_train, **dataset.stats["propensity"])
    metrics = score_report(ids, dataset.Y_test, p, ks=KS)
    cost = {
        "seconds": {"fit": fitted - started, "predict": predicted - fitted},
        "ms_per_sample": 1000 * (predicted - fitted) / dataset.X_test.shape[0],
        "peak_rss_mb": _peak_rss_mb(),
        "model_mb": estimator.model_bytes_ / 2**20,
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
