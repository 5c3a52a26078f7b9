"""Expected depth against precision (labeltrees, Figures 2 to 5): a curve over λ′, the Pareto front, what is gained.

Of these figures the paper prints no numbers, so nothing published is drawn; what it says about them is in the notes.
"""

from dataclasses import dataclass

from orchard.report.plots import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    explain,
    mark_simulated,
    new_panels,
    save_figure,
)
from orchard.report.scores import Measured, measured_row, seeds_told
from orchard.report.tables import write_csv

LOOKS = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (RED, "v"), (PURPLE, "D"), (GREY, "P"))
HEADER = [
    "data set",
    "source",
    "curve",
    "λ′",
    "metric",
    "value",
    "spread",
    "cost",
    "at",
    "spread of it",
    "front",
    "run",
]


@dataclass(frozen=True)
class Point:
    """A run, or the mean of several: what it gives and what it takes, with their spreads over the seeds."""

    row: dict
    precision: float
    precision_spread: float
    cost: float
    cost_spread: float
    source: str

    @classmethod
    def of(cls, row: dict, measured: Measured, metric: str, cost: str) -> "Point":
        values, spreads = measured.values, measured.spreads
        pairs = ((values[name], spreads.get(name, 0.0)) for name in (metric, cost))
        return cls(row, *next(pairs), *next(pairs), measured.source)


def tradeoff_figure(artefact: dict, scores: list[dict], outputs, costs: dict[str, str]) -> None:
    """A panel for every data set, every of the artefact's metrics P@k and everything that k labels cost.

    Rows of one name are a curve in the order of their `at`, which is λ′; a row without is a point of its own. In a
    panel stands what the first curve gains over its λ′ = 0 or, if the artefact says `compare`, a curve over a point.
    costs : {metric on the x axis: what it is called}, with {k} for the k of P@k.
    """
    datasets = list(dict.fromkeys(score["dataset"] for score in scores))
    shown = [
        (dataset, metric, *cost) for dataset in datasets for metric in artefact["metrics"] for cost in costs.items()
    ]
    of_dataset = len(shown) // len(datasets)
    figure, axes = new_panels(len(shown), columns=3 if of_dataset == 3 else 2)
    records = []
    for panel, (dataset, metric, cost, axis) in zip(axes, shown, strict=True):
        k = metric.partition("@")[2]
        cost, axis = cost.replace("{k}", k), axis.replace("{k}", k)
        points = _points(artefact["rows"], dataset, scores, metric, cost)
        front = pareto_front(points)
        _draw(panel, points, front)
        panel.set(title=dataset, xlabel=axis, ylabel=f"{metric} (%)")
        if told := _gain(points, cost, artefact.get("compare")):
            panel.text(0.03, 0.04, told, transform=panel.transAxes, fontsize=6, color=GREY)
        if points[0].source == "simulated":
            mark_simulated(panel)
        records += [_record(dataset, metric, cost, point, point in front) for point in points]
    notes = [
        *artefact.get("notes", []),
        "Small numbers: λ′, of all points of the first curve and of the ends of the others. Dotted: the Pareto front.",
        seeds_told(scores),
    ]
    explain(figure, axes[0], artefact["title"], notes)
    save_figure(figure, outputs["png"], outputs["svg"])
    write_csv(outputs["csv"], HEADER, records)


def _points(rows: list[dict], dataset: str, scores: list[dict], metric: str, cost: str) -> list[Point]:
    measured = ((row, measured_row(row, dataset, scores)) for row in rows)
    return [Point.of(row, one, metric, cost) for row, one in measured if one and cost in one.values]


def pareto_front(points: list[Point]) -> list[Point]:
    """The points that no other one beats in cost or precision without losing in the other, by ascending cost."""
    front = []
    for point in sorted(points, key=lambda point: (point.cost, -point.precision)):
        equals = front and (point.cost, point.precision) == (front[-1].cost, front[-1].precision)
        if not front or equals or point.precision > front[-1].precision:
            front.append(point)
    return front


def _gain(points: list[Point], cost: str, compared: dict | None) -> str:
    if not compared:
        return gain_at_equal_precision(points, cost)
    (rival,) = (point for point in points if point.row["row"] in compared["with"])
    return gain_over(rival, [point for point in points if point.row["row"] == compared["row"]], cost)


def gain_over(rival: Point, curve: list[Point], cost: str) -> str:
    """How much more precise the best point of a curve is than the rival, and what it costs more, both in per cent."""
    best = max(curve, key=lambda point: point.precision)
    shares = (100 * (one / other - 1) for one, other in ((best.precision, rival.precision), (best.cost, rival.cost)))
    precision, more = (f"{share:+.1f} %".replace("-", "−") for share in shares)
    return f"λ′ = {_short(best.row['at'])}: {precision} precision, {more} {cost} over {rival.row['row']}"


def gain_at_equal_precision(points: list[Point], cost: str) -> str:
    """How much less the first curve costs at most where it is as precise as λ′ = 0 (labeltrees, abstract)."""
    curve = [point for point in points if point.row["row"] == points[0].row["row"] and "at" in point.row]
    start = next((point for point in curve if point.row["at"] == 0), None)
    if start is None or len(curve) < 2:
        return ""
    best = min((point for point in curve if point.precision >= start.precision), key=lambda point: point.cost)
    if best is start:
        return f"no λ′ > 0 has less {cost} and is as precise as λ′ = 0"
    return f"{cost} −{100 * (1 - best.cost / start.cost):.0f} % at λ′ = {_short(best.row['at'])}, as precise as λ′ = 0"


def _draw(panel, points: list[Point], front: list[Point]) -> None:
    names = list(dict.fromkeys(point.row["row"] for point in points))
    for name, (color, marker) in zip(names, LOOKS[: len(names)], strict=True):
        own = [point for point in points if point.row["row"] == name]
        spreads = {
            "xerr": [point.cost_spread for point in own],
            "yerr": [point.precision_spread for point in own],
        }
        panel.errorbar(
            [point.cost for point in own],
            [point.precision for point in own],
            **{key: values for key, values in spreads.items() if any(values)},
            color=color,
            marker=marker,
            markersize=3.5 if "at" in own[0].row else 7,
            linestyle="-" if len(own) > 1 else "none",
            linewidth=1,
            elinewidth=0.6,
            label=name,
        )
        _tell_values(panel, own if name == names[0] else [own[0], own[-1]], color)
    panel.step(
        [point.cost for point in front],
        [point.precision for point in front],
        where="post",
        color="black",
        linestyle=":",
        linewidth=0.8,
        zorder=0,
    )
    panel.margins(0.08, 0.15)
    lowest, highest = panel.get_ylim()
    panel.set_ylim(lowest - 0.12 * (highest - lowest), highest)  # room for a sentence below the points


def _tell_values(panel, points: list[Point], color: str) -> None:
    """λ′ beside its point, in turns above and below, so that neighbours do not cover each other."""
    for number, point in enumerate(points):
        if "at" in point.row:
            offset = (2, 4) if number % 2 else (2, -8)
            place = (point.cost, point.precision)
            words = {"textcoords": "offset points", "fontsize": 5.5, "color": color}
            panel.annotate(_short(point.row["at"]), place, offset, **words)


def _short(value: float) -> str:
    return "10⁵" if value == 100_000 else f"{value:g}"


def _record(dataset: str, metric: str, cost: str, point: Point, on_front: bool) -> list:
    row = point.row
    value, at = f"{point.precision:.6g}", f"{point.cost:.6g}"
    spreads = [f"{spread:.6g}" for spread in (point.precision_spread, point.cost_spread)]
    told = [dataset, point.source, row["row"], row.get("at", ""), metric, value, spreads[0], cost, at, spreads[1]]
    return [*told, "yes" if on_front else "", row["method"]]
