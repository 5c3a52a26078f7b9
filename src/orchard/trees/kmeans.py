"""Spherical k-means over sparse rows, unbalanced: what splits the nodes of Bonsai's shallow trees."""

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from orchard.threads import n_threads
from orchard.trees import _kmeans_kernels as kernels

# A node with more entries than this is worth all threads at once; smaller ones are dealt out whole.
SHARED_ENTRIES = 1_000_000
ROWS_PER_PIECE = 4096


def spherical_kmeans(
    rows: sp.csr_matrix,
    n_clusters: int,
    seed: int | np.random.Generator = 0,
    tolerance: float = 1e-4,
    max_iterations: int = 100,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Maximise the mean cosine between rows and the centres of their clusters; the cluster of every row, int32 (n,).

    Lloyd's algorithm from `n_clusters` random distinct rows; it stops when the mean cosine gains no more than
    `tolerance`.  A cluster that loses all its rows stays empty.

    rows : CSR (n, d) with unit rows.  Memory: n · n_clusters cosines and d · n_clusters sums, both float32.
    The result depends on `seed`, never on `n_jobs` (all cores by default).
    """
    if not 1 <= n_clusters <= rows.shape[0]:
        raise ValueError(f"n_clusters must be between 1 and the number of rows ({rows.shape[0]}), not {n_clusters}")
    seeds = np.random.default_rng(seed).choice(rows.shape[0], n_clusters, replace=False)
    n_jobs = n_threads(n_jobs)
    with ThreadPoolExecutor(n_jobs) as pool:
        return lloyd_in_threads(as_matrix(rows), seeds, tolerance, max_iterations, pool, n_jobs)


def as_matrix(rows: sp.csr_matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """indptr int64, ascending indices int32, data float32, n_features: what the kernels take."""
    rows = sp.csr_matrix(rows, dtype=np.float32)
    if not rows.has_sorted_indices:
        rows = rows.sorted_indices()
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False), rows.data, rows.shape[1]


def lloyd_in_threads(
    matrix, seeds: np.ndarray, tolerance: float, max_iterations: int, pool: Executor, n_jobs: int
) -> np.ndarray:
    """The loop of `kernels.lloyd`, each step dealt out to threads: clusters for the centres, rows for the cosines.

    A centre and a row are each computed by one thread in a fixed order, so the pieces leave no trace in the result.
    """
    *arrays, n_features = matrix
    n, k = arrays[0].size - 1, seeds.size
    sums, sizes, scales = np.zeros((k, n_features), np.float32), np.zeros(k, np.int64), np.zeros(k, np.float32)
    cosines, best, changed = np.empty((n, k), np.float32), np.empty(n, np.float32), np.zeros(k, np.bool_)
    before, cluster = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    cluster[seeds] = np.arange(k)
    row_pieces = np.append(np.arange(0, n, min(ROWS_PER_PIECE, -(-n // n_jobs))), n)
    cluster_pieces = np.unique(np.linspace(0, k, 4 * n_jobs + 1).astype(np.int64)) if n_jobs > 1 else np.array([0, k])
    objective = -np.inf
    for _ in range(max_iterations):
        centres = (sums, sizes, scales, changed)
        _deal_out(pool, kernels.update_centres, (*arrays, before, cluster, *centres), cluster_pieces)
        before[:] = cluster
        _deal_out(pool, kernels.assign_rows, (*arrays, *centres, cosines, cluster, best), row_pieces)
        previous, objective = objective, kernels.mean(best)
        if objective - previous <= tolerance:
            break
    return cluster


def cluster_groups(
    matrix,
    groups: Sequence[np.ndarray],
    seeds: Sequence[np.ndarray],
    tolerance: float,
    max_iterations: int,
    n_jobs: int,
) -> list[np.ndarray]:
    """k-means inside every group of rows by itself; the clusters of each group's rows, int32.

    groups : row ids, ascending.  seeds : for every group the positions in it of the first centres.
    A group whose rows are all empty, or that has none, is one cluster.
    """
    indptr, n_features = matrix[0], matrix[-1]
    entries = np.array([int((indptr[rows + 1] - indptr[rows]).sum()) for rows in groups])
    clusters = [np.zeros(rows.size, np.int32) for rows in groups]
    with ThreadPoolExecutor(n_jobs) as pool:
        for i in np.flatnonzero(entries > SHARED_ENTRIES):
            own = matrix
            if groups[i].size < indptr.size - 1:
                used, local = np.zeros(-(-n_features // 64), np.uint64), np.empty(n_features, np.int32)
                own = kernels.local_features(*matrix[:3], groups[i], used, local)
            clusters[i] = lloyd_in_threads(own, seeds[i], tolerance, max_iterations, pool, n_jobs)
        small = np.flatnonzero((entries > 0) & (entries <= SHARED_ENTRIES))
        if small.size:
            rows, seeds_of_all = np.concatenate([groups[i] for i in small]), np.concatenate([seeds[i] for i in small])
            bounds = np.cumsum([0] + [groups[i].size for i in small])
            seed_bounds = np.cumsum([0] + [seeds[i].size for i in small])
            out = np.empty(rows.size, np.int32)
            # Pieces of equal work, a good many per thread because the work is only guessed.
            work = np.cumsum(entries[small] + 1)
            pieces = np.searchsorted(work, np.linspace(0, work[-1], 16 * n_jobs + 1)[1:-1])
            pieces = np.unique(np.concatenate([[0], pieces, [small.size]]))
            arguments = (*matrix, rows, bounds, seeds_of_all, seed_bounds, float(tolerance), max_iterations, out)
            _deal_out(pool, kernels.cluster_nodes, arguments, pieces)
            for i, part in zip(small, np.split(out, bounds[1:-1]), strict=True):
                clusters[i] = part
    return clusters


def _deal_out(pool: Executor, kernel, arguments: tuple, pieces: np.ndarray) -> None:
    jobs = [pool.submit(kernel, *arguments, *piece) for piece in pairwise(pieces.tolist())]
    for job in jobs:
        job.result()
