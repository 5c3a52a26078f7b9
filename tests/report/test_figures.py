"""Figures are the same bytes for the same numbers, hold the right numbers, and mark what is simulated."""

import csv

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from orchard.report.imbalance import coverage_curve, imbalance_figure, labels_for_half, labels_needed
from orchard.report.label_counts import label_count_figure, share_above_average

ARTEFACT = {
    "title": "The title",
    "panels": [
        {"figure": "Figure 6a", "dataset": 0, "labels": 1},
        {"figure": "Figure 6d", "dataset": 1, "labels": "all"},
    ],
}


@pytest.fixture
def published(tmp_path):
    path = tmp_path / "figures.csv"
    path.write_text(
        "dataset,setting,method,metric,value,note\n"
        "toy,Figure 6a,,most frequent labels,25%,\namazoncat-13k,Figure 6d,,most frequent labels,4.8%,\n"
    )
    return path


def csr(rows, n_columns):
    dense = np.zeros((len(rows), n_columns), np.float32)
    for row, columns in enumerate(rows):
        dense[row, columns] = 1
    return sp.csr_matrix(dense)


# Label 0 serves three of four samples; the last one needs labels 1 and 2, and 3 is never used.
Y = csr([[0], [0], [0, 1], [1, 2]], 4)


def stats(name, simulated):
    return {"name": name, "title": name.title(), "simulated": simulated, "n_labels": 4}


def outputs(folder):
    folder.mkdir()
    return {kind: folder / f"figure.{kind}" for kind in ("png", "svg", "csv")}


def test_imbalance_by_hand(published, tmp_path):
    paths = outputs(tmp_path / "one")
    imbalance_figure(ARTEFACT, [Y, Y], [stats("toy", False), stats("toy-sim", True)], published, paths)
    with paths["csv"].open() as file:
        rows = list(csv.reader(file))[1:]
    # One label: half of the points (two of four) need label 0, a quarter of the labels. All labels: samples need
    # 1, 1, 2 and 3 of the most frequent labels; two of them are served by one.
    assert [row for row in rows if row[4] == "half of the points"] == [
        ["a", "toy", "measured", "1", "half of the points", "1", "25", "0.5"],
        ["a", "toy", "published", "1", "half of the points", "", "25", "0.5"],
        ["b", "toy-sim", "simulated", "all", "half of the points", "1", "25", "0.5"],
        ["b", "amazoncat-13k", "published", "all", "half of the points", "", "4.8", "0.5"],
    ]
    curve = [(row[5], row[7]) for row in rows if row[0] == "b" and row[4] == "curve"]
    assert curve == [("0", "0"), ("1", "0.5"), ("2", "0.75"), ("3", "1"), ("4", "1")]
    drawn = paths["svg"].read_text()
    assert "amazoncat-13k: 4.8%" in drawn
    assert drawn.count("simulated data") == 1
    assert "The title" in drawn
    assert paths["png"].read_bytes().startswith(b"\x89PNG")


def test_the_same_numbers_give_the_same_bytes(published, tmp_path):
    written = []
    for name in ("one", "two"):
        paths = outputs(tmp_path / name)
        imbalance_figure(ARTEFACT, [Y, Y], [stats("toy", False), stats("toy-sim", True)], published, paths)
        written.append([path.read_bytes() for path in paths.values()])
    assert written[0] == written[1]


def test_one_data_set_serves_all_panels(published, tmp_path):
    paths = outputs(tmp_path / "one")
    imbalance_figure(ARTEFACT, [Y], [stats("toy", False)], published, paths)
    text = paths["csv"].read_text()
    assert "\na,toy,measured" in text
    assert "\nb,toy,measured" in text


def test_label_counts_by_hand(tmp_path):
    """Averages 1.5 and 3: two of four samples lie above the first, one of four above the second."""
    statistics = [
        {
            "name": name,
            "title": name,
            "simulated": simulated,
            "labels_per_train_sample": average,
            "label_count_histogram": {"train": histogram, "test": []},
        }
        for name, simulated, average, histogram in (
            ("real", False, 1.5, [0, 2, 2]),
            ("made-sim", True, 3.0, [0, 1, 2, 0, 0, 0, 0, 1]),
        )
    ]
    paths = outputs(tmp_path / "one")
    label_count_figure("The title", statistics, paths)
    assert paths["csv"].read_text().splitlines()[1:] == [
        "real,measured,1.5000,0.5000,0.5000",
        "made-sim,simulated,3.0000,0.7500,0.2500",
    ]
    assert "simulated data" in paths["svg"].read_text()


def test_labels_needed_by_hand():
    """Frequency order is 0, 1, 2, 3; the empty sample does not count; a sample with fewer labels needs all it has."""
    Y_train = csr([[0], [0, 1], [0, 1, 2], []], 4)
    assert labels_needed(Y_train, 1).tolist() == [1, 1, 1]
    assert labels_needed(Y_train, 2).tolist() == [1, 2, 2]
    assert labels_needed(Y_train, None).tolist() == [1, 2, 3]


def test_share_for_half_of_the_samples():
    """Four samples need 1, 2, 3 and 10 labels: two of them are served by two labels of ten."""
    needed = np.array([3, 1, 10, 2])
    assert labels_for_half(needed) == 2
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
