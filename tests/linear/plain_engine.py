"""The engine once more in plain numpy, slow and easy to read: what the tests compare it with."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from orchard.linear._layout_kernels import pack
from orchard.linear.bundles import Bundles
from orchard.linear.model import ModelBuilder, code_type
from orchard.linear.training import Lists, SolverSettings, TreeTrainer
from orchard.trees.label_tree import LabelTree

# ---- random things


def random_X(rng, n, d, density=0.4):
    """CSR float32, canonical, as the kernels want it."""
    X = sp.csr_matrix((rng.normal(size=(n, d)) * (rng.random((n, d)) < density)).astype(np.float32))
    X.sort_indices()
    return X


def random_Y(rng, n, n_labels, share=0.3):
    return sp.csr_matrix((rng.random((n, n_labels)) < share).astype(np.float32))


def random_tree(rng, n_labels, depth=3, n_splits=4, copies=0):
    """Leaves at any depth, some with a single label; `copies` labels stand in several leaves."""

    def grow(labels, depth):
        if depth == 0 or len(labels) < 2 or rng.random() < 0.25:
            return sorted({*labels, *rng.integers(n_labels, size=copies)})
        n_parts = int(rng.integers(2, min(n_splits, len(labels)) + 1))
        cuts = np.sort(rng.choice(np.arange(1, len(labels)), n_parts - 1, replace=False))
        return [grow(part.tolist(), depth - 1) for part in np.split(np.array(labels), cuts)]

    return LabelTree.from_groups(grow(rng.permutation(n_labels).tolist(), depth), n_labels)


def binary_tree(depth):
    """2^depth leaves with two labels each."""

    def grow(first, n_leaves):
        if n_leaves == 1:
            return [2 * first, 2 * first + 1]
        return [grow(first, n_leaves // 2), grow(first + n_leaves // 2, n_leaves // 2)]

    return LabelTree.from_groups(grow(0, 2**depth))


def random_model(rng, tree, n_features, density=0.3, scale=0.7):
    """Any weights on every edge, laid out as training does."""
    bundles = Bundles(tree)
    kind = np.empty(0, code_type(bundles.most_outputs))
    builder = ModelBuilder(tree, bundles, n_features)
    for n_outputs in bundles.n_outputs:
        dense = rng.normal(scale=scale, size=(n_features, n_outputs)) * (rng.random((n_features, n_outputs)) < density)
        biases = rng.normal(scale=scale, size=n_outputs).astype(np.float32)
        builder.add(biases, *(packed(dense, kind) if n_outputs else 2 * [np.empty(0, np.uint32)]))
    return builder.model()


def packed(dense, kind):
    """(table, words) of a dense matrix of weights (features, outputs)."""
    W = sp.csr_matrix(np.asarray(dense, np.float32))
    used = np.flatnonzero(np.diff(W.indptr)).astype(np.int32)
    begins = np.append(W.indptr[used], W.nnz).astype(np.int64)
    return pack(used, begins, W.indices.astype(np.int32), W.data, dense.shape[1], kind)


# ---- training


def minimum(X, y, C_positive=1.0, C_negative=1.0, bias=1.0, loss="squared-hinge"):
    """The w with the least ½‖w‖² + Σ C·loss, the bias' weight last, by a general optimiser in float64."""
    X = with_bias(X, bias)
    cost = np.where(y > 0, C_positive, C_negative)

    def value_and_gradient(w):
        z = y * (X @ w)
        if loss == "squared-hinge":
            gap = np.maximum(0, 1 - z)
            losses, slopes = gap**2, -2 * gap
        else:
            losses, slopes = np.logaddexp(0, -z), -1 / (1 + np.exp(z))
        return 0.5 * w @ w + cost @ losses, w + X.T @ (cost * slopes * y)

    options = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-14, "gtol": 1e-7}
    return minimize(value_and_gradient, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options=options).x


def objective(w, X, y, C_positive=1.0, C_negative=1.0, bias=1.0, loss="squared-hinge"):
    z = y * (with_bias(X, bias) @ w)
    losses = np.maximum(0, 1 - z) ** 2 if loss == "squared-hinge" else np.logaddexp(0, -z)
    return 0.5 * w @ w + np.where(y > 0, C_positive, C_negative) @ losses


def with_bias(X, bias):
    """Dense float64 with a last column that is `bias` everywhere."""
    dense = X.toarray() if sp.issparse(X) else np.asarray(X)
    return np.column_stack([dense.astype(np.float64), np.full(dense.shape[0], bias, np.float64)])


def one_vs_all(X, Y, samples=None, seed=0, **settings):
    """Train all columns of Y in one leaf, on the given rows: dense weights (n_labels, d + 1), the bias' weight last."""
    tree = LabelTree.from_groups(range(Y.shape[1]))
    settings = SolverSettings(**{"threshold": 0.0, **settings})
    trainer = TreeTrainer(X, Y, tree, settings, seed)
    samples = np.arange(X.shape[0]) if samples is None else np.asarray(samples)
    lists = Lists(np.array([0, samples.size]), samples.astype(np.int32))
    trainer.train_nodes(np.array([0]), lists, 1)
    W, biases = trainer.model().weights_of(0)
    return np.column_stack([W.toarray().T, biases / settings.bias if settings.bias else biases])


# ---- search


def log_gain(z, combiner):
    if combiner == "sigmoid":
        return -np.logaddexp(0, -z)
    more = 0.001 / (1 + np.maximum(0, z)) ** 2 if combiner.endswith("-untied") else 0
    return -(np.maximum(0, 1 - z) ** int(combiner[1])) - more


def edge_scores(model, x, node, combiner):
    """log g of every output of a node, float64."""
    W, biases = model.weights_of(node)
    return log_gain(W.T.astype(np.float64) @ x + biases, combiner)


def scaled(X, settings):
    dense = X.toarray().astype(np.float64)
    norms = np.linalg.norm(dense, axis=1, keepdims=True)
    return dense / np.where(norms > 0, norms, 1) if settings.normalise else dense


def plain_beam(model, x, settings, n_levels=None):
    """[(log score, node)], best first, after so many levels; leaves that are reached earlier stay in the beam."""
    tree, beam = model.tree, [(0.0, 0)]
    for _ in range(tree.max_depth if n_levels is None else n_levels):
        found = []
        for score, node in beam:
            if tree.is_leaf[node]:
                found.append((score, node))
                continue
            edges = edge_scores(model, x, node, settings.combiner)
            found += [(settings.discount * score + edge, tree.children[node] + i) for i, edge in enumerate(edges)]
        beam = sorted(found, key=lambda pair: -pair[0])[: settings.beam]
    return beam


def plain_labels(model, x, settings, leaves=None):
    """{label: [(log score of the path, log gain, depth) of every copy]} of some leaves [(log score, node)].

    By default those of the beam. A label alone in its leaf has no classifier, and no gain: NaN.
    """
    tree, found = model.tree, {}
    for score, leaf in plain_beam(model, x, settings) if leaves is None else leaves:
        labels = tree.labels_of(leaf)
        edges = edge_scores(model, x, leaf, settings.combiner) if labels.size > 1 else None
        for place, label in enumerate(labels):
            path, gain = (score, np.nan) if edges is None else (settings.discount * score, edges[place])
            found.setdefault(int(label), []).append((path, gain, tree.depth[leaf]))
    return found


def every_leaf(model, x, settings):
    """[(log score, leaf)] of all paths from the root, none left out."""
    tree = model.tree
    score = np.zeros(tree.n_nodes)
    for node in np.flatnonzero(~tree.is_leaf):  # parents come before their children
        below = slice(tree.children[node], tree.children[node + 1])
        score[below] = settings.discount * score[node] + edge_scores(model, x, node, settings.combiner)
    return [(score[leaf], leaf) for leaf in tree.leaves]


def plain_topk(models, x, settings, everything=False):
    """{label: (score, depth)}: copies merged, trees averaged, a tree that did not find a label counts 0."""
    merged = {}
    for model in models:
        leaves = every_leaf(model, x, settings) if everything else None
        for label, copies in plain_labels(model, x, settings, leaves).items():
            paths, gains, depths = map(np.array, zip(*copies, strict=True))
            scores, said = np.exp(paths + np.nan_to_num(gains)), gains[~np.isnan(gains)]
            score = {
                "mean": np.mean(scores),
                "max": np.max(scores),
                "best-path": np.exp(paths.max() + (said.mean() if said.size else 0)),
            }[settings.merge]
            merged.setdefault(label, []).append((score, np.mean(depths)))
    return {
        label: (sum(score for score, _ in found) / len(models), np.mean([depth for _, depth in found]))
        for label, found in merged.items()
    }
