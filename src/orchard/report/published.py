"""Read the numbers the papers print, as transcribed to `config/papers/<paper>/published/`."""

import csv
import math
import re
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


def read_published(folder, table: str):
    """Return the published table `folder/table.csv` as a DataFrame, one row per printed value.

    Columns: dataset, setting, method, metric, value (as printed), number, spread, note; (dataset, setting, method,
    metric) is unique. Anything that cannot be read is a ConfigError that names file, line and value.
    """
    import pandas as pd

    path = Path(folder) / f"{table}.csv"
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such published table")
    rows, seen = [], set()
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
            rows.append((*key, value, number, spread, note))
    return pd.DataFrame(rows, columns=[*COLUMNS[:5], "number", "spread", "note"])
