"""Render precision against expected depth, or against another cost of a query."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.scores import list_of_scores
    from orchard.report.tradeoff_figures import tradeoff_figure

    scores = list_of_scores(map(read_json, snakemake.input.scores))
    tradeoff_figure(snakemake.params.artefact, scores, snakemake.output, snakemake.params.costs)
