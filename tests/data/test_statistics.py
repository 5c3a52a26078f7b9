"""The statistics tables' numbers, worked by hand on a data set of six samples."""

import numpy as np
import pytest
import scipy.sparse as sp

from orchard.data.statistics import compare_with_expected, describe
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
