"""Measure what a training step of every method takes, in turn, with nobody else on the machine."""

from orchard.jobs import job

with job(snakemake, threads=1) as log:
    import os

    from orchard.data.store import load_dataset
    from orchard.data.word_vectors import load_word_vectors
    from orchard.files import write_json
    from orchard.methods import make_estimator
    from orchard.neural.seq2set.step_times import measure_steps, steppers_of
    from orchard.surroundings import surroundings

    dataset, vectors = load_dataset(snakemake.input.data), snakemake.input.get("word_vectors")
    load = os.getloadavg()[0]
    steppers = []
    for method in snakemake.params.methods:
        estimator, _ = make_estimator(method["estimator"], method["parameters"], seed=0, threads=1)
        steppers += steppers_of(method["method"], estimator)
    steps = measure_steps(dataset, steppers, load_word_vectors(vectors) if vectors else None, snakemake.params.steps)
    about = {"dataset": snakemake.wildcards.dataset, "simulated": dataset.stats["simulated"], "load_average": load}
    write_json(snakemake.output.cost, about | {"steps": steps} | surroundings(1))
    for one in steps:
        log.info("%s, loss %s: %.1f ms a step", one["method"], one["loss"], one["step_ms"])
