"""Samples as networks take them, dense and centred (eagle, B.3), and label embeddings in their space. No PyTorch."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from orchard.eagle import label_embeddings
from orchard.linear.inputs import refuse_not_finite

LARGEST_DENSE_GB = 16


@dataclass(frozen=True)
class CentredFeatures:
    """Rows in units of the largest training value, so that pixels lie within 0 and 1, minus the mean training row."""

    mean: np.ndarray  # float32 (d,), in these units
    unit: float

    @classmethod
    def of(cls, X: sp.csr_matrix) -> "CentredFeatures":
        unit = float(np.abs(X.data).max(initial=0)) or 1.0
        return cls((np.asarray(X.mean(axis=0, dtype=np.float64)).ravel() / unit).astype(np.float32), unit)

    def __call__(self, X: sp.csr_matrix) -> np.ndarray:
        """Dense float32 (n, d)."""
        gigabytes = 4e-9 * X.shape[0] * X.shape[1]
        if gigabytes > LARGEST_DENSE_GB:
            raise ValueError(
                f"X would take {gigabytes:.0f} GB: these networks hold it dense; project it to fewer features first"
            )
        refuse_not_finite(X, "X")
        dense = X.toarray()
        dense /= np.float32(self.unit)
        dense -= self.mean
        return dense


def embeddings_of_centred(
    X: np.ndarray, Y1, Y2, iterations: int, step: float = 0.1, n_jobs: int | None = None
) -> np.ndarray:
    """L, float32 (L, d): what GRLR (Algorithm 1) learns from groups of centred samples X (n, d).

    Their rows are taken as they are: they sum up to zero, so that nothing that all samples share has a vote.
    """
    L = label_embeddings(_all_stored(X), Y1, Y2, iterations, step, unit_samples=False, n_jobs=n_jobs)
    return L.toarray()


def _all_stored(X: np.ndarray) -> sp.csr_matrix:
    """A dense matrix as CSR with all of its entries: centred rows have no zeros that would be worth looking for."""
    n, d = X.shape
    indptr = np.arange(0, n * d + 1, d, dtype=np.int32 if n * d <= np.iinfo(np.int32).max else np.int64)
    matrix = sp.csr_matrix((n, d), dtype=np.float32)
    matrix.indptr, matrix.indices, matrix.data = indptr, np.tile(np.arange(d, dtype=np.int32), n), X.ravel()
    matrix.has_canonical_format = True
    return matrix
