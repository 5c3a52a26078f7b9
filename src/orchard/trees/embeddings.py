"""Label embeddings: what a label looks like is the sum of the samples that carry it (PIFA)."""

import numpy as np
import scipy.sparse as sp


def unit_rows(matrix: sp.csr_matrix) -> sp.csr_matrix:
    """Scale every row to unit L2 norm, as float32; an empty row stays empty."""
    matrix = sp.csr_matrix(matrix, dtype=np.float32, copy=True)
    lengths = np.diff(matrix.indptr)
    filled = lengths > 0
    squares = np.add.reduceat(np.square(matrix.data), matrix.indptr[:-1][filled], dtype=np.float64)
    norms = np.sqrt(squares)
    norms[norms == 0] = 1
    matrix.data /= np.repeat(norms.astype(np.float32), lengths[filled])
    return matrix


def pifa(X: sp.csr_matrix, Y: sp.csr_matrix, weighting: str = "parabel") -> sp.csr_matrix:
    """Positive instance feature aggregation: v_ℓ ∝ Σ_{i: Y_iℓ = 1} x_i, unit rows (labeltrees §3.1, eagle §3).

    X : CSR (n, d).  Y : CSR (n, L).  Returns CSR float32 (L, d); a label without positives has an empty row.
    weighting : 'parabel' lets every sample speak with unit length; 'xr-linear' takes the samples as they are and
        divides each one's voice among its labels (rows of Y to unit length), so that a sample with many labels
        says less about each.
    """
    if X.shape[0] != Y.shape[0]:
        raise ValueError(f"X has {X.shape[0]} samples, Y has {Y.shape[0]}")
    if weighting == "parabel":
        X = unit_rows(X)
    elif weighting == "xr-linear":
        Y = unit_rows(Y)
    else:
        raise ValueError(f"weighting must be 'parabel' or 'xr-linear', not {weighting!r}")
    embeddings = unit_rows(Y.T.tocsr() @ X)
    embeddings.sort_indices()
    return embeddings
