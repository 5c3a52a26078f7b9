"""Scores against λ: a panel for every data set, the paper's best λ beside real data, what is best here in words."""

import csv
import re

import pytest

from orchard.errors import ConfigError
from orchard.report.lambda_figure import lambda_figure
from orchard.report.rows import resolve_rows, without

NAME = "BM_all + OT + LC"
ARTEFACT = {
    "title": "Scores against λ",
    "metrics": ["F1", "P", "R"],
    "rows": [
        {"row": NAME, "setting": "λ = 0", "at": 0, "method": "plain"},
        {"row": NAME, "setting": "λ = 2", "at": 2, "method": "swept@2"},
        {"row": NAME, "setting": "λ = 4", "at": 4, "method": "swept@4", "from": "laptop"},
        {"row": NAME, "setting": "λ = 8", "at": 8, "method": "full"},
    ],
    "notes": ["What the paper says."],
}
HEADER = "dataset,setting,method,metric,value,note\n"
BEST = "paper-set,Figure 5,OTSeq2Set,best λ,8,\n"
OTHER = ",Section 3.4,OTSeq2Set,λ,8,\n"


@pytest.fixture
def draw(tmp_path):
    def drawn(scores, artefact=ARTEFACT, published=HEADER + BEST + OTHER, scale="demo"):
        paths = {kind: tmp_path / f"figure.{kind}" for kind in ("png", "svg", "csv")}
        (tmp_path / "figures.csv").write_text(published, encoding="utf-8")
        rows = resolve_rows(artefact, scale, ["small"])
        lambda_figure(artefact | {"rows": rows}, scores, tmp_path / "figures.csv", paths)
        with paths["csv"].open(encoding="utf-8") as file:
            return list(csv.DictReader(file)), {kind: path.read_bytes() for kind, path in paths.items()}

    return drawn


def score(method, f1, validation, seed=0, dataset="small", simulated=False):
    about = {"dataset": dataset, "variant": "clean", "method": method, "seed": seed, "simulated": simulated}
    return about | {"metrics": {"F1": f1, "P": f1 + 3, "R": f1 - 3, "validation F1": validation}}


SCORES = [
    score("plain", 60.0, 61.0),
    score("swept@2", 62.0, 62.0),
    score("full", 61.0, 63.0),
    score("full", 62.0, 64.0, seed=1),
]


def text_of(files):
    """What the figure says, its lines joined."""
    return " ".join(" ".join(re.findall(r">([^<]+)<", files["svg"].decode())).split())


def test_points_are_means_over_the_seeds_and_the_best_are_told(draw):
    """On validation samples λ = 8 is best (63.5), on test samples 2 (62.0, before 61.5)."""
    rows, files = draw(SCORES)
    keys = ("λ", "source", "run", "value", "spread")
    assert [tuple(row[key] for key in keys) for row in rows if row["metric"] == "F1"] == [
        ("0", "measured", "clean/plain", "60", ""),
        ("2", "measured", "clean/swept@2", "62", ""),
        ("8", "measured", "clean/full", "61.5", "0.707107"),
    ]
    assert [row["value"] for row in rows if row["metric"] == "validation F1"] == ["61", "62", "63.5"]
    assert list(rows[-1].values()) == ["paper-set", "8", "best λ", "published", "", "8", ""]
    for text in ("small: the best λ is 8 on validation samples, 2 on test samples", "(micro-F1 62.00; λ = 8: 61.50).",
                 "Dotted: λ = 8, the best in the paper, on paper-set.", "What the paper says.", "micro-precision",
                 "Means over up to 2 seeds", "Run from the scale laptop on: λ = 4."):  # fmt: skip
        assert text in text_of(files), text
    assert "simulated data" not in text_of(files)


def test_simulated_data_is_marked_and_stands_beside_no_published_best(draw):
    rows, files = draw([one | {"simulated": True} for one in SCORES])
    assert {row["source"] for row in rows} == {"simulated"}
    assert "simulated data" in text_of(files) and "in the paper, on" not in text_of(files)


def test_every_data_set_has_a_panel_and_a_sentence(draw):
    """Equally good: the smaller λ."""
    others = [score("plain", 50.0, 50.0, dataset="other"), score("full", 50.0, 50.0, dataset="other")]
    text = text_of(draw([*SCORES, *others])[1])
    assert "other: the best λ is 0 on validation samples, 0 on test samples (micro-F1 50.00; λ = 8: 50.00)." in text
    assert "small: the best λ is 8" in text


def test_nothing_run_leaves_the_published_best_and_the_reason(draw):
    nothing = without(ARTEFACT, {"plain", "swept@2", "swept@4", "full"}, "PyTorch is not installed")
    rows, files = draw([], nothing)
    assert [list(row.values()) for row in rows] == [["paper-set", "8", "best λ", "published", "", "8", ""]]
    for text in ("not run", f"Not run: {NAME}: PyTorch is not installed.", "paper-set"):
        assert text in text_of(files)


def test_same_numbers_same_bytes(draw):
    assert draw(SCORES)[1] == draw(SCORES)[1]


def test_what_cannot_be_drawn_is_refused(draw):
    with pytest.raises(ConfigError, match=r"figures\.csv: 0 lines with the metric 'best λ' instead of one"):
        draw(SCORES, published=HEADER + OTHER)
    with pytest.raises(ConfigError, match="rows: Alone: it needs its λ as a place"):
        draw(SCORES, ARTEFACT | {"rows": [{"row": "Alone", "method": "plain"}]})
