"""Label disentanglement: a label stands in the clusters that the matcher leads most of its samples to (disentangle §4).

Problem 7 asks for the clusters C that let the matcher's candidates Binary(MCᵀ) hold the most true labels. Relaxed to
Tr(YᵀMCᵀ) it has a closed form (Eq. 10); Algorithm 1 alternates between that and training. `orchard.label_clusters` has
the matrices, `orchard.cluster_limits` the limits of A.4, `orchard.coverage` solves Problem 7 itself.
"""

import logging
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from orchard import _cluster_kernels as kernels
from orchard.cluster_limits import limited_projection
from orchard.coverage import exact_coverage, greedy_coverage
from orchard.errors import OrchardError
from orchard.label_clusters import chosen_or_kept, clusters_of, first_clusters, label_counts
from orchard.linear.estimators import TreeEstimator
from orchard.linear.inputs import check_parameter, checked_training
from orchard.linear.training import KeptMatcher
from orchard.matches import Matches, load_matches
from orchard.trees.label_tree import LabelTree

logger = logging.getLogger("orchard")

SOLVERS = ("projection", "coverage", "exact", "random")


@dataclass(frozen=True)
class Overlap:
    """How labels get their clusters; the defaults are the paper's.

    copies : λ, the clusters of a label at most.
    solver : 'projection' (Eq. 10), 'coverage' (Problem 7, greedy), 'exact' (Problem 7, for labels with at most 64
        samples), or 'random' (A.8: as many copies as projection, in random clusters).
    rounds : how often clusters and model are updated in turn (Algorithm 1, lines 5 to 9).
    retrain_matcher : the 'alternative update' of Table 4; without it the matcher stays, only the ranker is trained.
    cap : a cluster holds at most cap · λL/K labels (A.4), K being the number of clusters; None for no limit.
    budget : copies per label on average at most, for those that gain most; cap then counts from it in the place of λ.
    weighted : coverage counts the matcher's scores in the place of ones.
    folds : M is made on samples that the matcher has not seen, in so many folds; 0 for the training samples themselves.
    """

    copies: int = 2
    solver: str = "projection"
    rounds: int = 1
    retrain_matcher: bool = True
    cap: float | None = None
    budget: float | None = None
    weighted: bool = False
    folds: int = 0

    def validate(self) -> "Overlap":
        for field in fields(self):
            check_parameter(field.name, getattr(self, field.name), field.type)
        for name in ("copies", "rounds"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, not {self.solver!r}")
        for name in ("cap", "budget"):
            value = getattr(self, name)
            if value is not None and not 1 <= value < np.inf:
                raise ValueError(f"{name} must be at least 1, or None for no limit, not {value!r}")
            if value is not None and self.solver in ("exact", "random"):
                raise ValueError(f"{name} goes with projection or coverage, not with solver {self.solver!r}")
        if self.weighted and self.solver != "coverage":
            raise ValueError(f"weighted goes with coverage, not with solver {self.solver!r}")
        if self.folds < 0 or self.folds == 1:
            raise ValueError(f"folds must be 0, or at least 2, not {self.folds}")
        if self.rounds > 1 and not self.retrain_matcher:
            raise ValueError("a matcher that is kept matches the same in every round: rounds must be 1")
        return self

    def limits(self, n_labels: int, n_clusters: int) -> dict[str, int | None]:
        """`limit`, labels of a cluster at most, and `total`, copies of all labels at most; None for no limit."""
        mean = self.copies if self.budget is None else min(self.copies, self.budget)
        return {
            "limit": None if self.cap is None else int(np.ceil(self.cap * mean * n_labels / n_clusters)),
            "total": None if self.budget is None else int(self.budget * n_labels),
        }


def disentangle(
    model: TreeEstimator, X, Y, copies: int = 2, rounds: int = 1, solver: str = "projection", **options
) -> TreeEstimator:
    """Algorithm 1: a model like `model`, whose labels stand in up to `copies` clusters of each of its trees.

    model : Parabel, Bonsai or XRLinear, fitted on X and Y; one that is not is fitted first (a copy of it).
    X, Y : as for `fit`.
    copies, rounds, solver, options : see `Overlap`.
    Copies of a label that a query reaches are merged by the mean of their scores, or as `model.merge` has it.
    """
    overlap = Overlap(copies, solver, rounds, **options).validate()
    check_estimator(model)
    X, Y = checked_training(X, Y)
    is_fitted = hasattr(model, "models_")
    if is_fitted and Y.shape[1] != model.n_labels_:
        raise ValueError(f"Y has {Y.shape[1]} labels, the model was fitted on {model.n_labels_}")
    trees = [each.tree for each in model.models_] if is_fitted else model.build_trees(X, Y)
    matchers = None
    for _ in range(rounds):
        if not is_fitted and not (overlap.folds and overlap.retrain_matcher):  # somebody has to match, or to stay
            model = unfitted(model).fit(X, Y, trees=trees)
        Ms = cross_matched(model, trees, X, Y, overlap.folds) if overlap.folds else matched(model, X)
        Cs = [
            choose_clusters(overlap, Y, M, clusters_of(tree), None, model.random_state, model.n_jobs)
            for M, tree in zip(Ms, trees, strict=True)
        ]
        matchers = None if overlap.retrain_matcher else kept_matchers(model, Cs)
        trees, is_fitted = overlapping_trees(trees, Cs), False
    return unfitted(model).fit(X, Y, trees=trees, matchers=matchers)


def check_estimator(model) -> None:
    if not isinstance(model, TreeEstimator):
        raise OrchardError(f"overlap: {type(model).__name__} is none of Orchard's estimators over label trees")


def choose_clusters(
    overlap: Overlap,
    Y: sp.csr_matrix,
    M: sp.csr_matrix,
    C: sp.csr_matrix,
    counts: sp.csr_matrix | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> sp.csr_matrix:
    """The new clusters of the labels of one tree, CSR float32 ones (L, K) (Algorithm 1, line 6).

    Y : CSR (n, L).  M : CSR (n, K).  C : CSR (L, K), the clusters of now.  counts : YᵀM, if it is there already.
    """
    limits = overlap.limits(*C.shape)
    if overlap.solver == "coverage":
        return greedy_coverage(Y, M, C, overlap.copies, overlap.weighted, **limits, n_jobs=n_jobs)
    if overlap.solver == "exact":
        return exact_coverage(Y, M, C, overlap.copies, n_jobs)
    counts = label_counts(Y, M, n_jobs) if counts is None else counts
    if counts.shape != C.shape:
        raise ValueError(f"counts are {counts.shape}, labels × clusters are {C.shape}")
    if limits["limit"] or limits["total"]:
        return limited_projection(counts, C, overlap.copies, **limits)
    projected = project_top_lambda(counts, overlap.copies, C)
    return random_clusters(projected, C, random_state) if overlap.solver == "random" else projected


def clusters_from(
    overlap: Overlap, matches: Matches, Y: sp.csr_matrix, random_state: int = 0, n_jobs: int | None = None
) -> list[sp.csr_matrix]:
    """`choose_clusters` for every tree of matches that were made before."""
    parts = (columns_of_trees(matrix, matches.trees) for matrix in (matches.M, matches.counts))
    return [
        choose_clusters(overlap, Y, M, clusters_of(tree), counts, random_state, n_jobs)
        for tree, M, counts in zip(matches.trees, *parts, strict=True)
    ]


def overlapping_fit(
    overlap: Overlap, matches_folder, matcher_folder, Y: sp.csr_matrix, random_state: int, n_jobs: int
) -> dict:
    """What `fit` takes for the last round: trees with the labels in their new clusters, and the matchers to be kept.

    matches_folder, matcher_folder : what `save_matches` wrote: the matches to choose by, and those with the model whose
        matcher is to be kept, if the options say so.
    """
    matches = load_matches(matches_folder)
    Cs = clusters_from(overlap, matches, Y, random_state, n_jobs)
    trees = overlapping_trees(matches.trees, Cs)
    if overlap.retrain_matcher:
        return {"trees": trees}
    return {"trees": trees, "matchers": kept_matchers(load_matches(matcher_folder, with_model=True).model, Cs)}


def refit(model: TreeEstimator, X, Y, Cs: list[sp.csr_matrix], retrain_matcher: bool = True) -> TreeEstimator:
    """A model like `model` over its trees, with the labels in the clusters Cs (Algorithm 1, lines 8 and 9).

    retrain_matcher=False keeps the classifiers of the inner nodes as they are.
    """
    trees = overlapping_trees([each.tree for each in model.models_], Cs)
    matchers = None if retrain_matcher else kept_matchers(model, Cs)
    return unfitted(model).fit(X, Y, trees=trees, matchers=matchers)


def overlapping_trees(trees: list[LabelTree], Cs: list[sp.csr_matrix]) -> list[LabelTree]:
    """The trees with their labels in the clusters Cs (L, K); leaves without any are left out."""
    return [tree.with_leaf_labels(C.T, drop_empty=True) for tree, C in zip(trees, Cs, strict=True)]


def kept_matchers(model: TreeEstimator, Cs: list[sp.csr_matrix]) -> list[KeptMatcher]:
    """The inner nodes of a model's trees, for `overlapping_trees`.

    A leaf with one label has no classifier of its own: the edge to it speaks for the label, and a kept edge was trained
    for the labels that stood there before.
    """
    sizes = [np.bincount(C.indices, minlength=C.shape[1]) for C in Cs]
    if n_single := sum(int((each == 1).sum()) for each in sizes):
        logger.warning("%d clusters have one label left, which the kept matcher alone speaks for", n_single)
    return [
        KeptMatcher(each, each.tree.nodes_above(n_held > 0)) for each, n_held in zip(model.models_, sizes, strict=True)
    ]


# ---- M on the training samples


def match_training(
    estimator: TreeEstimator, trees: list[LabelTree], X: sp.csr_matrix, Y: sp.csr_matrix, folds: int = 0
) -> Matches:
    """Fit an estimator over these trees and match its training samples, or each of some folds by the others."""
    check_estimator(estimator)
    model = None if folds else estimator.fit(X, Y, trees=trees)
    Ms = cross_matched(estimator, trees, X, Y, folds) if folds else matched(model, X)
    M = Ms[0] if len(Ms) == 1 else sp.hstack(Ms, format="csr")
    return Matches(trees, M, label_counts(Y, M, estimator.n_jobs), model)


def matched(model: TreeEstimator, X) -> list[sp.csr_matrix]:
    """M of every tree (Eq. 5): the leaves that the rows of X are matched to, with their scores; CSR float32 (n, K)."""
    return columns_of_trees(model.match(X), [each.tree for each in model.models_])


def cross_matched(model: TreeEstimator, trees: list[LabelTree], X, Y, folds: int = 2) -> list[sp.csr_matrix]:
    """M of every tree on samples that the matcher has not seen: a sample is matched by a model of the other folds.

    On its own training samples a matcher is nearly always right (M is saturated); what it does with others is what
    overlapping clusters have to make up for. Beyond the paper.

    model : what is trained, on these trees; it need not be fitted.
    """
    check_parameter("folds", folds, int)
    if not 2 <= folds <= X.shape[0]:
        raise ValueError(f"folds must be between 2 and the {X.shape[0]} samples, not {folds}")
    fold_of = np.random.default_rng(model.random_state).permutation(X.shape[0]) % folds
    parts, order = [], []
    for fold in range(folds):
        unseen = np.flatnonzero(fold_of == fold)
        seen = np.flatnonzero(fold_of != fold)
        parts.append(unfitted(model).fit(X[seen], Y[seen], trees=trees).match(X[unseen]))
        order.append(unseen)
    M = sp.vstack(parts, format="csr")[np.argsort(np.concatenate(order))]
    return columns_of_trees(M, trees)


def unfitted(model: TreeEstimator) -> TreeEstimator:
    """Another estimator with the same parameters."""
    return type(model)(**model.get_params())


def columns_of_trees(M: sp.csr_matrix, trees: list[LabelTree]) -> list[sp.csr_matrix]:
    """What `TreeEstimator.match` gives for all trees side by side, tree by tree."""
    if len(trees) == 1:
        return [M]
    ends = np.cumsum([tree.n_leaves for tree in trees])
    return [M[:, begin:end] for begin, end in pairwise([0, *ends])]


# ---- which clusters a label should stand in


def project_top_lambda(counts: sp.csr_matrix, copies: int, C: sp.csr_matrix) -> sp.csr_matrix:
    """Solve Eq. 9: keep the `copies` largest entries of every row of YᵀM (Eq. 10, Theorem 2).

    counts : CSR (L, K).  C : CSR (L, K), the clusters of now.  Returns the new ones, CSR float32 ones (L, K).
    Of equal counts a cluster that holds the label already comes first, then the lower one. A label that no sample was
    matched for stays where it is (the union must cover every label).
    """
    chosen = kernels.top_of_rows((counts.indptr, counts.indices, counts.data), (C.indptr, C.indices), copies)
    return chosen_or_kept(chosen, C)


def random_clusters(copies_like: sp.csr_matrix, C: sp.csr_matrix, random_state: int = 0) -> sp.csr_matrix:
    """The random baseline (A.8): as many copies of every label as in `copies_like`, in random clusters.

    Its first copy stays in its own cluster, the first one of C.  All CSR (L, K).
    """
    rng, n_clusters = np.random.default_rng(random_state), C.shape[1]
    n_copies = np.diff(copies_like.indptr)
    chosen = first_clusters(C)[:, None]
    for number in range(1, n_copies.max()):
        drawn = rng.integers(max(n_clusters - number, 1), size=C.shape[0], dtype=np.int32)
        for taken in np.sort(chosen, axis=1).T:  # the drawn one among those that are left
            drawn += drawn >= taken
        chosen = np.column_stack([chosen, drawn])
    chosen[np.arange(chosen.shape[1]) >= n_copies[:, None]] = -1
    return chosen_or_kept(chosen, C)
