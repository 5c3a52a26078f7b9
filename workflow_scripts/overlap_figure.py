"""Render what overlapping clusters bring, by entanglement, by the beam or by λ."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report import overlap_figures

    scores = [read_json(path) for path in snakemake.input.scores]
    if snakemake.params.by == "λ":
        overlap_figures.sweep_figure(snakemake.params.artefact, scores, snakemake.output)
    else:
        overlap_figures.gain_figure(snakemake.params.artefact, scores, snakemake.output, snakemake.params.by)
