"""Fit a method on a variant of a data set, predict the test samples, score."""

from orchard.jobs import job

with job(snakemake.log[0], snakemake.threads) as log:
    from orchard.data.store import load_dataset, sha256_of_csr
    from orchard.files import write_json
    from orchard.runs import make_estimator, run
    from orchard.variants.labels import with_labels

    names, seed = snakemake.wildcards, int(snakemake.wildcards.seed)
    estimator, parameters = make_estimator(**snakemake.params.method, seed=seed, threads=snakemake.threads)
    label_files = {key: path for key, path in snakemake.input.items() if key != "data"}
    dataset, Y_observed = with_labels(load_dataset(snakemake.input.data), label_files)
    metrics, cost = run(dataset, Y_observed, estimator, snakemake.threads)
    matrices = {
        "X_train": dataset.X_train,
        "Y_observed": Y_observed,
        "X_test": dataset.X_test,
        "Y_test": dataset.Y_test,
    }
    write_json(snakemake.output.cost, cost)
    write_json(
        snakemake.output.score,
        {
            "dataset": names.dataset,
            "variant": names.variant,
            "method": names.method,
            "seed": seed,
            "simulated": dataset.stats["simulated"],
            "metrics": metrics,
            "params": parameters,
            "data_sha256": {name: sha256_of_csr(matrix) for name, matrix in matrices.items()},
        },
    )
    log.info("%s on %s (%s): P@1 %.2f", names.method, names.dataset, names.variant, metrics["P@1"])
