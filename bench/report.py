"""The tables and the plots of the bench, from raw.jsonl and the other parts' JSON; bench.md has all tables in one."""

import re

from bench import (
    figures,
    imputation,
    imputation_tables,
    measure,
    overlap,
    overlap_agreement,
    overlap_tables,
    records,
    settings,
    softmax,
    softmax_tables,
    steps,
    summary,
    tables,
    tree_building,
)
from bench.settings import CONFIGURATIONS
from orchard.files import read_json, write_text
from orchard.report.tables import write_table

FOLDER = records.FOLDER


def write() -> None:
    """Write every table and plot for which something has been measured."""
    current = {configuration.name: measure.edition(configuration) for configuration in CONFIGURATIONS}
    measured = records.load()
    editions, older = summary.choose_editions(measured, current)
    summaries = summary.summarise(measured, editions)
    beside_peers = [one for one in summaries if one.threads == settings.THREADS and _is_peer_set(one)]
    imputations, is_old = imputation_tables.points(measured, imputation.edition())
    made = {
        "figures": tables.figures_table(beside_peers, measure.machine()),
        "ratios": tables.ratios_table(summary.ratios(beside_peers)),
        "accuracy": tables.accuracy_table(summary.differences(beside_peers)),
        "same_trees": tables.same_trees_table(_read("same_trees.json"), current),
        "threads": tables.threads_table(summaries),
        "labels": tables.labels_table(summaries),
        "jit": tables.jit_table(_read("jit.json")),
        "limits": tables.limits_table(_read("limits.json")),
    }
    agreement = overlap_tables.agreement_table(_read("overlap_pecos.json"), overlap_agreement.editions())
    made |= imputation_tables.make(imputations, is_old)
    made |= overlap_tables.make(*overlap_tables.points(measured, overlap.edition()), agreement)
    made["building"] = tree_building.table(measured)
    made["steps"] = steps.table(_read("steps.json"), steps.current_editions())
    made |= softmax_tables.make(*softmax_tables.points(measured, softmax.edition()))
    made = {name: table for name, table in made.items() if table.rows}
    if older:
        note = f"Measured before the last edit of the engine's sources: {', '.join(older)}."
        for name in {"figures", "ratios", "accuracy", "threads", "labels"} & made.keys():
            made[name].notes.append(note)
    if note := tables.apart_note(beside_peers):
        for name in {"figures", "ratios"} & made.keys():
            made[name].notes.append(note)
    for name, table in made.items():
        write_table(table, FOLDER / f"{name}.csv", FOLDER / f"{name}.md")
    text = "\n".join((FOLDER / f"{name}.md").read_text(encoding="utf-8") for name in made)
    write_text(FOLDER / "bench.md", "# Orchard and its peers\n\n" + re.sub("^# ", "## ", text, flags=re.M))
    if beside_peers:
        figures.plot_peers(beside_peers, FOLDER / "peers.png", FOLDER / "peers.svg")
    if summary.curve(summaries):
        figures.plot_labels(summary.curve(summaries), FOLDER / "labels.png", FOLDER / "labels.svg")
    if imputation_tables.group_curve(imputations) or imputation_tables.row_curves(imputations):
        figures.plot_imputation(imputations, FOLDER / "imputation.png", FOLDER / "imputation.svg")


def _is_peer_set(one):
    return one.dataset in settings.PEER_DATASETS


def _read(name):
    return read_json(FOLDER / name) if (FOLDER / name).is_file() else None
