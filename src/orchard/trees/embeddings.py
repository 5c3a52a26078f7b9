"""Label embeddings: what a label looks like is the sum of the samples that carry it (PIFA)."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from orchard.threads import n_threads
from orchard.trees import _embedding_kernels as kernels


def unit_rows(matrix: sp.csr_matrix, copy: bool = True) -> sp.csr_matrix:
    """Scale every row to unit L2 norm, as float32; an empty row stays empty. copy=False: a float32 matrix in place."""
    matrix = sp.csr_matrix(matrix, dtype=np.float32, copy=copy)
    kernels.divide_rows(matrix.indptr, matrix.data, row_norms(matrix))
    return matrix


def row_norms(matrix: sp.csr_matrix) -> np.ndarray:
    """The L2 norms of the rows of a float32 matrix, float32 (n,); 1 where a row is zero."""
    norms = np.empty(matrix.shape[0], np.float32)
    kernels.row_norms(matrix.indptr, matrix.data, norms)
    return norms


def pifa(X: sp.csr_matrix, Y: sp.csr_matrix, weighting: str = "parabel", n_jobs: int | None = None) -> sp.csr_matrix:
    """Positive instance feature aggregation: v_ℓ ∝ Σ_{i: Y_iℓ = 1} x_i, unit rows (labeltrees §3.1, eagle §3).

    X : CSR (n, d).  Y : CSR (n, L).  Returns CSR float32 (L, d); a label without positives has an empty row.
    weighting : 'parabel' lets every sample speak with unit length; 'xr-linear' takes the samples as they are and
        divides each one's voice among its labels (rows of Y to unit length), so that a sample with many labels
        says less about each.

    Sums are float32, in ascending order of the samples, norms float64: the error of an entry is at most
    (positives of the label) · 2⁻²³ of the sum of the absolute values. The result does not depend on `n_jobs`
    (all cores by default), not by a bit; a thread holds 2·d floats.
    """
    if X.shape[0] != Y.shape[0]:
        raise ValueError(f"X has {X.shape[0]} samples, Y has {Y.shape[0]}")
    if weighting not in ("parabel", "xr-linear"):
        raise ValueError(f"weighting must be 'parabel' or 'xr-linear', not {weighting!r}")
    X, Y = sp.csr_matrix(X, dtype=np.float32), sp.csr_matrix(Y, dtype=np.float32)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    scales = 1 / row_norms(X if weighting == "parabel" else Y)
    positives = Y.tocsc()  # its rows, the samples, ascend
    matrices = (positives.indptr, positives.indices, positives.data, scales, X.indptr, X.indices, X.data, X.shape[1])
    return _sum_in_pieces(matrices, (Y.shape[1], X.shape[1]), n_threads(n_jobs))


def _sum_in_pieces(matrices, shape, n_jobs):
    """Run `sum_rows` over pieces of the labels in `n_jobs` threads, and join what they wrote; CSR float32 (L, d)."""
    label_indptr, samples, _, _, indptr, *_ = matrices
    work = np.append(0, np.cumsum(np.diff(indptr)[samples]))[label_indptr]
    # Pieces of equal work, not of equal numbers of labels; a few per thread even out what is left. A single thread has
    # nothing to even out, and one piece need not move: new memory costs more than the sums that go into it.
    limits = np.linspace(0, work[-1], 8 * n_jobs + 1 if n_jobs > 1 else 2)[1:-1]
    pieces = np.unique([0, *np.searchsorted(work, limits), shape[0]])

    # Counting the features first would cost a third of the time. Instead every piece has room for the worst case, in
    # memory that is not used before it is written to, and the pieces then move together.
    room = np.append(0, np.cumsum(np.minimum(np.diff(work), shape[1])))[pieces]
    out_indices, out_data = np.empty(room[-1], np.int32), np.empty(room[-1], np.float32)
    out_indptr = np.zeros(shape[0] + 1, np.int64)

    def fill(piece):
        (first, begin), (last, end) = piece
        outputs = out_indices[begin:end], out_data[begin:end], out_indptr[1:]
        kernels.sum_rows(*matrices, *outputs, first, last)

    def join(array):
        for start, begin, end in zip(room, out_indptr[pieces[:-1]], out_indptr[pieces[1:]], strict=False):
            if start != begin:
                array[begin:end] = array[start : start + end - begin]
        array.resize(out_indptr[-1], refcheck=False)

    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(fill, pairwise(zip(pieces, room, strict=True))))
        np.cumsum(out_indptr, out=out_indptr)
        list(pool.map(join, [out_indices, out_data]))
    embeddings = sp.csr_matrix((out_data, out_indices, out_indptr), shape=shape)
    embeddings.has_canonical_format = True
    return embeddings
