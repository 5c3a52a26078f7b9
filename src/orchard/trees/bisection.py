"""Nested partitions by recursive bisection, with all threads: spherical 2-means in every node that is to be split."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from orchard.threads import n_threads
from orchard.trees import _kernels
from orchard.trees import _step_kernels as _steps

# Rules of the work's division look at the data alone, never at the number of threads: the result must not depend on it.
MANY_ENTRIES = 1 << 20  # of a matrix whose large nodes are split one by one, by all threads together
PIECES = 4  # of a large node, with sums of their own
SMALL_NODE = 4  # entries per feature of the matrix: below, the features that a node has are given ids of its own
LEVELS_PER_COPY, FEW_FEATURES = 3, 1 << 14  # what a copy costs; centres of few features are in the cache anyway


class Partitions(NamedTuple):
    """Nested partitions of rows: node i of a level holds leaf_order[boundaries[level][i] : boundaries[level][i + 1]].

    leaf_order : int64 (n,).  boundaries : one ascending array per level, [0, n] for the root first, the clusters last.
    A node that is a cluster already is repeated on the levels below.
    """

    leaf_order: np.ndarray
    boundaries: list[np.ndarray]


class Splitting(Protocol):
    """Which nodes are split, and how: what `bisected` asks level by level, beginning with the root."""

    def nodes_to_split(self, sizes: np.ndarray) -> np.ndarray:
        """bool (n_nodes,), for the nodes of this level, whose sizes are given."""

    def many_levels_left(self, sizes: np.ndarray) -> bool:
        """Whether nodes are to be split three times or more."""

    def targets(self, order: np.ndarray, level: np.ndarray) -> tuple:
        """How the nodes are split, see `_kernels.target_of`; order : the rows, node by node, level : the boundaries."""

    def large_nodes(self, entries: np.ndarray) -> np.ndarray:
        """bool (n_nodes,), those that all threads split together, one after the other; entries : of every node.

        Never by the number of threads: what is summed in pieces is rounded otherwise.
        """

    def descend(self, splits: np.ndarray) -> None:
        """The next level is asked about from now on; splits : the nodes of this one that were split."""


def bisected(
    rows: sp.csr_matrix,
    splitting: Splitting,
    seed: int | np.random.Generator,
    tolerance: float = 1e-4,
    max_iterations: int = 100,
    n_jobs: int | None = None,
) -> Partitions:
    """Split rows in two, again and again, as `splitting` says.

    A split starts from two random distinct rows and stops when the objective gains no more than `tolerance` or no row
    changes sides. Large nodes iterate over random samples of their rows first; these iterations count too.

    rows : CSR (n, d) with unit rows; an empty row is equally far from everything and goes where there is room.
    The result depends on `seed`, never on `n_jobs` (all cores by default); a thread holds 4·d floats, all
    together a copy of the rows.
    """
    n, n_features = rows.shape
    if max_iterations < 1:
        raise ValueError(f"max_iterations must be at least 1, not {max_iterations}")
    rows = sp.csr_matrix(rows, dtype=np.float32)
    if not rows.has_sorted_indices:
        rows = rows.sorted_indices()  # sums are rounded in the order of the features: equal rows must have equal sums
    matrix = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False), rows.data
    rng = np.random.default_rng(seed)
    n_jobs = n_threads(n_jobs)

    rows_of_matrix = np.arange(n)  # it will be copied into another order
    widths, first_of_width = np.array([n_features]), np.array([0])  # feature ids of the rows from a position on
    last_copy = 0
    spare = None  # memory for the next copy: new memory costs as much as the copy itself
    order = np.arange(n)
    boundaries = [np.array([0, n])]
    with ThreadPoolExecutor(n_jobs) as pool:
        while (splits := splitting.nodes_to_split(np.diff(boundaries[-1]))).any():
            level = boundaries[-1]
            n_features = int(widths.max())
            small = matrix[0][-1] < SMALL_NODE * splits.size * n_features  # nodes that have not all of the features
            if (
                small
                and n_features > FEW_FEATURES
                and len(boundaries) >= last_copy + LEVELS_PER_COPY
                and splitting.many_levels_left(np.diff(level))
            ):
                last_copy = len(boundaries)
                old = matrix
                *matrix, widths = _in_node_order(pool, (*matrix, n_features), spare, order, level, n_jobs)
                first_of_width = level[:-1]
                spare = None if old[2] is rows.data else old[1:3]  # what the caller gave stays as it is
                rows_of_matrix, order = rows_of_matrix[order], np.arange(n)
            targets = splitting.targets(rows_of_matrix[order], level)
            seeds = _two_distinct(rng, np.diff(level))
            rule = float(tolerance), max_iterations
            cuts = level[1:].copy()
            large = splits & splitting.large_nodes(np.add.reduceat(np.diff(matrix[0])[order], level[:-1]))
            # The threads turn to the other nodes while a large one keeps only one of them busy.
            starting = _start_large(pool, (*matrix, n_features), order, level, large, targets, seeds, rule)
            width_of_node = widths[np.searchsorted(first_of_width, level[:-1], side="right") - 1]
            arguments = *matrix, width_of_node, order, level, splits & ~large, targets, seeds, *rule, cuts
            others = _submit_pieces(pool, _kernels.split_nodes, arguments, splits.size, 16 * n_jobs)
            for node, start in starting.items():
                members = order[level[node] : level[node + 1]]
                side = _alternate_together(pool, matrix, members, *start.result(), rule, n_jobs)
                cuts[node] = level[node] + _kernels.part(members, side)
            for job in others:
                job.result()
            begins = np.column_stack([level[:-1], cuts])
            is_node = np.column_stack([np.ones_like(splits), splits])
            boundaries.append(np.append(begins[is_node], n))
            splitting.descend(splits)
    return Partitions(rows_of_matrix[order], boundaries)


def _in_pieces(pool, kernel, arguments, n, n_pieces):
    """Call kernel(*arguments, first, last) in the threads of the pool, for `n_pieces` pieces of 0 … n − 1."""
    for job in _submit_pieces(pool, kernel, arguments, n, n_pieces):
        job.result()


def _submit_pieces(pool, kernel, arguments, n, n_pieces):
    """`_in_pieces` without waiting for them."""
    pieces = np.unique(np.linspace(0, n, n_pieces + 1).astype(np.int64))
    return [pool.submit(kernel, *arguments, *piece) for piece in pairwise(pieces)]


def _in_node_order(pool, matrix, spare, order, level, n_jobs):
    """Copy the rows into the order of the nodes, each node with feature ids of its own: less memory to wait for."""
    new_indptr = np.append(0, np.cumsum(np.diff(matrix[0])[order]))
    new_indices, new_data = spare or (np.empty(new_indptr[-1], np.int32), np.empty(new_indptr[-1], np.float32))
    widths = np.empty(level.size - 1, np.int64)
    arguments = *matrix, order, level, new_indptr, new_indices, new_data, widths
    _in_pieces(pool, _kernels.gather_nodes, arguments, widths.size, 4 * n_jobs)
    return new_indptr, new_indices, new_data, widths


def _start_large(pool, matrix, order, level, large, targets, seeds, rule):
    """{node: future of its target and of the state to start from}, for nodes that all threads will split together."""
    *arrays, n_features = matrix

    def start(node):
        rows, target = order[level[node] : level[node + 1]], _kernels.target_of(node, level, targets)
        sums = np.zeros((n_features, 2), np.float32)
        return (*_kernels.start_from_samples(*arrays, rows, seeds[node], target, *rule, sums), sums), target

    return {node: pool.submit(start, node) for node in np.flatnonzero(large)}


def _alternate_together(pool, arrays, rows, state, target, rule, n_jobs):
    """`alternate_by_difference` of a large node with all threads; the sides of its rows.

    The number of pieces that are summed apart is fixed, so the result does not depend on the number of threads.
    """
    side, new_side, used, sums = state
    tolerance, max_iterations = rule
    weights, similarity = target[_kernels.WEIGHTS], target[_kernels.SIMILARITY]
    n, n_features = rows.size, sums.shape[0]
    # What a piece adds to the sums of the sample; moving a row out of them may make it negative.
    sums_of_piece = np.zeros((1 + PIECES, n_features, 2), np.float32)
    sums_of_piece[0] = sums
    pieces = list(pairwise(np.linspace(0, n, PIECES + 1).astype(np.int64)))
    scores, difference, squares = np.empty(n, np.float32), np.empty(n_features, np.float32), np.empty(2)

    def move():
        arguments = *arrays, rows, weights, side, new_side
        jobs = [
            pool.submit(_steps.move_rows, *arguments, sums_of_piece[i], np.zeros(2), *piece)
            for i, piece in enumerate(pieces, start=1)
        ]
        for job in jobs:
            job.result()
        _in_pieces(pool, _steps.add_sums, (sums_of_piece, sums), n_features, n_jobs)
        _steps.squared_norms(sums, squares)  # a piece does not know the sums that its rows change

    objective = -np.inf
    for iteration in range(used, max_iterations):
        move()
        _steps.clear_empty_sides(arrays[0], rows, side, sums, squares)
        _steps.set_difference(sums, squares, difference)
        _in_pieces(pool, _steps.score_rows, (*arrays, rows, difference, scores), n, 4 * n_jobs)
        n_moved, old_plus, new_plus = _steps.assign_by_scores(scores, side, target, new_side)
        previous = objective
        if iteration == used:
            old_minus, minus_scale = sums[:, _steps.MINUS].copy(), _steps.scale(squares[_steps.MINUS])
            move()
            objective = (similarity * _steps.total_along(sums, old_minus) * minus_scale + new_plus) / n
        else:
            objective = (similarity * np.sqrt(squares).sum() + new_plus - old_plus) / n
        if n_moved == 0 or objective - previous <= tolerance:
            break
    return new_side


def _two_distinct(rng: np.random.Generator, sizes: np.ndarray) -> np.ndarray:
    """For every size, two different positions below it, drawn uniformly; (n, 2).

    All draws of a level come before its threads start, in the order of the nodes.
    """
    one = rng.integers(sizes)
    other = rng.integers(np.maximum(sizes - 1, 1))
    return np.column_stack([one, other + (other >= one)])
