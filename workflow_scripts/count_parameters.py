"""Count the parameters of networks at the paper's sizes, without training them."""

from orchard.jobs import job

with job(snakemake) as log:
    from orchard.files import write_json
    from orchard.methods import make_estimator
    from orchard.neural.seq2set.sizes import count_parameters

    counts = []
    for one in snakemake.params.networks:
        estimator, _ = make_estimator(one["estimator"], one["parameters"], seed=0, threads=1)
        n = count_parameters(estimator, one["n_labels"], one["dimensions"])
        counts.append({"dataset": one["dataset"], "method": one["method"], "parameters": n})
        log.info("%s on %s: %.1f million parameters", one["method"], one["dataset"], n / 1e6)
    write_json(snakemake.output[0], counts)
