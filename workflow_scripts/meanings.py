"""Tell how well overlapping clusters separate the meanings of fused labels."""

from orchard.jobs import job

with job(snakemake) as log:
    from dataclasses import asdict

    import numpy as np

    from orchard.data.store import load_dataset
    from orchard.disentanglement import Overlap, clusters_from
    from orchard.errors import OrchardError
    from orchard.files import write_json
    from orchard.matches import load_matches
    from orchard.meanings import examples, judge_meanings, meanings_report
    from orchard.score_files import write_score
    from orchard.variants.labels import with_labels

    names, seed, threads = snakemake.wildcards, int(snakemake.wildcards.seed), snakemake.threads
    inputs = dict(snakemake.input.items())
    data, matches, fused = (inputs.pop(key) for key in ("data", "matches", "fused_of_label"))
    inputs.pop("cost")
    original, matches, fused_of_label = load_dataset(data), load_matches(matches), np.load(fused)
    _, Y_observed = with_labels(original, inputs)
    if len(matches.trees) > 1:
        raise OrchardError(f"{names.method} has {len(matches.trees)} trees; meanings are judged by the clusters of one")
    overlap, M = Overlap(**snakemake.params.overlap), matches.M
    (C,) = clusters_from(overlap, matches, Y_observed, seed, threads)
    judged = judge_meanings(original.Y_train, fused_of_label, M, C, seed)
    simulated, matrices = original.stats["simulated"], {"Y_observed": Y_observed, "M": M}
    write_score(snakemake.output.score, names, simulated, meanings_report(judged), matrices, overlap=asdict(overlap))
    label_names = original.label_names or [f"label {label}" for label in range(original.Y_train.shape[1])]
    texts = original.texts_train or [f"sample {row}" for row in range(original.X_train.shape[0])]
    shown = examples(judged, M, label_names, texts)
    write_json(snakemake.output.examples, {"dataset": names.dataset, "simulated": simulated, "examples": shown})
    log.info("%s on %s (%s): %d fused labels judged", names.method, names.dataset, names.variant, len(judged))
