"""Choose the point of a search that does best on validation samples."""

from orchard.jobs import job

with job(snakemake) as log:
    from orchard.files import read_json, write_json
    from orchard.hyperparameters import choose_point

    choice = choose_point([read_json(path) for path in snakemake.input.scores])
    write_json(snakemake.output.choice, choice)
    log.info("%s: %s", snakemake.wildcards.method, choice)
