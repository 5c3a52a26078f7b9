"""Turn fetched word vectors into their canonical form."""

from pathlib import Path

from orchard.jobs import job

with job(snakemake) as log:
    from orchard.data.word_vectors import prepare_word_vectors

    name, raw_folder = snakemake.wildcards.vectors, Path(snakemake.input[0]).parent
    vectors = prepare_word_vectors(name, snakemake.params.config, raw_folder, snakemake.output[0])
    log.info("%s: %d words, %d dimensions", name, len(vectors.words), vectors.dimensions)
