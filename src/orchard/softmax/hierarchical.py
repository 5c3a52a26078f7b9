"""Hierarchical softmax over a binary label tree, trained as fastText does it."""

from dataclasses import dataclass, fields

import numpy as np
import scipy.sparse as sp

from orchard.linear.inputs import check_parameter, checked_training, checked_X, csr_arrays, refuse_not_finite
from orchard.parameters import Parameters
from orchard.softmax import _kernels
from orchard.threads import in_chunks, n_threads
from orchard.trees.label_tree import LabelTree

_ROWS_AT_ONCE = 1024  # of a thread that predicts


@dataclass(eq=False, repr=False)
class HierarchicalSoftmax(Parameters):
    """p(label | x) = Π σ(±⟨h, v⟩) down the label's path, h = Σ x_f e_f / Σ x_f (fastText: Joulin et al. 2017).

    X holds counts of words and n-grams (see `WordNgrams`) or any other weights that are not negative. Every feature
    has a vector e, every inner node a vector v; a second child takes the plus. A feature that no training sample has is
    zero. The defaults are those of labeltrees §5.4.2. Training is that of `fasttext supervised -loss hs`: every epoch,
    for each sample in turn, one step for one of its labels, drawn at random, while the learning rate falls linearly to
    0. A sample without labels or features is skipped.

    dimension : of the vectors.  learning_rate : at the start.  epochs : passes over the samples.
    random_state : an integer; the same one gives the same model.
    n_jobs : threads of predictions (None: all cores), which do not depend on it. Training has one.

    Attributes after `fit`: tree_, embeddings_ (float32, see `orchard.softmax._kernels`), outputs_ (float32, a row for
    every inner node), n_labels_, n_features_in_.
    """

    dimension: int = 128
    learning_rate: float = 0.5
    epochs: int = 200
    random_state: int = 0
    n_jobs: int | None = None

    def fit(self, X, Y, trees: list[LabelTree] | None = None) -> "HierarchicalSoftmax":
        """Train on X (n, d), anything that scipy makes CSR of, and Y (n, n_labels), whose entries are the labels.

        trees : one LabelTree over the labels of Y; its inner nodes have two children, its leaves one label each.
        """
        self._check_parameters()
        X, Y = checked_training(X, Y)
        _refuse_negative(X)
        tree = _checked_tree(trees, Y.shape[1])
        rng = np.random.default_rng(self.random_state)
        embeddings = self._first_embeddings(X.shape[1], rng)
        embeddings[:, np.bincount(X.indices, minlength=X.shape[1]) == 0] = 0  # what nobody taught says nothing
        outputs = np.zeros((tree.n_nodes - tree.n_leaves, embeddings.shape[0] * _kernels.LANES), np.float32)
        divisors = np.asarray(X.sum(axis=1), np.float32).ravel()
        _kernels.train(
            csr_arrays(X),
            divisors,
            (Y.indptr, Y.indices),
            (tree.parent, _is_second(tree), _output_rows(tree), _leaf_of_label(tree)),
            embeddings,
            outputs,
            float(self.learning_rate),
            int(self.epochs),
            rng.integers(1 << 63, size=1, dtype=np.uint64),
        )
        if not np.isfinite(outputs).all():
            raise ValueError(f"training diverged: learning_rate={self.learning_rate!r} is too large for these data")
        self.tree_, self.embeddings_, self.outputs_ = tree, embeddings, outputs
        self.n_labels_, self.n_features_in_ = Y.shape[1], X.shape[1]
        return self

    def _check_parameters(self):
        for field in fields(self):
            check_parameter(field.name, getattr(self, field.name), field.type)
        for name, lowest in (("dimension", 1), ("epochs", 0), ("random_state", 0)):
            if getattr(self, name) < lowest:
                raise ValueError(f"{name} must be at least {lowest}, not {getattr(self, name)}")
        if not 0 < self.learning_rate < np.inf:
            raise ValueError(f"learning_rate must be a positive number, not {self.learning_rate!r}")
        n_threads(self.n_jobs)

    def _first_embeddings(self, n_features, rng):
        """Uniform between −1/dimension and 1/dimension, as fastText begins; the lanes that pad them stay zero."""
        n_blocks = -(-self.dimension // _kernels.LANES)
        embeddings = np.zeros((n_blocks, n_features, _kernels.LANES), np.float32)
        for block in range(n_blocks):
            width = min(_kernels.LANES, self.dimension - block * _kernels.LANES)
            start = rng.random((n_features, width), np.float32)
            start -= np.float32(0.5)
            start *= np.float32(2 / self.dimension)
            embeddings[block, :, :width] = start
        return embeddings

    def predict_topk(self, X, k: int = 5, return_depths: bool = False):
        """The k most probable labels of every row and their probabilities, (n, k) each, best first; none is missed.

        Where there are fewer than k labels at all: id −1, score −∞ and depth NaN.  A row without features has h = 0.
        return_depths : also the depth of every returned label's leaf.
        """
        check_parameter("k", k, int)
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        self._refuse_unfitted()
        X = checked_X(X, self.n_features_in_)
        refuse_not_finite(X, "X")
        _refuse_negative(X)
        n, tree, arrays = X.shape[0], self.tree_, csr_arrays(X)
        ids, scores = np.full((n, k), -1, np.int32), np.full((n, k), -np.inf, np.float32)
        depths = np.full((n, k), np.nan, np.float32)
        label_of_node = np.full(tree.n_nodes, -1, np.int32)
        label_of_node[tree.leaves] = tree.label_indices
        for_search = tree.children, _output_rows(tree), label_of_node, tree.depth

        def chunk(first, last):
            model = for_search, self.embeddings_, self.outputs_
            _kernels.best_labels(arrays, first, last, *model, ids, scores, depths)

        in_chunks(chunk, n, _ROWS_AT_ONCE, self.n_jobs)
        return (ids, scores, depths) if return_depths else (ids, scores)

    @property
    def model_bytes_(self) -> int:
        self._refuse_unfitted()
        arrays = self.embeddings_, self.outputs_, self.tree_.children, self.tree_.label_indptr, self.tree_.label_indices
        return sum(array.nbytes for array in arrays)

    def _refuse_unfitted(self):
        if not hasattr(self, "tree_"):
            raise RuntimeError("this HierarchicalSoftmax is not fitted yet: call fit(X, Y, trees) first")


def _refuse_negative(X: sp.csr_matrix) -> None:
    if (X.data < 0).any():
        raise ValueError("X has negative values; hidden vectors are means, so weights must not be negative")


def _checked_tree(trees, n_labels: int) -> LabelTree:
    if trees is None or len(trees) != 1:
        raise ValueError("trees must be a list with one LabelTree")
    (tree,) = trees
    if tree.n_labels != n_labels:
        raise ValueError(f"the tree is over {tree.n_labels} labels, Y has {n_labels}")
    n_children = np.diff(tree.children)
    if (odd := np.flatnonzero((n_children != 0) & (n_children != 2))).size:
        raise ValueError(f"the tree must be binary: node {odd[0]} has {n_children[odd[0]]} children, not two")
    n_held = np.diff(tree.label_indptr)
    if (large := np.flatnonzero(n_held > 1)).size:
        raise ValueError(f"every leaf must hold one label (max_leaf=1): leaf {large[0]} holds {n_held[large[0]]}")
    if (tree.n_copies > 1).any():
        raise ValueError(f"label {np.argmax(tree.n_copies > 1)} stands in several leaves; it must stand in one")
    return tree


def _is_second(tree: LabelTree) -> np.ndarray:
    """Whether every node is the second child of its parent, float32 (n_nodes,)."""
    is_second = np.arange(tree.n_nodes) == tree.children[tree.parent] + 1
    is_second[0] = False
    return is_second.astype(np.float32)


def _output_rows(tree: LabelTree) -> np.ndarray:
    """The row of every inner node in `outputs_`, int64 (n_nodes,); that of a leaf means nothing."""
    return np.cumsum(~tree.is_leaf) - 1


def _leaf_of_label(tree: LabelTree) -> np.ndarray:
    leaf_of_label = np.empty(tree.n_labels, np.int64)
    leaf_of_label[tree.label_indices] = tree.leaves
    return leaf_of_label
