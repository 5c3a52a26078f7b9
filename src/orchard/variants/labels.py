"""Put a variant's labels in the place of a data set's own."""

from dataclasses import replace

from orchard.data.store import Dataset, load_csr


def with_labels(dataset: Dataset, files: dict) -> Dataset:
    """The data set with the labels of a variant; `files` maps Y1 and Y2, or Y_train and Y_test, to npz files.

    Aggregated labels become Y¹Y²: every sample carries all labels of its group (eagle's Baseline). Test labels stay,
    and with fused labels the names of the originals no longer fit.
    """
    labels = {name: load_csr(path) for name, path in files.items()}
    if "Y1" in labels:
        product = (labels["Y1"] @ labels["Y2"]).tocsr()
        product.sort_indices()
        product.data[:] = 1
        return replace(dataset, Y_train=product)
    if labels:
        return replace(dataset, **labels, label_names=None)
    return dataset
