"""Fit a method on a variant of a data set, predict the test samples, score."""

from orchard.jobs import job

with job(snakemake) as log:
    from orchard.data.store import load_dataset
    from orchard.files import read_json, write_json
    from orchard.methods import make_estimator, make_imputation, make_overlap
    from orchard.runs import run
    from orchard.score_files import write_score
    from orchard.shared_trees import load_trees
    from orchard.timing import timed
    from orchard.variants.labels import imputation_report, with_labels

    names, seed = snakemake.wildcards, int(snakemake.wildcards.seed)
    estimator, parameters = make_estimator(**snakemake.params.method, seed=seed, threads=snakemake.threads)
    imputing, impute = snakemake.params.impute, None
    if imputing:
        impute, imputing["parameters"] = make_imputation(**imputing, seed=seed, threads=snakemake.threads)
        impute, took = timed(impute)
    inputs, overlap = dict(snakemake.input.items()), snakemake.params.overlap
    given = {key: inputs.pop(key, None) for key in ("data", "trees", "cost", "matches", "matcher")}
    dataset, Y_observed = with_labels(load_dataset(given["data"]), inputs, impute)
    shared = {"tree_seconds": read_json(given["cost"])["seconds"]["tree"]} if given["cost"] else {}
    if overlap:
        overlapping_fit, overlap = make_overlap(overlap)
        overlapping_fit, took = timed(overlapping_fit)
        shared |= overlapping_fit(given["matches"], given["matcher"], Y_observed, seed, snakemake.threads)
    elif given["trees"]:
        shared["trees"] = load_trees(given["trees"])
    metrics, cost = run(dataset, Y_observed, estimator, snakemake.threads, **shared)
    if imputing or overlap:
        cost["seconds"]["impute" if imputing else "overlap"] = took["seconds"]
        cost["compile_seconds"] += took["compile_seconds"]
    if imputing:
        metrics = metrics and metrics | imputation_report(Y_observed, dataset.Y_train)
    matrices = {
        "X_train": dataset.X_train,
        "Y_observed": Y_observed,
        "X_test": dataset.X_test,
        "Y_test": dataset.Y_test,
    }
    write_json(snakemake.output.cost, cost)
    told = {"params": parameters, "impute": imputing, "overlap": overlap or None, "oversized": metrics is None or None}
    write_score(snakemake.output.score, names, dataset.stats["simulated"], metrics or {}, matrices, **told)
    result = "oversized" if metrics is None else f"P@1 {metrics['P@1']:.2f}"
    log.info("%s on %s (%s): %s", names.method, names.dataset, names.variant, result)
