"""Precision against expected depth: the curves, the front, and what is said about them."""

import csv

import pytest

from orchard.report.rows import resolve_rows
from orchard.report.scores import Measured
from orchard.report.tradeoff_claims import FAILS, HOLDS, NEARLY_FAILS, NEARLY_HOLDS, Point, claims_table, less_depth
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


# ---- claims


def point(p1, d1):
    return Point({0: metrics(p1, d1)}, Measured(False, (0,), metrics(p1, d1), {}))


@pytest.mark.parametrize(
    ("small", "expected", "at"),
    [
        ({0.5: (80.0, 5.8), 1: (80.1, 5.5)}, HOLDS, 1),
        ({0.5: (80.0, 5.8), 1: (79.9, 5.0)}, HOLDS, 0.5),
        ({0.5: (79.8, 5.8), 1: (79.9, 5.0)}, FAILS, 1),
        ({0.5: (80.5, 6.2)}, FAILS, 0.5),
    ],
)
def test_a_small_lambda_must_keep_the_precision_and_lose_depth(small, expected, at):
    curve = {0: point(80.0, 6.0)} | {key: point(*values) for key, values in small.items()}
    _, numbers, verdict = less_depth(curve | {6: point(90.0, 1.0)}, up_to=1)
    assert verdict == expected and numbers["λ′"] == at
    assert less_depth(curve | {6: point(90.0, 1.0)}, up_to=6)[1]["λ′"] == 6


@pytest.mark.parametrize(
    ("differences", "expected", "told"),
    [
        ((0.5, 0.1, 0.3), HOLDS, "P@1 +0.30 ± 0.20"),
        ((-0.3, 0.5, 0.1), NEARLY_HOLDS, "P@1 +0.10 ± 0.40"),
        ((-0.5, 0.3, 0.1), NEARLY_FAILS, "P@1 −0.03 ± 0.42"),
        ((-0.5, -0.3, -0.4), FAILS, "P@1 −0.40 ± 0.10"),
    ],
)
def test_a_loss_is_judged_by_its_spread_over_the_seeds(differences, expected, told):
    """Differences are those of the same seed: that seeds lie far apart says nothing against a claim."""
    artefact = {
        "title": "Claims",
        "rows": [{"row": name, "method": f"{name}@*"} for name in ("weighted", "greedy", "direct")],
        "sweep": {"demo": [0, 1, 6]},
    }
    scores = []
    for name in ("weighted", "greedy", "direct"):
        for seed, difference in enumerate(differences):
            base, worse = 80 + 5 * seed, 0 if name == "weighted" else difference
            scores.append(score(f"{name}@0", metrics(base, 6), seed))
            scores.append(score(f"{name}@1", metrics(base + difference, 5), seed))
            scores.append(score(f"{name}@6", metrics(base - 9, 4, base + worse, 9), seed))
    table = claims_table(artefact | {"rows": resolve_rows(artefact, "demo", ["small"])}, scores)
    verdicts = {row[0]: row[-1] for row in table.rows}
    assert verdicts["small λ > 0 lowers depth@1 and loses no P@1"] == expected
    assert told in table.rows[0][3]
    # Here a loss is what the paper says, and one within the spread is none.
    greedy = {HOLDS: FAILS, NEARLY_HOLDS: FAILS, NEARLY_FAILS: NEARLY_FAILS, FAILS: HOLDS}[expected]
    assert verdicts["greedy f̃ has lower P@3 than marginal f̃"] == greedy


def test_claims_are_judged_for_every_data_set():
    """Greedy is worse at λ′ = 6, where f̃ counts; direct is better at both, so that claim does not hold."""
    artefact = {
        "title": "Claims",
        "rows": [{"row": name, "method": f"{name}@*"} for name in ("weighted", "greedy", "direct")],
        "sweep": {"demo": GRID},
    }
    values = {
        "weighted": [(80, 6, 50, 6), (80.5, 5, 50, 5.5), (80, 4, 48, 9)],
        "greedy": [(80, 6, 50, 6), (80.5, 5, 50, 5.5), (80, 4, 44, 12)],
        "direct": [(80, 6, 50, 6), (80.5, 5, 51, 5.0), (80, 4, 49, 8)],
    }
    scores = [
        score(f"{name}@{at}", metrics(*numbers))
        for name in values
        for at, numbers in zip(GRID, values[name], strict=True)
    ]
    table = claims_table(artefact | {"rows": resolve_rows(artefact, "demo", ["small"])}, scores)
    assert [row[-1] for row in table.rows] == [HOLDS, HOLDS, HOLDS, FAILS]
    assert "λ′ = 1: P@1 +0.50, depth@1 6.00 → 5.00, depth@3 6.00 → 5.50, depth@5" in table.rows[0][3]
    assert "(−16.67 % at 1)" in table.rows[0][3] and "(−33.33 % at 1)" in table.rows[1][3]
    assert "P@3 −4.00, depth@1 +0.00, depth@3 +3.00, depth@5 +0.00 on average over 1 λ′ > 1" in table.rows[2][3]
    assert "; 1 of its points are beaten, and 0 of" in table.rows[2][3]
    assert all(len(row) == len(table.header) for row in table.rows)
    assert all(len(row) == len(table.record_header) for row in table.records)


def test_a_curve_further_along_the_same_front_is_no_worse():
    """Less precise and less deep at the same λ′, but never beaten: the claim is not reproduced by that."""
    artefact = {
        "title": "Claims",
        "rows": [{"row": name, "method": f"{name}@*"} for name in ("weighted", "greedy", "direct")],
        "sweep": {"demo": GRID},
    }
    values = {"weighted": [(50, 6), (49, 5), (48, 4)], "greedy": [(50, 6), (49, 5), (48, 4)]}
    values["direct"] = [(50, 6), (48.5, 4.5), (47, 3)]
    scores = [
        score(f"{name}@{at}", metrics(80, 6, *numbers))
        for name in values
        for at, numbers in zip(GRID, values[name], strict=True)
    ]
    table = claims_table(artefact | {"rows": resolve_rows(artefact, "demo", ["small"])}, scores)
    assert table.rows[3][-1] == FAILS and "0 of its points are beaten" in table.rows[3][3]


def test_points_that_are_the_same_are_both_on_the_front(draw):
    scores = [score("tree@0", metrics(80, 6)), score("tree@1", metrics(82, 5)), score("tree@6", metrics(82, 5))]
    records, _ = draw([*scores, score("huffman", metrics(60, 7))])
    assert [row["front"] for row in records if row["metric"] == "P@1"] == ["", "yes", "yes", ""]
