"""Train a network on groups, at a point of a search or with what was chosen, and score it on single samples."""

from pathlib import Path

from orchard.jobs import job

with job(snakemake) as log:
    from orchard.data.store import load_csr, load_dataset
    from orchard.files import read_json, write_json
    from orchard.held_out import with_validation
    from orchard.methods import make_estimator
    from orchard.neural.runs import run_on_groups
    from orchard.score_files import write_score

    names, seed, searched = snakemake.wildcards, int(snakemake.wildcards.seed), snakemake.params.searched
    method = snakemake.params.method
    for choice in map(read_json, snakemake.input.choices):
        method["parameters"] |= choice["parameters"]
    method["parameters"] |= searched.get("schedule", {}) | searched.get("point", {})
    estimator, parameters = make_estimator(**method, seed=seed, threads=1)
    dataset, Y1, Y2 = load_dataset(snakemake.input.data), load_csr(snakemake.input.Y1), load_csr(snakemake.input.Y2)
    groups = with_validation(dataset, Y1, Y2, seed)
    metrics, cost = run_on_groups(dataset, groups, estimator, Path(snakemake.output.score).with_name("checkpoint.pt"))
    matrices = {key: getattr(groups, key) for key in ("X", "Y1", "Y2", "X_valid", "Y_valid")}
    matrices |= {"X_test": dataset.X_test, "Y_test": dataset.Y_test}
    write_json(snakemake.output.cost, cost)
    told = {"params": parameters, "point": searched.get("point"), "device": estimator.device_}
    if estimator.patience is not None:
        told["epoch"] = estimator.epoch_
    write_score(snakemake.output.score, names, dataset.stats["simulated"], metrics, matrices, **told)
    log.info(
        "%s on %s (%s): %.2f on validation and %.2f on test samples",
        *(names.method, names.dataset, names.variant, metrics["validation accuracy"], metrics["accuracy"]),
    )
