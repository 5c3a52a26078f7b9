"""Entangled labels: every k labels of a data set are fused into one, to be told apart again (disentangle §5.1)."""

import numpy as np
import scipy.sparse as sp

from orchard.errors import ConfigError
from orchard.trees.balanced import balanced_kmeans
from orchard.trees.embeddings import pifa, unit_rows

MODES = ("easy", "medium", "hard")
# "32k labels" to a cluster in medium mode.
FUSED_PER_CLUSTER = 32


def fuse_labels(
    X: sp.csr_matrix, Y: sp.csr_matrix, mode: str, k: int, seed: int, n_jobs: int | None = None
) -> np.ndarray:
    """Group the L labels without replacement into ⌈L/k⌉ fused ones of at most k; the fused label of each, int32 (L,).

    X : CSR (n, d), Y : CSR (n, L), the training samples: labels are alike if their PIFA embeddings are. Rows of X are
        given unit length first, as the paper's TF-IDF features have it.
    mode : 'easy' fuses the most similar labels, by a balanced ⌈L/k⌉-means whose clusters differ by at most 1 in size.
        'medium' fuses at random inside the clusters of a balanced ⌈L/32k⌉-means. Where k does not divide a cluster's
        size, its odd labels are fused with labels of the next cluster in the tree: at most one fused label per border
        is mixed, and all but the last have exactly k originals.
        'hard' fuses at random; again all but the last have exactly k originals.
    """
    n_labels = Y.shape[1]
    if mode not in MODES:
        raise ConfigError(f"mode must be one of {', '.join(MODES)}, not {mode!r}")
    if not 1 <= k <= n_labels:
        raise ConfigError(f"k must be between 1 and the number of labels ({n_labels}), not {k}")
    rng = np.random.default_rng(seed)
    if mode == "hard":
        cluster_of_label = np.zeros(n_labels, np.int32)
    else:
        labels_per_cluster = k if mode == "easy" else FUSED_PER_CLUSTER * k
        n_clusters = -(-n_labels // labels_per_cluster)
        cluster_of_label = balanced_kmeans(pifa(unit_rows(X), Y, "xr-linear"), n_clusters, rng, n_jobs=n_jobs)
    if mode == "easy":
        return cluster_of_label
    fused_of_label = np.empty(n_labels, np.int32)
    shuffled_inside_clusters = np.lexsort((rng.random(n_labels), cluster_of_label))
    fused_of_label[shuffled_inside_clusters] = np.arange(n_labels) // k
    return fused_of_label


def entangle(Y: sp.csr_matrix, fused_of_label: np.ndarray) -> sp.csr_matrix:
    """A sample has a fused label if it has any of its originals; CSR float32, binary (n, number of fused labels).

    The same map serves training and test samples.
    """
    n_labels = fused_of_label.size
    if Y.shape[1] != n_labels:
        raise ValueError(f"Y has {Y.shape[1]} labels, fused_of_label has {n_labels}")
    fusion = sp.csr_matrix(
        (np.ones(n_labels, np.float32), fused_of_label, np.arange(n_labels + 1)),
        shape=(n_labels, fused_of_label.max(initial=-1) + 1),
    )
    fused_Y = sp.csr_matrix(Y @ fusion, dtype=np.float32)
    fused_Y.sort_indices()
    fused_Y.data[:] = 1
    return fused_Y
