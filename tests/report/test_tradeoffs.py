"""Precision against expected depth: the curves and the front."""

import csv

import pytest

from orchard.report.rows import resolve_rows
from orchard.report.tradeoff_figures import tradeoff_figure

GRID = [0, 1, 6]
ARTEFACT = {
    "title": "Depth",
    "metrics": ["P@1", "P@3"],
    "rows": [{"row": "ours", "method": "tree@*"}, {"row": "Huffman", "method": "huffman"}],
    "sweep": {"demo": GRID},
    "notes": ["What the paper says."],
}


def score(method, metrics, seed=0, simulated=False, dataset="small"):
    about = {"dataset": dataset, "variant": "clean", "method": method, "seed": seed, "simulated": simulated}
    return about | {"metrics": metrics}


def metrics(p1, d1, p3=50.0, d3=5.0):
    return {"P@1": p1, "P@3": p3, "depth@1": d1, "depth@3": d3, "depth@5": 7.0}


@pytest.fixture
def draw(tmp_path):
    def drawn(scores, artefact=ARTEFACT):
        paths = {kind: tmp_path / f"figure.{kind}" for kind in ("png", "svg", "csv")}
        tradeoff_figure(
            artefact | {"rows": resolve_rows(artefact, "demo", ["small"])},
            scores,
            paths,
            {"depth@{k}": "Expected depth at {k}"},
        )
        with paths["csv"].open(encoding="utf-8") as file:
            return list(csv.DictReader(file)), paths["svg"].read_text(encoding="utf-8")

    return drawn


def test_points_have_the_depth_of_their_own_k_and_the_front_is_told(draw):
    """(6, 80) and (5, 82) and (4, 70), and Huffman at (3, 60): 80 at 6 is beaten by 82 at 5."""
    scores = [
        score("tree@0", metrics(80, 6, 50, 6)),
        score("tree@1", metrics(82, 5, 49, 5.5)),
        score("tree@6", metrics(70, 4, 40, 9)),
        score("huffman", metrics(60, 3)),
    ]
    records, svg = draw(scores)
    assert len(records) == 8
    at_1 = {(row["curve"], row["λ′"]): row for row in records if row["metric"] == "P@1"}
    assert {key: row["front"] for key, row in at_1.items()} == {
        ("ours", "0"): "", ("ours", "1"): "yes", ("ours", "6"): "yes", ("Huffman", ""): "yes",
    }  # fmt: skip
    assert at_1["ours", "1"]["cost"] == "depth@1" and at_1["ours", "1"]["at"] == "5"
    at_3 = {(row["curve"], row["λ′"]): row["at"] for row in records if row["metric"] == "P@3"}
    assert at_3["ours", "6"] == "9"
    assert "depth@1 −17 % at λ′ = 1, as precise as λ′ = 0" in svg
    assert "no λ′ &gt; 0 has less depth@3" in svg
    assert "simulated data" not in svg and "What the paper says." in svg


def test_a_curve_may_be_compared_with_a_point(draw):
    """The best of the curve, 82 at 5, over Huffman's 60 at 3: 36.7 % more precise, 66.7 % deeper."""
    scores = [score(f"tree@{at}", metrics(*point)) for at, point in zip(GRID, [(80, 6), (82, 5), (70, 4)], strict=True)]
    compare = {"row": "ours", "with": ["Huffman"]}
    _, svg = draw([*scores, score("huffman", metrics(60, 3))], ARTEFACT | {"metrics": ["P@1"], "compare": compare})
    assert "λ′ = 1: +36.7 % precision, +66.7 % depth@1 over Huffman" in svg


def test_points_are_means_over_the_seeds(draw):
    scores = [score(f"tree@{at}", metrics(80 + seed, 6 - seed), seed) for at in GRID for seed in (0, 2)]
    records, svg = draw(scores)
    assert (records[0]["value"], records[0]["spread"]) == ("81", "1.41421")
    assert (records[0]["at"], records[0]["spread of it"]) == ("5", "1.41421")
    assert "Means over up to 2 seeds" in svg


def test_simulated_data_is_marked(draw):
    records, svg = draw([score(f"tree@{at}", metrics(80, 6), simulated=True) for at in GRID])
    assert "simulated data" in svg and {row["source"] for row in records} == {"simulated"}


def test_points_that_are_the_same_are_both_on_the_front(draw):
    scores = [score("tree@0", metrics(80, 6)), score("tree@1", metrics(82, 5)), score("tree@6", metrics(82, 5))]
    records, _ = draw([*scores, score("huffman", metrics(60, 7))])
    assert [row["front"] for row in records if row["metric"] == "P@1"] == ["", "yes", "yes", ""]
