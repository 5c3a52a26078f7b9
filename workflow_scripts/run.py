"""Fit a method on a variant of a data set, predict the test samples, score."""

from orchard.jobs import job

with job(snakemake.log[0], snakemake.threads) as log:
    from orchard.data.store import load_dataset, sha256_of_csr
    from orchard.files import read_json, write_json
    from orchard.methods import make_estimator, make_imputation
    from orchard.runs import run, timed
    from orchard.shared_trees import load_trees
    from orchard.variants.labels import imputation_report, with_labels

    names, seed = snakemake.wildcards, int(snakemake.wildcards.seed)
    estimator, parameters = make_estimator(**snakemake.params.method, seed=seed, threads=snakemake.threads)
    imputing, impute = snakemake.params.impute, None
    if imputing:
        impute, imputing["parameters"] = make_imputation(**imputing, seed=seed, threads=snakemake.threads)
        impute, took = timed(impute)
    inputs = dict(snakemake.input.items())
    data, trees, tree_cost = (inputs.pop(key, None) for key in ("data", "trees", "tree_cost"))
    shared = {"trees": load_trees(trees), "tree_seconds": read_json(tree_cost)["seconds"]["tree"]} if trees else {}
    dataset, Y_observed = with_labels(load_dataset(data), inputs, impute)
    metrics, cost = run(dataset, Y_observed, estimator, snakemake.threads, **shared)
    if imputing:
        cost["seconds"]["impute"] = took["seconds"]
        cost["compile_seconds"] += took["compile_seconds"]
        metrics = metrics and metrics | imputation_report(Y_observed, dataset.Y_train)
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
            **({"metrics": {}, "oversized": True} if metrics is None else {"metrics": metrics}),
            "params": parameters,
            **({"impute": imputing} if imputing else {}),
            "data_sha256": {name: sha256_of_csr(matrix) for name, matrix in matrices.items()},
        },
    )
    result = "oversized" if metrics is None else f"P@1 {metrics['P@1']:.2f}"
    log.info("%s on %s (%s): %s", names.method, names.dataset, names.variant, result)
