"""What the papers' statistics tables and label-imbalance figures are computed from."""

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
        "sha256": {name: sha256_of_csr(getattr(dataset, name)) for name in ("X_train", "Y_train", "X_test", "Y_test")},
    }
    for split in ("train", "test"):
        texts = getattr(dataset, f"texts_{split}")
        if texts is not None:
            statistics[f"words_per_{split}_sample"] = float(count_words(texts).mean())
    return statistics


def compare_with_expected(name: str, measured: dict, expected: dict) -> None:
    """Fail where a statistic differs from the registered one: integers exactly, others to the decimals written."""
    differences = []
    for key, value in expected.items():
        if key not in measured:
            differences.append(f"{key}: expected {value}, but this data set has none (no text?)")
        elif isinstance(value, int) and measured[key] != value:
            differences.append(f"{key}: expected {value}, got {measured[key]}")
        elif isinstance(value, float):
            decimals = len(repr(value).partition(".")[2])
            if round(measured[key], decimals) != value:
                differences.append(f"{key}: expected {value}, got {measured[key]:.{decimals + 2}f}")
    if differences:
        raise OrchardError(
            f"{name}: the prepared data is not the registered data set: {'; '.join(differences)}. "
            f"Fetch it again, or correct `statistics` in config/datasets/{name}.yaml if the data is meant to differ."
        )


def label_frequencies(Y: sp.csr_matrix) -> np.ndarray:
    """How many samples carry each label: (L,)."""
    return np.bincount(Y.indices, minlength=Y.shape[1])


def labels_needed(Y: sp.csr_matrix, k: int | None) -> np.ndarray:
    """For each sample, how many of the most frequent labels it takes to hold `k` of its own (labeltrees, Fig. 1 and 6).

    A sample with fewer than k labels needs all of its own, since only those can be recalled; `k=None` asks for all
    labels of every sample. Samples without labels are left out. Ties in frequency go to the lower label id.
    """
    order = np.argsort(-label_frequencies(Y), kind="stable")
    rank = np.empty(Y.shape[1], dtype=np.int64)
    rank[order] = np.arange(1, Y.shape[1] + 1)
    lengths = np.diff(Y.indptr)
    rows = np.repeat(np.arange(Y.shape[0]), lengths)
    ranks = rank[Y.indices]
    ranks = ranks[np.lexsort((ranks, rows))]
    filled = lengths > 0
    wanted = lengths if k is None else np.minimum(lengths, k)
    return ranks[Y.indptr[:-1][filled] + wanted[filled] - 1]


def coverage_curve(needed: np.ndarray, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Fraction of samples served by the m most frequent labels, at every m where it changes: (m, fraction)."""
    m, counts = np.unique(needed, return_counts=True)
    fractions = np.cumsum(counts) / len(needed)
    return np.concatenate([[0], m, [n_labels]]), np.concatenate([[0.0], fractions, [1.0]])


def label_share_for_half(needed: np.ndarray, n_labels: int) -> float:
    """The share of labels (most frequent first) that serves half of the samples, as Figure 6 prints it."""
    return float(np.sort(needed)[(len(needed) - 1) // 2]) / n_labels


def share_above_average(histogram: list[int]) -> float:
    """Share of samples with more labels than the average sample (otseq2set, Fig. 4's `gt average`)."""
    counts = np.asarray(histogram)
    sizes = np.arange(len(counts))
    average = (sizes * counts).sum() / counts.sum()
    return float(counts[sizes > average].sum() / counts.sum())


def _ratio(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator else 0.0


def _thinned_curve(descending: np.ndarray, points: int = 60) -> dict[str, list[int]]:
    """Frequencies at ranks that are evenly spaced on a logarithmic axis: all that a plot can show."""
    ranks = np.unique(np.geomspace(1, len(descending), points).round().astype(int))
    return {"rank": ranks.tolist(), "frequency": descending[ranks - 1].tolist()}
