"""What overlapping clusters cost over their backbone (disentangle, Table 5), measured in the same run.

An artefact of this kind has `rows`; the first one is the backbone, which the others are compared with. 'Extra' is as
the paper has it: 1.0× is as much again as the backbone takes.
"""

from math import hypot

from orchard.report.published import read_published
from orchard.report.scores import MISSING, simulated_note
from orchard.report.tables import Table

EXTRA = ["Extra training time", "Extra inference time"]
TIMES = {"train_s": "training (s)", "query_ms": "query (ms)"}
HEADER = ["data set", "setting", "method", "source", "training", "query", *EXTRA]
RECORD_HEADER = ["data set", "setting", "method", "source", "column", "value", "standard error", "repetitions"]


def costs_table(artefact: dict, costs: list[dict], published_csv=None) -> Table:
    """One published and one measured line per data set and row.

    costs : what the rule `costs` wrote, one for every data set.  published_csv : None for a table beyond the paper.
    """
    rows, published = artefact["rows"], _published(published_csv) if published_csv else {}
    table = Table(artefact["title"], HEADER, [], record_header=RECORD_HEADER)
    at_hand = [cost["dataset"] for cost in costs]
    in_paper = list(dict.fromkeys(dataset for dataset, *_ in published))
    for dataset in [*in_paper, *(name for name in at_hand if name not in in_paper)]:
        cost = next((one for one in costs if one["dataset"] == dataset), None)
        by_method = {one["method"]: one for one in cost["costs"]} if cost else {}
        for row in rows:
            lead = [dataset, row.get("setting", ""), row["row"]]
            if printed := published.get(tuple(lead)):
                query = printed["T_tst (ms/pts)"]
                query = query if query == MISSING else f"{query} ms"
                table.rows.append([*lead, "published", printed["T_trn"], query, *(printed[name] for name in EXTRA)])
            if row.get("method") in by_method:
                source = "simulated" if cost["simulated"] else "measured"
                values = _values(by_method[row["method"]], by_method[rows[0]["method"]])
                table.rows.append([*lead, source, *_printed(values)])
                repetitions = by_method[row["method"]]["repetitions"]
                table.records += [
                    [*lead, source, name, f"{value:.6g}", "" if error is None else f"{error:.6g}", repetitions]
                    for name, (value, error) in values.items()
                ]
    later = {}
    for row in rows:
        if "from" in row:
            later.setdefault(row["from"], []).append(row["row"])
    waiting = [f"Measured from the scale `{scale}` on: {'; '.join(names)}." for scale, names in later.items()]
    table.notes = [*artefact.get("notes", []), *waiting, *_notes(costs, in_paper, at_hand)]
    return table


def _published(path) -> dict[tuple[str, str, str], dict[str, str]]:
    lines = {}
    for value in read_published(path):
        empty = dict.fromkeys(("T_trn", "T_tst (ms/pts)", *EXTRA), MISSING)
        lines.setdefault((value.dataset, value.setting, value.method), empty)[value.metric] = value.value
    return lines


def _values(mine: dict, backbone: dict) -> dict[str, tuple[float, float | None]]:
    """{column: (value, standard error)}."""
    times = {name: (mine[key], mine[f"{key}_error"]) for key, name in TIMES.items()}
    if mine is backbone:
        return times
    return times | {name: _extra(mine, backbone, key) for key, name in zip(TIMES, EXTRA, strict=True)}


def _extra(mine: dict, backbone: dict, key: str) -> tuple[float, float | None]:
    """What comes on top of the backbone; the relative errors of both times add up to that of their ratio."""
    ratio, errors = mine[key] / backbone[key], [(one[f"{key}_error"], one[key]) for one in (mine, backbone)]
    if any(error is None for error, _ in errors):
        return ratio - 1, None
    return ratio - 1, ratio * hypot(*(error / time for error, time in errors))


def _printed(values: dict[str, tuple[float, float | None]]) -> list[str]:
    (training, _), (query, _) = (values[name] for name in TIMES.values())
    extra = [f"{values[name][0]:.2f}×" if name in values else MISSING for name in EXTRA]
    return [f"{training:.2f} s", f"{query:.3f} ms", *extra]


def _notes(costs: list[dict], in_paper: list[str], at_hand: list[str]) -> list[str]:
    notes = []
    if costs:
        threads = sorted({cost["threads"] for cost in costs})
        repetitions = sorted({one["repetitions"] for cost in costs for one in cost["costs"]})
        busiest = max(cost["load_average"] for cost in costs)
        how = "Measured once" if repetitions == [1] else "Measured"
        medians = f"medians of {', '.join(map(str, repetitions))} repetitions in turn, " if repetitions != [1] else ""
        notes.append(
            f"{how} with {', '.join(map(str, threads))} threads, {medians}seed 0; "
            f"load average when it began at most {busiest:.1f}. Queries are asked at once."
        )
    if missing := [name for name in in_paper if name not in at_hand]:
        notes.append(f"Published only, the data is not part of this scale: {', '.join(missing)}.")
    if simulated := [cost["dataset"] for cost in costs if cost["simulated"]]:
        notes.append(simulated_note(simulated))
    return notes
