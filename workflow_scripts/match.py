"""Train a model over a method's trees, or over overlapping clusters, and match the training samples by it."""

from orchard.jobs import job

with job(snakemake) as log:
    from orchard.data.store import load_dataset
    from orchard.disentanglement import Overlap, clusters_from, match_training, overlapping_trees
    from orchard.files import read_json, write_json
    from orchard.matches import load_matches, save_matches
    from orchard.methods import make_estimator
    from orchard.shared_trees import load_trees
    from orchard.timing import timed
    from orchard.variants.labels import with_labels

    recipe, inputs = snakemake.params.recipe, dict(snakemake.input.items())
    seed, threads = int(snakemake.wildcards.seed), snakemake.threads
    data, trees, before, cost = (inputs.pop(key, None) for key in ("data", "trees", "before", "cost"))
    estimator, _ = make_estimator(recipe["estimator"], recipe["parameters"], seed=seed, threads=threads)
    dataset, Y_observed = with_labels(load_dataset(data), inputs)
    if before:
        matches = load_matches(before)
        clusters = clusters_from(Overlap(**recipe["overlap"]), matches, Y_observed, seed, threads)
        trees = overlapping_trees(matches.trees, clusters)
    else:
        trees = load_trees(trees)
    match, took = timed(match_training)
    save_matches(snakemake.output.matches, match(estimator, trees, dataset.X_train, Y_observed, recipe["folds"]))
    seconds = read_json(cost)["seconds"]["tree"] + took["seconds"]
    write_json(snakemake.output.cost, {"seconds": {"tree": seconds}, "threads": threads})
    log.info("%s of %s: %s", snakemake.wildcards.match, snakemake.wildcards.dataset, ", ".join(map(repr, trees)))
