"""What a reader sees who points at a mark of an SVG: the series it belongs to, and its values.

Browsers show the <title> of whatever is under the pointer. Matplotlib writes none, but it writes the drawing of every
artist into a group of its own; so the groups get names while the figure is saved, and titles afterwards. A mark and its
title stand in a group of the class `point`, a line with its title has the class `curve`. Nothing else is drawn.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.dom import minidom

from matplotlib.lines import Line2D

from orchard.report.hover_texts import Told, told_of

TOLERANCE = 0.01  # points that a mark may be away from its value; the file has six decimals
REACH = 5  # points around the middle of a mark that still count as the mark: most marks are smaller


@contextmanager
def values_on_hover(figure, svg_path) -> Iterator[None]:
    """Whatever SVG is written to `svg_path` inside of this context has titles at the end of it."""
    artists = [artist for panel in figure.axes for artist in (*panel.lines, *panel.patches, *panel.collections)]
    own_names = [artist.get_gid() for artist in artists]
    names = {artist: f"orchard-hover-{number}" for number, artist in enumerate(artists)}
    for artist, name in names.items():
        artist.set_gid(name)
    try:
        yield
    finally:
        for artist, own_name in zip(artists, own_names, strict=True):
            artist.set_gid(own_name)
    document = minidom.parse(str(svg_path))
    groups = {group.getAttribute("id"): group for group in document.getElementsByTagName("g")}
    told = {id(one.artist): one for panel in figure.axes for one in told_of(panel)}
    for (artist, name), own_name in zip(names.items(), own_names, strict=True):
        if group := groups.get(name):
            group.setAttribute("id", own_name) if own_name else group.removeAttribute("id")
            if id(artist) in told:
                _add_titles(document, group, told[id(artist)])
    Path(svg_path).write_bytes(document.toxml(encoding="utf-8") + b"\n")


def _add_titles(document, group, told: Told) -> None:
    """Give the line, the bars or the marks in an artist's group their titles."""
    uses = group.getElementsByTagName("use")
    paths = [node for node in group.childNodes if node.nodeName == "path"]
    if told.marks and not uses:  # a few marks of a scatter plot are written as paths, those without a place left out
        if len(paths) == len(told.marks):
            for path, (left, top, text) in zip(paths, told.marks, strict=True):
                _wrap(document, path, left, top, text)
        return
    left_to_tell = iter(told.marks)
    for use in list(uses):
        here = float(use.getAttribute("x")), float(use.getAttribute("y"))
        # In the order of the data, of which marks may have been left out.
        if mark := next((mark for mark in left_to_tell if math.dist(mark[:2], here) < TOLERANCE), None):
            _wrap(document, use, *here, mark[2])
    if told.line and paths:
        _entitle(document, paths[0], told.line, "curve" if isinstance(told.artist, Line2D) else "point")


def _wrap(document, mark, left: float, top: float, text: str) -> None:
    """The mark in a group with its title, over a circle that nobody sees and the pointer does."""
    group = document.createElement("g")
    mark.parentNode.replaceChild(group, mark)
    circle = document.createElement("circle")
    reach = {"cx": f"{left:.6g}", "cy": f"{top:.6g}", "r": str(REACH), "style": "fill: none; pointer-events: all"}
    for key, value in reach.items():
        circle.setAttribute(key, value)
    for child in (circle, mark):
        group.appendChild(child)
    _entitle(document, group, text, "point")


def _entitle(document, element, text: str, kind: str) -> None:
    element.setAttribute("class", kind)
    title = document.createElement("title")
    title.appendChild(document.createTextNode(text))
    element.insertBefore(title, element.firstChild)
