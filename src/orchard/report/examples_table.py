"""Fused labels and where their meanings went (disentangle, Table 2): real documents, best, median and worst case."""

from orchard.report.published import read_published
from orchard.report.scores import simulated_note
from orchard.report.tables import Table

SHOWN = 160  # characters of a document
HEADER = ["data set", "source", "told apart", "meaning", "samples", "Cluster ID", "share there", "Input text"]


def examples_table(artefact: dict, found: list[dict], published_csv) -> Table:
    """The paper's example as it is printed, and below it ours.

    found : the examples.json of every run that the artefact asks for.
    """
    table = Table(artefact["title"], HEADER, [], record_header=[*HEADER, "VI", "VI, random"])
    printed = {(value.setting, value.metric): value.value for value in read_published(published_csv)}
    names = printed["", "Fused label"].strip("“”")
    for row in ("row 1", "row 2"):
        cells = ["not named", "published", "", names, "", printed[row, "Cluster ID"], "", printed[row, "Input text"]]
        table.rows.append(cells)
        table.records.append([*cells, "", ""])
    for one in found:
        source = "simulated" if one["simulated"] else "measured"
        for example in one["examples"]:
            for meaning in example["meanings"]:
                lead = [one["dataset"], source, example["told apart"], meaning["meaning"], str(meaning["samples"])]
                place = [_cluster(meaning["cluster"]), f"{meaning['share']:.0f}%"]
                table.rows.append([*lead, *place, f"“{_shortened(meaning['text'])}”"])
                numbers = [f"{example['vi']:.6g}", f"{example['random']:.6g}"]
                table.records.append([*lead, *place, meaning["text"], *numbers])
    table.notes = [*artefact.get("notes", []), *_notes(found)]
    return table


def _notes(found: list[dict]) -> list[str]:
    empty = [one["dataset"] for one in found if not one["examples"]]
    notes = [f"Nothing to show on {', '.join(empty)}: no fused label is large enough."] if empty else []
    if simulated := sorted({one["dataset"] for one in found if one["simulated"]}):
        notes.append(simulated_note(simulated))
    return notes


def _cluster(number: int) -> str:
    return "none" if number < 0 else str(number)


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN].rsplit(" ", 1)[0] + " …"
