"""How well labels were given to the samples of groups, told without a sample's own labels: by groups left out.

A model of the labels that were given scores the samples of groups that it has not seen. What is known of these groups
is which labels they have: `group_precision` says how well the scores tell that.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from orchard.eagle import checked_groups
from orchard.linear.estimators import XRLinear

LEFT_OUT = 0.2  # of the groups, to validate an imputation
LABELS_SCORED, BEAM = 200, 20


def left_out_precision(
    X: sp.csr_matrix,
    Y1: sp.csr_matrix,
    Y2: sp.csr_matrix,
    impute: Callable,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> float:
    """`group_precision` on a fifth of the groups, of XR-Linear on the labels that `impute` gives in the other groups.

    impute : a function of X, Y1 and Y2 that returns Y; it sees neither those groups nor their samples.
    """
    X, Y1, Y2 = checked_groups(X, Y1, Y2)
    Y1.data[:] = 1  # a sample is in a group or it is not, however often
    m = Y1.shape[1]
    n_left_out = round(LEFT_OUT * m)
    if n_left_out == 0:
        raise ValueError(f"{m} groups are too few to leave some out")
    left_out = np.zeros(m, bool)
    left_out[np.random.default_rng(random_state).permutation(m)[:n_left_out]] = True
    unseen = Y1 @ left_out.astype(np.float32) > 0
    Y = impute(X[~unseen], Y1[~unseen][:, ~left_out], Y2[~left_out])
    scores = scores_of_unseen(X, unseen, Y, random_state, n_jobs)
    return group_precision(scores, Y1[:, left_out], Y2[left_out])


def scores_of_unseen(
    X: sp.csr_matrix, unseen: np.ndarray, Y: sp.csr_matrix, random_state: int, n_jobs: int | None
) -> sp.csr_matrix:
    """Scores of the best labels of some rows of X, by XR-Linear on all other rows, whose labels are Y.

    unseen : a mask of the rows to score.  Returns CSR float32 with all rows of X, empty but for these.
    """
    shape = X.shape[0], Y.shape[1]
    if unseen.all() or not unseen.any():
        return sp.csr_matrix(shape, dtype=np.float32)
    model = XRLinear(beam=BEAM, random_state=random_state, n_jobs=n_jobs).fit(X[~unseen], Y)
    ids, scores = model.predict_topk(X[unseen], k=min(LABELS_SCORED, Y.shape[1]))
    reached = ids >= 0
    rows = np.repeat(np.flatnonzero(unseen), reached.sum(axis=1))
    return sp.csr_matrix((scores[reached], (rows, ids[reached])), shape=shape, dtype=np.float32)


def group_precision(scores: sp.csr_matrix, Y1: sp.csr_matrix, Y2: sp.csr_matrix) -> float:
    """Of as many labels as a group has, those with the highest scores summed over its samples: the share it has.

    A measure of the scores that needs no sample's own labels; over all groups together.
    """
    summed = (Y1.T @ scores).tocsr()
    n_labels = np.diff(Y2.indptr)
    if n_labels.sum() == 0:
        return 0.0
    groups = np.repeat(np.arange(summed.shape[0]), np.diff(summed.indptr))
    order = np.lexsort((summed.indices, -summed.data, groups))
    rank = np.arange(order.size) - summed.indptr[groups]
    top = order[rank < n_labels[groups]]
    told = sp.csr_matrix((np.ones(top.size, np.float32), (groups[top], summed.indices[top])), shape=Y2.shape)
    return told.multiply(Y2 > 0).nnz / int(n_labels.sum())
