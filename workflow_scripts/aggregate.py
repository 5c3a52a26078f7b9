"""Group the training samples of a data set and merge their labels."""

from orchard.jobs import job

with job(snakemake):
    from orchard.data.store import load_dataset, save_csr
    from orchard.variants.aggregate import aggregate

    dataset = load_dataset(snakemake.input.data)
    names = snakemake.wildcards
    Y1, Y2 = aggregate(
        dataset.X_train,
        dataset.Y_train,
        names.grouping,
        int(names.seed),
        n_jobs=snakemake.threads,
        groups=dataset.groups_train,
    )
    save_csr(snakemake.output.Y1, Y1)
    save_csr(snakemake.output.Y2, Y2)
