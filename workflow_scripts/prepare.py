"""Turn a data set's raw files into the canonical form."""

from pathlib import Path

from orchard.jobs import job

with job(snakemake) as log:
    from orchard.data.prepare import prepare

    name = snakemake.wildcards.dataset
    # Generated and bundled data has no raw files, most data sets have no encoder.
    raw_folder, encoder_folder = (
        Path(record).parent if record else None for record in (snakemake.input.raw, snakemake.input.encoder)
    )
    statistics = prepare(name, snakemake.params.config, raw_folder, snakemake.output[0], encoder_folder)
    log.info(
        "%s: %d + %d samples, %d features, %d labels",
        name,
        *(statistics[key] for key in ("n_train", "n_test", "n_features", "n_labels")),
    )
