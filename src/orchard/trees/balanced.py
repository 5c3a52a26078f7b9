"""Balanced spherical k-means by recursive bisection: the label tree of Parabel, and clusters of equal size from it."""

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from orchard.trees import _kernels


class BalancedTree(NamedTuple):
    """Nested partitions of rows: node i of a level holds leaf_order[boundaries[level][i] : boundaries[level][i + 1]].

    leaf_order : int64 (n,).  boundaries : one ascending array per level, [0, n] for the root first, the clusters last.
    A node that is a cluster already is repeated on the levels below.
    """

    leaf_order: np.ndarray
    boundaries: list[np.ndarray]


def balanced_tree(
    rows: sp.csr_matrix,
    n_clusters: int,
    seed: int | np.random.Generator,
    tolerance: float = 1e-4,
    max_iterations: int = 100,
    n_jobs: int | None = None,
) -> BalancedTree:
    """Split rows in two by balanced spherical 2-means, again and again, until there are `n_clusters` (labeltrees §3.1).

    A node that must hold K clusters splits into ⌈K/2⌉ and ⌊K/2⌋, its rows in proportion, so every cluster has
    ⌊n / n_clusters⌋ or ⌈n / n_clusters⌉ rows; n_clusters = 2^depth gives the paper's tree.
    A split starts from two random distinct rows and stops when the mean cosine gains no more than `tolerance`
    (1e-4 in Parabel; 0 with at most 20 iterations is XR-Linear's rule).

    rows : CSR (n, d) with unit rows; an empty row is equally far from everything and goes where there is room.
    The result depends on `seed`, never on `n_jobs` (all cores by default); a thread holds 2·d doubles.
    """
    n, n_features = rows.shape
    if not 1 <= n_clusters <= n:
        raise ValueError(f"n_clusters must be between 1 and the number of rows ({n}), not {n_clusters}")
    if max_iterations < 1:
        raise ValueError(f"max_iterations must be at least 1, not {max_iterations}")
    rows = sp.csr_matrix(rows, dtype=np.float32)
    matrix = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False), rows.data, n_features
    rng = np.random.default_rng(seed)
    n_jobs = n_jobs or os.cpu_count()

    order = np.arange(n)
    boundaries = [np.array([0, n])]
    clusters = np.array([n_clusters])  # that each node of the level must hold
    with ThreadPoolExecutor(n_jobs) as pool:
        while clusters.max() > 1:
            level = boundaries[-1]
            cuts = np.empty_like(clusters)
            seeds = _two_distinct(rng, np.diff(level))
            arguments = (*matrix, order, level, clusters, seeds, float(tolerance), max_iterations, cuts)
            # A few pieces per thread even out the load; fewer, larger ones save the allocation of scratch space.
            pieces = np.unique(np.linspace(0, clusters.size, 4 * n_jobs + 1).astype(np.int64))
            jobs = [pool.submit(_kernels.split_nodes, *arguments, *piece) for piece in pairwise(pieces)]
            for job in jobs:
                job.result()
            children = np.column_stack([(clusters + 1) // 2, clusters // 2]).ravel()
            begins = np.column_stack([level[:-1], cuts]).ravel()
            boundaries.append(np.append(begins[children > 0], n))
            clusters = children[children > 0]
    return BalancedTree(order, boundaries)


def _two_distinct(rng: np.random.Generator, sizes: np.ndarray) -> np.ndarray:
    """For every size, two different positions below it, drawn uniformly; (n, 2).

    All draws of a level come before its threads start, in the order of the nodes.
    """
    one = rng.integers(sizes)
    other = rng.integers(np.maximum(sizes - 1, 1))
    return np.column_stack([one, other + (other >= one)])


def balanced_kmeans(
    rows: sp.csr_matrix, n_clusters: int, seed: int | np.random.Generator, n_jobs: int | None = None
) -> np.ndarray:
    """The cluster of every row, int32 (n,); sizes differ by at most one, neighbouring ids are neighbours in the tree.

    See `balanced_tree`.
    """
    tree = balanced_tree(rows, n_clusters, seed, n_jobs=n_jobs)
    cluster_of_row = np.empty(rows.shape[0], np.int32)
    cluster_of_row[tree.leaf_order] = np.repeat(np.arange(n_clusters), np.diff(tree.boundaries[-1]))
    return cluster_of_row
