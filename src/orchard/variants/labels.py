"""Put a variant's labels in the place of a data set's own."""

from collections.abc import Callable
from dataclasses import replace

import scipy.sparse as sp

from orchard.data.store import Dataset, load_csr
from orchard.errors import OrchardError
from orchard.linear.inputs import checked_incidence


def with_labels(dataset: Dataset, files: dict, impute: Callable | None = None) -> tuple[Dataset, sp.csr_matrix]:
    """The data set that a variant is scored on, and the training labels that a method gets to see.

    files : npz files of Y1 and Y2, or of Y_train and Y_test, or none.
    impute : a function of X, Y1 and Y2 that gives the labels of groups to their samples. Without one, aggregated labels
        are seen as Y¹Y², every sample with all labels of its group (eagle's Baseline, which is blind to how often a
        label occurs in a group). Either way they hide the data set's own.
    Fused labels make a data set of their own.
    """
    labels = {name: load_csr(path) for name, path in files.items()}
    if "Y1" in labels and impute:
        return dataset, checked_imputed(impute(dataset.X_train, labels["Y1"], labels["Y2"]), dataset.Y_train.shape)
    if "Y1" in labels:
        product = (labels["Y1"] @ labels["Y2"]).tocsr()
        product.sort_indices()
        product.data[:] = 1
        return dataset, product
    if labels:
        n_labels = labels["Y_train"].shape[1]
        dataset = replace(dataset, **labels, label_names=None, stats=dataset.stats | {"n_labels": n_labels})
    return dataset, dataset.Y_train


def checked_imputed(Y, shape: tuple[int, int]) -> sp.csr_matrix:
    """What a function of anybody's returned, as binary CSR; refused if it cannot be the labels of the samples."""
    try:
        Y = checked_incidence(Y, "the imputed Y")
    except ValueError as error:
        raise OrchardError(f"imputation: {error}") from None
    if Y.shape != shape:
        raise OrchardError(f"imputation: the imputed Y is {Y.shape}, samples × labels are {shape}")
    Y.data[:] = 1
    return Y


def imputation_report(Y: sp.csr_matrix, Y_true: sp.csr_matrix) -> dict[str, float]:
    """In per cent: how many of the labels given are right ('imputed precision'), how many true ones were given."""
    right = Y.multiply(Y_true > 0).nnz
    return {
        "imputed precision": 100 * right / max(Y.nnz, 1),
        "imputed recall": 100 * right / max(Y_true.nnz, 1),
    }
