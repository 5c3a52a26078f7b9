"""Fit a method on a variant of a data set, predict the test samples, score."""

from orchard.jobs import job

with job(snakemake.log[0], snakemake.threads) as log:
    from orchard.data.store import load_dataset, sha256_of_csr
    from orchard.files import read_json, write_json
    from orchard.methods import make_estimator
    from orchard.runs import run
    from orchard.shared_trees import load_trees
    from orchard.variants.labels import with_labels

    names, seed = snakemake.wildcards, int(snakemake.wildcards.seed)
    estimator, parameters = make_estimator(**snakemake.params.method, seed=seed, threads=snakemake.threads)
    inputs = dict(snakemake.input.items())
    data, trees, tree_cost = (inputs.pop(key, None) for key in ("data", "trees", "tree_cost"))
    shared = {"trees": load_trees(trees), "tree_seconds": read_json(tree_cost)["seconds"]["tree"]} if trees else {}
    dataset, Y_observed = with_labels(load_dataset(data), inputs)
    metrics, cost = run(dataset, Y_observed, estimator, snakemake.threads, **shared)
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
