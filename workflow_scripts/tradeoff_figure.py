"""Render precision against expected depth, or against another cost of a query."""

from orchard.jobs import job

with job(snakemake.log[0]):
    from orchard.files import read_json
    from orchard.report.tradeoff_figures import tradeoff_figure

    scores = [read_json(path) for path in snakemake.input.scores]
    tradeoff_figure(snakemake.params.artefact, scores, snakemake.output)
