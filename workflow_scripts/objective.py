"""Which share of the true labels the clusters of a method let the backbone's matcher reach: Problem 7's objective."""

from orchard.jobs import job

with job(snakemake) as log:
    from dataclasses import asdict

    import scipy.sparse as sp

    from orchard.data.store import load_dataset
    from orchard.disentanglement import Overlap, clusters_from
    from orchard.label_clusters import clusters_of, objective
    from orchard.matches import load_matches
    from orchard.score_files import write_score
    from orchard.variants.labels import with_labels

    names, seed, threads = snakemake.wildcards, int(snakemake.wildcards.seed), snakemake.threads
    inputs, options = dict(snakemake.input.items()), snakemake.params.overlap
    data, *folders = (inputs.pop(key) for key in ("data", "matches", "plain", "crossed"))
    inputs.pop("cost")
    dataset, Y_observed = with_labels(load_dataset(data), inputs)
    own, plain, crossed = (load_matches(folder, folder == folders[1], threads) for folder in folders)
    if options:
        clusters = clusters_from(Overlap(**options), own, Y_observed, seed, threads)
    else:
        clusters = [clusters_of(tree) for tree in own.trees]
    C = sp.hstack(clusters, format="csr")
    reached = {
        "objective, train": (Y_observed, plain.M),
        "objective, cross-fitted": (Y_observed, crossed.M),
        "objective, test": (dataset.Y_test, plain.model.match(dataset.X_test)),
    }
    metrics = {name: 100 * objective(Y, M, C, threads)[0] / max(Y.nnz, 1) for name, (Y, M) in reached.items()}
    matrices = {"Y_observed": Y_observed, "Y_test": dataset.Y_test, "X_test": dataset.X_test, "M": own.M}
    overlap = asdict(Overlap(**options)) if options else None
    write_score(snakemake.output.score, names, dataset.stats["simulated"], metrics, matrices, overlap=overlap)
    log.info("%s on %s: %s", names.method, names.dataset, metrics)
