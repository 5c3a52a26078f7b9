"""Render a figure of the decrement of precision over the oracle, published and measured."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.decrement import decrement_figure

    scores = [read_json(path) for path in snakemake.input.scores]
    decrement_figure(snakemake.params.artefact, scores, snakemake.input.published, snakemake.output)
