"""Algorithms 1 and 2 of EAGLE line by line with scipy, the reference for the kernels and for their speed."""

import numpy as np
import scipy.sparse as sp

TIE = 1e-6  # the accuracy of rows in float32: values that are closer than this count as equal


def proj(vector: np.ndarray) -> np.ndarray:
    """x / ‖x‖; zero, up to rounding, stays zero."""
    norm = np.linalg.norm(vector)
    return vector / norm if norm > TIE else np.zeros_like(vector)


def grlr(groups, weights, X: sp.csr_matrix, iterations: int, step: float) -> np.ndarray:
    """GROUP_ROBUST_LABEL_REPR (Algorithm 1) for one label.

    groups : the samples of every group with the label.  weights : how often each has it.  X : CSR (n, d), unit rows.
    """
    rows = [X[N] for N in groups]
    e = proj(sum(w * np.asarray(X_N.sum(axis=0)).ravel() for X_N, w in zip(rows, weights, strict=True)))
    for _ in range(iterations):
        total = np.zeros(X.shape[1])
        for X_N, w in zip(rows, weights, strict=True):
            v = X_N @ e
            a = (v >= v.max() - TIE).astype(float)
            total += w * (X_N.T @ a)
        e = proj(e + step * proj(total))
    return e


def unit(X: sp.csr_matrix) -> sp.csr_matrix:
    X = sp.csr_matrix(X, dtype=float)
    norms = np.sqrt(X.multiply(X).sum(axis=1))
    return sp.csr_matrix(X.multiply(1 / np.where(norms > 0, norms, 1)))


def eagle(X: sp.csr_matrix, Y1: sp.csr_matrix, Y2: sp.csr_matrix, iterations: int = 20, step: float = 0.1):
    """EAGLE (Algorithm 2) on the rows of X as they are: (Y filtered as lil (n, L), embeddings (L, d))."""
    samples_of, groups_of = Y1.tocsc(), Y2.tocsc()
    Y = sp.lil_matrix((X.shape[0], Y2.shape[1]), dtype=np.float32)
    embeddings = np.zeros((Y2.shape[1], X.shape[1]))
    for k in range(Y2.shape[1]):
        M_k = groups_of.indices[groups_of.indptr[k] : groups_of.indptr[k + 1]]
        weights = groups_of.data[groups_of.indptr[k] : groups_of.indptr[k + 1]]
        groups = [samples_of.indices[samples_of.indptr[j] : samples_of.indptr[j + 1]] for j in M_k]
        filled = [(N, w) for N, w in zip(groups, weights, strict=True) if N.size]
        if not filled:
            continue
        e = embeddings[k] = grlr(*zip(*filled, strict=True), X, iterations, step)
        for N, _ in filled:
            v = X[N] @ e
            Y[N[np.argmax(v >= v.max() - TIE)], k] = 1
    return Y, embeddings
