"""Fit a method on a variant of a data set, predict the test samples, score."""

from orchard.jobs import job

with job(snakemake.log[0], snakemake.threads) as log:
    from orchard.data.store import load_dataset
    from orchard.files import write_json
    from orchard.runs import make_estimator, parameters_for, run
    from orchard.variants.labels import with_labels

    names = snakemake.wildcards
    method, seed = snakemake.params.method, int(names.seed)
    parameters = parameters_for(method, names.dataset)
    estimator = make_estimator(method, parameters, seed)
    label_files = {key: path for key, path in snakemake.input.items() if key != "data"}
    dataset = with_labels(load_dataset(snakemake.input.data), label_files)
    metrics, cost = run(dataset, estimator, snakemake.threads)
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
            "data_sha256": dataset.stats["sha256"],
        },
    )
    log.info("%s on %s (%s): P@1 %.2f", names.method, names.dataset, names.variant, metrics["P@1"])
