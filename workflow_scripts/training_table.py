"""Render training times and model sizes, published, counted and measured."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.tables import write_table
    from orchard.report.training_table import training_table

    runs = []
    for score, cost in zip(map(read_json, snakemake.input.scores), map(read_json, snakemake.input.costs), strict=True):
        about = {key: score[key] for key in ("dataset", "method", "simulated")}
        runs.append(about | {"hours": cost["seconds"]["fit"] / 3600, "parameters": cost["parameters"]})
    counts = [one for path in snakemake.input.counts for one in read_json(path)]
    steps = [read_json(path) for path in snakemake.input.steps]
    table = training_table(snakemake.params.artefact, counts, runs, steps, snakemake.input.published)
    write_table(table, snakemake.output.csv, snakemake.output.md)
