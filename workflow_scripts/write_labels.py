"""Train a network to write the labels of a text, let it write those of the test texts, and score the sets."""

from pathlib import Path

from orchard.jobs import job

with job(snakemake) as log:
    from orchard.data.store import load_dataset
    from orchard.data.word_vectors import load_word_vectors
    from orchard.files import write_json
    from orchard.methods import make_estimator
    from orchard.neural.seq2set.runs import run_on_texts
    from orchard.score_files import write_score

    names, vectors = snakemake.wildcards, snakemake.input.get("word_vectors")
    estimator, parameters = make_estimator(**snakemake.params.method, seed=int(names.seed), threads=1)
    dataset = load_dataset(snakemake.input.data)
    checkpoint = Path(snakemake.output.score).with_name("checkpoint.pt")
    metrics, cost = run_on_texts(dataset, estimator, load_word_vectors(vectors) if vectors else None, checkpoint)
    matrices = {key: getattr(dataset, key) for key in ("X_train", "Y_train", "X_test", "Y_test")}
    write_json(snakemake.output.cost, cost)
    told = {"params": parameters, "word_vectors": snakemake.params.word_vectors, "device": estimator.device_}
    write_score(snakemake.output.score, names, dataset.stats["simulated"], metrics, matrices, **told)
    checkpoint.unlink(missing_ok=True)
    log.info("%s on %s: micro-F1 %.2f", names.method, names.dataset, metrics["F1"])
