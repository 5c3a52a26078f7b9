"""Render scores against λ, the weight of optimal transport in the loss."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.lambda_figure import lambda_figure

    scores = [read_json(path) for path in snakemake.input.get("scores", [])]
    lambda_figure(snakemake.params.artefact, scores, snakemake.input.published, snakemake.output)
