"""Render a table of costs, published and measured."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.costs_table import costs_table
    from orchard.report.tables import write_table

    costs = [read_json(path) for path in snakemake.input.costs]
    table = costs_table(snakemake.params.artefact, costs, snakemake.input.get("published"))
    write_table(table, snakemake.output.csv, snakemake.output.md)
