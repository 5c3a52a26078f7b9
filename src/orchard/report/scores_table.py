"""The papers' tables of results: what the paper prints, below it what our runs gave, and what was not run and why.

An artefact of this kind has `metrics` (its columns), and one of `rows` for every line of the paper, which `row` and
`setting` name as printed (`method` and `setting` of the published CSV file). `orchard.report.rows` tells the rest.
A table that goes beyond the paper has nothing published, but may `compare` one of its rows with the best of others.
"""

from itertools import combinations

from orchard.errors import ConfigError
from orchard.report.published import PublishedValue, read_published
from orchard.report.rows import run_of
from orchard.report.scores import (
    MISSING,
    Measured,
    difference,
    measured_row,
    name_of,
    not_run_notes,
    seeds_note,
    signed,
    simulated_note,
)
from orchard.report.tables import OVERSIZED, Table

CLEAR_GAP = 2.0  # points of precision; what the paper has closer together may well change places

OVERSIZED_NOTE = (
    f"`{OVERSIZED}`: oversized. The paper prints it for models of more than 5 GB; a run of ours is stopped when its "
    "model has grown beyond its method's limit."
)


def scores_table(artefact: dict, scores: list[dict], published_csv=None) -> Table:
    """One published and one measured line per data set and row; simulated data stands beside no published number.

    scores : the score.json of every run that the artefact asks for.
    published_csv : None for a table that is not in the paper.
    """
    metrics, rows = artefact["metrics"], artefact["rows"]
    if "compare" in artefact:
        _check_compared(artefact["compare"], rows)
    published = _published_by_line(published_csv, rows) if published_csv else {}
    in_paper = list(dict.fromkeys(dataset for dataset, *_ in published))
    at_hand = list(dict.fromkeys(score["dataset"] for score in scores))
    has_settings = any("setting" in row for row in rows)
    lead = ["data set", *(["setting"] if has_settings else []), "method", "source"]
    table = Table(
        artefact["title"],
        header=[*lead, *metrics, *(["measured − published"] if published_csv else [])],
        rows=[],
        record_header=["data set", "setting", "method", "source", "run", "column", "value", "spread"],
    )
    shown, both, of_setting = [], {}, {}
    for dataset in [*in_paper, *(name for name in at_hand if name not in in_paper)]:
        for row in rows:
            line = [dataset, *([row.get("setting", "")] if has_settings else []), row["row"]]
            printed = published.get((dataset, row.get("setting", ""), row["row"]), {})
            measured = measured_row(row, dataset, scores)
            if printed:
                _add_published(table, line, row, printed, metrics, "" if run_of(row, dataset) else "not run")
            if measured:
                _add_measured(table, line, row, measured, printed, metrics, has_status=bool(published_csv))
                shown.append(measured)
                of_setting.setdefault((dataset, row.get("setting", "")), {})[row["row"]] = measured
            if printed and measured and not measured.simulated:
                both.setdefault((dataset, row.get("setting", "")), {})[row["row"]] = (printed, measured)
    table.notes = [
        *artefact.get("notes", []),
        *([OVERSIZED_NOTE] if any(OVERSIZED in row for row in table.rows) else []),
        *notes_on_runs(artefact["rows"], shown, in_paper, at_hand, scores),
        *order_note(both, metrics),
        *(compare_note(artefact["compare"], of_setting, metrics) if "compare" in artefact else []),
    ]
    return table


def _published_by_line(path, rows: list[dict]) -> dict[tuple[str, str, str], dict[str, PublishedValue]]:
    """{(data set, setting, method): {metric: value}}; a line of the paper that no row stands for is refused.

    A line in which the paper prints `-` throughout is none.
    """
    lines = {}
    for value in read_published(path):
        lines.setdefault((value.dataset, value.setting, value.method), {})[value.metric] = value
    lines = {line: values for line, values in lines.items() if any(value.value != "-" for value in values.values())}
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


def _add_measured(table, line: list[str], row: dict, measured: Measured, printed: dict, metrics, has_status) -> None:
    if measured.simulated:
        status = "simulated"
    elif measured.oversized:
        status = "oversized, as published" if _is_oversized(printed) else "oversized"
    else:
        status = difference(measured, printed, metrics) if printed else "not in the paper"
    table.rows.append([*line, measured.source, *map(measured.printed, metrics), *([status] if has_status else [])])
    key = [line[0], row.get("setting", ""), row["row"], measured.source, row["method"]]
    table.records += [
        [*key, metric, measured.values[metric], measured.spreads.get(metric, "")]
        for metric in metrics
        if metric in measured.values
    ]


def _is_oversized(printed: dict[str, PublishedValue]) -> bool:
    return any(value.value == OVERSIZED for value in printed.values())


def notes_on_runs(rows: list[dict], shown: list[Measured], in_paper: list, at_hand: list, scores) -> list[str]:
    """Which runs and seeds stand behind a table, which rows are not run, and which data sets are only here or there.

    shown : what was measured.  in_paper, at_hand : data sets with something published, with something measured.
    """
    notes = []
    if shown:
        notes.append(f"{seeds_note(shown)} Runs (`config/methods`): {', '.join(_runs(rows, at_hand))}.")
    notes += not_run_notes(rows, [*in_paper, *at_hand])
    run_at_all = any("method" in row for row in rows)  # else it is told above why nothing is
    if run_at_all and (published_only := [name for name in in_paper if name not in at_hand]):
        notes.append(f"Published only, the data is not part of this scale: {', '.join(published_only)}.")
    is_simulated = {score["dataset"]: score["simulated"] for score in scores}
    if in_paper and (others := [name for name in at_hand if name not in in_paper and not is_simulated[name]]):
        notes.append(f"Not among the paper's data sets, so without a published neighbour: {', '.join(others)}.")
    if simulated := [name for name in at_hand if is_simulated[name]]:
        notes.append(simulated_note(simulated))
    return notes


def _runs(rows: list[dict], at_hand: list[str]) -> list[str]:
    """`EAGLE by `eagle``, once however many settings it has, and the data sets that have a method of their own."""
    methods = {}
    for row in rows:
        if "method" in row:
            methods.setdefault(row["row"], set()).add(row["method"])
    told = [
        f"{row['row'] if len(methods[row['row']]) == 1 else name_of(row)} by `{row['method']}`"
        for row in rows
        if "method" in row
    ]
    told += [
        f"{name_of(row)} on {dataset} by `{method}`"
        for row in rows
        for dataset, method in row.get("method_for", {}).items()
        if dataset in at_hand
    ]
    return list(dict.fromkeys(told))


def order_note(both: dict[tuple[str, str], dict[str, tuple[dict, Measured]]], metrics: list[str]) -> list[str]:
    """In how many comparisons our runs put two methods in the order of the paper, and which ones differ.

    both : {(data set, setting): {method: (published values, measured)}}, of real data only. Two methods are compared
        in each metric in which the paper sets them more than CLEAR_GAP points apart.
    """
    total, differing = 0, []
    for (dataset, setting), lines in both.items():
        for metric, one, other in ((metric, *pair) for metric in metrics for pair in combinations(lines, 2)):
            gaps = _gaps(lines[one], lines[other], metric)
            if gaps and abs(gaps[0]) > CLEAR_GAP:
                total += 1
                if gaps[0] * gaps[1] <= 0:
                    place = ", ".join(filter(None, (dataset, setting, metric)))
                    told = f"published {signed(gaps[0])}, measured {signed(gaps[1])}"
                    differing.append(f"{one} − {other} on {place} ({told})")
    if not total:
        return []
    agreeing = f"{total - len(differing)} of {total} comparisons whose published gap is over two points"
    return [f"Order of methods as published in {agreeing}{'; differing: ' if differing else ''}{'; '.join(differing)}."]


def _check_compared(compare: dict, rows: list[dict]) -> None:
    if unknown := {compare["row"], *compare["with"]} - {row["row"] for row in rows}:
        raise ConfigError(f"compare: the artefact has no row {', '.join(sorted(unknown))}")


def compare_note(compare: dict, of_setting: dict[tuple, dict[str, Measured]], metrics: list[str]) -> list[str]:
    """In how many (data set, setting, metric) a row is ahead of the best of others; in which not, and by how much.

    compare : {row, with: other rows, metrics: those that count}.  of_setting : {(data set, setting): {row: measured}}.
    """
    total, behind, missing = 0, [], set()
    for (dataset, setting), lines in of_setting.items():
        others = [lines[name] for name in compare["with"] if name in lines]
        if compare["row"] not in lines or not others:
            continue
        mine = lines[compare["row"]]
        for metric in compare.get("metrics", metrics):
            best = max((other.values[metric] for other in others if metric in other.values), default=None)
            if best is not None and metric in mine.values:
                total += 1
                if mine.values[metric] <= best:
                    place = ", ".join(filter(None, (dataset, setting, metric)))
                    behind.append(f"{place} ({signed(mine.values[metric] - best)})")
                missing.update(name for name in compare["with"] if name in lines and metric not in lines[name].values)
    if not total:
        return []
    names = "; ".join(compare["with"])
    told = f"{compare['row']} is ahead of the best of {names} in {total - len(behind)} of {total} comparisons"
    without = f" (somewhere without a number: {', '.join(sorted(missing))})" if missing else ""
    return [f"{told}{without}{'; not in: ' if behind else ''}{'; '.join(behind)}."]


def _gaps(one: tuple[dict, Measured], other: tuple[dict, Measured], metric: str) -> tuple[float, float] | None:
    """(published, measured): `one` minus `other`; None where a number is missing."""
    if any(metric not in printed or metric not in measured.values for printed, measured in (one, other)):
        return None
    published = one[0][metric].number - other[0][metric].number  # NaN, hence no gap, where the paper prints `O`
    return published, one[1].values[metric] - other[1].values[metric]
