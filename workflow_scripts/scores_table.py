"""Render a table of results, published and measured."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.scores import list_of_scores, merged
    from orchard.report.scores_table import scores_table
    from orchard.report.tables import write_table

    scores = merged(list_of_scores(map(read_json, snakemake.input.scores)))
    table = scores_table(snakemake.params.artefact, scores, snakemake.input.get("published"))
    write_table(table, snakemake.output.csv, snakemake.output.md)
