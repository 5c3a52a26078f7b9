"""Curves of methods over the places of settings, measured and published: their points, and how they are drawn.

The rows are resolved (`orchard.report.rows`); their `at` is the place. `published` names the setting of the published
table that a row is set beside, if it has another name there.
"""

from dataclasses import dataclass

from orchard.errors import ConfigError
from orchard.report.plots import BLUE, GREEN, GREY, ORANGE, PURPLE, RED
from orchard.report.published import PublishedValue, read_published
from orchard.report.rows import run_of
from orchard.report.scores import measured_row

# The paper's own methods look the same in all figures; others take what is left in the order of the rows.
OWN_LOOKS = {"EAGLE-0": (PURPLE, "^"), "EAGLE": (BLUE, "o")}
LOOKS = ((ORANGE, "s"), (GREEN, "D"), (RED, "v"), (GREY, "P"))


@dataclass(frozen=True)
class Point:
    """What a method gives at a place of the axis, and its spread over the seeds, if there are several."""

    at: float
    height: float
    spread: float | None
    source: str
    run: str = ""


def looks_of(names: list[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of every method."""
    others = [name for name in names if name not in OWN_LOOKS]
    if len(others) > len(LOOKS):
        raise ConfigError(f"rows: a figure has room for {len(LOOKS)} methods beside EAGLE's, not for {len(others)}")
    looks = OWN_LOOKS | dict(zip(others, LOOKS, strict=False))
    return {name: looks[name] for name in names}


def measured_points(rows: list[dict], dataset: str, metric: str, scores: list[dict]) -> list[Point]:
    """One point for every row that has runs; none where the model was oversized."""
    points = []
    for row in rows:
        measured = measured_row(row, dataset, scores)
        if measured and metric in measured.values:
            run = "/".join(run_of(row, dataset))
            points.append(Point(row["at"], measured.values[metric], measured.spreads.get(metric), measured.source, run))
    return sorted(points, key=lambda point: point.at)


def published_points(
    rows: list[dict], dataset: str, metric: str, published: dict[tuple, PublishedValue]
) -> list[Point]:
    """One point for every row whose value the paper prints."""
    points = []
    for row in rows:
        setting = row.get("published", row.get("setting", ""))
        printed = published.get((dataset, setting, row["row"], metric))
        if printed and printed.number == printed.number:  # NaN: printed as `-` or `O`
            spread = printed.spread if printed.spread == printed.spread else None
            points.append(Point(row["at"], printed.number, spread, "published"))
    return sorted(points, key=lambda point: point.at)


def published_values(path, rows: list[dict]) -> dict[tuple, PublishedValue]:
    """{(data set, setting, method, metric): value}; a `published` setting that the paper does not have is refused."""
    values = {(value.dataset, value.setting, value.method, value.metric): value for value in read_published(path)}
    settings = {setting for _, setting, *_ in values}
    if unknown := sorted({row["published"] for row in rows if "published" in row} - settings):
        raise ConfigError(f"{path}: published: there is no setting {unknown[0]!r}")
    return values


def draw_curves(
    panel, ours: list, theirs: list, joined: bool, gaps: list[float], color: str, marker: str, **line
) -> dict:
    """Draw the curves of one method in one panel; returns {source: what a legend shows}.

    ours, theirs : points with `at`, `height`, `spread` and `source`.  joined : a line joins the published points.
    gaps : places that were not run, which no measured line crosses.
    line : how the measured line looks otherwise, as matplotlib takes it.
    """
    drawn = {}
    if theirs:
        places, heights = zip(*((point.at, point.height) for point in theirs), strict=True)
        look = {"linestyle": (0, (4, 2)) if joined else "none", "linewidth": 1, "markerfacecolor": "none"}
        (drawn["published"],) = panel.plot(places, heights, marker=marker, markersize=6, color=color, **look)
    if ours:
        points = [(point.at, point.height, point.spread or 0) for point in ours]
        points += [(at, float("nan"), 0) for at in gaps]
        places, heights, spreads = zip(*sorted(points), strict=True)
        drawn[ours[0].source] = panel.errorbar(
            places,
            heights,
            spreads if any(spreads) else None,
            **{"marker": marker, "markersize": 4, "color": color, "capsize": 2} | line,
        )
    return drawn
