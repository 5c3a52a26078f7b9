"""Parabel, also over interpolated trees, Bonsai, XR-Linear and DiSMEC, the way scikit-learn has estimators."""

import logging
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from orchard.data.statistics import label_frequencies
from orchard.errors import FormatError
from orchard.linear import search
from orchard.linear.inputs import check_parameter, checked_incidence, checked_training, checked_X, refuse_not_finite
from orchard.linear.search import SearchSettings
from orchard.linear.search_report import search_report
from orchard.linear.storage import load_models, save_models
from orchard.linear.training import NEGATIVES, KeptMatcher, ModelSize, SolverSettings, train_tree
from orchard.parameters import Parameters
from orchard.threads import n_threads
from orchard.trees.bonsai_embeddings import KINDS, bonsai_embeddings
from orchard.trees.builders import balanced_label_tree, kmeans_label_tree, merged_label_tree
from orchard.trees.embeddings import pifa, unit_rows
from orchard.trees.interpolated import Interpolation
from orchard.trees.label_tree import LabelTree
from orchard.trees.merging import with_more_children

logger = logging.getLogger("orchard")

_ROWS_AT_ONCE = 1024  # of predict, whose number of labels per row is not known before


@dataclass(eq=False, repr=False)
class TreeEstimator(Parameters):
    """What all estimators share: linear classifiers over one label tree or several, whose scores are averaged.

    n_trees, max_leaf : how many trees; labels of a leaf at most.
    C, C_positive, loss, bias, tolerance, max_iterations, threshold : the classifiers, see `SolverSettings`; C_positive
        is the cost of a mistake on a positive sample, where it is not C.
    negatives : 'tfn', 'man' or 'tfn+man', see `train_tree`.
    max_model_gb : `fit` stops with an OversizedModel as soon as its weights exceed this size, of `model_bytes_`, in GB
        of 10⁹ bytes; None for no limit.
    beam, combiner, discount, merge, normalise : the search, see `SearchSettings`.
    query_beam : the beam of predictions, where it is not that of training (the matcher's negatives) and of `match`.
    strategy, budget : how predictions search, see `SearchSettings`; training and `match` always take the beam.
    random_state : an integer; the same one gives the same model, whatever n_jobs (None: all cores) is.

    Attributes after `fit` or `load`: models_ (one TreeModel per tree), n_labels_, n_features_in_.
    """

    n_trees: int = 1
    max_leaf: int = 100
    C: float = 1.0
    C_positive: float | None = None
    loss: str = "squared-hinge"
    bias: float = 1.0
    tolerance: float = 0.1
    max_iterations: int = 100
    threshold: float = 0.1
    negatives: str = "tfn"
    max_model_gb: float | None = None
    beam: int = 10
    query_beam: int | None = None
    combiner: str = "l3-hinge"
    discount: float = 1.0
    merge: str = "mean"
    normalise: bool = True
    strategy: str = "beam"
    budget: int | None = None
    random_state: int = 0
    n_jobs: int | None = None

    # The parameters that the trees depend on, beside random_state: runs that agree in them can share trees.
    TREE_PARAMETERS: ClassVar[tuple[str, ...]] = ()

    def _grow(self, X: sp.csr_matrix, Y: sp.csr_matrix, rngs: list[np.random.Generator]) -> list[LabelTree]:
        """One tree for each source of random numbers."""
        raise TypeError(f"{type(self).__name__} does not say how its trees are built")

    def _check_parameters(self) -> None:
        """Refuse what makes no sense, naming the parameter, before any work starts."""
        for field in fields(self):
            check_parameter(field.name, getattr(self, field.name), field.type)
        lowest = {"n_trees": 1, "max_leaf": 1, "n_splits": 2, "max_depth": 1, "random_state": 0, "kmeans_tolerance": 0}
        for name, bound in lowest.items():
            value = getattr(self, name, None)
            if value is not None and not bound <= value < np.inf:
                raise ValueError(f"{name} must be at least {bound}, not {value!r}")
        if self.negatives not in NEGATIVES:
            raise ValueError(f"negatives must be one of {', '.join(NEGATIVES)}, not {self.negatives!r}")
        if not 0 < self.C < np.inf:
            raise ValueError(f"C must be a positive number, not {self.C!r}")
        if self.max_model_gb is not None and not 0 < self.max_model_gb < np.inf:
            raise ValueError(f"max_model_gb must be a positive number, or None for no limit, not {self.max_model_gb!r}")
        n_threads(self.n_jobs)
        self._solver()
        self._search()
        self._query_search()

    def _solver(self) -> SolverSettings:
        return SolverSettings(
            loss=self.loss,
            C_positive=self.C if self.C_positive is None else self.C_positive,
            C_negative=self.C,
            bias=self.bias,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            threshold=self.threshold,
        ).validate()

    def _search(self) -> SearchSettings:
        return search.search_settings(self.beam, self.combiner, self.discount, self.merge, self.normalise)

    def _query_search(self) -> SearchSettings:
        beam = self.beam if self.query_beam is None else self.query_beam
        how = self.combiner, self.discount, self.merge, self.normalise
        return search.search_settings(beam, *how, self.strategy, self.budget)

    # ---- training

    def build_trees(self, X, Y) -> list[LabelTree]:
        """The label trees that `fit` would build, so that they can be kept and given to `fit` again."""
        X, Y = self._checked(X, Y)
        return self._built(X, Y)

    def fit(
        self, X, Y, trees: list[LabelTree] | None = None, matchers: list[KeptMatcher] | None = None
    ) -> "TreeEstimator":
        """Train on X (n, d), anything that scipy makes CSR of, and Y (n, n_labels), whose entries are the labels.

        trees : train over these trees instead of building some.
        matchers : one for each of `trees`, whose inner nodes they are; only the labels in the leaves are trained.
        """
        X, Y = self._checked(X, Y)
        trees = self._built(X, Y) if trees is None else list(trees)
        if not trees or any(tree.n_labels != Y.shape[1] for tree in trees):
            raise ValueError(f"trees must be at least one LabelTree over the {Y.shape[1]} labels of Y")
        self._query_search().check_trees(trees)
        matchers = [None] * len(trees) if matchers is None else list(matchers)
        if len(matchers) != len(trees):
            raise ValueError(f"{len(matchers)} matchers for {len(trees)} trees")
        size = None if self.max_model_gb is None else ModelSize(self.max_model_gb, trees)
        how, where, models = self._solver(), self._search(), []
        for number, tree in enumerate(trees):
            logger.info("training tree %d of %d: %r", number + 1, len(trees), tree)
            seed = self.random_state * len(trees) + number
            kept = matchers[number]
            models.append(train_tree(X, Y, tree, how, seed, self.negatives, where, self.n_jobs, size, kept))
        self._keep(models)
        return self

    def _checked(self, X, Y) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """Refuse wrong parameters and data before any work starts; rows of unit length if that is asked for."""
        self._check_parameters()
        X, Y = checked_training(X, Y)
        return (unit_rows(X) if self.normalise else X), Y

    def _built(self, X, Y) -> list[LabelTree]:
        return self._grow(X, Y, [np.random.default_rng([self.random_state, tree]) for tree in range(self.n_trees)])

    def _keep(self, models) -> None:
        self.models_ = models
        self.n_labels_ = models[0].tree.n_labels
        self.n_features_in_ = models[0].n_features

    @property
    def model_bytes_(self) -> int:
        return sum(model.nbytes for model in self._fitted())

    # ---- prediction

    def predict_topk(self, X, k: int = 5, return_depths: bool = False):
        """The k best labels of every row and their scores, (n, k) each, best first; id −1 where fewer were reached.

        return_depths : also the depth of every returned label's leaf, NaN where there is no label; the mean over the
            trees and copies in which the label was reached.
        """
        if type(k) is not int:
            check_parameter("k", k, int)
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        models = self._fitted()
        X = checked_X(X, self.n_features_in_)
        ids, scores, depths = search.topk(models, X, k, self._query_search(), self.n_jobs)
        return (ids, scores, depths) if return_depths else (ids, scores)

    def predict(self, X, threshold: float = 0.5) -> sp.csr_matrix:
        """The labels whose score is at least `threshold`, CSR indicator float32 (n, n_labels)."""
        models = self._fitted()
        X = checked_X(X, self.n_features_in_)
        refuse_not_finite(X, "X")
        reachable = sum(
            min(self._query_search().beam, model.tree.n_leaves) * int(np.diff(model.tree.label_indptr).max())
            for model in models
        )
        if self.strategy == "best-first":
            reachable = self.n_labels_
        labels, sizes, k = [], [], 16
        for first in range(0, X.shape[0], _ROWS_AT_ONCE):
            while True:  # more and more of the best labels, until the last one of every row is too low
                ids, scores = self.predict_topk(X[first : first + _ROWS_AT_ONCE], k)
                if k >= min(reachable, self.n_labels_) or not (scores[:, -1] >= threshold).any():
                    break
                k = min(4 * k, reachable, self.n_labels_)
            chosen = (ids >= 0) & (scores >= threshold)
            labels.append(ids[chosen])
            sizes.append(chosen.sum(axis=1))
        indptr = np.cumsum(np.concatenate([[0], *sizes]))
        indices = np.concatenate([np.empty(0, np.int32), *labels])
        Y = sp.csr_matrix((np.ones(indices.size, np.float32), indices, indptr), shape=(X.shape[0], self.n_labels_))
        Y.sort_indices()
        return Y

    def match(self, X) -> sp.csr_matrix:
        """The matcher's matrix M: the leaves in every row's beam with their scores, CSR float32 (n, leaves).

        The columns are the leaves of the first tree in the order of `tree.leaves`, then those of the next tree.
        """
        models = self._fitted()
        X = checked_X(X, self.n_features_in_)
        parts = [search.match(model, X, self._search(), self.n_jobs) for model in models]
        return parts[0] if len(parts) == 1 else sp.hstack(parts, format="csr")

    def search_report(self, X, Y) -> dict[str, float]:
        """What queries X (n, d) ask, and which of their labels, Y (n, n_labels), they reach; see `search_report`."""
        models = self._fitted()
        X, Y = checked_X(X, self.n_features_in_), checked_incidence(Y, "Y")
        return search_report(models, X, Y, self._query_search(), self.n_jobs)

    def _fitted(self):
        if not hasattr(self, "models_"):
            raise RuntimeError(f"this {type(self).__name__} is not fitted yet: call fit(X, Y) or load(path) first")
        return self.models_

    # ---- files

    def save(self, path) -> None:
        """Write the parameters and the trained trees to one file, never half."""
        self._check_parameters()
        plain = {
            name: value.item() if isinstance(value, np.generic) else value for name, value in self.get_params().items()
        }
        parameters = {name: value for name, value in plain.items() if name != "n_jobs"}
        models = self._fitted()
        header = {"estimator": type(self).__name__, "parameters": parameters, "n_features": self.n_features_in_}
        save_models(path, header, models)

    @classmethod
    def load(cls, path, n_jobs: int | None = None) -> "TreeEstimator":
        """Read what `save` wrote; a damaged or foreign file, or another version, is refused with a FormatError."""
        header, models = load_models(path)
        known = {kind.__name__: kind for kind in (Parabel, InterpolatedParabel, Bonsai, XRLinear, DiSMEC)}
        kind = known.get(str(header.get("estimator")))
        if kind is None or not issubclass(kind, cls):
            raise FormatError(path, None, f"holds a {header.get('estimator')}, not a {cls.__name__}")
        try:
            estimator = kind(**header.get("parameters", {}), n_jobs=n_jobs)
            estimator._check_parameters()
        except (TypeError, ValueError) as error:
            raise FormatError(path, None, f"damaged: {error}") from None
        estimator._keep(models)
        return estimator


@dataclass(eq=False, repr=False)
class Parabel(TreeEstimator):
    """Parabel (Prabhu et al. 2018): balanced binary trees, three of them, with the defaults of its authors' program.

    Scores are exp(−Σ max(0, 1 − z)²) along the path, averaged over the trees. labeltrees uses n_trees=1.
    kmeans_tolerance : a split is left as it is when the mean cosine to its centres gains no more than this.
    """

    n_trees: int = 3
    max_iterations: int = 20
    combiner: str = "l2-hinge"
    kmeans_tolerance: float = 1e-4

    TREE_PARAMETERS = ("n_trees", "max_leaf", "normalise", "kmeans_tolerance")

    def _grow(self, X, Y, rngs):
        embeddings = pifa(X, Y, "parabel", self.n_jobs)
        return [balanced_label_tree(embeddings, self.max_leaf, rng, self.n_jobs, self.kmeans_tolerance) for rng in rngs]


@dataclass(eq=False, repr=False)
class InterpolatedParabel(Interpolation, Parabel):
    """Parabel over a tree between balanced 2-means and Fano coding (labeltrees §5.1), one of them.

    lambda_prime : 0 splits as Parabel does (D53); the larger, the higher stand frequent labels.
    gamma, frequencies, sharpness, route, renormalise : the scheme, see `Interpolation`.
    n_splits : children of a node; above 2, those of the binary tree come up, the most frequent first.
    """

    n_trees: int = 1
    n_splits: int = 2

    TREE_PARAMETERS = (*Parabel.TREE_PARAMETERS, *(field.name for field in fields(Interpolation)), "n_splits")

    def _check_parameters(self):
        super()._check_parameters()
        self.check_interpolation()

    def _grow(self, X, Y, rngs):
        embeddings = pifa(X, Y, "parabel", self.n_jobs)
        how = {"max_leaf": self.max_leaf, "tolerance": self.kmeans_tolerance, "n_jobs": self.n_jobs}
        trees = [self.interpolated_tree(embeddings, Y, seed=rng, **how) for rng in rngs]
        if self.n_splits == 2:
            return trees
        return [with_more_children(tree, self.n_splits, label_frequencies(Y)) for tree in trees]


@dataclass(eq=False, repr=False)
class XRLinear(TreeEstimator):
    """XR-Linear (Yu et al. 2022), PECOS's linear model: one tree with `n_splits` children per node.

    The defaults are PECOS's; disentangle uses n_splits=32. Scores are Π exp(−max(0, 1 − z)³) along the path.
    kmeans_tolerance : as in Parabel; with 0 a split ends when nothing changes, or after 20 rounds: PECOS's rule.
    """

    n_splits: int = 16
    kmeans_tolerance: float = 0.0

    TREE_PARAMETERS = ("n_trees", "max_leaf", "normalise", "n_splits", "kmeans_tolerance")

    def _grow(self, X, Y, rngs):
        embeddings = pifa(X, Y, "xr-linear", self.n_jobs)
        return [
            merged_label_tree(embeddings, self.n_splits, self.max_leaf, rng, self.n_jobs, self.kmeans_tolerance)
            for rng in rngs
        ]


@dataclass(eq=False, repr=False)
class Bonsai(TreeEstimator):
    """Bonsai (Khandagale et al. 2020): shallow trees of unbalanced k-means with `n_splits` children, three of them.

    A node with at most `max_leaf` labels, or at `max_depth`, is a leaf.  label_space : 'input', 'output' or 'joint',
    what labels are clustered by (see `bonsai_embeddings`).  discount : what the levels above count on the way down.
    """

    n_trees: int = 3
    max_iterations: int = 20
    combiner: str = "l2-hinge"
    discount: float = 0.98
    n_splits: int = 100
    max_depth: int | None = 3
    label_space: str = "joint"

    TREE_PARAMETERS = ("n_trees", "max_leaf", "normalise", "n_splits", "max_depth", "label_space")

    def _check_parameters(self):
        if self.label_space not in KINDS:
            raise ValueError(f"label_space must be one of {', '.join(KINDS)}, not {self.label_space!r}")
        super()._check_parameters()

    def _grow(self, X, Y, rngs):
        embeddings = bonsai_embeddings(X, Y, self.label_space)
        return [
            kmeans_label_tree(embeddings, self.n_splits, self.max_leaf, self.max_depth, rng, self.n_jobs)
            for rng in rngs
        ]


@dataclass(eq=False, repr=False)
class DiSMEC(TreeEstimator):
    """One classifier per label, all of them asked for every query (DiSMEC, Babbar and Schölkopf 2017).

    A tree whose root is its only leaf. Weights below `threshold` are dropped; labels are trained in blocks, so that
    memory holds the weights that are kept and a few columns per thread. Labels rank by their margin.
    """

    threshold: float = 0.01
    combiner: str = "sigmoid"

    TREE_PARAMETERS = ()

    def _grow(self, X, Y, rngs):
        return [LabelTree.from_groups(range(Y.shape[1]))] * len(rngs)
