"""Build the label trees that methods share."""

from orchard.jobs import job

with job(snakemake) as log:
    from orchard.data.store import load_dataset
    from orchard.files import write_json
    from orchard.methods import make_estimator
    from orchard.shared_trees import save_trees, timed_trees
    from orchard.variants.labels import with_labels

    seed = int(snakemake.wildcards.seed)
    estimator, _ = make_estimator(**snakemake.params.recipe, seed=seed, threads=snakemake.threads)
    label_files = {key: path for key, path in snakemake.input.items() if key != "data"}
    dataset, Y_observed = with_labels(load_dataset(snakemake.input.data), label_files)
    trees, seconds = timed_trees(estimator, dataset.X_train, Y_observed)
    save_trees(snakemake.output.trees, trees)
    write_json(snakemake.output.cost, {"seconds": {"tree": seconds}, "threads": snakemake.threads})
    log.info("%s of %s: %s", snakemake.wildcards.tree, snakemake.wildcards.dataset, ", ".join(map(repr, trees)))
