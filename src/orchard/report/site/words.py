"""Numbers, times and sizes as the pages print them."""

MINUS = "−"


def seconds_told(seconds: float) -> str:
    """`0.84 s`, `42 s`, `3 min 10 s`, `2 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def bytes_told(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:,} bytes"


def number_told(value) -> str:
    """Whole numbers with separators, others with two decimals, or three digits where they are small."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value_told(value)
    if isinstance(value, int) or (float(value).is_integer() and abs(value) >= 1000):
        return f"{int(value):,}".replace("-", MINUS)
    text = f"{value:,.2f}" if abs(value) >= 0.1 or value == 0 else f"{value:.3g}"
    return text.replace("-", MINUS)


def value_told(value) -> str:
    """A parameter: its value as it stands in JSON, but for the quotes."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key} = {value_told(one)}" for key, one in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(value_told, value)) or "none"
    return str(value)


def is_number(cell: str) -> bool:
    """Whether a printed cell is set to the right: a number, with a spread, a sign, a unit or a star about it."""
    stripped = cell.strip("*–−-+±↑↓0123456789.,%×KMe <≤")
    return stripped == "" and any(letter.isdigit() for letter in cell)


def numeric_columns(rows: list[list[str]]) -> list[bool]:
    """Which columns hold numbers and nothing else; empty cells and dashes do not count."""
    columns = zip(*rows, strict=True)
    told = ([cell for cell in column if cell not in ("", "–", "-", "O")] for column in columns)
    return [bool(cells) and all(map(is_number, cells)) for cells in told]
