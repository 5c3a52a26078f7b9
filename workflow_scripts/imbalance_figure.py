"""Render a figure of label imbalance: the share of samples that the most frequent labels serve."""

from orchard.jobs import job

with job(snakemake):
    from orchard.data.store import load_csr, matrix_file
    from orchard.files import read_json
    from orchard.report.imbalance import imbalance_figure

    labels = [load_csr(f"{folder}/{matrix_file('Y', 'train')}") for folder in snakemake.input.data]
    statistics = [read_json(f"{folder}/stats.json") for folder in snakemake.input.data]
    imbalance_figure(snakemake.params.artefact, labels, statistics, snakemake.input.published, snakemake.output)
