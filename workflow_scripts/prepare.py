"""Turn a data set's raw files into the canonical form."""

from pathlib import Path

from orchard.jobs import job

with job(snakemake.log[0], snakemake.threads) as log:
    from orchard.data.prepare import prepare

    name = snakemake.wildcards.dataset
    raw_folder = Path(snakemake.input[0]).parent if snakemake.input else None  # generated data has none
    statistics = prepare(name, snakemake.params.config, raw_folder, snakemake.output[0])
    log.info(
        "%s: %d + %d samples, %d features, %d labels",
        name,
        *(statistics[key] for key in ("n_train", "n_test", "n_features", "n_labels")),
    )
