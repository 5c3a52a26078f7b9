"""Which true labels stand in a leaf that a sample is matched to."""

import numpy as np

from orchard.jit import njit


@njit(nogil=True, cache=True)
def reached_of_rows(Y, M, C, n_clusters, first, last):
    """Over the samples first … last − 1: labels that are reached in some cluster, and in how many clusters altogether.

    Y, M, C : (indptr, indices) of samples × labels, samples × clusters, labels × clusters.
    """
    Y_indptr, labels = Y
    M_indptr, M_clusters = M
    C_indptr, C_clusters = C
    reached_by = np.full(n_clusters, -1, np.int64)  # the last sample that was matched to the cluster
    covered, total = 0, 0
    for sample in range(first, last):
        for place in range(M_indptr[sample], M_indptr[sample + 1]):
            reached_by[M_clusters[place]] = sample
        for entry in range(Y_indptr[sample], Y_indptr[sample + 1]):
            n = 0
            for place in range(C_indptr[labels[entry]], C_indptr[labels[entry] + 1]):
                n += 1 if reached_by[C_clusters[place]] == sample else 0
            covered += 1 if n > 0 else 0
            total += n
    return covered, total
