"""A run: fit a method on a variant of a data set, predict the test samples, score; what is true, and what it took."""

import inspect
import logging
import time

import numpy as np
import scipy.sparse as sp

from orchard.data.store import Dataset
from orchard.errors import OrchardError, OversizedModel
from orchard.metrics import expected_depth, propensities, score_report
from orchard.shared_trees import timed_trees
from orchard.surroundings import surroundings
from orchard.timing import compilation

KS = (1, 3, 5)

logger = logging.getLogger("orchard")


def run(
    dataset: Dataset,
    Y_observed: sp.csr_matrix,
    estimator,
    threads: int,
    trees: list | None = None,
    tree_seconds: float | None = None,
    matchers: list | None = None,
) -> tuple[dict | None, dict]:
    """Fit on the observed labels, predict the test samples and score; returns (metrics, cost).

    Of an estimator that gives up (OversizedModel) there are no metrics, None, and the cost until then.

    trees : label trees that were built before, in `tree_seconds`; without them an estimator that has `build_trees`
        builds its own here. Either way their time is in the cost apart from that of `fit`.
    matchers : the inner nodes of these trees, to be kept as they are.
    Propensities come from the data set's own training labels: those that aggregation smeared over a group would count
    labels that nobody has.
    """
    with compilation() as compiled:
        if trees is None and hasattr(estimator, "build_trees"):
            trees, tree_seconds = timed_trees(estimator, dataset.X_train, Y_observed)
        started = time.perf_counter()
        try:
            given = {"trees": trees, "matchers": matchers}
            X_train = _inputs(estimator, dataset.X_train, dataset.texts_train)
            estimator.fit(X_train, Y_observed, **{key: value for key, value in given.items() if value})
            oversized = False
        except OversizedModel as error:
            logger.warning("given up: %s", error)
            oversized = True
        fitted = time.perf_counter()
        found = None if oversized else _predict(estimator, dataset)
        predicted = time.perf_counter()
    seconds = {"fit": fitted - started} | ({} if oversized else {"predict": predicted - fitted})
    has_size = not oversized and hasattr(estimator, "model_bytes_")
    cost = {
        "seconds": seconds | ({} if trees is None else {"tree": tree_seconds}),
        "compile_seconds": compiled["seconds"],
        "ms_per_sample": None if oversized else 1000 * (predicted - fitted) / dataset.X_test.shape[0],
        "model_mb": estimator.model_bytes_ / 2**20 if has_size else None,
        **surroundings(threads),
    }
    metrics = None if oversized else _score(dataset, estimator, *found)  # after the memory was looked at
    return metrics, cost


def score(dataset: Dataset, model) -> dict[str, float]:
    """The metrics of a fitted model on the test samples."""
    return _score(dataset, model, *_predict(model, dataset))


def _score(dataset: Dataset, model, ids: np.ndarray, scores: np.ndarray, depths: np.ndarray | None) -> dict[str, float]:
    rising = np.flatnonzero((scores[:, 1:] > scores[:, :-1]).any(axis=1))
    if rising.size:
        raise OrchardError(f"predict_topk must give the best label first; the scores of sample {rising[0]} rise")
    p = propensities(dataset.Y_train, **dataset.stats["propensity"])
    metrics = score_report(ids, dataset.Y_test, p, ks=KS) | _depth_report(depths)
    return metrics | (model.search_report(dataset.X_test, dataset.Y_test) if hasattr(model, "search_report") else {})


def _inputs(estimator, X: sp.csr_matrix, texts: list[str] | None):
    """What an estimator learns from: the texts, if it `takes_texts` and there are any, or the features."""
    return texts if texts is not None and getattr(estimator, "takes_texts", False) else X


def _predict(estimator, dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Label ids and scores, (n, 5) each, and the depths of their leaves from an estimator that tells them."""
    X = _inputs(estimator, dataset.X_test, dataset.texts_test)
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
