"""What the series of a figure are called: by their own label, or by the entry of the legend that looks like them."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.offsetbox import DrawingArea, HPacker

NO_MARKER, NO_LINE = ("None", "none", "", " ", None), ("None", "none", "", " ")


@dataclass(frozen=True)
class Look:
    """What tells the series of a figure apart, as the legend shows it."""

    color: str
    marker: str | None = None
    hollow: bool = False
    line: str | None = None


class SeriesNames:
    """What the series of a panel are called: by their own label, or as the legend calls what looks like them."""

    def __init__(self, panel: Axes):
        legends = [panel.get_legend(), *panel.figure.legends]
        self.entries = [entry for legend in legends if legend for entry in _legend_entries(legend)]

    def of(self, look: Look, *labelled) -> str:
        """labelled : the artist, and the container that it is part of, if any."""
        labels = (str(artist.get_label() or "") for artist in labelled if artist is not None)
        own = next((label for label in labels if label and not label.startswith("_")), None)
        return one_line(own) if own else self._like(look)

    def _like(self, look: Look) -> str:
        """A legend may leave out the line of a series, and one of hollow marks that is otherwise the same."""
        for name, shown in self.entries:
            if shown == look:
                return name
        for name, shown in self.entries:
            if look.line is None and look.marker and (shown.color, shown.marker) == (look.color, look.marker):
                return name if shown.hollow == look.hollow else f"{name} ({'hollow' if look.hollow else 'filled'})"
        return ""


def _legend_entries(legend) -> list[tuple[str, Look]]:
    entries = []
    for packed in legend.findobj(HPacker):
        children = packed.get_children()
        if len(children) == 2 and isinstance(children[0], DrawingArea):
            drawn, text = children
            if look := _look_in_legend(drawn.get_children()):
                entries.append((one_line(text.get_text()), look))
    return entries


def _look_in_legend(artists: list) -> Look | None:
    """The line and the marks of an error bar are two artists there."""
    looks = [look_of_line(artist) for artist in artists if isinstance(artist, Line2D)]
    if not looks:
        filled = [artist for artist in artists if hasattr(artist, "get_facecolor")]
        return look_of_patch(filled[0]) if filled else None
    marked = [look for look in looks if look.marker and look.marker not in ("_", "|")] or looks
    line = next((look.line for look in looks if look.line), None)
    return Look(marked[0].color, marked[0].marker, marked[0].hollow, line)


def look_of_line(line: Line2D) -> Look:
    marker = None if line.get_marker() in NO_MARKER else str(line.get_marker())
    face = line.get_markerfacecolor()
    hollow = marker is not None and (str(face) == "none" or to_hex(face) == "#ffffff")
    style = None if line.get_linestyle() in NO_LINE else line.get_linestyle()
    return Look(to_hex(line.get_color()), marker, hollow, style)


def look_of_patch(patch) -> Look:
    """Of a bar, or of a collection in one colour."""
    colors = np.atleast_2d(patch.get_facecolor())
    return Look(to_hex(colors[0])) if len(colors) else Look("none")


def one_line(text: str) -> str:
    return " ".join(text.split())
