"""Render the distribution of the number of labels per sample."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.label_counts import label_count_figure

    statistics = [read_json(f"{folder}/stats.json") for folder in snakemake.input.data]
    label_count_figure(snakemake.params.artefact["title"], statistics, snakemake.output)
