"""Accuracy by group size: a panel for every data set and merge, ours beside what is published of the same."""

import csv

import pytest

from orchard.errors import ConfigError
from orchard.report.curves import looks_of
from orchard.report.group_figure import group_figure
from orchard.report.rows import resolve_rows, without

LIST, SET = "labels merged as a list", "labels merged as a set"
ARTEFACT = {
    "title": "Group sizes",
    "metrics": ["accuracy"],
    "chance": 4,
    "rows": [{"row": "Net", "method": "net"}, {"row": "EAGLE", "method": "eagle"}],
    "settings": [
        {"setting": "g = 4", "published": "group size 4", "variant": "aggregated/random-4", "axis": LIST, "at": 4},
        {"setting": "g = 50", "variant": "aggregated/random-50", "axis": LIST, "at": 50, "from": "laptop"},
        {"setting": "g = 4, set", "variant": "aggregated/random-4-set", "axis": SET, "at": 4},
    ],
    "notes": ["What it shows."],
}


@pytest.fixture
def published(tmp_path):
    path = tmp_path / "table3.csv"
    lines = ["small,group size 4,Net,accuracy,84.70,", "small,group size 4,EAGLE,accuracy,85.09,"]
    lines += ["other,group size 4,EAGLE,accuracy,46.25 ± 1.00,"]
    path.write_text("\n".join(["dataset,setting,method,metric,value,note", *lines, ""]), encoding="utf-8")
    return path


@pytest.fixture
def draw(published, tmp_path):
    def drawn(scores, artefact=ARTEFACT):
        paths = {kind: tmp_path / f"figure.{kind}" for kind in ("png", "svg", "csv")}
        rows = resolve_rows(artefact, "demo", ["small"])
        group_figure(artefact | {"rows": rows}, scores, published, paths)
        with paths["csv"].open(encoding="utf-8") as file:
            return list(csv.DictReader(file)), {kind: path.read_bytes() for kind, path in paths.items()}

    return drawn


def score(method, accuracy, seed=0, grouping="random-4", dataset="small", simulated=False):
    about = {"dataset": dataset, "variant": f"aggregated/{grouping}", "method": method, "seed": seed}
    return about | {"simulated": simulated, "metrics": {"accuracy": accuracy}}


SCORES = [score("net", 80.0), score("net", 82.0, seed=1), score("eagle", 90.0), score("eagle", 60.0, 0, "random-4-set")]


def told(rows):
    keys = ("data set", "axis", "group size", "method", "source", "value", "spread")
    return [tuple(row[key] for key in keys) for row in rows]


def test_published_points_stand_where_labels_are_merged_as_in_the_paper(draw):
    rows, files = draw(SCORES)
    assert told(rows) == [
        ("small", LIST, "4", "Net", "measured", "81", "1.41421"),
        ("small", LIST, "4", "Net", "published", "84.7", ""),
        ("small", LIST, "4", "EAGLE", "measured", "90", ""),
        ("small", LIST, "4", "EAGLE", "published", "85.09", ""),
        ("small", SET, "4", "EAGLE", "measured", "60", ""),
    ]
    assert rows[0]["run"] == "aggregated/random-4/net" and rows[1]["run"] == ""
    svg = files["svg"].decode()
    for text in (f"small, {LIST}", f"small, {SET}", "Dotted: chance, 1 of 4 labels.", "Hollow: published.",
                 "What it shows.", "Means over up to 2 seeds", "Run from the scale laptop on: g = 50."):  # fmt: skip
        assert text in svg
    assert svg.count(">EAGLE<") == 1  # in the legend, once for all its curves
    assert "simulated data" not in svg


def test_a_data_set_that_the_paper_does_not_have_stands_alone(draw):
    rows, files = draw([one | {"dataset": "new"} for one in SCORES])
    assert {row["source"] for row in rows} == {"measured"} and b"Hollow" not in files["svg"]


def test_simulated_data_is_marked_and_stands_beside_no_published_point(draw):
    rows, files = draw([one | {"simulated": True} for one in SCORES])
    assert {row["source"] for row in rows} == {"simulated"}
    assert files["svg"].decode().count(">simulated data<") == 2


def test_nothing_run_leaves_what_is_published_and_the_reason(draw):
    """Of all data sets of the paper, and without panels in which there would be nothing."""
    rows, files = draw([], without(ARTEFACT, {"net", "eagle"}, "PyTorch is not installed"))
    assert told(rows) == [
        ("small", LIST, "4", "Net", "published", "84.7", ""),
        ("small", LIST, "4", "EAGLE", "published", "85.09", ""),
        ("other", LIST, "4", "EAGLE", "published", "46.25", "1"),
    ]
    assert "Not run: Net; EAGLE: PyTorch is not installed." in files["svg"].decode()
    assert SET not in files["svg"].decode()


def test_eagle_looks_the_same_whatever_it_is_drawn_with():
    looks = looks_of(["Net", "EAGLE-0", "EAGLE"])
    assert len(set(looks.values())) == 3
    assert looks_of(["EAGLE", "Other"]) == {"EAGLE": looks["EAGLE"], "Other": looks["Net"]}


def test_same_numbers_same_bytes(draw):
    assert draw(SCORES)[1] == draw(SCORES)[1]


def test_what_cannot_be_drawn_is_refused(draw):
    setting = ARTEFACT["settings"][0]
    with pytest.raises(ConfigError, match="published: there is no setting 'R-3'"):
        draw(SCORES, ARTEFACT | {"settings": [setting | {"published": "R-3"}]})
    with pytest.raises(ConfigError, match="rows: Oracle: it needs settings with an axis"):
        draw(SCORES, ARTEFACT | {"rows": [{"row": "Oracle", "method": "net", "variant": "clean"}]})
    with pytest.raises(ConfigError, match="rows: a figure has room for 4 methods beside EAGLE's, not for 5"):
        draw(SCORES, ARTEFACT | {"rows": [{"row": name, "method": name} for name in "abcde"]})
    with pytest.raises(ConfigError, match="rows: nothing is run, and nothing published"):
        draw([], ARTEFACT | {"settings": [setting | {"axis": SET} | {"published": "group size 4"}],
                             "rows": [{"row": "New", "not_run": "why"}]})  # fmt: skip
