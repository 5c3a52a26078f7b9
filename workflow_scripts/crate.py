"""Pack a run and the records of its jobs as a Provenance Run Crate."""

from orchard.jobs import job

with job(snakemake):
    from importlib.metadata import version
    from pathlib import Path

    from orchard.report.crate.contents import Run
    from orchard.report.crate.pack import write_crate

    params = snakemake.params
    run = Run(Path(), params.shown, params.steps, params.chosen, version("snakemake"))
    write_crate(snakemake.output[0], run)
