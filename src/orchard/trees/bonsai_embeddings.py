"""What a label looks like to Bonsai: by the samples that carry it, by the labels beside it, or by both."""

import numpy as np
import scipy.sparse as sp

from orchard.trees.embeddings import pifa, unit_rows

KINDS = ("input", "output", "joint")


def bonsai_embeddings(X: sp.csr_matrix, Y: sp.csr_matrix, kind: str = "joint") -> sp.csr_matrix:
    """Bonsai's three label spaces, CSR float32 with unit rows; a label without positives has an empty row.

    X : CSR (n, d).  Y : CSR (n, L).
    kind : 'input', the mean of the label's samples (PIFA), (L, d); 'output', how often it occurs together with every
        label, itself among them (rows of YᵀY), (L, L); 'joint', both side by side with equal weight, (L, d + L).
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}, not {kind!r}")
    if kind == "input":
        return pifa(X, Y)
    together = sp.csr_matrix(Y, dtype=np.float32)
    together = unit_rows(together.T.tocsr() @ together)
    together.sort_indices()
    return together if kind == "output" else unit_rows(sp.hstack([pifa(X, Y), together], format="csr"))
