"""The engine's hot kernels, as `bench/limits.py` measures them: the place to plug one in.

A kernel is one entry of HOT_KERNELS: a name and a function that takes nothing, prepares the kernel's arguments and
returns a `HotKernel`:

    run           calls the kernel once, on one thread; what must not be measured has been done before
    bytes_moved   what one call has to read and write at least, in bytes: every array once for each time that the
                  algorithm passes over it
    multiply_adds how many it does in one call
    working_set   bytes that it comes back to: where they fit a cache, the copy, which does not, is no limit

They all work on EurLex-4K, with the tree and the settings of the 16-ary configuration.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from unittest import mock

import numpy as np
import scipy.sparse as sp

from bench import data
from orchard.data.store import load_csr
from orchard.linear import _solver_kernels, _training_kernels
from orchard.linear.search import SearchSettings, beams, topk
from orchard.linear.training import SolverSettings, TreeTrainer
from orchard.trees import _step_kernels as tree_kernels
from orchard.trees.builders import merged_label_tree
from orchard.trees.embeddings import pifa

_DATASET = "eurlex-4k"
_FLOAT, _INDEX = 4, 4  # bytes


@dataclass(frozen=True)
class HotKernel:
    run: Callable[[], object]
    bytes_moved: float
    multiply_adds: float
    working_set: float


@cache
def _training_data():
    folder = data.export(_DATASET, set())
    return load_csr(folder / "X.trn.npz"), load_csr(folder / "Y.trn.npz")


@cache
def _embeddings():
    return pifa(*_training_data(), weighting="xr-linear")


def pifa_sums() -> HotKernel:
    """Every sample is added to each of its labels: an entry of X is read, a sum read and written."""
    X, Y = _training_data()
    n_added = float(Y.getnnz(axis=1) @ X.getnnz(axis=1))
    return HotKernel(
        lambda: pifa(X, Y, weighting="xr-linear", n_jobs=1),
        bytes_moved=n_added * (_INDEX + 3 * _FLOAT) + _embeddings().nnz * (_INDEX + _FLOAT),
        multiply_adds=n_added,
        working_set=2 * _FLOAT * X.shape[1],
    )


def two_means_dots() -> HotKernel:
    """The scores of all labels, v·(μ⁺ − μ⁻): an entry of a row is read, and the difference for its feature."""
    rows = _embeddings()
    n, n_features = rows.shape
    difference = np.random.default_rng(0).random(n_features, np.float32)
    order, scores = np.arange(n), np.empty(n, np.float32)
    arrays = rows.indptr.astype(np.int64), rows.indices, rows.data
    return HotKernel(
        lambda: tree_kernels.score_rows(*arrays, order, difference, scores, 0, n),
        bytes_moved=rows.nnz * (_INDEX + 2 * _FLOAT),
        multiply_adds=rows.nnz,
        working_set=difference.nbytes,
    )


def dual_descent() -> HotKernel:
    """Training the most expensive leaf, preparation and pruning included.

    A visit of a sample reads its row and, for each entry, a row of lanes: w·x. The update w + step·x, as much again and
    a write, is skipped where no lane moves; the kernel does not say how often, so none is counted, and the rates are
    lower bounds, at most a factor of two (multiply-adds) or three (bytes) too low. Idle lanes count: they compute.
    """
    X, Y = _training_data()
    tree = merged_label_tree(_embeddings())
    trainer = TreeTrainer(X, Y, tree, SolverSettings(), seed=0)
    lengths = X.getnnz(axis=1)
    leaf = max(np.flatnonzero(tree.is_leaf), key=lambda node: lengths[trainer.of_nodes[node]].sum())
    samples = trainer.of_nodes[leaf]
    run = partial(trainer._train_piece, np.array([leaf]), samples, 0, len(tree.labels_of(leaf)), whole=True)

    # The kernel counts its visits, and the trainer does not hand them on.
    results, kernel = [], _solver_kernels.solve_wide
    with mock.patch.object(_solver_kernels, "solve_wide", lambda *a: results.append(kernel(*a)) or results[-1]):
        run()
    *_, n_visits, _ = results[0]
    _, occurrences, bitmap, *_ = trainer._thread_scratch()
    rows, features, *_ = _training_kernels.gather(trainer.X, samples, occurrences, bitmap)
    lanes = _solver_kernels.WIDE
    n_entries = n_visits * (rows[1].size / samples.size)  # features that one sample alone has are not among them
    return HotKernel(
        run,
        bytes_moved=n_entries * (_INDEX + _FLOAT + lanes * _FLOAT),
        multiply_adds=n_entries * lanes,
        working_set=features.size * lanes * _FLOAT,
    )


def batch_search() -> HotKernel:
    """The best 5 labels of all test rows, from the queries to the ranking.

    For every node that a query reaches, each of its features is looked up, and the weights of those that the node has
    are read: 4 bytes and at most 2 for the output. Only products of a weight that is there count as multiply-adds.
    """
    X, Y = _training_data()
    X_test = load_csr(data.UNIT_ROWS / _DATASET / "X.tst.npz")
    tree = merged_label_tree(_embeddings())
    trainer = TreeTrainer(X, Y, tree, SolverSettings(), seed=0)
    trainer.train_bundles(np.arange(len(trainer.bundles)), n_jobs=1)
    model = trainer.model()
    settings = SearchSettings(combiner="l3-hinge")

    reached = sp.csr_matrix((X_test.shape[0], tree.n_nodes), dtype=np.float64)
    for level in range(tree.max_depth + 1):
        nodes, _, sizes = beams(model, X_test, settings, n_levels=level)
        kept = nodes[np.arange(settings.beam) < sizes[:, None]]
        indptr = np.append(0, np.cumsum(sizes))
        reached += sp.csr_matrix((np.ones(kept.size), kept, indptr), shape=reached.shape)
    n_weights = sp.vstack([sp.csr_matrix(model.weights_of(node)[0].getnnz(axis=1)) for node in range(tree.n_nodes)])
    has_feature = X_test.astype(bool).astype(np.float64)
    n_products = float((reached @ n_weights).multiply(has_feature).sum())
    n_looked_up = float(reached.sum(axis=1).A1 @ has_feature.sum(axis=1).A1)
    return HotKernel(
        lambda: topk([model], X_test, 5, settings, n_jobs=1),
        bytes_moved=n_products * (_FLOAT + 2) + n_looked_up * 8,
        multiply_adds=n_products,
        working_set=model.nbytes,
    )


HOT_KERNELS: dict[str, Callable[[], HotKernel]] = {
    "PIFA": pifa_sums,
    "2-means, scores": two_means_dots,
    "dual coordinate descent, a leaf": dual_descent,
    "batch search": batch_search,
}
