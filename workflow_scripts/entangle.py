"""Fuse every k labels of a data set into one, in training and test alike."""

from orchard.jobs import job

with job(snakemake):
    import numpy as np

    from orchard.data.store import load_dataset, save_csr
    from orchard.files import atomic_file
    from orchard.variants.entangle import entangle, fuse_labels

    dataset = load_dataset(snakemake.input.data)
    names = snakemake.wildcards
    mode, k, seed = names.mode, int(names.k), int(names.seed)
    fused_of_label = fuse_labels(dataset.X_train, dataset.Y_train, mode, k, seed, snakemake.threads)
    with atomic_file(snakemake.output.fused_of_label) as temporary, temporary.open("wb") as file:
        np.save(file, fused_of_label)
    save_csr(snakemake.output.Y_train, entangle(dataset.Y_train, fused_of_label))
    save_csr(snakemake.output.Y_test, entangle(dataset.Y_test, fused_of_label))
