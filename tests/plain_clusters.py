"""The matrices and problems of label disentanglement, dense and by exhaustive search, for comparison with fast code."""

from itertools import combinations, product

import numpy as np
import scipy.sparse as sp


def random_problem(seed, n=12, n_labels=6, n_clusters=5, beam=2, share=0.4):
    """Y, M with scores (rows of `beam` entries), and C, a partition; some labels may have no sample."""
    rng = np.random.default_rng(seed)
    Y = sp.csr_matrix(rng.random((n, n_labels)) < share, dtype=np.float32)
    M = np.zeros((n, n_clusters), np.float32)
    for row in M:
        row[rng.choice(n_clusters, beam, replace=False)] = rng.random(beam) * 0.98 + 0.01
    return Y, sp.csr_matrix(M), partition(rng.integers(n_clusters, size=n_labels), n_clusters)


def partition(cluster_of_label, n_clusters):
    """C of labels that stand in one cluster each."""
    n = len(cluster_of_label)
    return sp.csr_matrix((np.ones(n, np.float32), cluster_of_label, np.arange(n + 1)), shape=(n, n_clusters))


def dense(matrix):
    return (np.asarray(matrix.todense()) != 0).astype(int)


def plain_objective(Y, M, C):
    """Tr(Yᵀ Binary(MCᵀ)) and Tr(YᵀMCᵀ), as they are written."""
    Y, M, C = dense(Y), dense(M), dense(C)
    return np.trace(Y.T @ (M @ C.T > 0)), np.trace(Y.T @ M @ C.T)


def all_choices(n_clusters, copies):
    """Every set of one to `copies` clusters, as rows of C."""
    sets = [one for size in range(1, copies + 1) for one in combinations(range(n_clusters), size)]
    return [np.isin(np.arange(n_clusters), one).astype(int) for one in sets]


def all_clusterings(n_labels, n_clusters, copies):
    """Every C with one to `copies` clusters for each label; few labels only."""
    for rows in product(all_choices(n_clusters, copies), repeat=n_labels):
        yield sp.csr_matrix(np.array(rows))


def best_coverage(Y, M, label, copies, weighted=False):
    """The largest value of at most `copies` clusters for a label: samples covered, or the sum of best scores."""
    mine = np.asarray(M.todense())[dense(Y)[:, label] > 0]
    mine = mine if weighted else (mine != 0).astype(float)
    return max(worth(mine, chosen) for chosen in all_choices(M.shape[1], copies))


def worth(matches, chosen):
    """Σ over the rows of `matches` of the best entry in the chosen columns."""
    return float(np.where(chosen > 0, matches, 0).max(axis=1).sum()) if len(matches) else 0.0
