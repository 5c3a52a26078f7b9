"""The statistics tables' numbers, worked by hand on a data set of six samples."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from orchard.data.statistics import (
    compare_with_expected,
    coverage_curve,
    describe,
    label_share_for_half,
    labels_needed,
    share_above_average,
)
from orchard.data.store import Dataset
from orchard.errors import OrchardError


def csr(rows, n_columns):
    dense = np.zeros((len(rows), n_columns), np.float32)
    for row, columns in enumerate(rows):
        dense[row, columns] = 1
    return sp.csr_matrix(dense)


@pytest.fixture
def dataset():
    """Label 0 occurs 3 times in training, label 1 twice, label 2 once, label 3 only in the test set."""
    Y_train = csr([[0], [0, 1], [0, 1, 2], []], 4)
    Y_test = csr([[3], [0, 1, 2, 3]], 4)
    return Dataset(
        csr([[0], [1], [2], [0, 1, 2]], 5), Y_train, csr([[0], []], 5), Y_test, ["a b", "c", "", "d"], ["x", "y z w"]
    )


def test_hand_counted_statistics(dataset):
    statistics = describe(dataset)
    assert (statistics["n_train"], statistics["n_test"]) == (4, 2)
    assert (statistics["n_features"], statistics["n_labels"], statistics["labels_in_train"]) == (5, 4, 3)
    assert statistics["labels_per_train_sample"] == 6 / 4
    assert statistics["labels_per_test_sample"] == 5 / 2
    assert statistics["labels_per_sample"] == 11 / 6
    assert statistics["samples_per_label"] == 11 / 4
    assert statistics["train_samples_per_label"] == 6 / 4
    assert statistics["train_samples_per_train_label"] == 6 / 3
    assert statistics["max_labels_per_sample"] == 4
    assert statistics["features_per_sample"] == 7 / 6
    assert statistics["samples_without_labels"] == {"train": 1, "test": 0}
    assert statistics["label_count_histogram"] == {"train": [1, 1, 1, 1], "test": [0, 1, 0, 0, 1]}
    assert statistics["label_frequency_curve"] == {"rank": [1, 2, 3, 4], "frequency": [3, 2, 1, 0]}
    assert statistics["words_per_train_sample"] == 4 / 4
    assert statistics["words_per_test_sample"] == 4 / 2


def test_without_text_there_are_no_word_counts(dataset):
    bare = Dataset(dataset.X_train, dataset.Y_train, dataset.X_test, dataset.Y_test)
    assert "words_per_train_sample" not in describe(bare)


def test_the_digest_sees_every_value(dataset):
    before = describe(dataset)["sha256"]["X_train"]
    dataset.X_train.data[0] = 2
    assert describe(dataset)["sha256"]["X_train"] != before


def test_the_digest_ignores_the_type_of_the_indices(dataset):
    before = describe(dataset)["sha256"]["Y_test"]
    dataset.Y_test.indptr = dataset.Y_test.indptr.astype(np.int64)
    assert describe(dataset)["sha256"]["Y_test"] == before


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"n_train": 5}, "n_train: expected 5, got 4"),
        ({"labels_per_sample": 1.84}, "labels_per_sample: expected 1.84, got 1.8333"),
        ({"words_per_train_sample": 2.0}, "no text"),
    ],
)
def test_a_wrong_statistic_fails_loudly(dataset, expected, message):
    measured = describe(Dataset(dataset.X_train, dataset.Y_train, dataset.X_test, dataset.Y_test))
    with pytest.raises(OrchardError, match=message):
        compare_with_expected("toy", measured, expected)


def test_statistics_are_compared_to_the_decimals_written(dataset):
    compare_with_expected(
        "toy", describe(dataset), {"n_train": 4, "labels_per_sample": 1.83, "samples_per_label": 2.75}
    )


def test_labels_needed_by_hand(dataset):
    """Frequency order is 0, 1, 2, 3; the empty sample does not count; a sample with fewer labels needs all it has."""
    assert labels_needed(dataset.Y_train, 1).tolist() == [1, 1, 1]
    assert labels_needed(dataset.Y_train, 2).tolist() == [1, 2, 2]
    assert labels_needed(dataset.Y_train, None).tolist() == [1, 2, 3]


def test_share_for_half_of_the_samples():
    """Four samples need 1, 2, 3 and 10 labels: two of them are served by two labels of ten."""
    needed = np.array([3, 1, 10, 2])
    assert label_share_for_half(needed, 10) == 0.2
    m, fraction = coverage_curve(needed, 10)
    assert m.tolist() == [0, 1, 2, 3, 10, 10]
    assert fraction.tolist() == [0, 0.25, 0.5, 0.75, 1, 1]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sets(st.integers(0, 7), max_size=5), min_size=1, max_size=20), st.sampled_from([1, 2, 3, None]))
def test_labels_needed_equals_a_search_over_all_prefixes(rows, k):
    """The number needed is the first prefix of the frequency order that holds enough of a sample's own labels."""
    Y = csr([sorted(row) for row in rows], 8)
    counts = np.asarray(Y.sum(axis=0)).ravel()
    order = sorted(range(8), key=lambda label: (-counts[label], label))
    expected = []
    for row in rows:
        wanted = len(row) if k is None else min(k, len(row))
        if row:
            expected.append(next(m for m in range(1, 9) if len(row & set(order[:m])) >= wanted))
    assert labels_needed(Y, k).tolist() == expected


def test_share_above_average_by_hand():
    """One sample with 1 label, two with 2, one with 7: the average is 3, one of four lies above it."""
    assert share_above_average([0, 1, 2, 0, 0, 0, 0, 1]) == 0.25
