"""Counts YᵀM, the projection of Eq. 10 without limits and with, the best of a label's clusters (disentangle)."""

import numpy as np

from orchard.jit import njit

NOWHERE = -1


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


@njit(nogil=True, cache=True)
def pairs_of_rows(counts, C, own):
    """(labels, clusters, counts, keys) of all pairs with a count, and of every label with its own cluster.

    Label by label, clusters ascending; a key is twice the count, or one more if C has it.
    """
    indptr, indices, data = counts
    n_labels = own.size
    labels, clusters = np.empty(indices.size + n_labels, np.int32), np.empty(indices.size + n_labels, np.int32)
    values, keys = np.empty(indices.size + n_labels, np.int64), np.empty(indices.size + n_labels, np.int64)
    at = 0
    for label in range(n_labels):
        waits = True  # the label's own cluster, which may have no count
        for entry in range(indptr[label], indptr[label + 1] + 1):
            is_end = entry == indptr[label + 1]
            if waits and (is_end or indices[entry] >= own[label]):
                waits = False
                if is_end or indices[entry] > own[label]:
                    labels[at], clusters[at], values[at], keys[at] = label, own[label], 0, 1
                    at += 1
            if not is_end:
                labels[at], clusters[at], values[at] = label, indices[entry], data[entry]
                keys[at] = 2 * values[at] + (1 if holds(C, label, indices[entry]) else 0)
                at += 1
    return labels[:at], clusters[:at], values[:at], keys[:at]


@njit(nogil=True, cache=True)
def fill(labels, clusters, own, copies, limit, total, n_clusters):
    """Which of the pairs, in this order, are taken, bool; a label is promised a place in `own` until it has one."""
    n_copies = np.zeros(own.size, np.int64)
    sizes = np.zeros(n_clusters, np.int64)  # places that are taken or promised
    for cluster in own:
        sizes[cluster] += 1
    n_places = own.size
    taken = np.zeros(labels.size, np.bool_)
    for pair in range(labels.size):
        label, cluster = labels[pair], clusters[pair]
        is_first = n_copies[label] == 0
        if n_copies[label] == copies or (not is_first and n_places >= total):
            continue
        if is_first:
            sizes[own[label]] -= 1
        if sizes[cluster] >= limit:
            sizes[own[label]] += 1 if is_first else 0
            continue
        sizes[cluster] += 1
        n_places += 0 if is_first else 1
        n_copies[label] += 1
        taken[pair] = True
    return taken


@njit(nogil=True, cache=True)
def best_of(samples, M, clusters):
    """The one of some clusters, ascending, that each sample is matched to best, int64; NOWHERE if it is to none."""
    indptr, indices, scores = M
    best = np.full(samples.size, NOWHERE)
    for i in range(samples.size):
        best_score = np.float32(-1)
        for place in range(indptr[samples[i]], indptr[samples[i] + 1]):
            for cluster in clusters:
                if indices[place] == cluster and scores[place] > best_score:
                    best[i], best_score = cluster, scores[place]
    return best
