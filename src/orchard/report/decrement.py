"""What aggregation costs (eagle, Figures 4, 7, 8 and 9): the decrement of precision over the oracle, in per cent.

"The y-axis calculates the percentage of precision decrement over the oracle performance (trained with known
sample-label correspondences)". The published curves are derived from Table 5, which prints the values behind them.

An artefact of this kind has `metrics`, and `rows` crossed with `settings` (see `orchard.report.rows`). A setting's
`axis` and `at` give its place; there is a panel for every axis and metric, and a line of panels for every data set.
The row without an axis is the oracle.
"""

from dataclasses import dataclass
from string import ascii_lowercase

from orchard.report import curves
from orchard.report.plots import GREY, mark_simulated, new_panels, save_figure
from orchard.report.published import PublishedValue
from orchard.report.rows import run_of
from orchard.report.scores import measured_row
from orchard.report.tables import write_csv

FIGURE_WIDTH, PANEL_HEIGHT = 7.2, 2.1  # inches: both columns of a paper
CSV_HEADER = [
    "panel",
    "data set",
    "axis",
    "at",
    "method",
    "metric",
    "source",
    "run",
    "decrement",
    "spread",
    "value",
    "oracle",
]


@dataclass(frozen=True, kw_only=True)
class Point(curves.Point):
    """The decrement of a method (`height`) at a place of the axis; `spread` is that of the value, in per cent."""

    value: float
    oracle: float

    @classmethod
    def over(cls, point: curves.Point, oracle: float) -> "Point":
        spread = None if point.spread is None else 100 * point.spread / oracle
        lost = decrement(point.height, oracle)
        return cls(point.at, lost, spread, point.source, point.run, value=point.height, oracle=oracle)


def decrement(value: float, oracle: float) -> float:
    """Per cent of the oracle's value that are lost."""
    return 100 * (oracle - value) / oracle


def decrement_figure(artefact: dict, scores: list[dict], published_csv, outputs) -> None:
    """Draw the curves of our runs, and the published ones beside those on the same (real) data set.

    scores : the score.json of every run that the artefact asks for.
    """
    (oracle,) = [row for row in artefact["rows"] if "axis" not in row]
    lines = [row for row in artefact["rows"] if "axis" in row]
    published = curves.published_values(published_csv, lines)
    datasets = list(dict.fromkeys(score["dataset"] for score in scores))
    simulated = {score["dataset"]: score["simulated"] for score in scores}
    names = list(dict.fromkeys(row["row"] for row in lines))
    looks = curves.looks_of(names)
    panels = [(axis, metric) for axis in dict.fromkeys(row["axis"] for row in lines) for metric in artefact["metrics"]]
    figure, axes = new_panels(len(datasets) * len(panels), columns=len(panels))
    figure.set_size_inches(FIGURE_WIDTH, PANEL_HEIGHT * len(datasets) + 0.7)
    figure.get_layout_engine().set(w_pad=0.06)
    figure.suptitle(artefact["title"], fontsize=9)
    records, drawn, left = [], {}, list(axes)
    for dataset in datasets:
        for letter, (axis, metric) in zip(ascii_lowercase, panels, strict=False):
            panel, here = left.pop(0), [row for row in lines if row["axis"] == axis]
            _prepare(panel, f"({letter}) {dataset}, {metric}", axis, metric, here)
            for number, name in enumerate(names):
                mine = [row for row in here if row["row"] == name]
                ours = measured_points(mine, oracle, dataset, metric, scores)
                theirs = [] if simulated[dataset] else published_points(mine, oracle, dataset, metric, published)
                whole = len(theirs) == len(mine)  # else only some places are published, and no line joins them
                gaps = [row["at"] for row in mine if run_of(row, dataset) is None]
                marks = curves.draw_curves(panel, ours, theirs, whole, gaps, *looks[name])
                drawn = {(number, name, source): mark for source, mark in marks.items()} | drawn
                records += [
                    [letter, dataset, axis, _short(point.at), name, metric, point.source, point.run, *_numbers(point)]
                    for point in ours + theirs
                ]
            if simulated[dataset]:
                mark_simulated(panel)
    notes = artefact.get("notes", []) if any(row[6] == "published" for row in records) else []
    _explain(figure, drawn, [*notes, _measured_note(lines, scores)])
    save_figure(figure, outputs["png"], outputs["svg"])
    write_csv(outputs["csv"], CSV_HEADER, records)


def measured_points(rows: list[dict], oracle: dict, dataset: str, metric: str, scores: list[dict]) -> list[Point]:
    """One point for every row that has runs; none where the model was oversized."""
    best = measured_row(oracle, dataset, scores)
    if not best or metric not in best.values:
        return []
    return [Point.over(point, best.values[metric]) for point in curves.measured_points(rows, dataset, metric, scores)]


def published_points(
    rows: list[dict], oracle: dict, dataset: str, metric: str, published: dict[tuple, PublishedValue]
) -> list[Point]:
    """One point for every row whose value the paper prints, over the oracle that it prints."""
    best = published.get((dataset, oracle.get("setting", ""), oracle["row"], metric))
    if not best:
        return []
    return [Point.over(point, best.number) for point in curves.published_points(rows, dataset, metric, published)]


def _prepare(panel, title: str, axis: str, metric: str, rows: list[dict]) -> None:
    panel.set_title(title)
    panel.set(xlabel=axis[0].upper() + axis[1:], ylabel=f"Decrement of {metric} (%)")
    places = sorted({row["at"] for row in rows})
    margin = 0.08 * (places[-1] - places[0]) or 1
    panel.set(xlim=(places[0] - margin, places[-1] + margin), xticks=places)
    panel.axhline(0, color="black", linewidth=0.6)


def _measured_note(rows: list[dict], scores: list[dict]) -> str:
    """How many runs are behind a measured point, and why a curve may be broken."""
    seeds = sorted({score["seed"] for score in scores})
    told = f"seed {seeds[0]}" if len(seeds) == 1 else f"means over up to {len(seeds)} seeds ± their standard deviation"
    broken = "; broken where a setting is run from a larger scale on" if any("from" in row for row in rows) else ""
    return f"Decrement: 100 · (1 − precision / that of the oracle). Measured: {told}{broken}."


def _explain(figure, drawn: dict, notes: list[str]) -> None:
    """The notes, and a legend with a column for every method, below all panels."""
    names = sorted(drawn, key=lambda key: (key[0], key[2] == "published"))
    handles, labels = [drawn[key] for key in names], [f"{name}, {source}" for _, name, source in names]
    legend = figure.legend(
        handles, labels, loc="outside lower center", ncols=max(1, len({name for _, name, _ in names})), handlelength=3
    )
    legend.set_title("\n".join(notes) or None, prop={"size": 6.5})
    legend.get_title().set_color(GREY)


def _numbers(point: Point) -> list[str]:
    spread = "" if point.spread is None else f"{point.spread:.6g}"
    return [f"{point.height:.6g}", spread, f"{point.value:.6g}", f"{point.oracle:.6g}"]


def _short(number: float) -> str:
    return f"{number:g}"
