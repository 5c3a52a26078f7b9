"""Put a variant's labels in the place of a data set's own."""

from dataclasses import replace

import scipy.sparse as sp

from orchard.data.store import Dataset, load_csr


def with_labels(dataset: Dataset, files: dict) -> tuple[Dataset, sp.csr_matrix]:
    """The data set that a variant is scored on, and the training labels that a method gets to see.

    files : npz files of Y1 and Y2, or of Y_train and Y_test, or none.
    Aggregated labels hide the data set's own: what is seen is Y¹Y², every sample with all labels of its group (eagle's
    Baseline, which is blind to how often a label occurs in a group). Fused labels make a data set of their own.
    """
    labels = {name: load_csr(path) for name, path in files.items()}
    if "Y1" in labels:
        product = (labels["Y1"] @ labels["Y2"]).tocsr()
        product.sort_indices()
        product.data[:] = 1
        return dataset, product
    if labels:
        n_labels = labels["Y_train"].shape[1]
        dataset = replace(dataset, **labels, label_names=None, stats=dataset.stats | {"n_labels": n_labels})
    return dataset, dataset.Y_train
