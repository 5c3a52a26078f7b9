"""Bring a data set's raw files from the first of its sources that has them."""

from orchard.jobs import job

with job(snakemake.log[0]) as log:
    from orchard.data.sources import fetch

    fetch(snakemake.wildcards.dataset, snakemake.params.config, snakemake.output[0], log=log.info)
    log.info("%s: fetched and verified", snakemake.wildcards.dataset)
