"""What aggregation costs (eagle, Figures 4, 7, 8 and 9): the decrement of precision over the oracle, in per cent.

"The y-axis calculates the percentage of precision decrement over the oracle performance (trained with known
sample-label correspondences)". The published curves are derived from Table 5, which prints the values behind them.

An artefact of this kind has `metrics`, and `rows` crossed with `settings` (see `orchard.report.rows`). A setting's
`axis` and `at` give its place; there is a panel for every axis and metric, and a line of panels for every data set.
The row without an axis is the oracle.
"""

from dataclasses import dataclass
from string import ascii_lowercase

from orchard.errors import ConfigError
from orchard.report.plots import BLUE, GREY, ORANGE, PURPLE, mark_simulated, new_panels, save_figure
from orchard.report.published import PublishedValue, read_published
from orchard.report.rows import run_of
from orchard.report.scores import measured_row
from orchard.report.tables import write_csv

LOOKS = ((ORANGE, "s"), (PURPLE, "^"), (BLUE, "o"))  # of the methods, in the order of the rows
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


@dataclass(frozen=True)
class Point:
    """The decrement of a method at a place of the axis; `spread` is that of the value, in per cent of the oracle."""

    at: float
    decrement: float
    spread: float | None
    value: float
    oracle: float
    source: str
    run: str = ""

    @classmethod
    def of(cls, at: float, value: float, spread: float | None, oracle: float, source: str, run: str = "") -> "Point":
        spread = None if spread is None else 100 * spread / oracle
        return cls(at, decrement(value, oracle), spread, value, oracle, source, run)


def decrement(value: float, oracle: float) -> float:
    """Per cent of the oracle's value that are lost."""
    return 100 * (oracle - value) / oracle


def decrement_figure(artefact: dict, scores: list[dict], published_csv, outputs) -> None:
    """Draw the curves of our runs, and the published ones beside those on the same (real) data set.

    scores : the score.json of every run that the artefact asks for.
    """
    (oracle,) = [row for row in artefact["rows"] if "axis" not in row]
    lines = [row for row in artefact["rows"] if "axis" in row]
    published = _published(published_csv, lines)
    datasets = list(dict.fromkeys(score["dataset"] for score in scores))
    simulated = {score["dataset"]: score["simulated"] for score in scores}
    names = list(dict.fromkeys(row["row"] for row in lines))
    if len(names) > len(LOOKS):
        raise ConfigError(f"a figure of decrements has room for {len(LOOKS)} methods, not for {len(names)}")
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
                curves = _draw(panel, ours, theirs, whole, gaps, *LOOKS[number])
                drawn = {(number, name, source): curve for source, curve in curves.items()} | drawn
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
    points = []
    for row in rows:
        measured = measured_row(row, dataset, scores)
        if best and measured and metric in best.values and metric in measured.values:
            run = "/".join(run_of(row, dataset))
            spread, of_oracle = measured.spreads.get(metric), best.values[metric]
            points.append(Point.of(row["at"], measured.values[metric], spread, of_oracle, measured.source, run))
    return sorted(points, key=lambda point: point.at)


def published_points(
    rows: list[dict], oracle: dict, dataset: str, metric: str, published: dict[tuple, PublishedValue]
) -> list[Point]:
    """One point for every row whose value the paper prints, over the oracle that it prints."""
    best = published.get((dataset, oracle.get("setting", ""), oracle["row"], metric))
    points = []
    for row in rows:
        printed = published.get((dataset, _setting(row), row["row"], metric))
        if best and printed and printed.number == printed.number:  # NaN: printed as `-` or `O`
            spread = printed.spread if printed.spread == printed.spread else None
            points.append(Point.of(row["at"], printed.number, spread, best.number, "published"))
    return sorted(points, key=lambda point: point.at)


def _published(path, rows: list[dict]) -> dict[tuple, PublishedValue]:
    """{(data set, setting, method, metric): value}; a `published` setting that the paper does not have is refused."""
    values = {(value.dataset, value.setting, value.method, value.metric): value for value in read_published(path)}
    settings = {setting for _, setting, *_ in values}
    if unknown := sorted({row["published"] for row in rows if "published" in row} - settings):
        raise ConfigError(f"{path}: there is no setting {unknown[0]!r}")
    return values


def _setting(row: dict) -> str:
    return row.get("published", row.get("setting", ""))


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


def _draw(
    panel, ours: list[Point], theirs: list[Point], joined: bool, gaps: list[float], color: str, marker: str
) -> dict:
    """Draw the curves of one method in one panel; returns {source: what a legend shows}.

    joined : a line joins the published points.  gaps : places that were not run, which no measured line crosses.
    """
    drawn = {}
    if theirs:
        places, heights = zip(*((point.at, point.decrement) for point in theirs), strict=True)
        look = {"linestyle": (0, (4, 2)) if joined else "none", "linewidth": 1, "markerfacecolor": "none"}
        (drawn["published"],) = panel.plot(places, heights, marker=marker, markersize=6, color=color, **look)
    if ours:
        points = [(point.at, point.decrement, point.spread or 0) for point in ours]
        points += [(at, float("nan"), 0) for at in gaps]
        places, heights, spreads = zip(*sorted(points), strict=True)
        drawn[ours[0].source] = panel.errorbar(
            places, heights, spreads if any(spreads) else None, marker=marker, markersize=4, color=color, capsize=2
        )
    return drawn


def _explain(figure, drawn: dict, notes: list[str]) -> None:
    """The notes, and a legend with a column for every method, below all panels."""
    names = sorted(drawn, key=lambda key: (key[0], key[2] == "published"))
    handles, labels = [drawn[key] for key in names], [f"{name}, {source}" for _, name, source in names]
    legend = figure.legend(handles, labels, loc="outside lower center", ncols=len(LOOKS), handlelength=3)
    legend.set_title("\n".join(notes) or None, prop={"size": 6.5})
    legend.get_title().set_color(GREY)


def _numbers(point: Point) -> list[str]:
    spread = "" if point.spread is None else f"{point.spread:.6g}"
    return [f"{point.decrement:.6g}", spread, f"{point.value:.6g}", f"{point.oracle:.6g}"]


def _short(number: float) -> str:
    return f"{number:g}"
