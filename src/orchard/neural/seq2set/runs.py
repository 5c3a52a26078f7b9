"""A run of a network that writes labels: fit, write the labels of the test texts, score the sets; what it took."""

import time
from pathlib import Path
from statistics import median

from orchard.data.store import Dataset
from orchard.data.word_vectors import WordVectors
from orchard.errors import OrchardError
from orchard.metrics import example_f1, macro_f1, micro_precision_recall_f1, weighted_f1
from orchard.surroundings import surroundings
from orchard.timing import compilation


def run_on_texts(
    dataset: Dataset, estimator, word_vectors: WordVectors | None, checkpoint: Path | None = None
) -> tuple[dict, dict]:
    """Returns (metrics, cost).

    Metrics are in per cent, by the names of the paper's tables; `duplicates` is the share of written labels that were
    repetitions, `labels` the mean number of labels in a set. Test texts are shown to `fit` only where the estimator has
    vocabulary='all', which takes words and labels from them, as the authors do. The checkpoint stays, until the caller
    has written down what is returned.
    """
    if dataset.texts_train is None or dataset.texts_test is None:
        raise OrchardError(f"{dataset.stats.get('name', 'the data set')} has no texts: these networks read words")
    also_seen = (dataset.texts_test, dataset.Y_test) if estimator.vocabulary == "all" else None
    with compilation() as compiled:
        estimator.fit(
            dataset.texts_train, dataset.Y_train, dataset.label_names, word_vectors, also_seen, checkpoint, True
        )
    fitted = time.perf_counter()
    predicted, repeated = estimator.predict_sets(dataset.texts_test)
    seconds = time.perf_counter() - fitted
    precision, recall, f1 = micro_precision_recall_f1(predicted, dataset.Y_test)
    shares = {
        "P": precision,
        "R": recall,
        "F1": f1,
        "maF1": macro_f1(predicted, dataset.Y_test),
        "weF1": weighted_f1(predicted, dataset.Y_test),
        "ebF1": example_f1(predicted, dataset.Y_test),
        "duplicates": repeated.sum() / max(1, predicted.nnz + repeated.sum()),
    }
    metrics = {name: 100 * float(share) for name, share in shares.items()}
    metrics["labels"] = predicted.nnz / predicted.shape[0]
    if estimator.validation_f1_ is not None:
        metrics["validation F1"] = estimator.validation_f1_
    course = estimator.course_
    cost = {
        # Epochs before a kill count, which is why the clock is not asked how long `fit` took.
        "seconds": {"fit": sum(course.seconds), "predict": seconds, "epoch": median(course.seconds)},
        "epochs": course.epochs,
        "compile_seconds": compiled["seconds"],
        "ms_per_sample": 1000 * seconds / dataset.Y_test.shape[0],
        "parameters": estimator.n_parameters_,
        "model_mb": estimator.model_bytes_ / 2**20,
        "device": estimator.device_,
        **surroundings(1),
    }
    return metrics, cost
