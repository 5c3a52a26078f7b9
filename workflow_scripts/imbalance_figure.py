"""Render a figure of label imbalance: the share of samples that the most frequent labels serve."""

from orchard.jobs import job

with job(snakemake.log[0]):
    from orchard.data.store import load_dataset
    from orchard.report.imbalance import imbalance_figure

    datasets = [load_dataset(folder) for folder in snakemake.input.data]
    imbalance_figure(snakemake.params.artefact["panels"], datasets, snakemake.input.published, snakemake.output)
