"""Training time and model size (otseq2set, Table 7), and what a training step takes, measured in turn.

An artefact of this kind has `rows`, each with the method that is timed. Three kinds of numbers meet in it: parameters
`counted` at the paper's sizes without any training, hours of the runs behind Table 3, and steps measured alone.
"""

from statistics import mean

from orchard.report.published import read_published
from orchard.report.scores import MISSING, not_run_notes, simulated_note
from orchard.report.tables import Table

HOURS, SIZE = "T_train (hours)", "M (millions)"
STEP, OVER_SEQ2SEQ, OVER_PLAIN, SHARE = "step (ms)", "÷ Seq2Seq", "÷ cross-entropy", "matching + transport"
COLUMNS = [HOURS, SIZE, STEP, OVER_SEQ2SEQ, OVER_PLAIN, SHARE]
RECORD_HEADER = ["data set", "method", "source", "column", "value"]
OWN, PLAIN, ONE_BY_ONE = "its own", "cross-entropy", "sample by sample"  # how the loss of a step is computed

STEP_WORDS = (
    f"'{OVER_SEQ2SEQ}' is over the teacher-forced Seq2Seq with or without light convolutions, whichever it has itself; "
    f"'{OVER_PLAIN}' over the same student-forced decoder with labels in their order, and so the price of all that the "
    f"two losses need; '{SHARE}' is what computing them takes of a step, the mean embeddings under p and the gradient "
    "not counted."
)


def training_table(artefact: dict, counts: list[dict], runs: list[dict], steps: list[dict], published_csv) -> Table:
    """One published, one counted and one measured line per data set and row.

    counts : {dataset, method, parameters}.  runs : {dataset, simulated, method, hours, parameters}, one for every seed.
    steps : {dataset, simulated, load_average, steps: [{method, loss, step_ms, matching_ms, transport_ms, …}]}.
    """
    table = Table(artefact["title"], ["data set", "method", "source", *COLUMNS], [], record_header=RECORD_HEADER)
    published = {}
    for value in read_published(published_csv):
        published.setdefault((value.dataset, value.method), {})[value.metric] = value
    measured_sets = {one["dataset"]: one["simulated"] for one in [*runs, *steps]}
    in_paper = list(dict.fromkeys(dataset for dataset, _ in published))
    for dataset in [*in_paper, *(name for name in measured_sets if name not in in_paper)]:
        source = "simulated" if measured_sets.get(dataset) else "measured"
        of_dataset = [one for step in steps if step["dataset"] == dataset for one in step["steps"]]
        timed = {(one["method"], one["loss"]): one for one in of_dataset}
        for row in artefact["rows"]:
            if printed := published.get((dataset, row["row"])):
                _add(table, [dataset, row["row"], "published"], {key: one.value for key, one in printed.items()})
                table.records += [[dataset, row["row"], "published", key, one.number] for key, one in printed.items()]
            for one in counts:
                if (one["dataset"], one["method"]) == (dataset, row.get("counted", row.get("method"))):
                    _add_values(table, [dataset, row["row"], "counted"], {SIZE: one["parameters"] / 1e6})
            mine = [one for one in runs if (one["dataset"], one["method"]) == (dataset, row.get("method"))]
            for loss in (OWN, PLAIN, ONE_BY_ONE):
                values = _of_runs(mine) if loss == OWN else {}
                if (row.get("method"), loss) in timed:
                    values |= of_step(timed, row["method"], loss, row.get("beside"))
                if values:
                    name = row["row"] if loss == OWN else f"{row['row']}, {loss}"
                    _add_values(table, [dataset, name, source], values)
    table.notes = [*artefact.get("notes", []), *_notes(artefact, counts, steps, measured_sets, in_paper)]
    return table


def _of_runs(runs: list[dict]) -> dict[str, float]:
    """The mean over the seeds."""
    if not runs:
        return {}
    return {HOURS: mean(one["hours"] for one in runs), SIZE: mean(one["parameters"] for one in runs) / 1e6}


def of_step(timed: dict[tuple[str, str], dict], method: str, loss: str, beside: str | None) -> dict[str, float]:
    """What a step takes; over that of the method `beside` which it stands, and over that of plain cross-entropy.

    timed : {(method, loss): what `orchard.neural.seq2set.step_times` measured}.
    """
    mine, plain = timed[method, loss], timed.get((method, PLAIN))
    values = {STEP: mine["step_ms"]}
    if teacher_forced := timed.get((beside, OWN)):
        values[OVER_SEQ2SEQ] = mine["step_ms"] / teacher_forced["step_ms"]
    if plain and loss != PLAIN:
        values[OVER_PLAIN] = mine["step_ms"] / plain["step_ms"]
        values[SHARE] = 100 * (mine["matching_ms"] + mine["transport_ms"]) / mine["step_ms"]
    return values


_PRINTED = {HOURS: "{:.3f}", SIZE: "{:.2f}", STEP: "{:.1f}", SHARE: "{:.1f} %"}


def _add_values(table: Table, lead: list[str], values: dict[str, float]) -> None:
    _add(table, lead, {key: _PRINTED.get(key, "{:.2f}×").format(value) for key, value in values.items()})
    table.records += [[*lead, key, f"{value:.6g}"] for key, value in values.items()]


def _add(table: Table, lead: list[str], cells: dict[str, str]) -> None:
    table.rows.append([*lead, *(cells.get(column, MISSING) for column in COLUMNS)])


def _notes(artefact: dict, counts: list, steps: list[dict], measured_sets: dict, in_paper: list[str]) -> list[str]:
    notes = []
    if steps:
        busiest = max(one["load_average"] for one in steps)
        fewest = min(one["steps"] for step in steps for one in step["steps"])
        notes.append(
            f"Steps are medians of {fewest} or more after some to warm up, methods in turn on the same texts, on one "
            f"core or GPU; load average when it began at most {busiest:.1f}. {STEP_WORDS} Hours are those of the runs "
            "behind Table 3, as many at a time as there are cores."
        )
    if counts:
        notes.append("Counted: the parameters of the network that the method has at the paper's sizes, untrained.")
    missing = [name for name in in_paper if name not in measured_sets]
    if measured_sets and missing:  # else it is told below why nothing is measured
        notes.append(f"No times, the data is not part of this scale: {', '.join(missing)}.")
    if simulated := [name for name, is_simulated in measured_sets.items() if is_simulated]:
        notes.append(simulated_note(simulated))
    return [*notes, *not_run_notes(artefact["rows"], [*in_paper, *measured_sets])]
