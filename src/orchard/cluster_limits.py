"""Projection with limits: a cluster holds so many labels at most, all labels together so many copies (disentangle A.4).

Without limits every label takes its own best clusters, and those that nearly all samples are matched to (hubs) end up
with most of the labels. With limits labels compete:

    maximise Σ counts[ℓ, k] · C[ℓ, k]   s.t.  1 ≤ Σ_k C[ℓ, k] ≤ copies,  Σ_ℓ C[ℓ, k] ≤ limit,  Σ C ≤ total,  C binary.

It is a transportation problem: its linear relaxation has integral vertices, so that small problems are solved exactly.
Large ones are filled in descending count, which can be far from the optimum in contrived cases: two labels that would
have to change places both stay where they are.
"""

import numpy as np
import scipy.sparse as sp

from orchard._cluster_kernels import fill, pairs_of_rows
from orchard.label_clusters import first_clusters

EXACT_PAIRS = 20_000  # of label and cluster, up to which the problem is solved exactly


def limited_projection(
    counts: sp.csr_matrix,
    C: sp.csr_matrix,
    copies: int,
    limit: int | None = None,
    total: int | None = None,
    exact: bool | None = None,
) -> sp.csr_matrix:
    """The clusters of every label with the largest sum of counts under the limits; CSR float32 ones (L, K).

    counts : CSR (L, K), YᵀM.  C : CSR (L, K), the clusters of now; a label can always stay in its first one.
    limit : labels of a cluster at most; never less than C needs for that.  total : copies of all labels at most.
    exact : solve it exactly, or fill greedily; by default the former for at most EXACT_PAIRS non-zero counts.
    """
    own = first_clusters(C)
    limit = checked_limit(limit, own, C.shape)
    total = checked_total(total, copies, C.shape[0])
    solve = _solved if (counts.nnz <= EXACT_PAIRS if exact is None else exact) else _filled
    return solve(*_pairs(counts, own, C), own, copies, limit, total, C.shape)


def checked_limit(limit: int | None, own: np.ndarray, shape: tuple[int, int]) -> int:
    """Labels of a cluster at most: `limit`, or what lets everybody stay, if that is more; all labels for None."""
    return shape[0] if limit is None else max(int(limit), int(np.bincount(own, minlength=1).max()))


def checked_total(total: int | None, copies: int, n_labels: int) -> int:
    if total is not None and total < n_labels:
        raise ValueError(f"total must be at least the number of labels, {n_labels}, not {total}")
    return copies * n_labels if total is None else min(int(total), copies * n_labels)


def _pairs(counts, own, C) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(labels, clusters, counts) with a count, or with none where a label stands now; descending counts.

    Of equal ones those of C come first, then the lower label and the lower cluster.
    """
    arrays = (counts.indptr, counts.indices, counts.data), (C.indptr, C.indices), own
    labels, clusters, values, keys = pairs_of_rows(*arrays)
    order = np.argsort(-keys, kind="stable")
    return labels[order], clusters[order], values[order]


def _filled(labels, clusters, values, own, copies, limit, total, shape) -> sp.csr_matrix:
    taken = fill(labels, clusters, own, copies, limit, total, shape[1])
    return _matrix(labels[taken], clusters[taken], values[taken], shape)


def _solved(labels, clusters, values, own, copies, limit, total, shape) -> sp.csr_matrix:
    from scipy.optimize import Bounds, LinearConstraint, milp  # a third of what importing this module would take

    n, (n_labels, n_clusters) = labels.size, shape
    ones, columns = np.ones(n), np.arange(n)
    of_labels = sp.csr_matrix((ones, (labels, columns)), shape=(n_labels, n))
    of_clusters = sp.csr_matrix((ones, (clusters, columns)), shape=(n_clusters, n))
    constraints = [
        LinearConstraint(of_labels, 1, copies),
        LinearConstraint(of_clusters, 0, limit),
        LinearConstraint(ones[None, :], 0, total),
    ]
    found = milp(-values.astype(np.float64), integrality=ones, bounds=Bounds(0, 1), constraints=constraints)
    if found.x is None:
        raise RuntimeError(f"the clusters with limits were not solved: {found.message}")
    taken = found.x > 0.5
    return _matrix(labels[taken], clusters[taken], values[taken], shape)


def _matrix(labels, clusters, values, shape) -> sp.csr_matrix:
    """C of the pairs that were taken; one without a count only where a label has no other."""
    has_count = np.zeros(shape[0], bool)
    has_count[labels[values > 0]] = True
    kept = (values > 0) | ~has_count[labels]
    ones = np.ones(int(kept.sum()), np.float32)
    return sp.csr_matrix((ones, (labels[kept], clusters[kept])), shape=shape)
