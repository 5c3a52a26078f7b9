"""Put a variant's labels in the place of a data set's own."""

import time
from collections.abc import Callable
from dataclasses import replace

import scipy.sparse as sp

from orchard.data.store import Dataset, load_csr


def with_labels(dataset: Dataset, files: dict, impute: Callable | None = None) -> tuple[Dataset, sp.csr_matrix, dict]:
    """The data set that a variant is scored on, the training labels that a method gets to see, and what is to tell.

    files : npz files of Y1 and Y2, or of Y_train and Y_test, or none.
    impute : a function of X, Y1 and Y2 that gives the labels of groups to their samples. Without one, aggregated labels
        are seen as Y¹Y², every sample with all labels of its group (eagle's Baseline, which is blind to how often a
        label occurs in a group). Either way they hide the data set's own. What is to tell are the seconds that it took
        and the metrics of `imputation_report`.
    Fused labels make a data set of their own.
    """
    labels = {name: load_csr(path) for name, path in files.items()}
    if "Y1" in labels and impute:
        started = time.perf_counter()
        Y = impute(dataset.X_train, labels["Y1"], labels["Y2"])
        seconds = time.perf_counter() - started
        return dataset, Y, {"seconds": seconds, "metrics": imputation_report(Y, dataset.Y_train)}
    if "Y1" in labels:
        product = (labels["Y1"] @ labels["Y2"]).tocsr()
        product.sort_indices()
        product.data[:] = 1
        return dataset, product, {}
    if labels:
        n_labels = labels["Y_train"].shape[1]
        dataset = replace(dataset, **labels, label_names=None, stats=dataset.stats | {"n_labels": n_labels})
    return dataset, dataset.Y_train, {}


def imputation_report(Y: sp.csr_matrix, Y_true: sp.csr_matrix) -> dict[str, float]:
    """In per cent: how many of the labels given are right ('imputed precision'), how many true ones were given."""
    right = Y.multiply(Y_true > 0).nnz
    return {
        "imputed precision": 100 * right / max(Y.nnz, 1),
        "imputed recall": 100 * right / max(Y_true.nnz, 1),
    }
