"""The papers' tables of results: what the paper prints, below it what our runs gave, and what was not run and why.

An artefact of this kind has `metrics` (its columns), and one of `rows` for every line of the paper:

    row, setting : the line as printed (`method` and `setting` of the published CSV file)
    method, variant : the run that measures it, or instead of them
    not_run : why nothing does
    not_run_on : {data set: why}, where it is too large for the method
"""

from orchard.errors import ConfigError
from orchard.report.published import PublishedValue, read_published
from orchard.report.scores import MISSING, Measured, difference, measured_row, seeds_note, simulated_note
from orchard.report.tables import Table


def scores_table(artefact: dict, scores: list[dict], published_csv) -> Table:
    """One published and one measured line per data set and row; simulated data stands beside no published number.

    scores : the score.json of every run that the artefact asks for.
    """
    metrics, rows = artefact["metrics"], artefact["rows"]
    published = _published_by_line(published_csv, rows)
    in_paper = list(dict.fromkeys(dataset for dataset, *_ in published))
    at_hand = list(dict.fromkeys(score["dataset"] for score in scores))
    has_settings = any("setting" in row for row in rows)
    lead = ["data set", *(["setting"] if has_settings else []), "method", "source"]
    table = Table(
        artefact["title"],
        header=[*lead, *metrics, "measured − published"],
        rows=[],
        record_header=["data set", "setting", "method", "source", "run", "column", "value", "spread"],
    )
    shown = []
    for dataset in [*in_paper, *(name for name in at_hand if name not in in_paper)]:
        for row in rows:
            line = [dataset, *([row.get("setting", "")] if has_settings else []), row["row"]]
            printed = published.get((dataset, row.get("setting", ""), row["row"]), {})
            measured = measured_row(row, dataset, scores)
            if printed:
                status = "not run" if "not_run" in row or dataset in row.get("not_run_on", {}) else ""
                _add_published(table, line, row, printed, metrics, status)
            if measured:
                _add_measured(table, line, row, measured, printed, metrics)
                shown.append(measured)
    table.notes = [*artefact.get("notes", []), *_notes(artefact, shown, in_paper, at_hand, scores)]
    return table


def _published_by_line(path, rows: list[dict]) -> dict[tuple[str, str, str], dict[str, PublishedValue]]:
    """{(data set, setting, method): {metric: value}}; a line of the paper that no row stands for is refused."""
    lines = {}
    for value in read_published(path):
        lines.setdefault((value.dataset, value.setting, value.method), {})[value.metric] = value
    known = {(row.get("setting", ""), row["row"]) for row in rows}
    if forgotten := sorted({line[1:] for line in lines} - known):
        told = "; ".join(" / ".join(filter(None, line)) for line in forgotten)
        raise ConfigError(f"{path}: the artefact has no row for: {told} (give it a method, or say why it is not run)")
    return lines


def _add_published(table: Table, line: list[str], row: dict, printed: dict, metrics: list[str], status: str) -> None:
    cells = [printed[metric].value if metric in printed else MISSING for metric in metrics]
    table.rows.append([*line, "published", *cells, status])
    key = [line[0], row.get("setting", ""), row["row"], "published", ""]
    for metric in metrics:
        if metric in printed and printed[metric].number == printed[metric].number:
            spread = printed[metric].spread
            table.records.append([*key, metric, printed[metric].number, spread if spread == spread else ""])


def _add_measured(table: Table, line: list[str], row: dict, measured: Measured, printed: dict, metrics) -> None:
    if measured.simulated:
        status = "simulated"
    else:
        status = difference(measured, printed, metrics) if printed else "not in the paper"
    table.rows.append([*line, measured.source, *map(measured.printed, metrics), status])
    key = [line[0], row.get("setting", ""), row["row"], measured.source, row["method"]]
    table.records += [
        [*key, metric, measured.values[metric], measured.spreads.get(metric, "")]
        for metric in metrics
        if metric in measured.values
    ]


def _notes(artefact: dict, shown: list[Measured], in_paper: list, at_hand: list, scores: list[dict]) -> list[str]:
    rows, notes = artefact["rows"], []
    if shown:
        runs = [f"{_name(row)} by `{row['method']}`" for row in rows if "method" in row]
        notes.append(f"{seeds_note(shown)} Runs (`config/methods`): {', '.join(runs)}.")
    by_reason = {}
    for row in rows:
        if "not_run" in row:
            by_reason.setdefault(row["not_run"], []).append(_name(row))
        for dataset, reason in row.get("not_run_on", {}).items():
            if dataset in in_paper or dataset in at_hand:
                by_reason.setdefault(reason, []).append(f"{_name(row)} on {dataset}")
    notes += [f"Not run: {', '.join(names)}: {reason}." for reason, names in by_reason.items()]
    if published_only := [name for name in in_paper if name not in at_hand]:
        notes.append(f"Published only, the data is not part of this scale: {', '.join(published_only)}.")
    is_simulated = {score["dataset"]: score["simulated"] for score in scores}
    if others := [name for name in at_hand if name not in in_paper and not is_simulated[name]]:
        notes.append(f"Not among the paper's data sets, so without a published neighbour: {', '.join(others)}.")
    if simulated := [name for name in at_hand if is_simulated[name]]:
        notes.append(simulated_note(simulated))
    return notes


def _name(row: dict) -> str:
    return f"{row['row']} ({row['setting']})" if row.get("setting") else row["row"]
