"""Impute labels in some of the groups, and score by those left out how well they teach."""

from orchard.jobs import job

with job(snakemake) as log:
    from orchard.data.store import load_csr, load_dataset
    from orchard.group_validation import left_out_precision
    from orchard.methods import make_imputation
    from orchard.score_files import write_score
    from orchard.variants.labels import checked_imputed

    names, seed, threads = snakemake.wildcards, int(snakemake.wildcards.seed), snakemake.threads
    imputing = snakemake.params.impute
    impute, imputing["parameters"] = make_imputation(**imputing, seed=seed, threads=threads)
    dataset, Y1, Y2 = load_dataset(snakemake.input.data), load_csr(snakemake.input.Y1), load_csr(snakemake.input.Y2)

    def checked_impute(X, Y1, Y2):
        return checked_imputed(impute(X, Y1, Y2), (X.shape[0], Y2.shape[1]))

    precision = 100 * left_out_precision(dataset.X_train, Y1, Y2, checked_impute, seed, threads)
    matrices, metrics = {"X_train": dataset.X_train, "Y1": Y1, "Y2": Y2}, {"group precision": precision}
    write_score(snakemake.output.score, names, dataset.stats["simulated"], metrics, matrices, impute=imputing)
    log.info("%s on %s (%s): group precision %.2f", names.method, names.dataset, names.variant, precision)
