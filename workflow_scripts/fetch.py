"""Bring the raw files of a data set, a sentence encoder or word vectors from the first source that has them."""

from pathlib import Path

from orchard.jobs import job

with job(snakemake) as log:
    from orchard.config import load_yaml
    from orchard.data.sources import fetch

    name = snakemake.wildcards.dataset
    # Not a parameter of the rule: a new source is no reason to fetch again.
    kinds = ("datasets", "encoders", "word_vectors")
    path = next(path for kind in kinds if (path := Path(f"config/{kind}/{name}.yaml")).is_file())
    fetch(name, load_yaml(path), Path(snakemake.output[0]).parent, log=log.info)
