"""Kernels of spherical k-means over sparse rows (Bonsai's label tree).

Strict floating point (no fastmath): a row's cosines are summed in the order of its features, whichever thread does it.
Lloyd's loop spends its time on n·k dots of a sparse row with dense centres.  Two things keep them cheap: the centres
are read tile by tile, a range of features × clusters that fits into the cache, and only the centres that
changed are read at all, for the cosines with the others are still known.
"""

import numpy as np

from orchard.jit import njit

LANES = 8  # clusters of a tile are padded to a multiple of this: whole vectors, and little in vain
TILE_FLOATS = 1 << 17  # half a megabyte, a share of a core's second-level cache


@njit(nogil=True, cache=True)
def local_features(indptr, indices, data, rows, used, local):
    """The CSR matrix of `rows` alone, over the features that occur in them: indptr, indices, data, n_features.

    Features keep their order, so indices stay ascending.  used : zeros uint64 (⌈d / 64⌉,), a bit per feature, zeros
    again on return.  local : int32 (d,), scratch.
    """
    new_indptr = np.zeros(rows.size + 1, np.int64)
    for i in range(rows.size):
        new_indptr[i + 1] = new_indptr[i] + indptr[rows[i] + 1] - indptr[rows[i]]
        for entry in range(indptr[rows[i]], indptr[rows[i] + 1]):
            feature = np.uint64(indices[entry])
            used[feature >> np.uint64(6)] |= np.uint64(1) << (feature & np.uint64(63))
    n_features = 0
    for word in range(used.size):
        if used[word] != 0:
            for bit in range(64):
                if (used[word] >> np.uint64(bit)) & np.uint64(1):
                    local[64 * word + bit] = n_features
                    n_features += 1
            used[word] = 0
    new_indices = np.empty(new_indptr[-1], np.int32)
    new_data = np.empty(new_indptr[-1], np.float32)
    for i in range(rows.size):
        begin = indptr[rows[i]]
        for offset in range(new_indptr[i + 1] - new_indptr[i]):
            new_indices[new_indptr[i] + offset] = local[indices[begin + offset]]
            new_data[new_indptr[i] + offset] = data[begin + offset]
    return new_indptr, new_indices, new_data, n_features


@njit(nogil=True, cache=True)
def update_centres(indptr, indices, data, before, cluster, sums, sizes, scales, changed, first, last):
    """Bring the centres of clusters `first` … `last` − 1 up to date with the rows that went from `before` to `cluster`.

    sums : float32 (k, d), Σ v of every cluster.  sizes : int64 (k,).  scales : float32 (k,), 1 / ‖sums‖ or 0.
    changed : bool (k,), whether any row came or went.  −1 in `before` means that a row was in no cluster yet.
    """
    for c in range(first, last):
        changed[c] = False
    for row in range(cluster.size):
        if before[row] == cluster[row]:
            continue
        for c, sign in ((before[row], np.float32(-1)), (cluster[row], np.float32(1))):
            if first <= c < last:
                changed[c] = True
                sizes[c] += np.int64(sign)
                centre = sums[c]
                for entry in range(indptr[row], indptr[row + 1]):
                    centre[indices[entry]] += sign * data[entry]
    for c in range(first, last):
        if changed[c]:
            if sizes[c] == 0:
                sums[c, :] = 0  # what rounding left behind must not point anywhere
            square = 0.0
            for value in sums[c]:
                square += np.float64(value) * np.float64(value)
            scales[c] = 1 / np.sqrt(square) if square > 0 else 0.0


@njit(nogil=True, cache=True)
def tile_width(n_features, n_lanes, mean_entries):
    """Features per tile: what fits into the cache, but wide enough that a row has some eight entries in each."""
    n_tiles = max(min(-(-n_features * n_lanes // TILE_FLOATS), np.int64(mean_entries // 8)), 1)
    return max(-(-n_features // n_tiles), 1)


@njit(nogil=True, cache=True)
def assign_rows(indptr, indices, data, sums, sizes, scales, changed, cosines, cluster, best, first, last):
    """Put the rows `first` … `last` − 1 into their nearest clusters, ties to the lower one.

    cosines : float32 (n, k), brought up to date for the clusters that changed.  cluster : int32 (n,) and
    best : float32 (n,) receive the nearest cluster and its cosine.  A cluster without rows is never the nearest.
    """
    n_clusters, n_features = sums.shape
    active = np.flatnonzero(changed)
    n_lanes = -(-active.size // LANES) * LANES
    width = tile_width(n_features, max(n_lanes, 1), (indptr[-1] - indptr[0]) / max(indptr.size - 1, 1))
    tile = np.zeros((width, n_lanes), np.float32)
    dots = np.zeros((last - first, n_lanes), np.float32)
    cursor = indptr[first:last].copy()  # the first entry of every row that was not visited yet
    for begin in range(0, n_features if active.size else 0, width):
        end = min(begin + width, n_features)
        for lane in range(active.size):
            centre, scale = sums[active[lane]], scales[active[lane]]
            for feature in range(begin, end):
                tile[feature - begin, lane] = scale * centre[feature]
        for row in range(first, last):
            sum_of_row = dots[row - first]
            entry, stop = cursor[row - first], indptr[row + 1]
            # Four features a time: each partial dot is loaded and stored once for all four.
            while entry + 4 <= stop and indices[entry + 3] < end:
                v0, v1, v2, v3 = data[entry], data[entry + 1], data[entry + 2], data[entry + 3]
                c0, c1 = tile[indices[entry] - begin], tile[indices[entry + 1] - begin]
                c2, c3 = tile[indices[entry + 2] - begin], tile[indices[entry + 3] - begin]
                for lane in range(n_lanes):
                    sum_of_row[lane] += (v0 * c0[lane] + v1 * c1[lane]) + (v2 * c2[lane] + v3 * c3[lane])
                entry += 4
            while entry < stop and indices[entry] < end:
                v0, c0 = data[entry], tile[indices[entry] - begin]
                for lane in range(n_lanes):
                    sum_of_row[lane] += v0 * c0[lane]
                entry += 1
            cursor[row - first] = entry
    for row in range(first, last):
        for lane in range(active.size):
            cosines[row, active[lane]] = dots[row - first, lane] if sizes[active[lane]] > 0 else -np.inf
        nearest = 0
        for c in range(1, n_clusters):
            if cosines[row, c] > cosines[row, nearest]:
                nearest = c
        cluster[row], best[row] = nearest, cosines[row, nearest]


@njit(nogil=True, cache=True)
def mean(values):
    """The mean in double precision, added from left to right."""
    total = 0.0
    for value in values:
        total += value
    return total / values.size


@njit(nogil=True, cache=True)
def lloyd(indptr, indices, data, n_features, seeds, tolerance, max_iterations):
    """Spherical k-means in one thread: the cluster of every row, int32 (n,), and the mean cosine.

    seeds : the rows that are the first centres, one for each cluster.  `orchard.trees.kmeans.spherical_kmeans` has
    the same loop over threads.
    """
    n, k = indptr.size - 1, seeds.size
    sums, sizes, scales = np.zeros((k, n_features), np.float32), np.zeros(k, np.int64), np.zeros(k, np.float32)
    cosines, best, changed = np.empty((n, k), np.float32), np.empty(n, np.float32), np.zeros(k, np.bool_)
    before, cluster = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    for c in range(k):
        cluster[seeds[c]] = c
    objective = -np.inf
    for _ in range(max_iterations):
        update_centres(indptr, indices, data, before, cluster, sums, sizes, scales, changed, 0, k)
        before[:] = cluster
        assign_rows(indptr, indices, data, sums, sizes, scales, changed, cosines, cluster, best, 0, n)
        previous, objective = objective, mean(best)
        if objective - previous <= tolerance:
            break
    return cluster, objective


@njit(nogil=True, cache=True)
def cluster_nodes(
    indptr, indices, data, n_features, rows, boundaries, seeds, seed_bounds, tolerance, max_iterations, out, first, last
):
    """k-means in the nodes `first` … `last` − 1, each over its own rows and features.

    Node i holds rows[boundaries[i] : boundaries[i + 1]] and starts from the positions
    seeds[seed_bounds[i] : seed_bounds[i + 1]] among them; out[boundaries[i] : …] receives the clusters.
    """
    used, local = np.zeros(-(-n_features // 64), np.uint64), np.empty(n_features, np.int32)
    for node in range(first, last):
        node_rows = rows[boundaries[node] : boundaries[node + 1]]
        node_seeds = seeds[seed_bounds[node] : seed_bounds[node + 1]]
        own_indptr, own_indices, own_data, n_own = local_features(indptr, indices, data, node_rows, used, local)
        cluster, _ = lloyd(own_indptr, own_indices, own_data, n_own, node_seeds, tolerance, max_iterations)
        out[boundaries[node] : boundaries[node + 1]] = cluster
