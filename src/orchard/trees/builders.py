"""Label trees from label embeddings: Parabel's balanced, XR-Linear's merged and Bonsai's shallow unbalanced tree."""

import heapq

import numpy as np
import scipy.sparse as sp

from orchard.threads import n_threads
from orchard.trees.balanced import balanced_tree
from orchard.trees.bisection import Partitions
from orchard.trees.kmeans import as_matrix, cluster_groups
from orchard.trees.label_tree import LabelTree


def balanced_label_tree(
    embeddings: sp.csr_matrix,
    max_leaf: int = 100,
    seed: int | np.random.Generator = 0,
    n_jobs: int | None = None,
    tolerance: float = 1e-4,
    max_iterations: int = 100,
) -> LabelTree:
    """Parabel's tree: balanced 2-means, again and again, until no leaf has more than `max_leaf` labels.

    embeddings : CSR (n_labels, d), unit rows (see `orchard.trees.embeddings.pifa`); empty rows are allowed.
    All leaves are at depth ⌈log2(n_labels / max_leaf)⌉, unless that asks for more leaves than there are labels.
    """
    return LabelTree.from_partitions(*_bisected(embeddings, max_leaf, seed, n_jobs, tolerance, max_iterations))


def merged_label_tree(
    embeddings: sp.csr_matrix,
    n_splits: int = 16,
    max_leaf: int = 100,
    seed: int | np.random.Generator = 0,
    n_jobs: int | None = None,
    tolerance: float = 0.0,
    max_iterations: int = 20,
) -> LabelTree:
    """XR-Linear's tree: the leaves of the binary one, `n_splits` neighbours to a parent, until one node is left.

    embeddings : CSR (n_labels, d), unit rows.  A last parent that would have one child only is that child itself
    (this cannot happen while both `n_splits` and the number of leaves are powers of two).
    """
    if n_splits < 2:
        raise ValueError(f"n_splits must be at least 2, not {n_splits}")
    order, levels = _bisected(embeddings, max_leaf, seed, n_jobs, tolerance, max_iterations)
    merged = [levels[-1]]
    while merged[0].size > 2:
        merged.insert(0, np.append(merged[0][:-1:n_splits], order.size))
    return LabelTree.from_partitions(order, merged)


def _bisected(embeddings, max_leaf: int, seed, n_jobs, tolerance: float, max_iterations: int) -> Partitions:
    n_labels = embeddings.shape[0]
    _check(n_labels, max_leaf)
    n_clusters = 1
    while n_clusters * max_leaf < n_labels:
        n_clusters *= 2
    return balanced_tree(embeddings, min(n_clusters, n_labels), seed, tolerance, max_iterations, n_jobs)


def _check(n_labels: int, max_leaf: int) -> None:
    if n_labels < 1:
        raise ValueError("a tree needs at least one label, embeddings has no rows")
    if max_leaf < 1:
        raise ValueError(f"max_leaf must be at least 1, not {max_leaf}")


def kmeans_label_tree(
    embeddings: sp.csr_matrix,
    n_splits: int = 100,
    max_leaf: int | None = None,
    max_depth: int | None = None,
    seed: int | np.random.Generator = 0,
    n_jobs: int | None = None,
    tolerance: float = 1e-4,
    max_iterations: int = 100,
) -> LabelTree:
    """Bonsai's tree: spherical k-means with k = `n_splits`, of no particular balance, in every node that is too large.

    A node with at most `max_leaf` labels (`n_splits` unless given) or at `max_depth` (no limit unless given) is a leaf.

    embeddings : CSR (n_labels, d), unit rows.  Labels with empty rows have no nearest centre: they take no part in
    k-means and go where there are fewest labels.  A node that k-means cannot split, since all its labels look the
    same, is cut into equal parts.
    The result depends on `seed`, never on `n_jobs` (all cores by default).
    """
    n_labels, max_leaf = embeddings.shape[0], n_splits if max_leaf is None else max_leaf
    _check(n_labels, max_leaf)
    if n_splits < 2:
        raise ValueError(f"n_splits must be at least 2, not {n_splits}")
    if max_iterations < 1:
        raise ValueError(f"max_iterations must be at least 1, not {max_iterations}")
    matrix = as_matrix(embeddings)
    is_empty = np.diff(matrix[0]) == 0
    rng, n_jobs = np.random.default_rng(seed), n_threads(n_jobs)

    parents, nodes, labels = [-1], [], []  # of all nodes; the leaves and what they hold
    level, depth = [(0, np.arange(n_labels))], 0
    while level:
        large = []
        for node, members in level:
            if members.size > max_leaf and depth != max_depth:
                large.append((node, members))
            else:
                nodes.append(np.full(members.size, node))
                labels.append(members)
        filled = [members[~is_empty[members]] for _, members in large]
        # All draws of a level come before its threads start, in the order of the nodes.
        seeds = [rng.choice(rows.size, min(n_splits, rows.size), replace=False) for rows in filled]
        clusters = cluster_groups(matrix, filled, seeds, tolerance, max_iterations, n_jobs)
        level, depth = [], depth + 1
        for (node, members), rows, cluster in zip(large, filled, clusters, strict=True):
            parts = _parts(rows, cluster)
            if len(parts) < 2:
                parts = np.array_split(members, min(n_splits, -(-members.size // max_leaf)))
            elif rows.size < members.size:
                parts = _spread(members[is_empty[members]], parts)
            level.extend(enumerate(parts, start=len(parents)))
            parents.extend([node] * len(parts))
    return LabelTree.from_parents(np.array(parents), np.concatenate(nodes), np.concatenate(labels), n_labels)


def _parts(rows: np.ndarray, cluster: np.ndarray) -> list[np.ndarray]:
    """The rows of every cluster that has any, ascending."""
    order = np.argsort(cluster, kind="stable")
    sizes = np.bincount(cluster)
    return np.split(rows[order], np.cumsum(sizes[sizes > 0])[:-1]) if rows.size else []


def _spread(more: np.ndarray, parts: list[np.ndarray]) -> list[np.ndarray]:
    """Add each of `more` to what is the smallest part then, the first of equals."""
    smallest = [(part.size, i) for i, part in enumerate(parts)]
    heapq.heapify(smallest)
    chosen = np.empty(more.size, np.int64)
    for position in range(more.size):
        size, chosen[position] = smallest[0]
        heapq.heapreplace(smallest, (size + 1, int(chosen[position])))
    return [np.sort(np.concatenate([part, more[chosen == i]])) for i, part in enumerate(parts)]
