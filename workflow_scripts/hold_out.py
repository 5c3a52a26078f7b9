"""Train a method on four fifths of the training samples, and score it on the others."""

from orchard.jobs import job

with job(snakemake) as log:
    from orchard.data.store import load_dataset
    from orchard.held_out import without_test
    from orchard.methods import make_estimator, make_overlap, train_method
    from orchard.runs import score
    from orchard.score_files import write_score
    from orchard.variants.labels import with_labels

    names, seed, threads = snakemake.wildcards, int(snakemake.wildcards.seed), snakemake.threads
    method, overlap = snakemake.params.method, snakemake.params.overlap
    label_files = {key: path for key, path in snakemake.input.items() if key != "data"}
    dataset = without_test(*with_labels(load_dataset(snakemake.input.data), label_files), seed)
    model = train_method(**method, overlap=overlap, X=dataset.X_train, Y=dataset.Y_train, seed=seed, threads=threads)
    _, parameters = make_estimator(**method, seed=seed, threads=threads)
    metrics = score(dataset, model)
    matrices = {key: getattr(dataset, key) for key in ("X_train", "Y_train", "X_test", "Y_test")}
    told = {"params": parameters, "overlap": make_overlap(overlap)[1] if overlap else None}
    write_score(snakemake.output.score, names, dataset.stats["simulated"], metrics, matrices, **told)
    log.info("%s on training samples of %s held out: P@1 %.2f", names.method, names.dataset, metrics["P@1"])
