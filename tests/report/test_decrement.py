"""Figures of the decrement over the oracle (eagle, Figures 4, 7, 8, 9) hold the right numbers from the right source."""

import csv
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from orchard.config import load_yaml
from orchard.errors import ConfigError
from orchard.report.curves import Point, draw_curves
from orchard.report.decrement import _measured_note, decrement, decrement_figure, published_points
from orchard.report.published import read_published
from orchard.report.rows import resolve_rows

ROOT = Path(__file__).parents[2]
ARTEFACT = {
    "title": "The title",
    "metrics": ["P@1"],
    "rows": [
        {"row": "Oracle", "method": "tree", "variant": "clean", "setting": "R-2"},
        {"row": "Baseline", "method": "tree-5gb"},
        {"row": "EAGLE-0", "method": "eagle-0"},
        {"row": "EAGLE", "method": "eagle"},
    ],
    "settings": [
        {"setting": "R-2", "variant": "aggregated/random-2", "axis": "group size", "at": 2},
        {"setting": "R-4", "variant": "aggregated/random-4", "axis": "group size", "at": 4, "from": "laptop"},
        {"setting": "all", "published": "R-4", "variant": "aggregated/noise-100", "axis": "noise (%)", "at": 100},
        {"setting": "half", "variant": "aggregated/noise-50", "axis": "noise (%)", "at": 50},
    ],
    "notes": ["What the hollow marks are."],
}


def artefact(scale="demo", **changes):
    entry = ARTEFACT | changes
    return entry | {"rows": resolve_rows(entry, scale, ["small"])}


@pytest.fixture
def published(tmp_path):
    path = tmp_path / "table5.csv"
    lines = [
        "small,R-2,Oracle,P@1,80.00 ± 0.20,",
        "small,R-4,Oracle,P@1,-,",
        "small,R-2,EAGLE,P@1,76.00 ± 0.40,",
        "small,R-4,EAGLE,P@1,60.00,",
        "small,R-4,Baseline,P@1,O,",
    ]
    path.write_text("\n".join(["dataset,setting,method,metric,value,note", *lines, ""]), encoding="utf-8")
    return path


def score(method, variant, precision, seed=0, dataset="small", simulated=False):
    metrics = {} if precision is None else {"P@1": precision}
    return {
        "dataset": dataset,
        "method": method,
        "variant": variant,
        "seed": seed,
        "simulated": simulated,
        "metrics": metrics,
        "oversized": precision is None,
    }


def drawn(artefact, scores, published, folder):
    """The lines of the figure's CSV file, and the bytes of its files."""
    folder.mkdir()
    paths = {kind: folder / f"figure.{kind}" for kind in ("png", "svg", "csv")}
    decrement_figure(artefact, scores, published, paths)
    with paths["csv"].open() as file:
        return list(csv.DictReader(file)), {kind: path.read_bytes() for kind, path in paths.items()}


SCORES = [
    score("tree", "clean", 49.0, seed=0),
    score("tree", "clean", 51.0, seed=1),
    score("eagle", "aggregated/random-2", 45.0, seed=0),
    score("eagle", "aggregated/random-2", 46.0, seed=1),
    score("eagle", "aggregated/noise-100", 25.0),
    score("eagle", "aggregated/noise-50", 55.0),
]


def test_decrement_is_the_share_of_the_oracle_that_is_lost():
    assert decrement(60.0, 80.0) == 25.0
    assert decrement(84.0, 80.0) == -5.0  # better than the oracle


def test_numbers_by_hand(published, tmp_path):
    """Ours over our oracle's mean, the paper's over the paper's oracle; a published place needs no run of ours."""
    rows, _ = drawn(artefact(), SCORES, published, tmp_path / "one")
    told = [
        (row["panel"], row["at"], row["source"], row["decrement"], row["spread"], row["oracle"], row["run"])
        for row in rows
    ]
    assert {row["method"] for row in rows} == {"EAGLE"}
    assert told == [
        ("a", "2", "measured", "9", "1.41421", "50", "aggregated/random-2/eagle"),
        ("a", "2", "published", "5", "0.5", "80", ""),
        ("a", "4", "published", "25", "", "80", ""),
        ("b", "50", "measured", "-10", "", "50", "aggregated/noise-50/eagle"),
        ("b", "100", "measured", "50", "", "50", "aggregated/noise-100/eagle"),
        ("b", "100", "published", "25", "", "80", ""),
    ]


def test_simulated_data_is_marked_and_stands_beside_no_published_curve(published, tmp_path):
    scores = [one | {"simulated": True} for one in SCORES]
    rows, files = drawn(artefact(), scores, published, tmp_path / "one")
    assert {row["source"] for row in rows} == {"simulated"}
    assert files["svg"].decode().count(">simulated data<") == 2
    assert "published" not in files["svg"].decode()
    assert "hollow marks" not in files["svg"].decode()


def test_an_oversized_model_has_no_point(published, tmp_path):
    scores = [*SCORES, score("tree-5gb", "aggregated/random-2", None), score("tree-5gb", "aggregated/noise-50", 30.0)]
    rows, _ = drawn(artefact(), scores, published, tmp_path / "one")
    assert [row["at"] for row in rows if row["method"] == "Baseline"] == ["50"]


def test_every_data_set_has_its_line_of_panels(published, tmp_path):
    others = [one | {"dataset": "other"} for one in SCORES]
    rows, files = drawn(artefact(), SCORES + others, published, tmp_path / "one")
    assert {row["source"] for row in rows if row["data set"] == "other"} == {"measured"}
    for title in ("(a) small, P@1", "(b) small, P@1", "(a) other, P@1", "(b) other, P@1"):
        assert title in files["svg"].decode()


def test_same_numbers_same_bytes(published, tmp_path):
    once, again = (drawn(artefact(), SCORES, published, tmp_path / name)[1] for name in ("one", "two"))
    assert once == again


def test_a_published_setting_that_does_not_exist_is_refused(published, tmp_path):
    settings = [ARTEFACT["settings"][0] | {"published": "R-3"}]
    with pytest.raises(ConfigError, match="there is no setting 'R-3'"):
        drawn(artefact(settings=settings), SCORES, published, tmp_path / "one")


def test_the_papers_curves_come_from_table_5():
    """Five places by group size and by depth; for noise, which the paper prints no numbers for, the two ends."""
    table = {(v.dataset, v.setting, v.method, v.metric): v for v in read_published(
        ROOT / "config/papers/eagle/published/table5.csv")}  # fmt: skip
    entries = load_yaml(ROOT / "config/papers/eagle/artefacts.yaml")
    for name, places in {"fig7": [2, 4, 6, 8, 10], "fig8": [8, 9, 10, 11, 12], "fig9": [0, 100]}.items():
        oracle, *rows = resolve_rows(entries[name], "demo", ["eurlex-4k"])
        for method in ("Baseline", "EAGLE-0", "EAGLE"):
            mine = [row for row in rows if row["row"] == method]
            for metric in entries[name]["metrics"]:
                points = published_points(mine, oracle, "eurlex-4k", metric, table)
                assert [point.at for point in points] == places
                assert points[0].oracle == {"P@1": 82.71, "P@3": 69.42, "P@5": 58.14}[metric]


def test_no_measured_line_crosses_a_setting_that_was_not_run():
    """Points at 1, 2 and 4, and 3 not run: the curve breaks there, and the figure says why."""
    panel = Figure().subplots()
    points = [Point(at, 50, None, "measured") for at in (1, 2, 4)]
    curve = draw_curves(panel, points, [], False, [3], "black", "o")["measured"]
    places, heights = curve.lines[0].get_data()
    np.testing.assert_array_equal(places, [1, 2, 3, 4])
    np.testing.assert_array_equal(heights.astype(float), [50, 50, np.nan, 50])
    assert "broken" in _measured_note([{"from": "laptop"}], [{"seed": 0}])
    assert _measured_note([{}], [{"seed": 0}]).endswith("Measured: seed 0.")
    assert "means over up to 2 seeds" in _measured_note([{}], [{"seed": 0}, {"seed": 1}])
