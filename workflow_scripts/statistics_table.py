"""Render a table of data statistics, published and measured."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.statistics_table import statistics_table
    from orchard.report.tables import write_table

    statistics = [read_json(f"{folder}/stats.json") for folder in snakemake.input.data]
    scores = [read_json(path) for path in snakemake.input.get("scores", [])]
    table = statistics_table(snakemake.params.artefact, statistics, snakemake.input.published, scores)
    write_table(table, snakemake.output.csv, snakemake.output.md)
