"""What the papers' statistics tables and label-imbalance figures are computed from."""

import hashlib

import numpy as np
import scipy.sparse as sp

from orchard.data.store import Dataset, sha256_of_csr
from orchard.data.text import count_words
from orchard.errors import OrchardError


def describe(dataset: Dataset) -> dict:
    """All statistics of a data set, JSON-ready; the keys say over which split each one is taken."""
    n_train, n_features = dataset.X_train.shape
    n_test, n_labels = dataset.Y_test.shape
    labels_train, labels_test = np.diff(dataset.Y_train.indptr), np.diff(dataset.Y_test.indptr)
    uses_train, uses_test = int(labels_train.sum()), int(labels_test.sum())
    frequencies = label_frequencies(dataset.Y_train)
    labels_in_train = int(np.count_nonzero(frequencies))
    statistics = {
        "n_train": n_train,
        "n_test": n_test,
        "n_features": n_features,
        "n_labels": n_labels,
        "labels_in_train": labels_in_train,
        "labels_per_sample": _ratio(uses_train + uses_test, n_train + n_test),
        "labels_per_train_sample": _ratio(uses_train, n_train),
        "labels_per_test_sample": _ratio(uses_test, n_test),
        "max_labels_per_sample": int(max(labels_train.max(initial=0), labels_test.max(initial=0))),
        "samples_per_label": _ratio(uses_train + uses_test, n_labels),
        "train_samples_per_label": _ratio(uses_train, n_labels),
        "train_samples_per_train_label": _ratio(uses_train, labels_in_train),
        "features_per_sample": _ratio(dataset.X_train.nnz + dataset.X_test.nnz, n_train + n_test),
        "samples_without_labels": {
            "train": int(np.count_nonzero(labels_train == 0)),
            "test": int(np.count_nonzero(labels_test == 0)),
        },
        "label_count_histogram": {
            "train": np.bincount(labels_train).tolist(),
            "test": np.bincount(labels_test).tolist(),
        },
        "label_frequency_curve": _thinned_curve(np.sort(frequencies)[::-1]),
        "sha256": {
            f"{letter}_{split}": sha256_of_csr(getattr(dataset, f"{letter}_{split}"))
            for split in dataset.splits
            for letter in "XY"
        },
    }
    if dataset.X_valid is not None:
        statistics["n_valid"] = dataset.X_valid.shape[0]
        statistics["labels_per_valid_sample"] = _ratio(dataset.Y_valid.nnz, dataset.Y_valid.shape[0])
    if dataset.groups_train is not None:
        statistics["n_groups"] = int(dataset.groups_train.max(initial=-1)) + 1
        statistics["sha256"]["groups_train"] = hashlib.sha256(dataset.groups_train.tobytes()).hexdigest()
    for split in dataset.splits:
        texts = getattr(dataset, f"texts_{split}")
        if texts is not None:
            statistics[f"words_per_{split}_sample"] = float(count_words(texts).mean())
    return statistics


def compare_with_expected(name: str, measured: dict, expected: dict) -> None:
    """Fail where a statistic differs from the registered one: integers exactly, others to two decimals, as printed."""
    differences = []
    for key, value in expected.items():
        if key not in measured:
            differences.append(f"{key}: expected {value}, but this data set has none (no text?)")
        elif isinstance(value, int) and measured[key] != value:
            differences.append(f"{key}: expected {value}, got {measured[key]}")
        elif isinstance(value, float) and abs(measured[key] - value) > 0.005 + 1e-9:
            differences.append(f"{key}: expected {value:.2f}, got {measured[key]:.4f}")
    if differences:
        raise OrchardError(
            f"{name}: the prepared data is not the registered data set: {'; '.join(differences)}. "
            f"Delete results/raw/{name} to fetch it again; if the data is meant to differ, correct `statistics` in "
            f"config/datasets/{name}.yaml."
        )


def label_frequencies(Y: sp.csr_matrix, contexts: np.ndarray | None = None) -> np.ndarray:
    """How many samples carry each label: (L,); with contexts (n,) a sample counts that much, f = Yᵀp of labeltrees."""
    weights = None if contexts is None else np.repeat(contexts, np.diff(Y.indptr))
    return np.bincount(Y.indices, weights, minlength=Y.shape[1])


def _ratio(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator else 0.0


def _thinned_curve(descending: np.ndarray, points: int = 60) -> dict[str, list[int]]:
    """Frequencies at ranks that are evenly spaced on a logarithmic axis: all that a plot can show."""
    ranks = np.unique(np.geomspace(1, len(descending), points).round().astype(int))
    return {"rank": ranks.tolist(), "frequency": descending[ranks - 1].tolist()}
