"""Render a search for hyper-parameters, published and measured."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.scores import list_of_scores
    from orchard.report.search_table import search_table
    from orchard.report.tables import write_table

    scores = list_of_scores(map(read_json, snakemake.input.get("scores", [])))
    table = search_table(snakemake.params.artefact, scores, snakemake.input.published)
    write_table(table, snakemake.output.csv, snakemake.output.md)
