"""Which clusters labels stand in, and which ones samples are matched to: C, M and YᵀM (disentangle §4.2).

M (n, K) says which of the K leaf clusters a sample is matched to (Eq. 5), C (L, K) which clusters a label stands in. A
label can be found for a sample only if some cluster of the label is matched: Binary(MCᵀ) are the candidates, and the
true ones among them, Tr(Yᵀ Binary(MCᵀ)), are what Problem 7 maximises.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from orchard import _cluster_kernels as kernels
from orchard.linear._report_kernels import reached_of_rows
from orchard.linear.training import samples_of_labels
from orchard.threads import cancelling, n_threads
from orchard.trees._numbering import ranges
from orchard.trees.label_tree import LabelTree

PIECES_PER_THREAD = 8


def clusters_of(tree: LabelTree) -> sp.csr_matrix:
    """C: in which leaves the labels of a tree stand; CSR float32 ones (L, K), columns in the order of `tree.leaves`."""
    return tree.leaf_labels.T.tocsr()


def label_counts(Y: sp.csr_matrix, M: sp.csr_matrix, n_jobs: int | None = None) -> sp.csr_matrix:
    """YᵀM: how many of a label's samples are matched to each cluster; CSR int32 (L, K).

    Y : CSR (n, L).  M : CSR (n, K).  Entries of both count as ones, whatever they are.
    """
    if Y.shape[0] != M.shape[0]:
        raise ValueError(f"Y has {Y.shape[0]} samples, M has {M.shape[0]}")
    samples, n_labels = samples_of_labels(Y), Y.shape[1]
    matrix = M.indptr, M.indices

    def piece(bounds):
        return kernels.count_rows((samples.indptr, samples.indices), matrix, M.shape[1], *bounds)

    sizes, clusters, counts = zip(*in_pieces(piece, samples.indptr, n_jobs), strict=True)
    indptr = np.append(0, np.cumsum(np.concatenate(sizes)))
    return sp.csr_matrix((np.concatenate(counts), np.concatenate(clusters), indptr), shape=(n_labels, M.shape[1]))


def objective(Y: sp.csr_matrix, M: sp.csr_matrix, C: sp.csr_matrix, n_jobs: int | None = None) -> tuple[int, int]:
    """Tr(Yᵀ Binary(MCᵀ)), the objective of Problem 7, and Tr(YᵀMCᵀ), its relaxation (Eq. 8).

    The first counts the true labels that some matched cluster holds, the second counts them once for every such
    cluster. Y : CSR (n, L).  M : CSR (n, K).  C : CSR (L, K).  Entries count as ones. No n × L matrix is made.
    """
    check_shapes(Y, M, C)
    matrices = [(matrix.indptr, matrix.indices) for matrix in (Y, M, C)]

    def piece(bounds):
        return reached_of_rows(*matrices, M.shape[1], *bounds)

    return tuple(map(sum, zip(*in_pieces(piece, Y.indptr, n_jobs), strict=True)))


def first_clusters(C: sp.csr_matrix) -> np.ndarray:
    """The first cluster of every label, int32 (L,): where it stays if it gets no other."""
    return C.indices[C.indptr[:-1]].astype(np.int32, copy=False)


def chosen_or_kept(chosen: np.ndarray, C: sp.csr_matrix, most_kept: int | None = None) -> sp.csr_matrix:
    """The clusters chosen for every label, (L, λ) with −1 for none; where there is none at all, the first ones of C.

    most_kept : how many of those, λ by default.
    """
    kept = np.flatnonzero(chosen[:, 0] < 0)
    n_kept = np.minimum(np.diff(C.indptr)[kept], chosen.shape[1] if most_kept is None else most_kept)
    labels, places = np.nonzero(chosen >= 0)
    rows = np.concatenate([labels, np.repeat(kept, n_kept)])
    columns = np.concatenate([chosen[labels, places], C.indices[ranges(C.indptr[kept], n_kept)]])
    return sp.csr_matrix((np.ones(rows.size, np.float32), (rows, columns)), shape=C.shape)


def check_shapes(Y: sp.csr_matrix, M: sp.csr_matrix, C: sp.csr_matrix) -> None:
    if Y.shape != (M.shape[0], C.shape[0]) or M.shape[1] != C.shape[1]:
        raise ValueError(f"Y {Y.shape}, M {M.shape} and C {C.shape} do not fit: (n, L), (n, K), (L, K)")


def in_pieces(do: Callable, indptr: np.ndarray, n_jobs: int | None) -> list:
    """What `do` returns for pieces (first, last) of the rows of a CSR matrix, with about the same number of entries."""
    n_jobs, n_rows = n_threads(n_jobs), indptr.size - 1
    limits = np.linspace(0, indptr[-1], PIECES_PER_THREAD * n_jobs + 1)[1:-1] if n_jobs > 1 else []
    bounds = np.unique([0, *np.searchsorted(indptr, limits), n_rows])
    with cancelling(ThreadPoolExecutor(n_jobs)) as pool:
        return list(pool.map(do, pairwise(bounds)))
