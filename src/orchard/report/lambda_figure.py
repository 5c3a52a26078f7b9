"""Micro-F1, precision and recall against λ, the weight of optimal transport in the loss (otseq2set, Figure 5).

The rows' `at` is λ. The paper prints no numbers of this figure but the best λ, which a dotted line marks.
"""

from orchard.errors import ConfigError
from orchard.report.curves import LOOKS, Point, draw_curves, measured_points
from orchard.report.plots import BLUE, GREY, explain_marks, mark_simulated, new_panels, save_figure
from orchard.report.published import PublishedValue, read_published
from orchard.report.scores import not_run_notes, seeds_told
from orchard.report.tables import write_csv

CSV_HEADER = ["data set", "λ", "metric", "source", "run", "value", "spread"]
NAMES = {"F1": "micro-F1", "P": "micro-precision", "R": "micro-recall"}
VALIDATION = "validation F1"  # as score.json has it
BEST = "best λ"


def lambda_figure(artefact: dict, scores: list[dict], published_csv, outputs) -> None:
    """A panel for every data set, a curve for every metric: the first with a thick line, the others with thin ones.

    scores : the score.json of every run that the artefact asks for; without any, the paper's data set has an empty
        panel with its best λ.
    """
    rows, metrics = artefact["rows"], artefact["metrics"]
    if astray := [row["row"] for row in rows if "at" not in row]:
        raise ConfigError(f"rows: {astray[0]}: it needs its λ as a place (at)")
    published = _published_best(published_csv)
    simulated = {score["dataset"]: score["simulated"] for score in scores} or {published.dataset: False}
    figure, axes = new_panels(len(simulated))
    notes, records, marks = [], [], {}
    for panel, dataset in zip(axes, simulated, strict=True):
        points = {name: measured_points(rows, dataset, name, scores) for name in (*metrics, VALIDATION)}
        _prepare(panel, dataset, rows)
        for metric, look in zip(metrics, ((BLUE, "o"), *LOOKS), strict=False):
            line = {} if metric == metrics[0] else {"linewidth": 0.8, "markersize": 3}
            for mark in draw_curves(panel, points[metric], [], False, [], *look, **line).values():
                marks[NAMES.get(metric, metric)] = mark
        records += [_record(dataset, name, point) for name, curve in points.items() for point in curve]
        notes += _best_told(dataset, points[metrics[0]], points[VALIDATION], published.number)
        if simulated[dataset]:
            mark_simulated(panel)
        else:
            panel.axvline(published.number, color=GREY, linestyle=":", linewidth=1)
        if not any(points.values()):
            panel.set_yticks([])
            panel.text(0.5, 0.5, "not run", transform=panel.transAxes, ha="center", color=GREY)
    if not all(simulated.values()):
        notes.append(f"Dotted: λ = {published.value}, the best in the paper, on {published.dataset}.")
        records.append([published.dataset, published.value, BEST, "published", "", published.value, ""])
    notes += [seeds_told(scores)] if scores else []
    notes += not_run_notes(rows, list(simulated))
    told = [note.replace("`", "") for note in (*artefact.get("notes", []), *notes)]
    explain_marks(figure, marks, artefact["title"], told)
    save_figure(figure, outputs["png"], outputs["svg"])
    write_csv(outputs["csv"], CSV_HEADER, records)


def _published_best(path) -> PublishedValue:
    """The best λ that the paper states."""
    found = [value for value in read_published(path) if value.metric == BEST]
    if len(found) != 1:
        raise ConfigError(f"{path}: {len(found)} lines with the metric {BEST!r} instead of one")
    return found[0]


def _prepare(panel, dataset: str, rows: list[dict]) -> None:
    """λ doubles from place to place, and 0 is as far from 1 as 1 from 2."""
    places = sorted({row["at"] for row in rows})
    panel.set_xscale("symlog", base=2, linthresh=1, linscale=0.5)
    panel.set_xticks(places, [f"{place:g}" for place in places])
    panel.minorticks_off()
    panel.set(title=dataset, xlabel="λ, weight of optimal transport", ylabel="Micro-averaged score (%)")


def _best_told(dataset: str, tested: list[Point], validated: list[Point], published: float) -> list[str]:
    """Which λ is best on validation and on test samples, and how far the paper's is from the latter."""
    if not tested:
        return []
    best = _best(tested)
    chosen = f"{_best(validated).at:g} on validation samples, " if validated else ""
    beside = [f"λ = {point.at:g}: {point.height:.2f}" for point in tested if point.at == published != best.at]
    told = "; ".join([f"micro-F1 {best.height:.2f}", *beside])
    return [f"{dataset}: the best λ is {chosen}{best.at:g} on test samples ({told})."]


def _best(points: list[Point]) -> Point:
    """The highest one; of several, the one with the smallest λ."""
    return max(points, key=lambda point: (point.height, -point.at))


def _record(dataset: str, metric: str, point: Point) -> list:
    spread = "" if point.spread is None else f"{point.spread:.6g}"
    return [dataset, f"{point.at:g}", metric, point.source, point.run, f"{point.height:.6g}", spread]
