"""Render fused labels with a document for each meaning."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.examples_table import examples_table
    from orchard.report.tables import write_table

    found = [read_json(path) for path in snakemake.input.examples]
    table = examples_table(snakemake.params.artefact, found, snakemake.input.published)
    write_table(table, snakemake.output.csv, snakemake.output.md)
