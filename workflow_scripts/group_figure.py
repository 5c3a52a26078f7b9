"""Render accuracy against the size of the groups, published and measured."""

from orchard.jobs import job

with job(snakemake):
    from orchard.files import read_json
    from orchard.report.group_figure import group_figure
    from orchard.report.scores import list_of_scores

    scores = list_of_scores(map(read_json, snakemake.input.get("scores", [])))
    group_figure(snakemake.params.artefact, scores, snakemake.input.published, snakemake.output)
