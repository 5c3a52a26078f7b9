"""Problem 7 itself: which λ clusters together reach the most of a label's samples (beyond disentangle).

The closed form of Eq. 10 counts a sample once for every cluster that it is matched to, and so gives a label clusters
that reach the same samples over again. Problem 7 counts it once. Label by label it is maximum coverage: NP-hard
(Theorem 1), but greedy reaches 1 − 1/e of the optimum, and labels with few samples are solved exactly.

    maximise Σ_{i: Y_iℓ = 1}  max_{k ∈ S_ℓ} v_ik     s.t.  |S_ℓ| ≤ λ

with v_ik = 1 where sample i is matched to cluster k. `weighted` takes the matcher's score for v_ik instead: a sample is
served the better the higher the matcher ranks the cluster, and a second cluster may add to a first that is matched too.
"""

import logging

import numpy as np
import scipy.sparse as sp

from orchard import _coverage_kernels as kernels
from orchard.cluster_limits import checked_limit, checked_total
from orchard.label_clusters import check_shapes, chosen_or_kept, first_clusters, in_pieces
from orchard.linear.training import samples_of_labels

MOST_STEPS = 100_000  # of branch and bound, for a label
LARGEST_VALUE = 1 << 20  # scores count in millionths, so that sums are exact

logger = logging.getLogger("orchard")


def greedy_coverage(
    Y: sp.csr_matrix,
    M: sp.csr_matrix,
    C: sp.csr_matrix,
    copies: int,
    weighted: bool = False,
    limit: int | None = None,
    total: int | None = None,
    n_jobs: int | None = None,
) -> sp.csr_matrix:
    """The clusters that greedy gives every label, CSR float32 ones (L, K).

    Y : CSR (n, L).  M : CSR (n, K), with the matcher's scores if they are to count.  C : CSR (L, K), the clusters of
    now.  copies : clusters of a label at most; it gets fewer when no other adds anything.
    limit : labels of a cluster at most (never less than C needs for everybody to stay).
    total : copies of all labels at most. With either limit the largest gain of all labels is served first.
    Of equal gains a cluster that holds the label already comes first, then the lower one. A label that no sample was
    matched for stays where it is. The result does not depend on `n_jobs`.
    """
    samples, matches, old = _problem(Y, M, C, weighted)
    if limit is None and total is None:

        def piece(bounds):
            return kernels.cover_labels(samples, matches, old, C.shape[1], copies, *bounds)

        return chosen_or_kept(np.concatenate(in_pieces(piece, samples[0], n_jobs)), C)
    own = first_clusters(C)
    limit, total = checked_limit(limit, own, C.shape), checked_total(total, copies, C.shape[0])
    is_free = np.bincount(own, minlength=C.shape[1]) < limit

    def first_piece(bounds):
        return kernels.first_choices(samples, matches, old, is_free, *bounds)

    firsts = map(np.concatenate, zip(*in_pieces(first_piece, samples[0], n_jobs), strict=True))
    chosen = kernels.cover_with_limits(samples, matches, old, C.shape[1], copies, limit, total, *firsts)
    return chosen_or_kept(chosen, C, most_kept=1)


def exact_coverage(
    Y: sp.csr_matrix, M: sp.csr_matrix, C: sp.csr_matrix, copies: int, n_jobs: int | None = None
) -> sp.csr_matrix:
    """The optimum of Problem 7 for every label with at most 64 samples, greedy for the others; as `greedy_coverage`."""
    samples, matches, old = _problem(Y, M, C, weighted=False)
    chosen = np.empty((C.shape[0], copies), np.int32)

    def piece(bounds):
        chosen[slice(*bounds)] = kernels.cover_labels(samples, matches, old, C.shape[1], copies, *bounds)
        return kernels.cover_exactly(samples, matches, C.shape[1], chosen, MOST_STEPS, *bounds)

    if n_open := sum(in_pieces(piece, samples[0], n_jobs)):
        logger.warning("exact coverage: %d labels were given up after %d steps", n_open, MOST_STEPS)
    return chosen_or_kept(chosen, C)


def _problem(Y, M, C, weighted: bool) -> tuple[tuple, tuple, tuple]:
    """What the kernels take: the samples of every label, their values where they are matched, the clusters of now."""
    check_shapes(Y, M, C)
    samples = samples_of_labels(Y)
    indptr, clusters = M.indptr.copy(), M.indices.copy()
    values = np.ones(M.nnz, np.int32)
    if weighted:
        if M.nnz and not 0 <= M.data.min() <= M.data.max() <= 1:
            raise ValueError("M must hold scores between 0 and 1")
        values += (M.data * np.float32(LARGEST_VALUE - 1)).astype(np.int32)
        kernels.sort_rows(indptr, clusters, values)
    return (samples.indptr, samples.indices), (indptr, clusters, values), (C.indptr, C.indices)
