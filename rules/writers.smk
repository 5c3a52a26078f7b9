"""What networks that write labels start from and take, and what of them is timed and counted."""

# What networks that write labels import for a whole training; neither a single step nor their size depends on it.
NOT_FOR_STEPS = ("orchard.metrics", "orchard.neural.training")


# Readers whose files hold no texts; a simulated set may have some.
WITHOUT_TEXTS = ("digits", "images", "libsvm", "xmc")


def may_have_texts(reader):
    return reader.get("with_text", False) if reader["kind"] == "synthetic" else reader["kind"] not in WITHOUT_TEXTS


def vectors_of(method, dataset):
    """Which word vectors a method starts from on a data set, or None."""
    return method["word_vectors"].get("per_dataset", {}).get(dataset, method["word_vectors"]["id"])


def word_vectors_of(wildcards):
    return vectors_of(method_config(wildcards), wildcards.dataset)


def word_vectors_for(wildcards):
    """The files of these word vectors, if there are any."""
    if wildcards.variant != "clean":
        raise ConfigError(
            f"method {wildcards.method!r} reads texts and writes labels by name: its variant must be clean"
        )
    if not may_have_texts(dataset_config(wildcards)["reader"]):
        others = ", ".join(sorted(name for name, one in DATASETS.items() if may_have_texts(one["reader"])))
        raise ConfigError(
            f"method {wildcards.method!r} reads texts, and the data set {wildcards.dataset!r} has none (try {others})"
        )
    vectors = word_vectors_of(wildcards)
    return f"results/word-vectors/{vectors}" if vectors else []


def writing_code(wildcards):
    return code_behind("write_labels.py", method_config(wildcards)["estimator"], wildcards.method, "estimator")


def text_memory_mb(wildcards):
    """A guess: PyTorch and texts; the words of the vectors; 16 bytes a weight (gradients and Adam's), the embeddings of
    words and labels counted twice for all other weights; and the logits of a batch, of which there may be two.
    """
    rows, *_ = registered_sizes(wildcards)
    labels = dataset_config(wildcards)["statistics"].get("n_labels", 1000)
    vectors = WORD_VECTORS.get(vectors_of(METHODS["seq2seq"], wildcards.dataset), {}).get("statistics", {})
    weights = 2 * vectors.get("dimensions", 50) * (50_000 + labels)
    return 1500 + int(0.01 * rows + 300e-6 * vectors.get("n_words", 0) + 16e-6 * weights + 8e-6 * 2000 * labels)


def methods_to_step(wildcards):
    """The methods of otseq2set-table7 that are run at this scale, as they are on a data set."""
    rows = artefact_part("otseq2set", "table7", "rows")["rows"]
    return [
        {"method": name} | estimator_for(method_named(name, METHODS), wildcards.dataset) for name in methods_of(rows)
    ]


def vectors_of_steps(wildcards):
    """The word vectors of all of them: they are like the first."""
    vectors = vectors_of(METHODS[methods_to_step(wildcards)[0]["method"]], wildcards.dataset)
    return f"results/word-vectors/{vectors}" if vectors else []


def measured_steps():
    """At every scale its own: which methods take turns depends on it."""
    folder = f"results/costs/{SCALE}/otseq2set-table7"
    return [f"{folder}/{name}/cost.json" for name in shown_datasets("otseq2set", "table7")] if HAS_TORCH else []


def networks_to_count():
    """The methods of otseq2set-table7 on the paper's data sets, with the sizes that the registries know."""
    networks = []
    for dataset in ARTEFACTS["otseq2set"]["table7"]["datasets"]["paper"]:
        for row in ARTEFACTS["otseq2set"]["table7"]["rows"]:
            name = row.get("counted", row.get("method"))
            if name is not None:
                method = METHODS[name]
                vectors = pick("word vectors", vectors_of(method, dataset), WORD_VECTORS)
                sizes = {
                    "n_labels": DATASETS[dataset]["statistics"]["n_labels"],
                    "dimensions": vectors["statistics"]["dimensions"],
                }
                networks.append({"dataset": dataset, "method": name} | estimator_for(method, dataset) | sizes)
    return networks
