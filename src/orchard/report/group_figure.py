"""Accuracy against the size of the groups (beyond eagle's Table 3, which prints two sizes).

An artefact of this kind has `rows` crossed with `settings` (see `orchard.report.rows`): a setting's `axis` says how
labels are merged, and its `at` is the group size. There is a panel for every data set and axis, a curve for every row.
`chance`, if it is there, is the number of labels that guessing chooses from.
"""

from dataclasses import replace

from orchard.errors import ConfigError
from orchard.report.curves import Point, draw_curves, looks_of, measured_points, published_points, published_values
from orchard.report.plots import GREY, explain_marks, mark_simulated, new_panels, save_figure
from orchard.report.rows import run_of
from orchard.report.scores import not_run_notes, seeds_told
from orchard.report.tables import write_csv

CSV_HEADER = ["data set", "axis", "group size", "method", "metric", "source", "run", "value", "spread"]
MARGIN = 1.25  # what the axis goes beyond its first and last place, as a factor
ASIDE = 0.012  # of the axis: how far neighbouring methods stand from each other, so that no bar covers another one


def group_figure(artefact: dict, scores: list[dict], published_csv, outputs) -> None:
    """Draw the curves of our runs, and hollow marks for what is published of the same (real) data set.

    scores : the score.json of every run that the artefact asks for; if there are none, all that is published is drawn.
    """
    rows, metric = artefact["rows"], artefact["metrics"][0]
    if astray := [row["row"] for row in rows if not {"axis", "at"} <= row.keys()]:
        raise ConfigError(f"rows: {astray[0]}: it needs settings with an axis and a place (at)")
    looks = looks_of(list(dict.fromkeys(row["row"] for row in rows)))
    panels = _panels(rows, metric, scores, published_values(published_csv, rows))
    if not panels:
        raise ConfigError(f"{artefact['title']}: rows: nothing is run, and nothing published")
    figure, axes = new_panels(len(panels))
    records, marks = [], {}
    for panel, ((dataset, axis), by_method) in zip(axes, panels.items(), strict=True):
        here = [row for row in rows if row["axis"] == axis]
        _prepare(panel, f"{dataset}, {axis}", metric, here)
        for number, (name, (ours, theirs)) in enumerate(by_method.items()):
            gaps = [row["at"] for row in here if row["row"] == name and run_of(row, dataset) is None]
            aside = _aside(here) ** (number - (len(by_method) - 1) / 2)
            moved = ([replace(point, at=point.at * aside) for point in points] for points in (ours, theirs))
            drawn = draw_curves(panel, *moved, False, gaps, *looks[name])
            for source, mark in drawn.items():
                if source != "published" or name not in marks:
                    marks[name] = mark
            records += [_record(dataset, axis, name, metric, point) for point in ours + theirs]
        if "chance" in artefact:
            panel.axhline(100 / artefact["chance"], color=GREY, linestyle=":", linewidth=1)
        if any(point.source == "simulated" for ours, _ in by_method.values() for point in ours):
            mark_simulated(panel)
    legend = {name: marks[name] for name in looks if name in marks}
    explain_marks(figure, legend, artefact["title"], _notes(artefact, scores, panels))
    save_figure(figure, outputs["png"], outputs["svg"])
    write_csv(outputs["csv"], CSV_HEADER, records)


def _panels(rows: list[dict], metric: str, scores: list[dict], published: dict) -> dict[tuple[str, str], dict]:
    """{(data set, axis): {method: (measured points, published points)}}, where there are any."""
    simulated = {score["dataset"]: score["simulated"] for score in scores}
    panels = {}
    for dataset in simulated or dict.fromkeys(dataset for dataset, *_ in published):
        for axis in dict.fromkeys(row["axis"] for row in rows):
            by_method = {}
            for row in rows:
                if row["axis"] == axis:
                    by_method.setdefault(row["row"], []).append(row)
            points = {
                name: (
                    measured_points(own, dataset, metric, scores),
                    [] if simulated.get(dataset) else published_points(own, dataset, metric, published),
                )
                for name, own in by_method.items()
            }
            if any(ours or theirs for ours, theirs in points.values()):
                panels[dataset, axis] = points
    return panels


def _prepare(panel, title: str, metric: str, rows: list[dict]) -> None:
    sizes = sorted({row["at"] for row in rows})
    panel.set_title(title)
    panel.set_xscale("log")
    panel.set_xticks(sizes, [f"{size:g}" for size in sizes])
    panel.minorticks_off()
    panel.set_xlim(sizes[0] / MARGIN, sizes[-1] * MARGIN)
    panel.set(xlabel="Samples in a group, g", ylabel=f"{metric[0].upper()}{metric[1:]} (%)")


def _aside(rows: list[dict]) -> float:
    """The factor by which a method's places are moved on the axis of these rows, from its neighbour's."""
    sizes = [row["at"] for row in rows]
    return (MARGIN**2 * max(sizes) / min(sizes)) ** ASIDE


def _notes(artefact: dict, scores: list[dict], panels: dict[tuple[str, str], dict]) -> list[str]:
    hollow = any(theirs for by_method in panels.values() for _, theirs in by_method.values())
    return [
        *artefact.get("notes", []),
        *([f"Dotted: chance, 1 of {artefact['chance']} labels."] if "chance" in artefact else []),
        *(["Hollow: published."] if hollow else []),
        *([seeds_told(scores)] if scores else []),
        *(note.replace("`", "") for note in not_run_notes(artefact["rows"], [dataset for dataset, _ in panels])),
    ]


def _record(dataset: str, axis: str, method: str, metric: str, point: Point) -> list:
    spread = "" if point.spread is None else f"{point.spread:.6g}"
    place = [dataset, axis, f"{point.at:g}", method, metric]
    return [*place, point.source, point.run, f"{point.height:.6g}", spread]
