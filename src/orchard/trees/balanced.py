"""Balanced spherical k-means by recursive bisection: the label tree of Parabel, and clusters of equal size from it."""

import numpy as np
import scipy.sparse as sp

from orchard.trees import bisection
from orchard.trees.bisection import Partitions, bisected

FEW_NODES = 4


def balanced_tree(
    rows: sp.csr_matrix,
    n_clusters: int,
    seed: int | np.random.Generator,
    tolerance: float = 1e-4,
    max_iterations: int = 100,
    n_jobs: int | None = None,
) -> Partitions:
    """Split rows in two by balanced spherical 2-means, again and again, until there are `n_clusters` (labeltrees §3.1).

    A node that must hold K clusters splits into ⌈K/2⌉ and ⌊K/2⌋, its rows in proportion, so every cluster has
    ⌊n / n_clusters⌋ or ⌈n / n_clusters⌉ rows; n_clusters = 2^depth gives the paper's tree.
    tolerance : of the mean cosine (1e-4 in Parabel; 0 with at most 20 iterations is XR-Linear's rule).
    All else is told at `bisected`.
    """
    n = rows.shape[0]
    if not 1 <= n_clusters <= n:
        raise ValueError(f"n_clusters must be between 1 and the number of rows ({n}), not {n_clusters}")
    return bisected(rows, _EqualClusters(n_clusters), seed, tolerance, max_iterations, n_jobs)


class _EqualClusters:
    """A `Splitting` into clusters of equal size."""

    def __init__(self, n_clusters: int):
        self.clusters = np.array([n_clusters])  # that each node of the level must hold

    def nodes_to_split(self, sizes: np.ndarray) -> np.ndarray:
        return self.clusters > 1

    def many_levels_left(self, sizes: np.ndarray) -> bool:
        return self.clusters.max() > 4

    def targets(self, order: np.ndarray, level: np.ndarray) -> tuple:
        """The plus side gets ⌈K/2⌉ of K clusters and rows in proportion: all clusters can end with ⌊n/K⌋ or ⌈n/K⌉."""
        share = np.diff(level) * ((self.clusters + 1) // 2)
        none, one = np.empty(0, np.float32), np.float32(1)
        return share // self.clusters, -(-share // self.clusters), none, one, np.zeros(self.clusters.size, np.float32)

    def large_nodes(self, entries: np.ndarray) -> np.ndarray:
        """All or none: nodes of a level are alike, so that from a few of them on every thread has its own."""
        return np.full(entries.size, entries.size <= FEW_NODES and entries.sum() >= bisection.MANY_ENTRIES)

    def descend(self, splits: np.ndarray) -> None:
        children = np.column_stack([(self.clusters + 1) // 2, self.clusters // 2]).ravel()
        self.clusters = children[children > 0]


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
