"""Measure what the methods of a table cost, one after the other, with nobody else on the machine."""

from orchard.jobs import job

with job(snakemake) as log:
    import os
    import platform

    from orchard.costs import measure_costs
    from orchard.data.store import load_dataset
    from orchard.files import write_json

    dataset, threads = load_dataset(snakemake.input.data), snakemake.threads
    load = os.getloadavg()[0]
    how = {"seed": 0, "threads": threads, "repetitions": snakemake.params.repetitions}
    costs = measure_costs(dataset, dataset.Y_train, snakemake.params.methods, **how)
    write_json(
        snakemake.output.cost,
        {
            "dataset": snakemake.wildcards.dataset,
            "simulated": dataset.stats["simulated"],
            "costs": costs,
            "threads": threads,
            "load_average": load,
            "machine": {"system": platform.system(), "processor": platform.machine()},
        },
    )
    for cost in costs:
        log.info("%s: trained in %.2f s, asked in %.3f ms", cost["method"], cost["train_s"], cost["query_ms"])
