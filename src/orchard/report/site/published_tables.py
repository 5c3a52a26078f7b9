"""What a paper prints, set out as a table again: a line per data set, setting and method, a column per metric."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from orchard.report.published import PublishedValue, read_published
from orchard.report.site.words import numeric_columns

_NUMBERED = re.compile(r"(table|fig)(\d+)")
_PLACE = {"table": "Table", "fig": "Figure"}


@dataclass(frozen=True)
class PlainTable:
    header: list[str]
    rows: list[list[str]]

    @cached_property
    def numeric(self) -> list[bool]:
        return numeric_columns(self.rows) if self.rows else [False] * len(self.header)


def published_table(folder: Path, artefact: str) -> PlainTable | None:
    """The paper's own table of this number, if there is one and it was transcribed."""
    path = folder / f"{artefact}.csv"
    return _pivoted(read_published(path)) if path.is_file() else None


def stated_numbers(folder: Path, artefact: str) -> PlainTable | None:
    """What captions and text state of a table or figure (`figures.csv`), one number a line."""
    path, match = folder / "figures.csv", _NUMBERED.fullmatch(artefact)
    if not match or not path.is_file():
        return None
    place = re.compile(rf"{_PLACE[match[1]]} {match[2]}(?!\d)")
    values = [value for value in read_published(path) if place.search(value.setting) or place.search(value.note)]
    if not values:
        return None
    lines = [[one.setting, one.dataset, one.method, one.metric, one.value, one.note] for one in values]
    return _without_empty(["where", "data set", "method", "what", "value", "note"], lines)


def _pivoted(values: list[PublishedValue]) -> PlainTable:
    metrics = list(dict.fromkeys(value.metric for value in values))
    lines: dict[tuple, dict[str, str]] = {}
    notes: dict[tuple, list[str]] = {}
    for value in values:
        key = (value.dataset, value.setting, value.method)
        lines.setdefault(key, {})[value.metric] = value.value
        if value.note:
            notes.setdefault(key, []).append(f"{value.metric}: {value.note}")
    rows = [
        [*key, *(cells.get(metric, "") for metric in metrics), "; ".join(notes.get(key, []))]
        for key, cells in lines.items()
    ]
    return _without_empty(["data set", "setting", "method", *metrics, "note"], rows)


def _without_empty(header: list[str], rows: list[list[str]]) -> PlainTable:
    kept = [index for index in range(len(header)) if any(row[index] for row in rows)]
    return PlainTable([header[index] for index in kept], [[row[index] for index in kept] for row in rows])
