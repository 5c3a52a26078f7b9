"""What is said about the lines, marks and bars of a figure, as matplotlib's artists know it, and where in the SVG."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter

from orchard.report.series_names import NO_MARKER, SeriesNames, look_of_line, look_of_patch, one_line

POINTS_PER_INCH = 72  # an SVG of matplotlib is measured in points
ASIDE = 0.05  # of an axis: how far a series may be moved from the ticks, so that it does not cover its neighbours


@dataclass
class Told:
    """What is said about an artist: about its line, and about each of its marks with its place in the SVG."""

    artist: object
    line: str = ""
    marks: list[tuple[float, float, str]] = field(default_factory=list)


def told_of(panel: Axes) -> list[Told]:
    """What is to be said about the artists of a panel; nothing about the caps of error bars."""
    names, told = SeriesNames(panel), []
    bars = [container for container in panel.containers if isinstance(container, BarContainer)]
    errors = [container for container in panel.containers if isinstance(container, ErrorbarContainer)]
    caps = {id(cap) for container in errors for cap in container.lines[1]}
    container_of = {id(container.lines[0]): container for container in errors}
    for line in panel.lines:
        if id(line) not in caps:
            told.append(_told_of_line(panel, line, names, container_of.get(id(line))))
    for collection in panel.collections:
        if isinstance(collection, PathCollection):
            told.append(_told_of_scatter(panel, collection, names))
    for container in bars:
        told += _told_of_bars(panel, container, names)
    return told


def _told_of_line(panel: Axes, line: Line2D, names: SeriesNames, container: ErrorbarContainer | None) -> Told:
    name = names.of(look_of_line(line), line, container)
    in_data = line.get_transform().contains_branch_seperately(panel.transData)
    if not all(in_data):  # a line across the whole panel, at one value
        value = line.get_ydata()[0] if in_data[1] else line.get_xdata()[0]
        return Told(line, f"{name}: {_short(value)}" if name and any(in_data) else "")
    x, y = (np.ma.filled(np.ma.asarray(values, float), np.nan) for values in line.get_data(orig=False))
    described = _joined(name, _about(panel), separator="\n")
    if line.get_marker() in NO_MARKER:
        return Told(line, described)
    across, up = _spreads(container, x, y)
    drawn_at = np.where(np.isfinite(y), x, np.nan)  # a gap in a curve is nowhere
    places = [f"{place}{spread}" for place, spread in zip(_places(panel, drawn_at), across, strict=True)]
    values = [f"{_short(value)}{spread}" for value, spread in zip(y, up, strict=True)]
    words = [_words(panel, name, place, value) for place, value in zip(places, values, strict=True)]
    return Told(line, described, _placed(panel, line.get_transform(), x, y, words))


def _told_of_scatter(panel: Axes, collection: PathCollection, names: SeriesNames) -> Told:
    name = names.of(look_of_patch(collection), collection)
    x, y = np.ma.filled(np.ma.asarray(collection.get_offsets(), float), np.nan).T
    words = [_words(panel, name, place, _short(value)) for place, value in zip(_places(panel, x), y, strict=True)]
    return Told(collection, "", _placed(panel, collection.get_offset_transform(), x, y, words))


def _told_of_bars(panel: Axes, container: BarContainer, names: SeriesNames) -> list[Told]:
    """A bar is called by the tick that is nearest to its middle; ticks without a text do not matter."""
    told = []
    upright = container.orientation != "horizontal"
    ticks = _labelled_ticks(panel.xaxis if upright else panel.yaxis)
    value_label = "" if upright else _phrase(panel.get_xlabel())
    for patch, value in zip(container.patches, container.datavalues, strict=True):
        start, width = (patch.get_x(), patch.get_width()) if upright else (patch.get_y(), patch.get_height())
        nearest = min(ticks, key=lambda tick: abs(tick[0] - (start + width / 2)), default=(0, ""))[1]
        name = names.of(look_of_patch(patch), container)
        words = f"{_joined(name, nearest, value_label) or 'value'}: {_short(value)}"
        about = _about(panel) if upright else one_line(_title(panel))
        told.append(Told(patch, _joined(words, about, separator="\n")))
    return told


def _words(panel: Axes, name: str, place: str, value: str) -> str:
    """`EAGLE, group size 4: 79.93`, and below it the panel and what its y axis is."""
    at = _at(_phrase(panel.get_xlabel()), place)
    return _joined(f"{_joined(name, at)}: {value}", _about(panel), separator="\n")


def _at(label: str, place: str) -> str:
    """A letter or a digit comes first or last in some labels: `λ = 2`, `in a group, g = 4`, `depth at 1 = 6`."""
    first, _, rest = label.partition(" ")
    if rest and len(first) <= 3 and first[-1] in ",:":
        return f"{first[:-1]} = {place}"
    last = label.rpartition(" ")[2]
    return f"{label}{' = ' if len(last) == 1 and last.isalnum() else ' '}{place}".strip()


def _about(panel: Axes) -> str:
    return _joined(one_line(_title(panel)), one_line(panel.get_ylabel()), separator=" · ")


def _title(panel: Axes) -> str:
    return next((panel.get_title(side) for side in ("center", "left", "right") if panel.get_title(side)), "")


def _phrase(label: str) -> str:
    """A label as it goes on in a sentence: small, unless its first word is an abbreviation or a symbol."""
    label = one_line(label)
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def _joined(*parts: str, separator: str = ", ") -> str:
    return separator.join(part for part in parts if part)


def _short(value: float) -> str:
    """Four digits that count; large numbers whole, with commas."""
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", "−", 1) if text.startswith("-") else text


def _places(panel: Axes, x: np.ndarray) -> list[str]:
    """The places of a series on the x axis, as its ticks call them if all points are beside them by the same distance.

    A figure may move a series a little aside, so that its marks do not cover those of another one.
    """
    ticks = _labelled_ticks(panel.xaxis)
    finite = x[np.isfinite(x)]
    if not ticks or not len(finite):
        return [_short(value) for value in x]
    along = _along_the_axis(panel)
    ticks_at, points_at = along(np.array([at for at, _ in ticks])), along(x)
    nearest = [int(np.nanargmin(np.abs(ticks_at - at))) if np.isfinite(at) else 0 for at in points_at]
    shifts = (points_at - ticks_at[nearest])[np.isfinite(points_at)]
    if np.abs(shifts).max() < ASIDE and np.ptp(shifts) < 1e-6:
        return [ticks[tick][1] for tick in nearest]
    return [_short(value) for value in x]


def _along_the_axis(panel: Axes) -> Callable[[np.ndarray], np.ndarray]:
    """Takes values to places between 0 and 1, the ends of the x axis, whatever its scale."""
    to_panel = panel.transData - panel.transAxes
    height = panel.get_ylim()[0]
    return lambda values: to_panel.transform(np.column_stack([values, np.full(len(values), height)]))[:, 0]


def _labelled_ticks(axis) -> list[tuple[float, str]]:
    """The ticks that were given a text by hand."""
    locator, formatter = axis.get_major_locator(), axis.get_major_formatter()
    if not isinstance(locator, FixedLocator) or not isinstance(formatter, FixedFormatter | FuncFormatter):
        return []
    ticks = [(float(at), one_line(str(formatter(at, number)))) for number, at in enumerate(axis.get_majorticklocs())]
    return [(at, text) for at, text in ticks if text]


def _spreads(container: ErrorbarContainer | None, x: np.ndarray, y: np.ndarray) -> list[list[str]]:
    """` ± 0.2` along each axis, for every point; nothing where there is no error bar."""
    bars = list(container.lines[2]) if container else []
    has = (container.has_xerr, container.has_yerr) if container else (False, False)
    spreads = []
    for axis, here in enumerate(has):
        of_axis = [part for part in bars.pop(0).get_segments() if len(part) == 2] if here else []
        spreads.append([_spread(of_axis, axis, point) for point in zip(x, y, strict=True)])
    return spreads


def _spread(bars: list[np.ndarray], axis: int, point: tuple[float, float]) -> str:
    """Half of the bar whose middle the point is; bars : the two ends of each, (2, 2)."""
    halves = (abs(ends[1][axis] - ends[0][axis]) / 2 for ends in bars if np.allclose(ends.mean(axis=0), point, 1e-9, 0))
    half = next(halves, 0)
    return f" ± {_short(half)}" if half > 1e-9 * abs(point[axis]) else ""  # the rest is rounding


def _placed(panel: Axes, transform, x: np.ndarray, y: np.ndarray, words: list[str]) -> list[tuple[float, float, str]]:
    """Every finite point with its place in the SVG, in points from the upper left corner."""
    figure = panel.get_figure(root=True)
    places = transform.transform(np.column_stack([x, y])) * POINTS_PER_INCH / figure.dpi
    height = figure.get_figheight() * POINTS_PER_INCH
    placed = zip(places[:, 0], height - places[:, 1], words, strict=True)
    return [(left, top, text) for left, top, text in placed if np.isfinite([left, top]).all()]
