"""Counts YᵀM and the projection of Eq. 10 (disentangle), row by row over flat arrays."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def count_rows(samples_of_labels, M, n_clusters, first, last):
    """The rows first … last − 1 of YᵀM: how many samples of a label are matched to each cluster.

    samples_of_labels : (indptr, indices) of Yᵀ.  M : (indptr, indices), its entries count as ones.
    Returns (row sizes int64, clusters int32, ascending in a row, counts int32).
    """
    indptr, samples = samples_of_labels
    M_indptr, M_clusters = M
    counts = np.zeros(n_clusters, np.int32)
    seen = np.empty(n_clusters, np.int32)
    sizes = np.empty(last - first, np.int64)
    room = 0
    for label in range(first, last):
        n = 0
        for entry in range(indptr[label], indptr[label + 1]):
            n += M_indptr[samples[entry] + 1] - M_indptr[samples[entry]]
        room += min(n, n_clusters)
    clusters, values = np.empty(room, np.int32), np.empty(room, np.int32)
    at = 0
    for label in range(first, last):
        n_seen = 0
        for entry in range(indptr[label], indptr[label + 1]):
            for place in range(M_indptr[samples[entry]], M_indptr[samples[entry] + 1]):
                cluster = M_clusters[place]
                if counts[cluster] == 0:
                    seen[n_seen] = cluster
                    n_seen += 1
                counts[cluster] += 1
        seen[:n_seen].sort()
        for cluster in seen[:n_seen]:
            clusters[at], values[at] = cluster, counts[cluster]
            counts[cluster] = 0
            at += 1
        sizes[label - first] = n_seen
    return sizes, clusters[:at].copy(), values[:at].copy()


@njit(nogil=True, cache=True)
def holds(C, label, cluster):
    """Whether a label stands in a cluster; C : (indptr, clusters), a few clusters in a row."""
    indptr, clusters = C
    found = False
    for place in range(indptr[label], indptr[label + 1]):
        found |= clusters[place] == cluster
    return found


@njit(nogil=True, cache=True)
def top_of_rows(counts, C, copies):
    """The `copies` clusters with the largest counts of every label.

    Of equal ones those that hold the label already come first, then the lower.
    counts : (indptr, clusters, values), clusters ascending in a row.  C : (indptr, clusters), the clusters of now.
    Returns int32 (n_labels, copies), best first, −1 where there are fewer.
    """
    indptr, clusters, values = counts
    n_labels = indptr.size - 1
    chosen = np.full((n_labels, copies), -1, np.int32)
    keys = np.empty(copies, np.int64)
    for label in range(n_labels):
        n = 0
        for entry in range(indptr[label], indptr[label + 1]):
            key = 2 * np.int64(values[entry]) + (1 if holds(C, label, clusters[entry]) else 0)
            if n == copies and key <= keys[n - 1]:
                continue
            place = n if n < copies else n - 1
            n = min(n + 1, copies)
            while place > 0 and keys[place - 1] < key:
                keys[place], chosen[label, place] = keys[place - 1], chosen[label, place - 1]
                place -= 1
            keys[place], chosen[label, place] = key, clusters[entry]
    return chosen
