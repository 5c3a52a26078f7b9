"""RESULTS.md: what was published and what we measured, a part for each paper, each from a run of its own.

A part names its commit, its machine and its time, and stays as it is until that paper is run again.
"""

import csv
import os
import re
from collections.abc import Iterable
from fcntl import LOCK_EX, flock
from pathlib import Path

from orchard.files import write_text
from orchard.report.effort import Effort

LONG = 30  # lines; longer tables are folded
TOO_LONG = 400  # lines; of longer figures the numbers stay in their CSV file

INTRODUCTION = """# Results

Published and measured, for everything that Orchard runs. This file is generated: each part is what `snakemake
<paper>-results --config scale=…` wrote, and says at which scale, by which commit, on which machine and in what time. A
claim is 'reproduced' or 'not reproduced' where the 95 % interval over the seeds leaves no doubt; 'inconclusive' where
it does, where seeds or places are missing, or where data sets differ; and 'not run' where data or hardware is missing.
Simulated data decides none, but for the simulations that a paper makes itself.
[docs/deviations.md](docs/deviations.md) explains D1, D2, ….
"""


def update_results(path, paper: str, part: str, papers: Iterable[str]) -> None:
    """Put the part of one paper in its place; those of the others stay. Two papers may end at the same time."""
    path = Path(path)
    folder = os.open(path.parent, os.O_RDONLY)  # what is locked: the file itself is replaced
    try:
        flock(folder, LOCK_EX)
        _update(path, paper, part, papers)
    finally:
        os.close(folder)


def _update(path: Path, paper: str, part: str, papers: Iterable[str]) -> None:
    parts = parts_of(path.read_text(encoding="utf-8")) if path.is_file() else {}
    parts[paper] = part
    marked = (f"{_mark(name)}\n{parts[name].strip()}\n" for name in papers if name in parts)
    write_text(path, "\n".join([INTRODUCTION, *marked]))


def parts_of(text: str) -> dict[str, str]:
    """{paper: its part} of a RESULTS.md."""
    _, *pieces = re.split(r"^<!-- part: ([a-z0-9-]+) -->\n", text, flags=re.MULTILINE)
    return dict(zip(pieces[::2], pieces[1::2], strict=True))


def _mark(paper: str) -> str:
    return f"<!-- part: {paper} -->"


def results_part(paper: str, title: str, artefacts: dict, folder, options: str, claims: str, effort) -> str:
    """The part of one paper.

    artefacts : its entry of config/papers.  folder : where they were rendered.  options : what follows `--config` to
    make them again.  claims : its claims, judged, as Markdown.  effort : of all jobs that were done for it.
    """
    pieces = [f"## {title}", run_told(paper, options, effort), "### Claims", claims.strip()]
    for name, artefact in artefacts.items():
        command = f"`snakemake {paper}-{name} --config {options}`"
        shown = _table(folder, f"{paper}-{name}") if artefact["kind"] == "table" else _figure(folder, paper, name)
        pieces += [f"### {artefact['title']}", command, shown]
    return "\n\n".join(pieces) + "\n"


def run_told(paper: str, options: str, effort: Effort | None) -> str:
    """By which commits, on which machines and in what time the jobs were done."""
    if effort is None:
        return f"`snakemake {paper}-results --config {options}`; its jobs left no records."
    unknown = f" Of {effort.unrecorded} results it is not known when and how they were made."
    return (
        f"`snakemake {paper}-results --config {options}`: {effort.jobs} jobs, {effort.cpu_seconds / 3600:.1f} "
        f"hours of processor time between {effort.started} and {effort.ended}; commit {'; '.join(effort.commits)}; "
        f"{'; '.join(effort.machines)}.{unknown if effort.unrecorded else ''}"
    )


def without_title(markdown: str) -> str:
    return re.sub(r"\A# .*\n+", "", markdown).strip()


def _table(folder, stem: str) -> str:
    text = without_title(Path(folder, f"{stem}.md").read_text(encoding="utf-8"))
    lines = text.splitlines()
    length = next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))
    table, notes = "\n".join(lines[:length]), "\n".join(lines[length:]).strip()
    shown = folded(table, f"{length - 2} lines") if length - 2 > LONG else table
    return f"{shown}\n\n{notes}".strip()


def _figure(folder, paper: str, name: str) -> str:
    """The numbers behind a figure."""
    with Path(folder, f"{paper}-{name}.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    if len(rows) > TOO_LONG:
        return f"{len(rows)} numbers, in `{paper}-{name}.csv`."
    cells = [[_rounded(cell).replace("|", "\\|") for cell in row] for row in rows]
    lines = [header, ["---"] * len(header), *cells]
    return folded("\n".join(f"| {' | '.join(line)} |" for line in lines), f"the {len(rows)} points of the figure")


def _rounded(cell: str) -> str:
    """Five significant digits of a number that has more."""
    return f"{float(cell):.5g}" if re.fullmatch(r"-?\d+\.\d{4,}(e-?\d+)?", cell) else cell


def folded(text: str, summary: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"
