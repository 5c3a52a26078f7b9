"""Read the numbers the papers print, as transcribed to `config/papers/<paper>/published/`."""

import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path

from orchard.errors import ConfigError

COLUMNS = ("dataset", "setting", "method", "metric", "value", "note")
_NOTHING = ("", "-", "O", "N/A")  # not given, oversized, not applicable
_SCALE = {"K": 1e3, "M": 1e6, "%": 1.0, "×": 1.0, None: 1.0}
_NUMBER = re.compile(
    r"(?P<arrow>[↑↓] ?)?(?P<digits>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?P<unit>[KM%×])?"
    r"(?: ± (?P<spread>\d+(?:\.\d+)?))?"
)
_MINUTES = re.compile(r"(\d+)m([0-5]\d)s")
_WORDS = re.compile(r"“.+”")


def parse_printed(text: str) -> tuple[float, float]:
    """Return (number, spread) of a value as a paper prints it; NaN for what is not there.

    `82.71 ± 0.25` has a spread. `1,186,239`, `951K` and `1.2M` become the plain number, `0m30s` seconds; `7.26%` and
    `2.32×` keep their unit's scale, and `↓ 0.82%` is negative. `-`, `O`, `N/A`, nothing and “words” have no number.
    """
    if text in _NOTHING or _WORDS.fullmatch(text):
        return math.nan, math.nan
    if match := _MINUTES.fullmatch(text):
        return 60.0 * int(match[1]) + int(match[2]), math.nan
    if not (match := _NUMBER.fullmatch(text)):
        raise ConfigError(f"value {text!r}: not a form of number that the papers print")
    # Rounding hides the binary error of 1.2 * 1e6 and its like; no paper prints more than ten decimals.
    number = round(float(match["digits"].replace(",", "")) * _SCALE[match["unit"]], 10)
    sign = -1.0 if (match["arrow"] or "").startswith("↓") else 1.0
    return sign * number, float(match["spread"]) if match["spread"] else math.nan


@dataclass(frozen=True)
class PublishedValue:
    """One printed value: where it stands, the text as printed, and the number in it (NaN where there is none)."""

    dataset: str
    setting: str
    method: str
    metric: str
    value: str
    number: float
    spread: float
    note: str

    def agrees_with(self, measured: float | None) -> bool:
        """Whether `measured`, rounded as the paper rounds, is the printed number."""
        if measured is None or math.isnan(self.number):
            return False
        return abs(measured - self.number) <= half_last_digit(self.value) * (1 + 1e-9)


def half_last_digit(text: str) -> float:
    """Half a unit of the last printed digit: 0.005 for `5.31`, 50,000 for `1.2M`, 0.5 for `3,993`."""
    match = _NUMBER.fullmatch(text)
    decimals = len(match["digits"].partition(".")[2])
    return 0.5 * 10.0**-decimals * _SCALE[match["unit"]]


def read_published(path) -> list[PublishedValue]:
    """Return a published table, one entry per printed value; (dataset, setting, method, metric) is unique.

    Anything that cannot be read is a ConfigError that names file, line and value.
    """
    path = Path(path)
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such published table")
    values, seen = [], set()
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        if tuple(next(reader, ())) != COLUMNS:
            raise ConfigError(f"{path}:1: the header must be {','.join(COLUMNS)}")
        for cells in reader:
            where = f"{path}:{reader.line_num}"
            if len(cells) != len(COLUMNS):
                raise ConfigError(f"{where}: {len(cells)} cells instead of {len(COLUMNS)}")
            *key, value, note = cells
            if tuple(key) in seen:
                raise ConfigError(f"{where}: value {value!r}: a second value for {' / '.join(filter(None, key))}")
            seen.add(tuple(key))
            try:
                number, spread = parse_printed(value)
            except ConfigError as error:
                raise ConfigError(f"{where}: {error}") from None
            values.append(PublishedValue(*key, value, number, spread, note))
    return values
