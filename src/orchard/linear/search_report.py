"""How far queries go for their labels: what is scored on the way, and which true labels could be found at all."""

import numpy as np
import scipy.sparse as sp

from orchard.linear._best_label_kernels import LABELS, NODES
from orchard.linear._report_kernels import reached_of_rows
from orchard.linear.bundles import outputs_of_nodes
from orchard.linear.model import TreeModel
from orchard.linear.search import SearchSettings, beams, match, stopping_early

K = 5  # labels that are asked for, where it matters


def search_report(
    models: list[TreeModel], X: sp.csr_matrix, Y: sp.csr_matrix, settings: SearchSettings, n_jobs: int | None = None
) -> dict[str, float]:
    """Means over the rows of X, of all trees together, and what the trees are like.

    'scored nodes', 'scored labels' : classifiers of inner nodes and of labels that a query asks; 'scored' is their sum.
    A strategy that stops early asks as many as it needs for K labels; 'scored@1' : for one.
    'matcher recall' : per cent of the true labels, Y, that stand in a leaf of some beam: more cannot be found.
    Best-first has all leaves in reach; what a budget cuts off is not known.
    'copies per label', of a tree; 'largest cluster', labels of the largest leaf.
    """
    trees = [model.tree for model in models]
    scored = [n_scored(model, X, settings, n_jobs) for model in models]
    nodes, labels = (float(sum(counts.mean() for counts in parts)) for parts in zip(*scored, strict=True))
    at_1 = (
        {}
        if settings.strategy == "beam"
        else {"scored@1": float(sum(n_scored(models[0], X, settings, n_jobs, 1)).mean())}
    )
    has_limit = settings.strategy == "best-first" and settings.budget is not None
    return {
        "scored": nodes + labels,
        "scored nodes": nodes,
        "scored labels": labels,
        **at_1,
        **({} if has_limit else {"matcher recall": 100 * _n_reached(models, X, Y, settings, n_jobs) / max(Y.nnz, 1)}),
        "copies per label": float(np.mean([tree.n_copies.mean() for tree in trees])),
        "largest cluster": float(max(np.diff(tree.label_indptr).max() for tree in trees)),
    }


def _n_reached(models: list[TreeModel], X, Y, settings: SearchSettings, n_jobs: int | None) -> int:
    """How many of the true labels a query could find."""
    if settings.strategy == "best-first":
        return int((models[0].tree.n_copies[Y.indices] > 0).sum())
    M = sp.hstack([match(model, X, settings, n_jobs) for model in models], format="csr")
    C = sp.hstack([model.tree.leaf_labels.T for model in models], format="csr")
    pairs = ((matrix.indptr, matrix.indices) for matrix in (Y, M, C))
    return reached_of_rows(*pairs, C.shape[1], 0, Y.shape[0])[0]


def n_scored(
    model: TreeModel, X: sp.csr_matrix, settings: SearchSettings, n_jobs: int | None = None, k: int = K
) -> tuple[np.ndarray, np.ndarray]:
    """How many classifiers of inner nodes and of labels a search for k labels asks for every row, int64 (n,) each.

    A leaf with one label asks none: the edge that leads to it says it all. The beam asks the same whatever k is (one
    query alone leaves out leaves that cannot matter, which is not counted), and what is computed with a bundle, but not
    looked at, does not count.
    """
    if settings.strategy != "beam":
        asked = stopping_early([model], X, k, settings, n_jobs)[3]
        return asked[:, NODES], asked[:, LABELS]
    tree, n_outputs = model.tree, outputs_of_nodes(model.tree)
    asked = np.zeros((2, X.shape[0]), np.int64)
    for level in range(tree.max_depth + 1):
        reached, _, sizes = beams(model, X, settings, level, n_jobs)
        kept = np.arange(settings.beam) < sizes[:, None]
        reached = np.where(kept, reached, 0)
        kept &= ~tree.is_leaf[reached] if level < tree.max_depth else kept  # a leaf is asked once, in the end
        asked[int(level == tree.max_depth)] += np.where(kept, n_outputs[reached], 0).sum(axis=1)
    return asked[0], asked[1]
