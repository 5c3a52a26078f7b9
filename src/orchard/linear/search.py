"""Find the best labels of a query: a level-wise beam over one trained tree or several, or searches that stop early."""

import threading
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from orchard.linear import (
    _adaptive_kernels,
    _best_first_kernels,
    _ranking_kernels,
    _scoring_kernels,
    _search_kernels,
)
from orchard.linear._scoring_kernels import LOG_SIGMOID, UNTIED
from orchard.linear.inputs import check_parameter, csr_arrays
from orchard.linear.model import TreeModel
from orchard.threads import in_chunks
from orchard.trees.label_tree import LabelTree

# Every combiner turns margins into a score Π g(z) down the path; 'l2-hinge' is Parabel's, 'l3-hinge' XR-Linear's.
# From z = 1 on all is the same to a hinge; an untied one tells them apart by a thousandth.
HINGES = {f"l{power}-hinge": power for power in range(1, 6)}
COMBINERS = HINGES | {"sigmoid": LOG_SIGMOID} | {f"{name}-untied": code + UNTIED for name, code in HINGES.items()}
MERGES = {"mean": _ranking_kernels.MEAN, "max": _ranking_kernels.MAX, "best-path": _ranking_kernels.BEST_PATH}
# Queries go down the tree together: so many that a node's weights, once in the cache, serve a few dozen of them.
QUERIES_OF_A_LEAF = 128
QUERIES_IN_ROUNDS = 1024  # so few that what each of them has open stays in the cache
SCORES_AT_ONCE = 1 << 23  # of a thread: 32 MB
MOST_TREES_AT_ONCE = 10  # numba compiles a kernel for every number of trees: 13 seconds for ten, 45 for thirty
STRATEGIES = "beam", "best-first", "adaptive"
NO_LIMIT = 1 << 62


@dataclass(frozen=True)
class SearchSettings:
    """How queries go down the trees.

    beam : nodes kept on every level.  combiner : one of COMBINERS, what a margin z adds to the score of a path.
    discount : log score of a path = discount · that of its parent + log g(z); below 1 upper levels say less (Bonsai).
    merge : copies of a label in several leaves of a tree count with their 'mean' (disentangle) or their 'max'; or with
        the 'best-path' to any of them, times the geometric mean of what the label's own classifiers say there.
    normalise : scale queries to unit length, as the training samples were.
    strategy : 'beam', level by level; 'best-first', the best labels of the whole tree, whatever the beam; 'adaptive',
        the beam's labels without the leaves and levels that cannot change the best k. The last two stop early: they
        search one tree, without a discount, and of a label's copies take the maximum; ties go to the lower label.
    budget : nodes that a best-first search opens at most, unless it has not found k labels by then; None for no limit.
        Nodes that are stored together count as one.
    """

    beam: int = 10
    combiner: str = "l2-hinge"
    discount: float = 1.0
    merge: str = "mean"
    normalise: bool = True
    strategy: str = "beam"
    budget: int | None = None

    def validate(self) -> "SearchSettings":
        for field in fields(self):
            check_parameter(field.name, getattr(self, field.name), field.type)
        if self.beam < 1:
            raise ValueError(f"beam must be at least 1, not {self.beam}")
        if self.combiner not in COMBINERS:
            raise ValueError(f"combiner must be one of {', '.join(COMBINERS)}, not {self.combiner!r}")
        if self.merge not in MERGES:
            raise ValueError(f"merge must be one of {', '.join(MERGES)}, not {self.merge!r}")
        if not 0 < self.discount <= 1:
            raise ValueError(f"discount must be above 0 and at most 1, not {self.discount}")
        if self.strategy not in STRATEGIES:
            raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}, not {self.strategy!r}")
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"budget must be at least 1, or None for no limit, not {self.budget}")
        if self.budget is not None and self.strategy != "best-first":
            raise ValueError(f"budget belongs to strategy 'best-first', not to {self.strategy!r}")
        if self.strategy != "beam" and self.discount < 1:
            raise ValueError(f"strategy {self.strategy!r} needs discount 1: below it a path's score can rise")
        return self

    def check_trees(self, trees: list[LabelTree]) -> None:
        """Refuse trees for which the strategy has no bound."""
        if self.strategy == "beam":
            return
        if len(trees) > 1:
            raise ValueError(f"strategy {self.strategy!r} searches one tree, not {len(trees)}: use n_trees=1 or 'beam'")
        if self.merge != "max" and trees[0].label_indices.size > trees[0].n_labels:
            raise ValueError(
                f"strategy {self.strategy!r} merges copies of a label by their 'max' alone, not by merge="
                f"{self.merge!r}: a copy that is found later would change the score"
            )


@lru_cache(typed=True)
def search_settings(*values) -> SearchSettings:
    """SearchSettings that are known to make sense; checking them anew would take longer than a small query."""
    return SearchSettings(*values).validate()


def topk(
    models: list[TreeModel], X: sp.csr_matrix, k: int, settings: SearchSettings, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The k best labels of every row of X, by the mean score over the trees.

    X : CSR float32 (n, n_features), canonical.
    Returns ids int32, scores float32 and depths float32, (n, k) each, best first; where fewer labels were reached,
    id −1, score −∞ and depth NaN. A label's depth is that of its leaf, the mean over copies and trees that reached it;
    if the strategy stops early, that of its best copy.
    """
    if settings.strategy != "beam":
        return stopping_early(models, X, k, settings, n_jobs)[:3]
    n = X.shape[0]
    ids, scores, depths = np.empty((n, k), np.int32), np.empty((n, k), np.float32), np.empty((n, k), np.float32)
    arrays = csr_arrays(X)
    beam = min(settings.beam, max(model.tree.n_leaves for model in models))  # there are never more nodes to keep
    how = COMBINERS[settings.combiner], np.float32(settings.discount), beam
    results = ids, scores, depths

    def one_tree(first, last):
        rows = arrays, first, last, settings.normalise
        _refuse(_ranking_kernels.best_of_tree(*rows, *models[0].for_search, *how, *results))

    def several_trees(first, last):
        *scratch, best_paths, classifiers = _label_scratch(models[0].tree.n_labels)
        if last - first == 1 and at_once:
            for_search = tuple(model.for_search for model in models)
            row = arrays, first, settings.normalise
            _refuse(_ranking_kernels.best_of_trees_alone(*row, for_search, *how, *scratch, *results))
            return
        found = []
        for model in models:
            rows = arrays, first, last, settings.normalise
            bad_row, *lists = _ranking_kernels.labels_of_tree(
                *rows, *model.for_search, *how, MERGES[settings.merge], *scratch, best_paths, classifiers
            )
            _refuse(bad_row)
            found.append(lists)
        indptrs, labels, found_scores, found_depths = zip(*found, strict=True)
        offsets = np.concatenate([[0], np.cumsum([part.size for part in labels])])[:-1]
        joined = (np.concatenate(arrays) for arrays in (labels, found_scores, found_depths))
        _ranking_kernels.best_of_trees(first, last, np.stack(indptrs) + offsets[:, None], *joined, *scratch, *results)

    has_copies = any(model.has_copies for model in models)
    is_simple = len(models) == 1 and not has_copies
    are_alike = not has_copies and all(model.search_type == models[0].search_type for model in models)
    at_once = are_alike and len(models) <= MOST_TREES_AT_ONCE
    in_chunks(one_tree if is_simple else several_trees, n, _chunk(n, models, beam), n_jobs)
    return results


def stopping_early(
    models: list[TreeModel], X: sp.csr_matrix, k: int, settings: SearchSettings, n_jobs: int | None
) -> tuple[np.ndarray, ...]:
    """`topk` by a strategy that stops early, and what it asks, int64 (n, 3): see `best_first`."""
    model, n = models[0], X.shape[0]
    if len(models) > 1 or model.has_copies:
        settings.check_trees([model.tree for model in models])
    ids, scores, depths = np.empty((n, k), np.int32), np.empty((n, k), np.float32), np.empty((n, k), np.float32)
    results = ids, scores, depths, np.empty((n, 3), np.int64)
    arrays, combiner = csr_arrays(X), COMBINERS[settings.combiner]
    beam = min(settings.beam, model.tree.n_leaves)
    if settings.strategy == "best-first":
        kernel, limit = _best_first_kernels.best_first, NO_LIMIT if settings.budget is None else settings.budget
    else:
        kernel, limit = _adaptive_kernels.adaptive_beam, beam

    def chunk(first, last):
        rows = arrays, first, last, settings.normalise
        _refuse(kernel(*rows, *model.for_search, combiner, model.has_copies, limit, *results))

    at_once = QUERIES_IN_ROUNDS if settings.strategy == "best-first" else n
    in_chunks(chunk, n, min(at_once, _chunk(n, [model], beam)), n_jobs)
    return results


def beams(
    model: TreeModel, X: sp.csr_matrix, settings: SearchSettings, n_levels: int | None = None, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The nodes that every row of X reaches after `n_levels` levels (all of them by default).

    Returns node ids int32 and log scores float32, (n, beam) each, best first, and how many there are, int64 (n,).
    """
    n = X.shape[0]
    n_levels = model.tree.max_depth if n_levels is None else min(n_levels, model.tree.max_depth)
    nodes, scores = np.empty((n, settings.beam), np.int32), np.empty((n, settings.beam), np.float32)
    sizes, scales = np.empty(n, np.int64), np.empty(n, np.float32)
    arrays = csr_arrays(X)
    tree, _, weights = model.for_search

    def chunk(first, last):
        _refuse(_search_kernels.row_scales(arrays, first, last, settings.normalise, scales[first:last]))
        _search_kernels.beam_search(
            arrays,
            first,
            last,
            scales[first:last],
            tree,
            weights,
            COMBINERS[settings.combiner],
            np.float32(settings.discount),
            n_levels,
            _scoring_kernels.scoring_room(arrays, first, last, weights),
            nodes[first:last],
            scores[first:last],
            sizes[first:last],
        )

    in_chunks(chunk, n, _chunk(n, [model], settings.beam), n_jobs)
    return nodes, scores, sizes


def match(model: TreeModel, X: sp.csr_matrix, settings: SearchSettings, n_jobs: int | None = None) -> sp.csr_matrix:
    """The matcher's matrix M: the leaves in the beam of every row, with their scores; CSR float32 (n, n_leaves).

    Columns are in the order of `tree.leaves`.
    """
    tree = model.tree
    nodes, scores, sizes = beams(model, X, settings, n_jobs=n_jobs)
    kept = np.arange(settings.beam) < sizes[:, None]
    number_of_leaf = np.cumsum(tree.is_leaf) - 1
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    M = sp.csr_matrix((np.exp(scores[kept]), number_of_leaf[nodes[kept]], indptr), shape=(X.shape[0], tree.n_leaves))
    M.sort_indices()
    return M


_of_thread = threading.local()


def _label_scratch(n_labels: int) -> tuple[np.ndarray, ...]:
    """Five zeros per label for this thread; the kernels leave them zero, so one allocation serves all queries."""
    if getattr(_of_thread, "scratch", None) is None or _of_thread.scratch[0].size < n_labels:
        kinds = np.float32, np.int32, np.float32, np.float32, np.int32
        _of_thread.scratch = tuple(np.zeros(n_labels, kind) for kind in kinds)
    return _of_thread.scratch


def _chunk(n: int, models: list[TreeModel], beam: int) -> int:
    """How many of n queries a thread takes at once; few where the scores of large leaves would fill the memory."""
    if n <= 1:  # finding out takes as long as a small query
        return 1
    leaves, labels = max(model.tree.n_leaves for model in models), max(model.bundles.most_outputs for model in models)
    beam = min(beam, leaves)
    return max(1, min(QUERIES_OF_A_LEAF * leaves // beam, SCORES_AT_ONCE // max(1, labels * beam)))


def _refuse(bad_row: int) -> None:
    if bad_row >= 0:
        raise ValueError(f"row {bad_row} of X has a value that is not finite (NaN or infinite)")
