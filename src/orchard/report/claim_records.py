"""Values for claims from the CSV file of an artefact, whatever its columns: statistics, costs, simulations, shares.

Headers differ from artefact to artefact; `ROLES` says which columns mean the same. Every other column may choose a
line too: `[AS | panel=b]`. The row of an operand is the value of the row column; where there is none, that of the
metric column (statistics); where it is the name of a column itself, that column holds the value (`[above average]`).
"""

import csv
from dataclasses import dataclass, field
from pathlib import Path

from orchard.config import did_you_mean
from orchard.report.claim_expressions import Operand, Place

# What an operand calls it: the columns that hold it, the first that is there counts.
ROLES = {
    "setting": ("setting",),
    "row": ("method", "row", "estimator", "curve"),
    "metric": ("column", "metric", "quantity"),
    "at": ("λ′", "λ", "group size", "at"),
}
DATASET, SOURCE, VALUE, ERROR, REPETITIONS = "data set", "source", "value", "standard error", "repetitions"
OURS = ("measured", "simulated", "counted")  # in this order, where a value has several sources


class NotMeasured(Exception):
    """There is no such value; the message says why."""


@dataclass(frozen=True)
class Value:
    """A measured value: one for every seed, or one number with its standard error and the repetitions behind it."""

    by_seed: dict[int, float] = field(default_factory=dict)
    number: float = 0.0
    error: float = 0.0
    repetitions: int = 1
    cell: str = ""  # where it stands in a file: what stands there once is one measurement, however often it is used

    def of_seed(self, seed: int | None) -> float:
        return self.by_seed[seed] if self.by_seed else self.number


@dataclass(frozen=True)
class Records:
    """The lines of an artefact's CSV file, as text."""

    name: str
    header: list[str]
    lines: list[dict[str, str]]

    @classmethod
    def read(cls, path) -> "Records":
        with Path(path).open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            return cls(Path(path).name, list(reader.fieldnames or []), list(reader))

    def column_of(self, role: str) -> str | None:
        """The column that an operand's key means: that of a role, or the one of this name."""
        names = ROLES.get(role, (role,))
        return next((name for name in names if name in self.header), None)

    def datasets(self) -> set[str]:
        """The data sets with something of ours; the others are only published."""
        return {line[DATASET] for line in self.lines if line.get(SOURCE) in OURS and DATASET in line}

    def value(self, operand: Operand, place: Place, dataset: str | None) -> Value:
        """The one value that fits; NotMeasured if there is none, or more than one."""
        lines = [line for line in self.lines if line.get(SOURCE, OURS[0]) in OURS]
        if dataset is not None and DATASET in self.header:
            lines = self._those(lines, DATASET, dataset)
        row_column, value_column, lines = self._lines_of_row(operand, lines)
        for key, wanted in operand.place.items():
            if (column := self.column_of(key)) is None:
                raise NotMeasured(f"{self.name} has no column {key!r}{did_you_mean(key, self.header)}")
            lines = self._those(lines, column, wanted)
        for key, wanted in place.items():
            column = self.column_of(key)
            if key in operand.place or column in (None, row_column):
                continue
            # A row that has no setting is the same in all of them; one that has another setting is not.
            anywhere = [line for line in lines if line[column] == ""]
            exactly = [line for line in lines if same(line[column], wanted)]
            lines = exactly or anywhere or self._those(lines, column, wanted)
        if SOURCE in self.header:
            best = next(source for source in OURS if any(line[SOURCE] == source for line in lines))
            lines = [line for line in lines if line[SOURCE] == best]
        return self._only(lines, value_column, operand)

    def _lines_of_row(self, operand: Operand, lines: list[dict]) -> tuple[str | None, str, list[dict]]:
        """(the column that names the operand's row, the column of the value, the lines of the row)."""
        if operand.row in self.header:
            return None, operand.row, lines
        column = self.column_of("row") or self.column_of("metric")
        if column is None or VALUE not in self.header:
            raise NotMeasured(f"{self.name} has no column {operand.row!r}{did_you_mean(operand.row, self.header)}")
        if self.column_of("row") and not any(line[column] == operand.row for line in lines):
            # A quantity of the data set among rows of methods, such as a share of its samples.
            metric = self.column_of("metric")
            if metric and any(line[metric] == operand.row for line in lines):
                column = metric
        return column, VALUE, self._those(lines, column, operand.row)

    def _those(self, lines: list[dict], column: str, wanted) -> list[dict]:
        found = [line for line in lines if same(line[column], wanted)]
        if not found:
            there = list(dict.fromkeys(line[column] for line in lines))
            told = f" (there: {', '.join(there[:8])}{', …' if len(there) > 8 else ''})" if there else ""
            raise NotMeasured(f"{self.name} has no {column} {wanted} at this scale{told}")
        return found

    def _only(self, lines: list[dict], column: str, operand: Operand) -> Value:
        if len({line[column] for line in lines}) > 1:
            differing = [name for name in self.header if name != column and len({line[name] for line in lines}) > 1]
            raise NotMeasured(
                f"{self.name} has {len(lines)} values for {operand}, which differ in: {', '.join(differing)}"
            )
        line = lines[0]
        number = as_number(line[column])
        if number is None:
            raise NotMeasured(f"{self.name} has no number for {operand} but {line[column]!r}")
        error = as_number(line.get(ERROR)) if column == VALUE else None
        repetitions = int(as_number(line.get(REPETITIONS)) or 1)
        cell = f"{self.lines.index(line)}, {column}"
        return Value(number=number, error=error or 0.0, repetitions=repetitions, cell=cell)


def as_number(text) -> float | None:
    """The number in a cell, per cents as they stand; None if there is none."""
    try:
        return float(str(text).removesuffix("%"))
    except ValueError:
        return None


def same(one, other) -> bool:
    """Whether two values of a place are the same: as numbers where both are, else as text."""
    numbers = as_number(one), as_number(other)
    return numbers[0] == numbers[1] if None not in numbers else str(one) == str(other)
