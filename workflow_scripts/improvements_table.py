"""Render relative improvements over the best baseline, published and measured."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.relative_table import improvements_table
    from orchard.report.tables import write_table

    scores = [read_json(path) for path in snakemake.input.get("scores", [])]
    table = improvements_table(snakemake.params.artefact, scores, snakemake.input.published)
    write_table(table, snakemake.output.csv, snakemake.output.md)
