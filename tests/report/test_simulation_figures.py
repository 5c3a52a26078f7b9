"""Figures of simulations hold the numbers of their curves, are the same bytes twice, and say what they are."""

import csv

import numpy as np
import pytest

from orchard.eagle_simulations import Curve
from orchard.report.simulation_figures import simulation_figure

ARTEFACT = {"title": "The title", "notes": ["Simulated data, of course."]}


def ratio(estimator, values):
    return Curve("Rel. RMS", "σ₂", estimator, [0.0, 10.0], np.array(values), np.array([1e-15, 0.25]), np.array([2, 4]))


def quality(quantity, centred):
    return Curve(quantity, "c", f"T = 20, {centred}", [0.0, 4.0], np.array([0.5, 0.75]), np.array([0.0, 0.1]))


PANELS = [
    ("regression", [ratio("NoAS", [1.0, 3.0]), ratio("AS", [1.0, 1.5])]),
    (
        "shared component",
        [
            quality(quantity, centred)
            for centred in ("centred", "not centred")
            for quantity in ("labels given to the right sample", "cosine of embedding and truth")
        ],
    ),
]


@pytest.fixture
def draw(tmp_path):
    def drawn(name, panels=PANELS):
        folder = tmp_path / name
        folder.mkdir()
        paths = {kind: folder / f"figure.{kind}" for kind in ("png", "svg", "csv")}
        simulation_figure(ARTEFACT, panels, 7, paths)
        return paths

    return drawn


def test_numbers_and_panels(draw):
    """One panel for the task with one quantity, two for the other; an error that is only rounding is zero."""
    paths = draw("one")
    with paths["csv"].open() as file:
        rows = [list(row.values()) for row in csv.DictReader(file)]
    assert rows[:2] == [
        ["a", "regression", "Rel. RMS", "σ₂", "0", "NoAS", "simulated", "1", "0", "2", "7"],
        ["a", "regression", "Rel. RMS", "σ₂", "10", "NoAS", "simulated", "3", "0.25", "4", "7"],
    ]
    assert len(rows) == 4 + 8
    assert [row[0] for row in rows[4:]] == ["b"] * 4 + ["c"] * 4
    assert rows[-1][-2] == ""
    drawn = paths["svg"].read_text()
    for words in ("Simulated data, of course.", "The title", "(a) Regression", "(c) Shared component"):
        assert words in drawn
    assert paths["png"].read_bytes().startswith(b"\x89PNG")


def test_the_same_numbers_give_the_same_bytes(draw):
    first, second = draw("one"), draw("two")
    for kind in first:
        assert first[kind].read_bytes() == second[kind].read_bytes()


def test_one_panel_needs_no_letter(draw):
    assert "(a)" not in draw("one", PANELS[:1])["svg"].read_text()
