"""Bring the raw files of a data set or of a sentence encoder from the first of its sources that has them."""

from pathlib import Path

from orchard.jobs import job

with job(snakemake.log[0]) as log:
    from orchard.config import load_yaml
    from orchard.data.sources import fetch

    name = snakemake.wildcards.dataset
    # Not a parameter of the rule: a new source is no reason to fetch again.
    path = next(path for kind in ("datasets", "encoders") if (path := Path(f"config/{kind}/{name}.yaml")).is_file())
    fetch(name, load_yaml(path), Path(snakemake.output[0]).parent, log=log.info)
