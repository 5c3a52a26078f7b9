"""Figures of overlapping clusters hold the gains of their runs, seed by seed, and say where they come from."""

import csv

import pytest

from orchard.report.overlap_figures import gain_figure, sweep_figure
from orchard.report.rows import resolve_rows
from orchard.report.scores import merged

GAIN = {
    "title": "Gains",
    "metrics": ["P@5"],
    "rows": [{"row": "XR-Linear", "method": "plain"}, {"row": "+Ours", "method": "over"}],
    "settings": [
        {"setting": "easy, k = 2", "variant": "entangled/easy-2", "axis": "easy", "at": 2},
        {"setting": "hard, k = 2", "variant": "entangled/hard-2", "axis": "hard", "at": 2},
        {"setting": "hard, k = 4", "variant": "entangled/hard-4", "axis": "hard", "at": 4, "from": "laptop"},
    ],
    "notes": ["What the paper says."],
}
SWEEP = {
    "title": "Sweep",
    "metrics": ["P@5"],
    "rows": [
        {"row": "XR-Linear", "method": "plain", "at": 0},
        {"row": "+Ours", "method": "one", "at": 1},
        {"row": "+Ours", "method": "two", "at": 2, "from": "laptop"},
    ],
}


def score(method, variant, precision, seed=0, simulated=False, dataset="small"):
    about = {"dataset": dataset, "variant": variant, "method": method, "seed": seed, "simulated": simulated}
    return about | {"metrics": {"P@5": precision}}


@pytest.fixture
def draw(tmp_path):
    def drawn(function, artefact, scores, scale="demo", **options):
        paths = {kind: tmp_path / f"figure.{kind}" for kind in ("png", "svg", "csv")}
        function(artefact | {"rows": resolve_rows(artefact, scale, ["small"])}, scores, paths, **options)
        with paths["csv"].open(encoding="utf-8") as file:
            return list(csv.DictReader(file)), paths["svg"].read_text(encoding="utf-8")

    return drawn


def test_gains_are_taken_seed_by_seed(draw):
    """50 → 51 and 40 → 42 are gains of 2 and 5 %, mean 3.5; seeds that only one of the two has do not count."""
    scores = [
        *(score("plain", "entangled/easy-2", value, seed) for seed, value in enumerate((50.0, 40.0, 10.0))),
        *(score("over", "entangled/easy-2", value, seed) for seed, value in enumerate((51.0, 42.0))),
        score("plain", "entangled/hard-2", 50.0),
        score("over", "entangled/hard-2", 49.0),
    ]
    records, svg = draw(gain_figure, GAIN, scores, by="k")
    assert [(row["mode"], row["k"], row["gain (%)"], row["seeds"]) for row in records] == [
        ("easy", "2", "3.5", "0 1"),
        ("hard", "2", "-2", "0"),
    ]
    assert float(records[0]["spread"]) == pytest.approx(1.5 * 2**0.5, rel=1e-5)
    assert (records[0]["XR-Linear"], records[0]["+Ours"]) == ("45", "46.5")
    assert {row["source"] for row in records} == {"measured"}
    assert "What the paper says." in svg and "simulated data" not in svg
    assert "Relative gain in P@5 (%)" in svg


def test_gains_against_the_beam_are_those_of_the_same_beam(draw):
    """The mode is the setting's, the place the row's: both methods of a place have its beam."""
    rows = [
        {"row": name, "method": f"{method}-{beam}", "at": beam}
        for beam in (1, 10)
        for name, method in (("XR-Linear", "plain"), ("+Ours", "over"))
    ]
    settings = [{"setting": "hard", "variant": "entangled/hard-4", "axis": "hard"}]
    values = {"plain-1": 40.0, "over-1": 44.0, "plain-10": 50.0, "over-10": 51.0}
    scores = [score(method, "entangled/hard-4", value) for method, value in values.items()]
    records, svg = draw(gain_figure, GAIN | {"rows": rows, "settings": settings}, scores, by="beam")
    assert [(row["mode"], row["beam"], row["gain (%)"]) for row in records] == [
        ("hard", "1", "10"),
        ("hard", "10", "2"),
    ]
    assert "Clusters that the matcher keeps (beam)" in svg


def test_no_word_leaves_the_figure(tmp_path, monkeypatch):
    """A single panel is narrow: its title and its notes take as many lines as they need."""
    from orchard.report import overlap_figures

    artefact = GAIN | {"title": "A long title, " * 8, "notes": ["A note of many words. " * 12]}
    scores = [score("plain", "entangled/easy-2", 50.0), score("over", "entangled/easy-2", 51.0)]
    inside = []

    def look(figure, *paths):
        figure.canvas.draw()
        texts = [figure._suptitle, figure.legends[0].get_title()]
        inside.extend(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in (text.get_window_extent() for text in texts))

    monkeypatch.setattr(overlap_figures, "save_figure", look)
    paths = {kind: tmp_path / f"figure.{kind}" for kind in ("png", "svg", "csv")}
    gain_figure(artefact | {"rows": resolve_rows(artefact, "demo", ["small"])}, scores, paths, by="k")
    assert inside == [True, True]


def test_a_sweep_begins_with_the_backbone(draw):
    """λ = 0 is XR-Linear itself; what a larger scale runs is not there; simulated data is marked."""
    scores = [score("plain", "clean", 57.0, simulated=True), score("one", "clean", 58.0, simulated=True)]
    records, svg = draw(sweep_figure, SWEEP, scores)
    assert [(row["λ"], row["value"], row["run"], row["source"]) for row in records] == [
        ("0", "57", "plain", "simulated"),
        ("1", "58", "one", "simulated"),
    ]
    assert "simulated data" in svg and "XR-Linear (λ = 0)" in svg
    more, _ = draw(sweep_figure, SWEEP, [*scores, score("two", "clean", 58.5, simulated=True)], "laptop")
    assert [row["λ"] for row in more] == ["0", "1", "2"]


def test_figures_are_the_same_bytes_twice(draw, tmp_path):
    scores = [score("plain", "clean", 57.0), score("one", "clean", 58.0)]
    draw(sweep_figure, SWEEP, scores)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    draw(sweep_figure, SWEEP, scores)
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_scores_of_a_run_from_several_files_are_one():
    """What a run measured and what was found out about its clusters stand in one line of a table."""
    runs = [score("plain", "clean", 57.0), score("one", "clean", 58.0)]
    more = runs[0] | {"metrics": {"objective, train": 99.0}}
    assert merged([*runs, more]) == [runs[0] | {"metrics": {"P@5": 57.0, "objective, train": 99.0}}, runs[1]]
