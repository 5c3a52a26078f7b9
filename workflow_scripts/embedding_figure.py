"""Render label embeddings as pictures."""

from orchard.jobs import job

with job(snakemake):
    from orchard.report.embedding_figure import embedding_figure

    embedding_figure(snakemake.params.artefact, snakemake.input.embeddings, snakemake.output)
