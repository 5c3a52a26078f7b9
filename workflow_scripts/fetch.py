"""Bring a data set's raw files from the first of its sources that has them."""

from pathlib import Path

from orchard.jobs import job

with job(snakemake.log[0]) as log:
    from orchard.config import load_yaml
    from orchard.data.sources import fetch

    name = snakemake.wildcards.dataset
    fetch(name, load_yaml(f"config/datasets/{name}.yaml"), Path(snakemake.output[0]).parent, log=log.info)
