"""Pointing at a mark of an SVG tells its series and its values; nothing else about the picture changes."""

import re
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest

from orchard.report.plots import BLUE, ORANGE, explain_marks, new_panels, save_figure

SVG = "{http://www.w3.org/2000/svg}"
NAN = float("nan")


@pytest.fixture
def panel():
    (one,) = new_panels(1)[1]
    one.set(xlabel="Group size", ylabel="P@1 (%)", title="eurlex-4k")
    return one


def saved(figure, folder, name="figure"):
    paths = [folder / f"{name}.{ending}" for ending in ("png", "svg")]
    save_figure(figure, *paths)
    return paths[1]


def titles(path, kind="point"):
    """The first lines of the titles of all elements of a class; a title must come first in its element."""
    found = []
    for element in ElementTree.parse(path).iter():
        if element.get("class") == kind:
            assert element[0].tag == f"{SVG}title"
            found.append(element[0].text.partition("\n")[0])
    return found


def test_a_line_with_gaps_tells_each_mark_its_own_values(panel, tmp_path):
    """NaN is not drawn, and a point outside of the panel may not be: no mark may get its neighbour's value."""
    panel.plot([1, 2, 4, 8], [85.125, NAN, 79.93, 12345], marker="o", label="EAGLE")
    assert titles(path := saved(panel.figure, tmp_path)) == [
        "EAGLE, group size 1: 85.12",
        "EAGLE, group size 4: 79.93",
        "EAGLE, group size 8: 12,345",
    ]
    assert titles(path, "curve") == ["EAGLE"]
    assert "79.93\neurlex-4k · P@1 (%)</title>" in path.read_text()


def test_marks_that_are_left_out_take_no_title_of_others(panel, tmp_path):
    """Of a line of which every second point is marked, these are told."""
    panel.plot(range(5), [10, 11, 12, 13, 14], marker="s", markevery=2, label="a")
    assert titles(saved(panel.figure, tmp_path)) == [f"a, group size {x}: {10 + x}" for x in (0, 2, 4)]


def test_a_mark_is_in_the_place_of_its_value(panel, tmp_path):
    """The higher of two values is the one further up."""
    panel.plot([1, 1], [3, 7], "o", label="a")
    points = [one for one in ElementTree.parse(saved(panel.figure, tmp_path)).iter() if one.get("class") == "point"]
    height = {one[0].text.partition("\n")[0][-1]: float(one.find(f"{SVG}use").get("y")) for one in points}
    assert height["7"] < height["3"]  # counted from above
    for point in points:
        circle, use = point.find(f"{SVG}circle"), point.find(f"{SVG}use")
        assert float(circle.get("cx")) == pytest.approx(float(use.get("x")), abs=1e-3)


def test_error_bars_tell_the_spread_and_their_caps_nothing(panel, tmp_path):
    panel.errorbar([1, 2, 3], [80, NAN, 70], [0.5, 0, 0], marker="o", capsize=2, label="EAGLE")
    path = saved(panel.figure, tmp_path)
    assert titles(path) == ["EAGLE, group size 1: 80 ± 0.5", "EAGLE, group size 3: 70"]
    assert titles(path, "curve") == ["EAGLE"]


def test_error_bars_in_both_directions(panel, tmp_path):
    panel.errorbar([10.0], [80.0], xerr=[0.25], yerr=[0.5], marker="o", linestyle="none", label="EAGLE")
    assert titles(saved(panel.figure, tmp_path)) == ["EAGLE, group size 10 ± 0.25: 80 ± 0.5"]


def test_bars_are_called_by_their_ticks(panel, tmp_path):
    """A bar without a label of its own is called what the legend calls its colour."""
    for position in (0, 1):
        for offset, color, label in ((-0.2, BLUE, "few"), (0.2, ORANGE, "many")):
            height = 0.25 + position / 2 + offset
            panel.bar(position + offset, height, width=0.38, color=color, label=None if position else label)
    panel.set_xticks([0, 1], ["EurLex\n4K", "Wiki"])
    panel.figure.legend(loc="outside lower center")
    expected = ["few, EurLex 4K: 0.05", "many, EurLex 4K: 0.45", "few, Wiki: 0.55", "many, Wiki: 0.95"]
    assert titles(saved(panel.figure, tmp_path)) == expected


def test_lying_bars(panel, tmp_path):
    panel.barh([0, 1], [-3, 4], label="gain")
    panel.set_yticks([0, 1], ["ours", "theirs"])
    panel.set(xlabel="Seconds", ylabel="")
    expected = ["gain, ours, seconds: −3", "gain, theirs, seconds: 4"]
    assert titles(saved(panel.figure, tmp_path)) == expected


@pytest.mark.parametrize("sizes", [9, [9, 16, 25, 9]], ids=["one size", "many sizes"])
def test_scatter_plots(panel, tmp_path, sizes):
    panel.scatter([1, 2, 3, 4], [5, NAN, 6, 7], s=sizes, label="labels")
    expected = [f"labels, group size {x}: {y}" for x, y in ((1, 5), (3, 6), (4, 7))]
    assert titles(saved(panel.figure, tmp_path)) == expected


def test_series_of_all_panels_are_called_as_in_the_legend(tmp_path):
    """The legend shows one mark of every series; what looks like it in another panel is the same series."""
    figure, panels = new_panels(3)
    marks = {}
    for number, panel in enumerate(panels):
        panel.set(title=f"data {number}", xlabel="Samples in a group, g")
        marks["EAGLE"] = panel.errorbar([1, 2], [3, 4 + number], [0, 0.5], color=BLUE, marker="o", capsize=2)
        marks["Baseline"] = panel.errorbar([1], [2], color=ORANGE, marker="s")
        panel.plot([1.5], [9], marker="s", color=ORANGE, markerfacecolor="none", linestyle="none")
        panel.axhline(0, color="black")
    explain_marks(figure, marks, "Title", [])
    told = titles(saved(figure, tmp_path))
    assert [one for one in told if one.startswith("EAGLE, samples in a group, g = 2")] == [
        f"EAGLE, samples in a group, g = 2: {4 + number} ± 0.5" for number in range(3)
    ]
    assert told.count("Baseline, samples in a group, g = 1: 2") == 3
    assert told.count("Baseline (hollow), samples in a group, g = 1.5: 9") == 3


def test_series_that_were_moved_aside_are_told_where_they_belong(panel, tmp_path):
    """On a logarithmic axis with ticks by hand, one series stands a little beside them, and one in between."""
    panel.set_xscale("log")
    panel.set_xticks([2, 4, 32], ["2", "4", "32"])
    panel.plot([2 * 1.02, 4 * 1.02, 32], [10, 11, NAN], marker="o", label="beside")  # gaps are not moved
    panel.plot([2, 4.05, 30], [20, 21, 22], marker="o", label="between")
    assert titles(saved(panel.figure, tmp_path)) == [
        "beside, group size 2: 10",
        "beside, group size 4: 11",
        "between, group size 2: 20",
        "between, group size 4.05: 21",
        "between, group size 30: 22",
    ]


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("λ, weight of transport", "a, λ = 2: 5"),
        ("σ₂: heterogeneity", "a, σ₂ = 2: 5"),
        ("Labels fused into one, k", "a, labels fused into one, k = 2: 5"),
        ("Expected depth at 1", "a, expected depth at 1 = 2: 5"),
        ("P@1 (%)", "a, P@1 (%) 2: 5"),
        ("", "a, 2: 5"),
    ],
)
def test_places_read_like_a_sentence(panel, tmp_path, label, told):
    panel.plot([2], [5], "o", label="a")
    panel.set_xlabel(label)
    assert titles(saved(panel.figure, tmp_path)) == [told]


def test_logarithmic_axes(panel, tmp_path):
    panel.loglog([10, 1000, 100_000], [0.001, 0.25, 2500], marker="o", label="time")
    expected = ["time, group size 10: 0.001", "time, group size 1,000: 0.25", "time, group size 100,000: 2,500"]
    assert titles(saved(panel.figure, tmp_path)) == expected


def test_lines_without_marks_are_called_by_name(panel, tmp_path):
    """A line across the panel has one value; one without a name is an axis, and says nothing."""
    panel.plot([1, 2], [3, 4], label="fit")
    panel.axhline(0.25, label="chance")
    panel.axhline(0, color="black")
    assert titles(saved(panel.figure, tmp_path), "curve") == ["fit", "chance: 0.25"]


def test_text_that_is_no_xml(panel, tmp_path):
    panel.set_title('a "quoted" <b>')
    panel.plot([1], [2], "o", label="R&D <x> 'y'")
    path = saved(panel.figure, tmp_path)
    assert titles(path) == ["R&D <x> 'y', group size 1: 2"]
    assert "R&amp;D &lt;x&gt;" in path.read_text()


def test_the_same_bytes_twice(tmp_path):
    written = []
    for name in ("one", "two"):
        figure, (panel,) = new_panels(1)
        panel.plot([1, 2, 3], [1, NAN, 3], marker="o", label="a")
        panel.bar([1, 2], [1, 2], label="b")
        written.append(saved(figure, tmp_path, name).read_bytes())
    assert written[0] == written[1]


def test_nothing_else_is_drawn_otherwise(tmp_path):
    """Without titles, hidden circles and the groups around them, the drawing is matplotlib's own."""
    figure, (panel,) = new_panels(1)
    panel.errorbar([1, 2, 3], [1, NAN, 3], [0.1, 0, 0.2], marker="o", capsize=2, label="a")
    panel.bar([1, 2], [1, 2], label="b").patches[0].set_gid("mine")
    figure.savefig(tmp_path / "plain.svg", metadata={"Date": None, "Creator": None})
    ours = saved(figure, tmp_path)
    assert 'id="mine"' in ours.read_text()
    assert _drawn(ours) == _drawn(tmp_path / "plain.svg")
    assert not plt.fignum_exists(figure.number)


def _drawn(path):
    """Every element that shows, in order, with all that decides how it looks."""
    shown = []
    for element in ElementTree.parse(path).iter():
        name = element.tag.rpartition("}")[2]
        if name in ("path", "use", "text", "rect", "image"):
            attributes = {key: value for key, value in element.items() if key not in ("class", "id")}
            shown.append((name, attributes, re.sub(r"\s+", "", element.text or "")))
    return shown


def test_values_are_those_of_the_data_for_any_curve(tmp_path):
    """Of a hundred random points the marks tell each its own value, to four digits."""
    random = np.random.default_rng(0)
    x, y = np.arange(100), random.normal(size=100)
    y[random.random(100) < 0.3] = np.nan
    figure, (panel,) = new_panels(1)
    panel.plot(x, y, "o", label="a")
    told = [float(one.partition(": ")[2].replace("−", "-")) for one in titles(saved(figure, tmp_path))]
    assert told == pytest.approx(y[np.isfinite(y)], rel=1e-3)
