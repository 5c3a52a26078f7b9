"""The papers' tables of data statistics: what the paper prints, and below it what our data gives."""

from orchard.report.published import PublishedValue, read_published
from orchard.report.scores import MISSING, Measured, difference, measured_row, seeds_note, simulated_note
from orchard.report.tables import Table


def statistics_table(artefact: dict, statistics: list[dict], published_csv, scores: list[dict] = ()) -> Table:
    """One published row per data set of the paper, one measured row per data set at hand.

    artefact : its `columns` name the paper's column (`published`) and the key of stats.json that holds the same
        quantity (`measured`, or `measured_for` a data set that the paper counts in another way).
        Its `metrics`, if any, are further columns, which the run of its only row measures.
    statistics : the stats.json of each data set at hand.
    scores : the score.json of each run.
    """
    columns, metrics, published = artefact["columns"], artefact.get("metrics", []), {}
    for value in read_published(published_csv):
        published.setdefault(value.dataset, {})[value.metric] = value
    measured = {stats["name"]: stats for stats in statistics}
    runs = {name: measured_row(artefact["rows"][0], name, scores) for name in measured} if metrics else {}
    printed = [*(column["published"] for column in columns), *metrics]
    table = Table(
        artefact["title"],
        header=["data set", "source", *printed, "agrees with the paper"],
        rows=[],
        notes=list(artefact.get("notes", [])),
        record_header=["data set", "source", "column", "value"],
    )
    for name in [*published, *(other for other in measured if other not in published)]:
        if name in published:
            _add_published(table, name, published[name], printed)
        if name in measured:
            _add_measured(table, measured[name], published.get(name), columns)
        if runs.get(name):
            _add_scores(table, runs[name], published.get(name, {}), metrics)
    _add_notes(table, published, measured, [one for one in runs.values() if one])
    return table


def _add_published(table: Table, name: str, values: dict[str, PublishedValue], columns: list[str]) -> None:
    cells = [values[column].value if column in values else MISSING for column in columns]
    table.rows.append([name, "published", *cells, ""])
    table.records += [
        [name, "published", column, _plain(values[column].number)] for column in columns if column in values
    ]


def _add_measured(table: Table, stats: dict, published: dict | None, columns: list[dict]) -> None:
    name, source = stats["name"], "simulated" if stats["simulated"] else "measured"
    keys = [column.get("measured_for", {}).get(name, column["measured"]) for column in columns]
    values = {column["published"]: stats.get(key) for column, key in zip(columns, keys, strict=True)}
    if stats["simulated"]:
        agrees = "simulated"
    elif not published:
        agrees = "not in the paper"
    else:
        compared = [metric for metric, value in values.items() if metric in published and value is not None]
        differing = [metric for metric in compared if not published[metric].agrees_with(values[metric])]
        agrees = f"no: {', '.join(differing)}" if differing else "yes"
    table.rows.append([name, source, *map(_print, values.values()), agrees])
    table.records += [[name, source, metric, value] for metric, value in values.items() if value is not None]


def _add_scores(table: Table, run: Measured, published: dict[str, PublishedValue], metrics: list[str]) -> None:
    """Extend the measured row: scores are not expected to agree to the last digit, so their difference is told."""
    *cells, agrees = table.rows.pop()
    gap = difference(run, published, metrics)
    table.rows.append([*cells, *map(run.printed, metrics), f"{agrees}; {gap}" if gap else agrees])
    name, source = cells[:2]
    table.records += [[name, source, metric, run.values[metric]] for metric in metrics if metric in run.values]


def _add_notes(table: Table, published: dict, measured: dict, runs: list[Measured]) -> None:
    if any(row[-1].startswith(("yes", "no:")) for row in table.rows):
        precisely = " (precision: the difference to it)" if runs else ""
        table.notes.append(f"A measured number agrees if it rounds to the printed one{precisely}.")
    if runs:
        table.notes.append(seeds_note(runs))
    if any(MISSING in row for row in table.rows):
        table.notes.append(f"`{MISSING}`: the data set does not have it (no text, for instance).")
    if published_only := [name for name in published if name not in measured]:
        table.notes.append(f"Published only: {', '.join(published_only)}.")
    if simulated := [name for name, stats in measured.items() if stats["simulated"]]:
        table.notes.append(simulated_note(simulated))


def _plain(number: float) -> int | float:
    return int(number) if number.is_integer() else number


def _print(value) -> str:
    if value is None:
        return MISSING
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
