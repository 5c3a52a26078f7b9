"""How often labels are asked for: the frequencies f and f̃ that trees of small expected depth are made from.

The marginal frequencies f = Yᵀp are `orchard.data.statistics.label_frequencies`. A context i, a row of Y, is asked for
with frequency p_i; all alike unless given. Nothing is normalised here: trees look at shares only.
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from orchard.data.statistics import label_frequencies
from orchard.trees import _frequency_kernels as kernels
from orchard.trees._numbering import frequencies


def greedy_frequencies(Y: sp.csr_matrix, contexts: ArrayLike | None = None) -> np.ndarray:
    """f̃ of Algorithm 1 (labeltrees, appendix B), float64 (n_labels,): who is most frequent takes its contexts away.

    Again and again the label with the largest frequency gets it, and the contexts that have this label count no more.
    Ties go to the lower label id. The next label is looked for lazily: frequencies only fall, so a label on top of the
    heap with a frequency that still holds is the one, and only labels that come to the top are counted anew.
    """
    Y = sp.csr_matrix(Y)
    p = _checked(contexts, Y)
    by_label = Y.tocsc()
    return kernels.take_greedily(Y.indptr, Y.indices, by_label.indptr, by_label.indices, p, label_frequencies(Y, p))


def marginal_frequencies(Y: sp.csr_matrix, contexts: ArrayLike | None = None, sharpness: float = 1.0) -> np.ndarray:
    """f̃ of Algorithm 2 (labeltrees, appendix B), float64 (n_labels,): a context speaks for its most frequent label.

    Ties go to the lower label id.
    sharpness : between 0 and 1; below 1 it is the smooth mixture that the appendix describes, sharpness · f̃ +
        (1 − sharpness) · f: a context adds p_i to its most frequent label and (1 − sharpness) · p_i to each of its
        others. 0 is f itself.
    """
    if not 0 <= sharpness <= 1:
        raise ValueError(f"sharpness must be between 0 and 1, not {sharpness}")
    Y = sp.csr_matrix(Y)
    p = _checked(contexts, Y)
    f = label_frequencies(Y, p)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    best_first = np.lexsort((Y.indices, -f[Y.indices], rows))
    filled = np.diff(Y.indptr) > 0
    most_frequent = Y.indices[best_first[Y.indptr[:-1][filled]]]
    return sharpness * np.bincount(most_frequent, p[filled], minlength=Y.shape[1]) + (1 - sharpness) * f


def _checked(contexts: ArrayLike | None, Y: sp.csr_matrix) -> np.ndarray:
    return np.ones(Y.shape[0]) if contexts is None else frequencies("contexts", contexts, Y.shape[0])
