"""A table as people read it (Markdown), and its numbers as programs read them (CSV)."""

import csv
import io
from dataclasses import dataclass, field

from orchard.files import write_text

OVERSIZED = "O"  # as eagle's Table 2 prints it


@dataclass
class Table:
    """`rows` are cells as they are printed, `notes` stand below them; `records` are the numbers, one a line."""

    title: str
    header: list[str]
    rows: list[list[str | int]]
    notes: list[str] = field(default_factory=list)
    record_header: list[str] = field(default_factory=list)
    records: list[list] = field(default_factory=list)


def write_csv(path, header: list[str], rows: list[list]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_text(path, text.getvalue())


def write_table(table: Table, csv_path, markdown_path) -> None:
    write_csv(csv_path, table.record_header, table.records)
    write_text(markdown_path, _markdown(table))


def _markdown(table: Table) -> str:
    header = [_escape(cell) for cell in table.header]
    rows = [[_escape(str(cell)) for cell in row] for row in table.rows]
    widths = [max(3, *(len(row[i]) for row in [header, *rows])) for i in range(len(header))]
    columns = [[row[i] for row in rows] for i in range(len(header))]
    numeric = [any(column) and all(map(_is_numeric, column)) for column in columns]

    def line(cells):
        padded = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, numeric, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    rule = line(
        ["-" * (width - 1) + ":" if right else "-" * width for width, right in zip(widths, numeric, strict=True)]
    )
    lines = [f"# {table.title}", "", line(header), rule, *map(line, rows)]
    lines += [text for note in table.notes for text in ("", note)]
    return "\n".join(lines) + "\n"


def _escape(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


def _is_numeric(cell: str) -> bool:
    return cell == OVERSIZED or cell.strip("*–-0123456789.,KM%×± ") == ""
