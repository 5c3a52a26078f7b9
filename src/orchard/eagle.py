"""EAGLE: labels that are known for groups of samples are given to the samples (eagle §4).

A label's embedding should be close to at least one sample of every group that carries the label (Eq. 2). Algorithm 1
(GRLR) looks for it by projected steps, Algorithm 2 gives the label to the closest sample of each of these groups. What
comes out is an ordinary label matrix, for any estimator.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from orchard import _eagle_kernels as kernels
from orchard.linear.inputs import check_parameter, checked_incidence, checked_X, refuse_not_finite
from orchard.threads import cancelling, n_threads
from orchard.trees.embeddings import pifa, row_norms, unit_rows

PIECES_PER_THREAD = 8


def impute_labels(
    X,
    Y1,
    Y2,
    iterations: int = 20,
    step: float = 0.1,
    centre: bool = False,
    by_count: bool = False,
    n_jobs: int | None = None,
) -> sp.csr_matrix:
    """Give every label of a group to the sample of the group that is closest to it (EAGLE, Algorithm 2).

    X : CSR (n, d); rows are compared by their cosine, so their length does not matter.
    Y1 : CSR (n, m), which sample is in which groups: none, one or several.
    Y2 : CSR (m, L), which labels a group has. An entry r says r times ('list merge', B.2): the group then counts
        r times in the sums of Algorithm 1.
    iterations, step : T and λ of Algorithm 1. EAGLE-0 is iterations=0.
    Returns Y, CSR float32 (n, L), binary; a sample to which nothing is given has an empty row.

    Beyond the paper:
    centre : subtract the mean row of X from every sample, so that what all samples share draws no embedding to it.
    by_count : a label that a group has r times goes to its r closest samples instead of the closest one.

    Ties inside Algorithm 1 choose every closest sample, as the paper has it; a label goes to the lowest sample id of
    them. Memory holds a copy of X with unit rows; a thread two vectors of d numbers, three of the number of groups,
    and a few of the number of samples of the most frequent label's groups.
    The result does not depend on `n_jobs` (all cores by default).
    """
    check_parameter("by_count", by_count, bool)
    n_jobs = n_threads(n_jobs)
    problem = _Problem.checked(X, Y1, Y2, iterations, step, centre)
    wanted = problem.counts.astype(np.int64) if by_count else np.ones(problem.counts.size, np.int64)
    assigned, sizes = problem.solve(wanted, n_jobs)
    labels = np.repeat(np.arange(sizes.size, dtype=np.int32), sizes)
    Y = sp.csr_matrix((np.ones(labels.size, np.float32), (assigned, labels)), shape=(problem.X.shape[0], sizes.size))
    Y.data[:] = 1  # a label that several groups of a sample have given it is there once
    return Y


def label_embeddings(
    X, Y1, Y2, iterations: int = 20, step: float = 0.1, unit_samples: bool = True, n_jobs: int | None = None
) -> sp.csr_matrix:
    """The label embeddings that `impute_labels` compares samples with: e_T of Algorithm 1, CSR float32 (L, d).

    A unit row for every label; empty for one without samples, or whose samples cancel out. With groups of one sample
    they are Parabel's (Eq. 1).
    unit_samples : whether samples are compared by their cosine, as `impute_labels` does it; else the rows of X are
        taken as they are. Rows that sum up to zero, such as centred pictures, no longer do once each has unit length,
        and what remains draws the embeddings of all labels of large groups to it.
    """
    check_parameter("unit_samples", unit_samples, bool)
    problem = _Problem.checked(X, Y1, Y2, iterations, step, centre=False, unit_samples=unit_samples)
    coefficients = problem.coefficients(n_threads(n_jobs))
    if not unit_samples:  # `pifa` lets every sample speak with unit length; the length that it has comes with these
        coefficients = (sp.diags(row_norms(problem.X)) @ coefficients).tocsr()
    return pifa(problem.X, coefficients, "parabel", n_jobs)


def checked_groups(X, Y1, Y2) -> tuple[sp.csr_matrix, sp.csr_matrix, sp.csr_matrix]:
    """X, Y¹ and Y² as canonical CSR float32 that fit together, or an error that says what does not."""
    X, Y1, Y2 = checked_X(X), checked_incidence(Y1, "Y1"), checked_incidence(Y2, "Y2")
    refuse_not_finite(X, "X")
    if X.shape[0] != Y1.shape[0]:
        raise ValueError(f"X has {X.shape[0]} samples (rows), Y1 has {Y1.shape[0]}")
    if Y1.shape[1] != Y2.shape[0]:
        raise ValueError(f"Y1 has {Y1.shape[1]} groups (columns), Y2 has {Y2.shape[0]} (rows)")
    if (Y2.data % 1).any():
        raise ValueError("Y2 has entries that are no whole numbers; an entry says how often a group has a label")
    return X, Y1, Y2


@dataclass(frozen=True)
class _Problem:
    """X, its rows no longer than 1, the samples of every group, the groups of every label: what the kernels read.

    Samples are numbered by their groups: a group's rows lie side by side, and memory is read in longer pieces.
    """

    X: sp.csr_matrix
    order: np.ndarray  # row i of this X is row order[i] of the one that was given
    samples_of_groups: tuple[np.ndarray, np.ndarray]  # indptr, samples
    groups_of_labels: tuple[np.ndarray, np.ndarray, np.ndarray]  # indptr, groups, counts
    mean: tuple[np.ndarray, float]  # ⟨μ, xᵢ⟩ (n,), ‖μ‖²
    rule: tuple[int, float, float]  # T, λ, a bound of the distance of two rows

    @classmethod
    def checked(cls, X, Y1, Y2, iterations, step, centre, unit_samples=True) -> "_Problem":
        """Refuse what makes no sense before any work starts."""
        check_parameter("iterations", iterations, int)
        check_parameter("step", step, float)
        check_parameter("centre", centre, bool)
        if iterations < 0:
            raise ValueError(f"iterations must not be negative, not {iterations}")
        if not 0 < step < np.inf:
            raise ValueError(f"step must be a positive number, not {step!r}")
        X, Y1, Y2 = checked_groups(X, Y1, Y2)
        samples, groups = Y1.tocsc(), Y2.tocsc()
        order = _by_group(samples)
        place = np.empty(order.size, np.int32)
        place[order] = np.arange(order.size)
        X = unit_rows(X[order], copy=False) if unit_samples else _at_most_unit(X[order])
        return cls(
            X,
            order,
            (samples.indptr.astype(np.int64), place[samples.indices]),
            (groups.indptr.astype(np.int64), groups.indices.astype(np.int32), groups.data.astype(np.float64)),
            _mean_products(X, centre),
            (int(iterations), float(step), _diameter(X)),
        )

    @property
    def counts(self) -> np.ndarray:
        return self.groups_of_labels[2]

    def solve(self, wanted: np.ndarray, n_jobs: int) -> tuple[np.ndarray, np.ndarray]:
        """The samples that get each label, label after label, and how many they are (L,)."""
        indptr = self.groups_of_labels[0]
        room = np.append(0, np.cumsum(np.minimum(wanted, self._group_sizes())))[indptr]
        assigned, sizes = np.empty(room[-1], np.int32), np.zeros(indptr.size - 1, np.int64)
        self._run(wanted, n_jobs, assigned, room, sizes, np.empty(0, np.int32), np.empty(0), np.zeros_like(room))
        return self.order[assigned], sizes

    def coefficients(self, n_jobs: int) -> sp.csr_matrix:
        """e_T = Σ coefficient · xᵢ, one column per label, CSR float32 (n, L)."""
        indptr = self.groups_of_labels[0]
        room = np.append(0, np.cumsum(self._group_sizes()))[indptr]
        nothing, sizes = np.zeros(self.counts.size, np.int64), np.zeros(indptr.size - 1, np.int64)
        members, weights = np.empty(room[-1], np.int32), np.empty(room[-1])
        self._run(nothing, n_jobs, np.empty(0, np.int32), np.zeros_like(room), sizes, members, weights, room)
        matrix = sp.csc_matrix((weights.astype(np.float32), members, room), shape=(self.X.shape[0], sizes.size)).tocsr()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix

    def _run(self, wanted, n_jobs, assigned, assigned_room, sizes, members, weights, member_room) -> None:
        """The kernel over pieces of the labels of about the same work, each with a place of its own to write to."""
        indptr = self.groups_of_labels[0]
        n_members = np.diff(np.append(0, np.cumsum(self._group_sizes()))[indptr])
        work = np.append(0, np.cumsum(n_members))
        limits = np.linspace(0, work[-1], PIECES_PER_THREAD * n_jobs + 1)[1:-1] if n_jobs > 1 else []
        pieces = np.unique([0, *np.searchsorted(work, limits), n_members.size])
        matrix = _arrays(self.X)

        def impute(piece):
            first, last = piece
            kernels.impute(
                matrix,
                self.mean,
                self.samples_of_groups,
                self.groups_of_labels,
                wanted,
                self.rule,
                int(n_members[first:last].max(initial=0)),
                self.X.shape[1],
                first,
                last,
                assigned[assigned_room[first] : assigned_room[last]],
                sizes,
                members[member_room[first] : member_room[last]],
                weights[member_room[first] : member_room[last]],
            )

        with cancelling(ThreadPoolExecutor(n_jobs)) as pool:
            list(pool.map(impute, pairwise(pieces)))

    def _group_sizes(self) -> np.ndarray:
        """The number of samples of the group of every entry of Y2."""
        return np.diff(self.samples_of_groups[0])[self.groups_of_labels[1]]


def _by_group(samples_of_groups: sp.csc_matrix) -> np.ndarray:
    """The samples of group 0, then those of group 1 that have not been there yet …, last those in no group."""
    n = samples_of_groups.shape[0]
    first = np.full(n, samples_of_groups.nnz)
    listed = samples_of_groups.indices
    first[listed[::-1]] = np.arange(listed.size)[::-1]
    return np.argsort(first, kind="stable").astype(np.int32)


def _arrays(X: sp.csr_matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the kernels take for a matrix: int64, uint32, float32."""
    return X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False).view(np.uint32), X.data


def _mean_products(X: sp.csr_matrix, centre: bool) -> tuple[np.ndarray, float]:
    """⟨μ, xᵢ⟩ of every row and ‖μ‖² for the mean row μ; zeros where nothing is to be subtracted."""
    products = np.zeros(X.shape[0])
    if not centre or X.shape[0] == 0:
        return products, 0.0
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    kernels.row_dots(_arrays(X), mean, products)
    return products, float(np.square(mean).sum())  # BLAS would round by its number of threads


def _at_most_unit(X: sp.csr_matrix) -> sp.csr_matrix:
    """X in units of its longest row: Algorithm 1 does not see the unit, the kernels' tolerances are made for it."""
    X = sp.csr_matrix(X)
    filled = np.diff(X.indptr) > 0
    X.data /= row_norms(X)[filled].max(initial=0) if X.data.any() else 1
    return X


def _diameter(X: sp.csr_matrix) -> float:
    """No two rows of length 1 or less are farther apart than this; float32 rounds, hence the last digit."""
    return (np.sqrt(2) if X.data.min(initial=0) >= 0 else 2.0) + 1e-5
