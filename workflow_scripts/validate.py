"""Impute labels in some of the groups, and score by those left out how well they teach."""

from orchard.jobs import job

with job(snakemake.log[0], snakemake.threads) as log:
    from orchard.data.store import load_csr, load_dataset, sha256_of_csr
    from orchard.files import write_json
    from orchard.group_validation import left_out_precision
    from orchard.methods import make_imputation

    names, seed, threads = snakemake.wildcards, int(snakemake.wildcards.seed), snakemake.threads
    imputing = snakemake.params.impute
    impute, imputing["parameters"] = make_imputation(**imputing, seed=seed, threads=threads)
    dataset = load_dataset(snakemake.input.data)
    matrices = {
        "X_train": dataset.X_train,
        "Y1": load_csr(snakemake.input.Y1),
        "Y2": load_csr(snakemake.input.Y2),
    }
    precision = 100 * left_out_precision(*matrices.values(), impute, seed, threads)
    write_json(
        snakemake.output.score,
        {
            "dataset": names.dataset,
            "variant": names.variant,
            "method": names.method,
            "seed": seed,
            "simulated": dataset.stats["simulated"],
            "metrics": {"groups left out": precision},
            "impute": imputing,
            "data_sha256": {name: sha256_of_csr(matrix) for name, matrix in matrices.items()},
        },
    )
    log.info("%s on %s (%s): groups left out %.2f", names.method, names.dataset, names.variant, precision)
