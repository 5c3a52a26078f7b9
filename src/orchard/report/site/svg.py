"""A plot as part of a page: its ids made its own, its style kept to itself, nothing in it that could run."""

import re
import xml.etree.ElementTree as ElementTree

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", XLINK)
_HREFS = (f"{{{XLINK}}}href", "href")
_URL = re.compile(r"url\(\s*#([^)\s]+)\s*\)")
# Matplotlib's style sheet (`*{…}`) would style every other plot on the page; on the root, both are inherited.
_INHERITED = {"stroke-linejoin": "round", "stroke-linecap": "butt"}
_LEFT_OUT = {f"{{{SVG}}}{name}" for name in ("metadata", "style", "script", "foreignObject")}
PIXELS_PER_POINT = 4 / 3


def inline_svg(text: str, prefix: str, label: str) -> str:
    """The `<svg>` element of a file; every id, and every reference to one, begins with `prefix`.

    Hover texts (`<title>`) stay. label : what a screen reader says in the place of the plot.
    """
    root = ElementTree.fromstring(text)
    _drop(root)
    for element in root.iter():
        _rename(element, prefix)
    width = _width_in_pixels(root)
    for key in ("width", "height"):
        root.attrib.pop(key, None)
    root.attrib |= _INHERITED | {"role": "img", "aria-label": label, "style": f"--natural-width: {width:.0f}px"}
    return ElementTree.tostring(root, encoding="unicode")


def _drop(element) -> None:
    for child in list(element):
        if child.tag in _LEFT_OUT:
            element.remove(child)
        else:
            _drop(child)


def _rename(element, prefix: str) -> None:
    for key, value in list(element.attrib.items()):
        if key == "id":
            element.set(key, prefix + value)
        elif key in _HREFS and value.startswith("#"):
            element.set(key, f"#{prefix}{value[1:]}")
        elif key.lower().startswith("on"):
            del element.attrib[key]
        elif "url(" in value:
            element.set(key, _URL.sub(lambda match: f"url(#{prefix}{match[1]})", value))


def _width_in_pixels(root) -> float:
    """Matplotlib gives it in points; the view box has the same number."""
    view_box = root.get("viewBox")
    return PIXELS_PER_POINT * float(view_box.split()[2]) if view_box else 640.0
