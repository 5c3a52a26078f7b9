"""Learn label embeddings from groups of centred pictures."""

from orchard.jobs import job

with job(snakemake) as log:
    from math import isqrt

    import numpy as np

    from orchard.data.store import load_csr, load_dataset
    from orchard.files import atomic_file
    from orchard.neural.features import CentredFeatures, embeddings_of_centred

    dataset, Y1, Y2 = load_dataset(snakemake.input.data), load_csr(snakemake.input.Y1), load_csr(snakemake.input.Y2)
    names, n_iterations = snakemake.wildcards, int(snakemake.wildcards.iterations)
    X = CentredFeatures.of(dataset.X_train)(dataset.X_train)
    about = {
        "dataset": names.dataset,
        "title": f"{names.dataset}, {names.variant.rpartition('/')[2]}, T = {n_iterations}",
        "source": "simulated" if dataset.stats["simulated"] else "measured",
        "names": np.array(dataset.label_names),
        "shape": np.array([isqrt(X.shape[1])] * 2),
    }
    with atomic_file(snakemake.output[0]) as temporary, temporary.open("wb") as file:
        np.savez(file, embeddings=embeddings_of_centred(X, Y1, Y2, n_iterations, n_jobs=1), **about)
    log.info("%s (%s): %d label embeddings", names.dataset, names.variant, Y2.shape[1])
