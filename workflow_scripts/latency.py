"""Measure the searches of trees, one after the other, with nobody else on the machine."""

from orchard.jobs import job

with job(snakemake) as log:
    from orchard.data.store import load_dataset
    from orchard.files import write_json
    from orchard.latency import compare_searches
    from orchard.methods import train_method

    dataset, scores = load_dataset(snakemake.input.data), []
    few = slice(snakemake.params.rows)
    about = {"dataset": snakemake.wildcards.dataset, "variant": "clean", "seed": 0}
    for method in snakemake.params.methods:
        name = method.pop("method")
        model = train_method(**method, X=dataset.X_train, Y=dataset.Y_train, seed=0, threads=snakemake.threads)
        found = compare_searches(
            model, dataset.X_test[few], dataset.Y_test[few], ks=(1, 5), n_queries=snakemake.params.queries, seed=0
        )
        for search, metrics in found.items():
            run = about | {"method": f"{name}/{search}", "simulated": dataset.stats["simulated"]}
            scores.append(run | {"metrics": metrics})
        best = found["best-first"]
        log.info(
            "%s: best-first %.2f and %.2f of the beam's time for 1 and 5", name, best["of beam@1"], best["of beam@5"]
        )
    write_json(snakemake.output.cost, scores)
