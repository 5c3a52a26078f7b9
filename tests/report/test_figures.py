"""Figures are the same bytes for the same numbers, hold the right numbers, and mark what is simulated."""

import csv

import numpy as np
import pytest
import scipy.sparse as sp

from orchard.data.store import Dataset
from orchard.report.imbalance import imbalance_figure
from orchard.report.label_counts import label_count_figure

PANELS = [{"figure": "Figure 6a", "dataset": 0, "labels": 1}, {"figure": "Figure 6d", "dataset": 1, "labels": "all"}]


@pytest.fixture
def published(tmp_path):
    path = tmp_path / "figures.csv"
    path.write_text(
        "dataset,setting,method,metric,value,note\n"
        "toy,Figure 6a,,most frequent labels,25%,\namazoncat-13k,Figure 6d,,most frequent labels,4.8%,\n"
    )
    return path


def dataset(name, simulated):
    """Label 0 serves three of four samples; the last one needs labels 1 and 2, and 3 is never used."""
    Y = sp.csr_matrix(np.array([[1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0]], np.float32))
    return Dataset(
        None, Y, None, None, stats={"name": name, "title": name.title(), "simulated": simulated, "n_labels": 4}
    )


def outputs(folder):
    folder.mkdir()
    return {kind: folder / f"figure.{kind}" for kind in ("png", "svg", "csv")}


def test_imbalance_by_hand(published, tmp_path):
    paths = outputs(tmp_path / "one")
    imbalance_figure(PANELS, [dataset("toy", False), dataset("toy-sim", True)], published, paths)
    with paths["csv"].open() as file:
        rows = list(csv.reader(file))[1:]
    # One label: half of the points (two of four) need label 0, a quarter of the labels. All labels: samples need
    # 1, 1, 2 and 3 of the most frequent labels; two of them are served by one.
    assert rows == [
        ["a", "toy", "measured", "1", "25.0000", "toy", "25%"],
        ["b", "toy-sim", "simulated", "all", "25.0000", "amazoncat-13k", "4.8%"],
    ]
    drawn = paths["svg"].read_text()
    assert "published for amazoncat-13k: 4.8%" in drawn
    assert drawn.count("simulated data") == 1
    assert paths["png"].read_bytes().startswith(b"\x89PNG")


def test_the_same_numbers_give_the_same_bytes(published, tmp_path):
    written = []
    for name in ("one", "two"):
        paths = outputs(tmp_path / name)
        imbalance_figure(PANELS, [dataset("toy", False), dataset("toy-sim", True)], published, paths)
        written.append([path.read_bytes() for path in paths.values()])
    assert written[0] == written[1]


def test_one_data_set_serves_all_panels(published, tmp_path):
    paths = outputs(tmp_path / "one")
    imbalance_figure(PANELS, [dataset("toy", False)], published, paths)
    assert paths["csv"].read_text().count("\na,toy,") + paths["csv"].read_text().count("\nb,toy,") == 2


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
    label_count_figure(statistics, paths)
    assert paths["csv"].read_text().splitlines()[1:] == [
        "real,measured,1.5000,0.5000,0.5000",
        "made-sim,simulated,3.0000,0.7500,0.2500",
    ]
    assert "simulated data" in paths["svg"].read_text()
