"""Render the two schemes of bipartite matching side by side, published and measured."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.relative_table import schemes_table
    from orchard.report.tables import write_table

    scores = [read_json(path) for path in snakemake.input.get("scores", [])]
    statistics = [read_json(f"{folder}/stats.json") for folder in snakemake.input.data]
    table = schemes_table(snakemake.params.artefact, scores, statistics, snakemake.input.published)
    write_table(table, snakemake.output.csv, snakemake.output.md)
