"""Beyond EAGLE: the questions that its section 8 leaves open, as one imputation.

EAGLE learns a label from the groups that carry it. Here every group teaches every label, as in Theorem 1 (Eq. 3):

1. `group_regression` is the theorem's NoAS: ridge regression of the labels' counts in the groups on the sums of the
   groups' rows. A group without the label says what the label does not look like.
2. A label that a group has r times goes to the r samples of the group with the highest scores.
3. `refitted` is the theorem's AS: a model of the labels so assigned scores the samples of groups that it has not seen,
   and the labels are assigned anew, as long as such models tell better what groups they have not seen carry.

What is chosen here is chosen on the training groups, by leaving some of them out, or by their `clustering_quality`.
"""

import logging
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from orchard.eagle import checked_groups, impute_labels
from orchard.group_validation import group_precision, scores_of_unseen
from orchard.linear.inputs import check_parameter
from orchard.threads import cancelling, n_threads
from orchard.trees.embeddings import unit_rows

RIDGES = (0.3, 1.0, 3.0, 10.0, 30.0)
GROUPS_TO_CHOOSE_BY = 1500
GROUPS_AT_ONCE, LABELS_AT_ONCE = 512, 128
CLUSTERED = 0.1  # quality of groups for which Algorithm 1's steps pay (docs/eagle.md)
MOST_REFITS = 2
FOLDS = 3  # of a refit

logger = logging.getLogger("orchard")


def impute_labels_plus(
    X,
    Y1,
    Y2,
    start: str = "regression",
    by_count: bool = True,
    ridge: float | None = None,
    refits: int | None = None,
    max_groups: int = 12_000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> sp.csr_matrix:
    """Give every label of a group to samples of the group; X, Y1, Y2 and the result as in `impute_labels`.

    start : 'regression' scores samples by `group_regression`, 'grlr' by EAGLE's Algorithm 1 on centred rows, with
        T = 20 for clustered groups and T = 0 for random ones.
    by_count : a label that a group has r times goes to r samples, not to one.
    ridge : the penalty of the regression, 0.001 at least; None chooses it by leaving groups out (`choose_ridge`).
    refits : how often labels are assigned anew; None is as long as it helps (`refitted`).
    max_groups : with more groups the regression's matrix, groups × groups, is too large, and 'grlr' takes its place,
        with a warning.

    Memory holds that matrix (4 bytes an entry) and some 40 bytes for every candidate: every sample of a group, for
    every label of the group. The result depends on `random_state`, never on `n_jobs` (all cores by default).
    """
    if start not in ("regression", "grlr"):
        raise ValueError(f"start must be 'regression' or 'grlr', not {start!r}")
    for name, value, kind in (("refits", refits, int | None), ("ridge", ridge, float | None)):
        check_parameter(name, value, kind)
        if value is not None and not 0 <= value < np.inf:
            raise ValueError(f"{name} must be a number from 0 on, not {value!r}")
    check_parameter("by_count", by_count, bool)
    for name, value in (("max_groups", max_groups), ("random_state", random_state)):
        check_parameter(name, value, int)
        if value < 0:
            raise ValueError(f"{name} must be a number from 0 on, not {value!r}")
    n_jobs = n_threads(n_jobs)
    X, Y1, Y2 = checked_groups(X, Y1, Y2)
    X = unit_rows(X)
    Y1.data[:] = 1  # a sample is in a group or it is not, however often
    candidates = Candidates(Y1, Y2, by_count)
    if 0 in X.shape or candidates.samples.size == 0:
        return candidates.assign(np.zeros(candidates.samples.size, np.float32))
    if start == "regression" and Y1.shape[1] > max_groups:
        logger.warning("%d groups are more than max_groups (%d): no regression, but GRLR", Y1.shape[1], max_groups)
        start = "grlr"
    if start == "regression":
        Y = candidates.assign(group_regression(X, Y1, Y2, candidates, ridge, random_state, n_jobs))
    else:
        quality = clustering_quality(X, Y1)
        logger.info("clustering quality %.2f", quality)
        iterations = 20 if quality > CLUSTERED else 0
        Y = impute_labels(X, Y1, Y2, iterations, centre=True, by_count=by_count, n_jobs=n_jobs)
    if refits is None:
        return refitted(X, Y1, Y2, Y, candidates, random_state, n_jobs)
    for _ in range(refits):
        Y = candidates.assign(candidates.pick(out_of_fold_scores(X, Y1, Y, random_state, n_jobs)), candidates.pick(Y))
    return Y


class Candidates:
    """Who may get a label: all samples of a group, for every label of the group.

    samples, labels : of every candidate; those for one label of one group stand together.
    """

    def __init__(self, Y1: sp.csr_matrix, Y2: sp.csr_matrix, by_count: bool):
        members, entries = Y1.tocsc(), Y2.tocsc().tocoo()  # by label, then by group
        self.shape = Y1.shape[0], Y2.shape[1]
        self.sizes = np.diff(members.indptr)[entries.row].astype(np.int64)
        self.begins = np.cumsum(self.sizes) - self.sizes
        self.entry = np.repeat(np.arange(self.sizes.size), self.sizes)
        within = np.arange(self.entry.size) - self.begins[self.entry]
        self.samples = members.indices[members.indptr[entries.row][self.entry] + within]
        self.labels = entries.col[self.entry]
        counts = entries.data.astype(np.int64) if by_count else np.ones(self.sizes.size, np.int64)
        self.wanted = np.minimum(counts, self.sizes)

    def of_labels(self, first: int, last: int) -> slice:
        return slice(*np.searchsorted(self.labels, [first, last]))

    def assign(self, *scores: np.ndarray) -> sp.csr_matrix:
        """Each label of a group to the candidates with the highest scores; ties by the next scores, then the id."""
        order = np.lexsort((*(-score for score in reversed(scores)), self.entry))
        rank = np.arange(order.size) - self.begins[self.entry]
        chosen = order[rank < self.wanted[self.entry]]
        ones = np.ones(chosen.size, np.float32)
        Y = sp.csr_matrix((ones, (self.samples[chosen], self.labels[chosen])), shape=self.shape)
        Y.data[:] = 1
        return Y

    def pick(self, matrix: sp.csr_matrix) -> np.ndarray:
        """The entries of an (n, L) matrix that belong to the candidates, float32."""
        if self.samples.size == 0:
            return np.empty(0, np.float32)
        return np.asarray(matrix[self.samples, self.labels], np.float32).ravel()


def clustering_quality(X: sp.csr_matrix, Y1: sp.csr_matrix) -> float:
    """How alike the samples of a group are: 0 for random groups, 1 if they are equal (§8's second question).

    The mean cosine of two samples of a group, less that of any two samples, in units of its distance from 1. In the
    model of Theorem 1 this is the intraclass correlation σ₁² / (σ₁² + σ₂²).
    """
    n = X.shape[0]
    sums, sizes = Y1.T @ X, np.asarray(Y1.sum(axis=0)).ravel().astype(float)
    several = sizes > 1
    if n < 2 or not several.any():
        return 0.0
    total = n * np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()  # X.sum would add up in float32
    lengths = np.asarray(X.multiply(X).sum(axis=1, dtype=np.float64)).ravel()
    squares = np.asarray(sums.multiply(sums).sum(axis=1, dtype=np.float64)).ravel() - Y1.T @ lengths
    within = float((squares[several] / (sizes * (sizes - 1))[several]).mean())
    between = (float(np.square(total).sum()) - lengths.sum()) / (n * (n - 1))
    return (within - between) / (1 - between) if between < 1 - 1e-4 else 0.0  # all samples equal, up to rounding


def group_regression(
    X: sp.csr_matrix,
    Y1: sp.csr_matrix,
    Y2: sp.csr_matrix,
    candidates: Candidates,
    ridge: float | None,
    random_state: int,
    n_jobs: int,
) -> np.ndarray:
    """The score ⟨e_k, xᵢ⟩ of every candidate, float32, where e_k explains the counts of label k in all groups.

    e_k minimises Σ_j (c_jk − ⟨e, s_j⟩)² / |N_j| + ridge · ‖e‖², with s_j = Σ_{i ∈ N_j} (xᵢ − μ) and c_jk the count of
    the label in group j beyond what |N_j| samples have on average (Eq. 3, NoAS; a sum of more samples is noisier).
    Solved in the dual: e_k = Σ_j α_jk s_j with (S Sᵀ + ridge · diag|N|) α = C, by Cholesky, groups × groups.
    """
    # BLAS rounds differently with another number of threads; ours are over labels, which changes nothing.
    with threadpool_limits(1, "blas"):
        return _regression_scores(X, Y1, Y2, candidates, ridge, random_state, n_jobs)


def _regression_scores(X, Y1, Y2, candidates, ridge, random_state, n_jobs):
    sums, sizes = (Y1.T @ X).tocsr(), np.asarray(Y1.sum(axis=0)).ravel()
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    gram = _centred_gram(sums, sizes, mean)
    frequencies = np.asarray(Y2.sum(axis=0)).ravel() / max(sizes.sum(), 1)
    if ridge is None:
        ridge = choose_ridge(gram, sizes, Y2, frequencies, random_state)
    gram[np.diag_indices_from(gram)] += _penalties(ridge, sizes)
    factor = scipy.linalg.cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    scores = np.empty(candidates.samples.size, np.float32)
    samples_of_sums, counts = sums.T.tocsr(), Y2.tocsc()

    def score(first):
        last = min(first + LABELS_AT_ONCE, Y2.shape[1])
        alpha = scipy.linalg.cho_solve(factor, _excess(counts, sizes, frequencies, first), check_finite=False)
        embeddings = samples_of_sums @ alpha - np.outer(mean, sizes @ alpha).astype(np.float32)  # (d, labels)
        products = X @ embeddings
        mine = candidates.of_labels(first, last)
        scores[mine] = products[candidates.samples[mine], candidates.labels[mine] - first]

    with cancelling(ThreadPoolExecutor(n_jobs)) as pool:
        list(pool.map(score, range(0, Y2.shape[1], LABELS_AT_ONCE)))
    return scores


def choose_ridge(
    gram: np.ndarray, sizes: np.ndarray, Y2: sp.csr_matrix, frequencies: np.ndarray, random_state: int
) -> float:
    """The penalty of RIDGES with the smallest error on groups left out, one by one (closed form), over all labels.

    At most GROUPS_TO_CHOOSE_BY groups, drawn at random, take part: the residual of group j when it is left out of the
    regression is α_j / (A⁻¹)_jj, with A the matrix that α solves.
    """
    m = sizes.size
    drawn = np.sort(np.random.default_rng(random_state).permutation(m)[:GROUPS_TO_CHOOSE_BY])
    part, weights = gram[np.ix_(drawn, drawn)], np.maximum(sizes[drawn], 1)
    counts = Y2[drawn].tocsc()
    errors = []
    for ridge in RIDGES:
        inverse = scipy.linalg.inv(part + np.diag(_penalties(ridge, sizes[drawn])), check_finite=False)
        error = 0.0
        for first in range(0, Y2.shape[1], LABELS_AT_ONCE):
            excess = _excess(counts, sizes[drawn], frequencies, first)
            residuals = (inverse @ excess) / np.diag(inverse)[:, None]
            error += float((residuals**2 / weights[:, None]).sum(dtype=np.float64))
        errors.append(error)
    logger.info("ridge: %s", ", ".join(f"{ridge:g} {error:.6g}" for ridge, error in zip(RIDGES, errors, strict=True)))
    return RIDGES[int(np.argmin(errors))]


def _excess(counts: sp.csc_matrix, sizes: np.ndarray, frequencies: np.ndarray, first: int) -> np.ndarray:
    """Counts of the labels from `first` on, beyond what groups of these sizes have on average, float32 (m, labels)."""
    block = slice(first, first + LABELS_AT_ONCE)
    return (counts[:, block].toarray() - np.outer(sizes, frequencies[block])).astype(np.float32)


def _centred_gram(sums: sp.csr_matrix, sizes: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """⟨s_i, s_j⟩ of the groups' sums without their share of the mean row, float32 (m, m)."""
    transposed, shared, square = sums.T.tocsr(), sums @ mean, np.square(mean).sum()
    gram = np.empty((sizes.size, sizes.size), np.float32)
    for first in range(0, sizes.size, GROUPS_AT_ONCE):
        rows = slice(first, first + GROUPS_AT_ONCE)
        gram[rows] = (sums[rows] @ transposed).toarray()
        gram[rows] -= np.outer(shared[rows], sizes) + np.outer(sizes[rows], shared - square * sizes)
    return gram


def _penalties(ridge: float, sizes: np.ndarray) -> np.ndarray:
    """What the diagonal gets; at least so much that rounding leaves the matrix positive definite."""
    rounding = 4 * np.finfo(np.float32).eps * float(sizes @ sizes)  # of the sums' products, before they are centred
    return np.maximum(max(ridge, 1e-3) * np.maximum(sizes, 1), rounding).astype(np.float32)


def refitted(
    X: sp.csr_matrix,
    Y1: sp.csr_matrix,
    Y2: sp.csr_matrix,
    Y: sp.csr_matrix,
    candidates: Candidates,
    random_state: int,
    n_jobs: int,
) -> sp.csr_matrix:
    """Assign labels again and again by models of the labels that were assigned before (Eq. 3, AS).

    A model does not score samples that it was trained on. As a by-product it says how well the labels that
    it was trained on teach: by its `group_precision`. When that rises no more, or after MOST_REFITS, the best labels
    are returned. Where a model has nothing to say about any sample of a group, a label stays where it is.
    """
    best, best_precision = Y, -1.0
    for number in range(MOST_REFITS + 1):
        scores = out_of_fold_scores(X, Y1, Y, random_state, n_jobs)
        precision = group_precision(scores, Y1, Y2)
        logger.info("after %d refits, groups left out are told with a precision of %.2f %%", number, 100 * precision)
        if precision <= best_precision:
            break
        best, best_precision = Y, precision
        if number < MOST_REFITS:
            Y = candidates.assign(candidates.pick(scores), candidates.pick(Y))
    return best


def out_of_fold_scores(
    X: sp.csr_matrix, Y1: sp.csr_matrix, Y: sp.csr_matrix, random_state: int, n_jobs: int
) -> sp.csr_matrix:
    """Scores of the best labels of every sample, CSR float32 (n, L), by XR-Linear on Y without the sample's group.

    The groups are dealt into FOLDS parts at random. A sample in several groups is held out with the first of them.
    """
    part_of_group = np.random.default_rng(random_state).integers(0, FOLDS, Y1.shape[1])
    part = np.zeros(X.shape[0], np.int64)
    filled = np.flatnonzero(np.diff(Y1.indptr))
    part[filled] = part_of_group[Y1.indices[Y1.indptr[filled]]]
    held_out = (part == number for number in range(FOLDS))
    return sum(scores_of_unseen(X, mask, Y[~mask], random_state, n_jobs) for mask in held_out)
