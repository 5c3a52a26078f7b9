"""A run of a network that learns from groups: fit, predict the single test samples, score; what it took."""

import time
from pathlib import Path
from statistics import median

from orchard.data.store import Dataset
from orchard.held_out import GroupsToLearnFrom
from orchard.metrics import precision_at_k
from orchard.surroundings import surroundings
from orchard.timing import compilation


def run_on_groups(
    dataset: Dataset, groups: GroupsToLearnFrom, estimator, checkpoint: Path | None = None
) -> tuple[dict, dict]:
    """Returns (metrics, cost). Accuracy is the share of test samples whose first label is one of theirs, in per cent.

    checkpoint : a file from which a training that was killed goes on.
    """
    with compilation() as compiled:
        estimator.fit(groups.X, groups.Y1, groups.Y2, groups.X_valid, groups.Y_valid, checkpoint=checkpoint)
    fitted = time.perf_counter()
    ids, _ = estimator.predict_topk(dataset.X_test, k=1)
    predicted = time.perf_counter()
    course = estimator.course_
    metrics = {
        "accuracy": 100 * precision_at_k(ids, dataset.Y_test, 1),
        "validation accuracy": course.validation[estimator.epoch_ - 1],
    }
    cost = {
        # Epochs before a kill count, which is why the clock is not asked how long `fit` took.
        "seconds": {"fit": sum(course.seconds), "predict": predicted - fitted, "epoch": median(course.seconds)},
        "epochs": course.epochs,
        "compile_seconds": compiled["seconds"],
        "ms_per_sample": 1000 * (predicted - fitted) / dataset.X_test.shape[0],
        "model_mb": estimator.model_bytes_ / 2**20,
        "device": estimator.device_,
        **surroundings(1),
    }
    return metrics, cost
