"""Maximum coverage: which clusters together reach the most of a label's samples (disentangle, Problem 7).

A sample that is matched to a cluster has a value there, a positive integer. A set of clusters is worth to a label the
sum over its samples of their best value in the set; with values of 1 that is the number of samples that are covered.
Matches of a sample stand in descending order of their value: where one adds nothing, the rest does not either.
"""

from heapq import heapify, heappop, heappush

import numpy as np

from orchard._cluster_kernels import holds
from orchard.jit import njit
from orchard.linear._lanes import count_ones

NONE = -1


@njit(nogil=True, cache=True)
def sort_rows(indptr, clusters, values):
    """Put every row's entries in descending order of their values, in place; equal ones stay in order."""
    for row in range(indptr.size - 1):
        for place in range(indptr[row] + 1, indptr[row + 1]):
            cluster, value = clusters[place], values[place]
            while place > indptr[row] and values[place - 1] < value:
                clusters[place], values[place] = clusters[place - 1], values[place - 1]
                place -= 1
            clusters[place], values[place] = cluster, value


@njit(nogil=True, cache=True)
def gains_of_label(samples, best, M, gains, seen):
    """What each cluster would add to a label, into `gains`; returns how many clusters have a gain, listed in `seen`.

    samples : int32, of the label; best : int32, the value that each of them has got.  M : (indptr, clusters, values).
    gains : int64 zeros, one per cluster.  seen : int32, room for all clusters.
    """
    indptr, clusters, values = M
    n_seen = 0
    for i in range(samples.size):
        for place in range(indptr[samples[i]], indptr[samples[i] + 1]):
            more = values[place] - best[i]
            if more <= 0:
                break
            cluster = clusters[place]
            if gains[cluster] == 0:
                seen[n_seen] = cluster
                n_seen += 1
            gains[cluster] += more
    return n_seen


@njit(nogil=True, cache=True)
def take(samples, best, M, cluster):
    """The label gets a cluster: its samples keep the better of what they have and what they are worth there."""
    indptr, clusters, values = M
    for i in range(samples.size):
        for place in range(indptr[samples[i]], indptr[samples[i] + 1]):
            if values[place] <= best[i]:
                break
            if clusters[place] == cluster:
                best[i] = values[place]
                break


@njit(nogil=True, cache=True)
def best_cluster(label, samples, best, M, C, is_free, gains, seen):
    """(gain, cluster) of the free cluster that adds most to a label; of equal ones one of C, then the lower.

    is_free : bool, per cluster.  gains : as in `gains_of_label`, zeros again on return.  (0, NONE) if nothing adds.
    """
    best_gain, chosen, is_old = np.int64(0), np.int64(NONE), False
    n_seen = gains_of_label(samples, best, M, gains, seen)
    for cluster in seen[:n_seen]:
        gain = gains[cluster]
        gains[cluster] = 0
        if gain < best_gain or not is_free[cluster]:
            continue
        old = holds(C, label, cluster)
        if gain > best_gain or (old and not is_old) or (old == is_old and cluster < chosen):
            best_gain, chosen, is_old = gain, np.int64(cluster), old
    return best_gain, chosen


@njit(nogil=True, cache=True)
def cover_labels(samples_of_labels, M, C, n_clusters, copies, first, last):
    """Greedy for the labels first … last − 1, each on its own: the cluster that adds most, again and again.

    samples_of_labels : (indptr, indices) of Yᵀ.  M : (indptr, clusters, values).  C : (indptr, clusters), those of now.
    Returns clusters int32 (last − first, copies), best first, NONE where nothing adds.
    """
    indptr, samples = samples_of_labels
    gains, seen = np.zeros(n_clusters, np.int64), np.empty(n_clusters, np.int32)
    is_free = np.ones(n_clusters, np.bool_)
    chosen = np.full((last - first, copies), NONE, np.int32)
    most = 0
    for label in range(first, last):
        most = max(most, indptr[label + 1] - indptr[label])
    room = np.empty(most, np.int32)
    for label in range(first, last):
        mine = samples[indptr[label] : indptr[label + 1]]
        best = room[: mine.size]
        best[:] = 0
        for copy in range(copies):
            _, cluster = best_cluster(label, mine, best, M, C, is_free, gains, seen)
            if cluster == NONE:
                break
            chosen[label - first, copy] = cluster
            if copy + 1 < copies:
                take(mine, best, M, cluster)
    return chosen


@njit(nogil=True, cache=True)
def first_choices(samples_of_labels, M, C, is_free, first, last):
    """(gains, clusters), int64, that the labels first … last − 1 would begin with; NONE where nothing adds.

    is_free : bool, per cluster; a label may always have the first of its clusters in C.  Otherwise as `cover_labels`.
    """
    indptr, samples = samples_of_labels
    room, seen = np.zeros(is_free.size, np.int64), np.empty(is_free.size, np.int32)
    gains, clusters = np.empty(last - first, np.int64), np.empty(last - first, np.int64)
    is_free = is_free.copy()
    for label in range(first, last):
        mine, own = samples[indptr[label] : indptr[label + 1]], C[1][C[0][label]]
        was_free = is_free[own]
        is_free[own] = True
        best = np.zeros(mine.size, np.int32)
        gains[label - first], clusters[label - first] = best_cluster(label, mine, best, M, C, is_free, room, seen)
        is_free[own] = was_free
    return gains, clusters


@njit(nogil=True, cache=True)
def cover_with_limits(samples_of_labels, M, C, n_clusters, copies, limit, total, first_gains, first_clusters):
    """Greedy for all labels at once: the label and the cluster with the largest gain, while there is room.

    A label gains less with every cluster that it takes, so it waits with a bound of its gain, and is looked at when its
    turn comes: lazy greedy. (A place that becomes free again is not offered to those who were refused it before.)

    copies : clusters of a label at most.  limit : labels of a cluster at most.  total : places of all labels at most.
    first_gains, first_clusters : of all labels, of `first_choices`, where clusters with less than `limit` are free.
    Every label is promised a place in the first of its clusters in C until it has got one; `limit` must allow that.
    Otherwise as `cover_labels`.
    """
    indptr, samples = samples_of_labels
    n_labels = indptr.size - 1
    gains, seen = np.zeros(n_clusters, np.int64), np.empty(n_clusters, np.int32)
    best = np.zeros(samples.size, np.int32)
    chosen = np.full((n_labels, copies), NONE, np.int32)
    n_chosen = np.zeros(n_labels, np.int64)
    sizes = np.zeros(n_clusters, np.int64)  # places that are taken or promised
    for label in range(n_labels):
        sizes[C[1][C[0][label]]] += 1
    is_free = sizes < limit
    n_places = n_labels
    waiting = [
        (-first_gains[label], np.int64(label), first_clusters[label])
        for label in range(n_labels)
        if first_clusters[label] != NONE
    ]
    heapify(waiting)
    while len(waiting) > 0:
        bound, label, cluster = heappop(waiting)
        own, is_first = C[1][C[0][label]], n_chosen[label] == 0
        if not is_first and n_places >= total:
            continue
        mine, mine_best = samples[indptr[label] : indptr[label + 1]], best[indptr[label] : indptr[label + 1]]
        was_free = is_free[own]
        is_free[own] |= is_first  # the promise
        if cluster == NONE or not is_free[cluster]:
            gain, cluster = best_cluster(label, mine, mine_best, M, C, is_free, gains, seen)
            is_free[own] = was_free
            if cluster != NONE:
                heappush(waiting, (-gain, label, cluster))
            continue
        if is_first:
            sizes[own] -= 1
            is_free[own] = sizes[own] < limit
        else:
            n_places += 1
        sizes[cluster] += 1
        is_free[cluster] = sizes[cluster] < limit
        chosen[label, n_chosen[label]] = cluster
        n_chosen[label] += 1
        if n_chosen[label] < copies:
            take(mine, mine_best, M, cluster)
            heappush(waiting, (bound, label, np.int64(NONE)))
    return chosen


@njit(nogil=True, cache=True)
def cover_exactly(samples_of_labels, M, n_clusters, chosen, most_steps, first, last):
    """Replace greedy choices by optimal ones, for labels with at most 64 samples; returns how many were not settled.

    Of the labels first … last − 1.

    Branch and bound over sets of clusters, a cluster being the set of samples it covers, as bits. Values count as ones.
    chosen : int32 (n_labels, copies), of `cover_labels`; where greedy is optimal it stays.
    most_steps : of a label; one that needs more keeps the best choice found so far, at least the greedy one.
    """
    indptr, samples = samples_of_labels
    M_indptr, M_clusters, _ = M
    copies = chosen.shape[1]
    masks, seen = np.zeros(n_clusters, np.uint64), np.empty(n_clusters, np.int32)
    picked, covered = np.empty(copies + 1, np.int64), np.zeros(copies + 1, np.uint64)
    n_open = 0
    for label in range(first, last):
        n = indptr[label + 1] - indptr[label]
        if n > 64:
            continue
        n_seen = 0
        for i in range(n):
            sample = samples[indptr[label] + i]
            for place in range(M_indptr[sample], M_indptr[sample + 1]):
                if masks[M_clusters[place]] == 0:
                    seen[n_seen] = M_clusters[place]
                    n_seen += 1
                masks[M_clusters[place]] |= np.uint64(1) << np.uint64(i)
        clusters = seen[:n_seen]
        clusters.sort()
        sizes = np.empty(n_seen, np.int64)
        for i in range(n_seen):
            sizes[i] = -n_ones(masks[clusters[i]])
        order = np.argsort(sizes, kind="mergesort")  # largest first, then the lower
        everything, by_greedy = np.uint64(0), np.uint64(0)
        for cluster in clusters:
            everything |= masks[cluster]
        for cluster in chosen[label]:
            if cluster >= 0:
                by_greedy |= masks[cluster]
        best, all_samples, n_steps = n_ones(by_greedy), n_ones(everything), 0
        level, at = 0, 0  # `picked[: level]` are taken; next comes the cluster order[at]
        while best < all_samples and n_steps < most_steps:
            n_steps += 1
            bound = n_ones(covered[level])
            for i in range(at, min(at + copies - level, n_seen)):
                bound -= sizes[order[i]]
            if level == copies or bound <= best:  # nothing to be had from here on: go back
                if level == 0:
                    break
                level -= 1
                at = picked[level] + 1
                continue
            picked[level] = at
            covered[level + 1] = covered[level] | masks[clusters[order[at]]]
            level += 1
            at += 1
            if n_ones(covered[level]) > best:
                best = n_ones(covered[level])
                chosen[label] = NONE
                for i in range(level):
                    chosen[label, i] = clusters[order[picked[i]]]
        n_open += 1 if n_steps == most_steps else 0
        masks[clusters] = 0
    return n_open


@njit(nogil=True, cache=True)
def n_ones(mask):
    return np.int64(count_ones(mask))
