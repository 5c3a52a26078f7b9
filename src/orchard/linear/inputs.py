"""What people hand in becomes what the kernels rely on, or is refused with a sentence that says what to do."""

from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp


def checked_X(X, n_features: int | None = None) -> sp.csr_matrix:
    """X as canonical CSR float32, not copied if it is that already.

    n_features : refuse another number of columns.
    """
    if not (isinstance(X, sp.csr_matrix | sp.csr_array) and X.data.dtype == np.float32 and _is_plain(X)):
        X = _as_csr(X, "X", np.float32)
    if n_features is not None and X.shape[1] != n_features:
        raise ValueError(f"X has {X.shape[1]} features, the model was trained on {n_features}")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def csr_arrays(X: sp.csr_matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the kernels take for a matrix."""
    return X.indptr, X.indices, X.data


def checked_training(X, Y) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """X as in `checked_X`, all finite; Y as canonical CSR whose every entry is a label that the sample has."""
    X, Y = checked_X(X), checked_incidence(Y, "Y")
    if X.shape[0] != Y.shape[0]:
        raise ValueError(f"X has {X.shape[0]} samples, Y has {Y.shape[0]}")
    for name, matrix in (("X", X), ("Y", Y)):
        if 0 in matrix.shape:
            raise ValueError(f"{name} is empty: it has {matrix.shape[0]} rows and {matrix.shape[1]} columns")
    refuse_not_finite(X, "X")
    Y.data[:] = 1  # a label is there or it is not, however often
    return X, Y


def checked_incidence(matrix, name: str) -> sp.csr_matrix:
    """A copy as canonical CSR float32 without zeros: an entry says that, or how often, a row has what the column is."""
    matrix = _as_csr(matrix, name, np.float32).copy()
    refuse_not_finite(matrix, name)
    if (matrix.data < 0).any():
        raise ValueError(f"{name} has negative entries; an entry says that a row has what the column stands for")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _is_plain(matrix: sp.csr_matrix) -> bool:
    """Whether the kernels that are compiled already take these arrays: other kinds would cost half a minute each."""
    indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    are_int32 = indices.dtype == indptr.dtype == np.int32
    return are_int32 and indptr.flags.writeable and indices.flags.writeable and data.flags.writeable


def refuse_not_finite(matrix: sp.csr_matrix, name: str) -> None:
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if bad.size:
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        raise ValueError(f"row {row} of {name} has a value that is not finite (NaN or infinite)")


def check_parameter(name: str, value, kind) -> None:
    """Refuse a value that is not of the annotated kind: an int, a float, a bool, a str, or one of these or None."""
    kinds = kind.__args__ if hasattr(kind, "__args__") else (kind,)
    numbers = {int: Integral, float: Real, bool: bool | np.bool_, str: str, type(None): type(None)}
    is_bool = isinstance(value, bool | np.bool_)
    if not any(isinstance(value, numbers[one]) and (one is bool or not is_bool) for one in kinds):
        words = {int: "an integer", float: "a number", bool: "True or False", str: "a word", type(None): "None"}
        raise ValueError(f"{name} must be {' or '.join(words[one] for one in kinds)}, not {value!r}")


def _as_csr(matrix, name: str, kind) -> sp.csr_matrix:
    if not sp.issparse(matrix):
        matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.dtype.kind not in "buif":
        raise ValueError(f"{name} must be a matrix of numbers, samples in rows, best as scipy's CSR")
    matrix = sp.csr_matrix(matrix, dtype=kind)
    if matrix.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"{name} has {matrix.shape[1]} columns; at most {np.iinfo(np.int32).max} are possible")
    indptr_type = np.int32 if matrix.nnz <= np.iinfo(np.int32).max else np.int64
    arrays = matrix.indptr.astype(indptr_type), matrix.indices.astype(np.int32, copy=False), matrix.data
    plain = sp.csr_matrix(matrix.shape, dtype=kind)  # its constructor would choose the types of the indices itself
    plain.indptr, plain.indices, plain.data = (a if a.flags.writeable else a.copy() for a in arrays)
    return plain
