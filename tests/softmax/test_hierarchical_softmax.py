"""Hierarchical softmax: training as fastText does it, exact search."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from orchard.softmax import HierarchicalSoftmax
from orchard.softmax._kernels import LANES
from orchard.trees.label_tree import LabelTree


def random_tree(n_labels, rng, depth_first=0.5):
    """Split a random leaf, or with probability `depth_first` the last one made, which gives deep trees."""
    parents, leaves = [-1], [0]
    while len(leaves) < n_labels:
        place = len(leaves) - 1 if rng.random() < depth_first else rng.integers(len(leaves))
        parent = leaves.pop(place)
        leaves += [len(parents), len(parents) + 1]
        parents += [parent, parent]
    return LabelTree.from_parents(np.array(parents), np.array(leaves), rng.permutation(n_labels))


def chain(n_labels):
    """As deep as a tree can be: one label at every depth."""
    parents = [-1, *(2 * (i // 2) for i in range(2 * n_labels - 2))]
    leaves = [*range(1, 2 * n_labels - 2, 2), 2 * n_labels - 2]
    return LabelTree.from_parents(np.array(parents), np.array(leaves), np.arange(n_labels))


def random_problem(n, n_features, n_labels, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random(n, n_features, 0.3, "csr", np.float32, random_state=rng)
    X.data = np.ceil(3 * X.data)
    Y = sp.random(n, n_labels, 0.3, "csr", np.float32, random_state=rng)
    return X, Y


def without(matrix, row):
    """The matrix with an empty row."""
    keep = np.ones(matrix.shape[0], np.float32)
    keep[row] = 0
    matrix = sp.csr_matrix(sp.diags(keep, dtype=np.float32) @ matrix)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def vectors(model):
    """Embeddings and outputs without their padding, (n_features, dimension) and (n_inner, dimension)."""
    embeddings = np.concatenate(list(model.embeddings_), axis=1)
    return embeddings[:, : model.dimension], model.outputs_[:, : model.dimension]


def paths(tree):
    """{label: [(row of the output matrix, 1 if the path goes to the second child), …]}."""
    inner = np.flatnonzero(~tree.is_leaf).tolist()
    found = {}
    for leaf in tree.leaves.tolist():
        node, path = leaf, []
        while node:
            parent = int(tree.parent[node])
            path.append((inner.index(parent), int(node - tree.children[parent])))
            node = parent
        found[int(tree.labels_of(leaf)[0])] = path
    return found


def plain_probabilities(model, X):
    """p(label | x) of all labels, (n, n_labels), from the definition."""
    E, V = (matrix.astype(float) for matrix in vectors(model))
    X = X.toarray().astype(float)
    h = X @ E / np.maximum(X.sum(axis=1, keepdims=True), 1e-30)
    plus = 1 / (1 + np.exp(-h @ V.T))
    P = np.ones((X.shape[0], model.n_labels_))
    for label, path in paths(model.tree_).items():
        for row, side in path:
            P[:, label] *= plus[:, row] if side else 1 - plus[:, row]
    return P


def splitmix64(state):
    state = (state + 0x9E3779B97F4A7C15) % 2**64
    z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return state, z ^ (z >> 31)


def plain_training(model, X, Y, tree):
    """fastText's training, line by line, in double precision; from the same start and with the same draws."""
    rng = np.random.default_rng(model.random_state)
    E = np.concatenate(list(model._first_embeddings(X.shape[1], rng)), axis=1)[:, : model.dimension].astype(float)
    state = int(rng.integers(1 << 63, size=1, dtype=np.uint64)[0])
    V = np.zeros((tree.n_labels - 1, model.dimension))
    X, path_of, seen, total = X.toarray(), paths(tree), 0.0, model.epochs * X.sum()
    for _ in range(model.epochs):
        for x, labels in zip(X, np.split(Y.indices, Y.indptr[1:-1]), strict=True):
            rate = model.learning_rate * (1 - seen / total)
            seen += x.sum()
            if not labels.size or not x.any():
                continue
            state, bits = splitmix64(state)
            label = labels[(bits >> 32) * labels.size >> 32]
            h, gradient = x @ E / x.sum(), 0
            for row, side in path_of[int(label)]:
                step = rate * (side - 1 / (1 + np.exp(-h @ V[row])))
                gradient = gradient + step * V[row]
                V[row] += step * h
            E += np.outer(x / x.sum(), gradient)
    return E, V


# ---- Training ----


@pytest.mark.parametrize("dimension", [5, LANES, LANES + 7])
def test_training_is_that_of_the_plain_implementation(dimension):
    X, Y = random_problem(40, 12, 6)
    X, Y = without(X, 3), without(Y, 4)
    tree = random_tree(6, np.random.default_rng(1))
    model = HierarchicalSoftmax(dimension, learning_rate=0.5, epochs=30, random_state=3).fit(X, Y, [tree])
    expected = plain_training(model, X, Y, tree)
    for found, plain in zip(vectors(model), expected, strict=True):
        assert np.abs(plain).max() > 0.5  # something was learned
        np.testing.assert_allclose(found, plain, atol=2e-4)


def test_padding_stays_zero():
    X, Y = random_problem(30, 9, 5)
    model = HierarchicalSoftmax(LANES + 3, epochs=5).fit(X, Y, [chain(5)])
    assert model.embeddings_.shape == (2, 9, LANES)
    assert not model.embeddings_[1, :, 3:].any()
    assert not model.outputs_[:, LANES + 3 :].any()


def test_the_start_is_that_of_fasttext():
    X, Y = random_problem(20, 50, 4)
    embeddings, outputs = vectors(HierarchicalSoftmax(16, epochs=0).fit(X, Y, [chain(4)]))
    assert -1 / 16 <= embeddings.min() < -0.9 / 16
    assert 0.9 / 16 < embeddings.max() <= 1 / 16
    assert not outputs.any()


def test_the_same_seed_gives_the_same_model_to_the_bit():
    X, Y = random_problem(50, 20, 8)
    tree = random_tree(8, np.random.default_rng(0))
    one, same, other = (HierarchicalSoftmax(20, epochs=10, random_state=seed).fit(X, Y, [tree]) for seed in (1, 1, 2))
    assert np.array_equal(one.embeddings_, same.embeddings_)
    assert np.array_equal(one.outputs_, same.outputs_)
    assert not np.array_equal(one.outputs_, other.outputs_)


def test_an_easy_problem_is_learned():
    """A word of its own for every label, among words that say nothing."""
    rng = np.random.default_rng(0)
    labels = rng.integers(20, size=600)
    noise = sp.random(600, 30, 0.1, "csr", np.float32, random_state=rng)
    words = sp.csr_matrix((np.ones(600, np.float32), (np.arange(600), labels)), shape=(600, 20))
    X = sp.hstack([words, noise], format="csr")
    model = HierarchicalSoftmax(16, epochs=30).fit(X[:500], words[:500], [random_tree(20, rng)])
    ids, scores = model.predict_topk(X[500:], k=1)
    assert np.mean(ids[:, 0] == labels[500:]) > 0.98
    assert scores.mean() > 0.9


# ---- Prediction ----


def fitted(n_labels, tree, seed=0, learning_rate=0.5):
    X, Y = random_problem(30, 10, n_labels, seed)
    return HierarchicalSoftmax(6, learning_rate, epochs=20, random_state=seed).fit(X, Y, [tree]), X


@given(st.integers(1, 40), st.floats(0, 1), st.integers(0, 99), st.integers(1, 45))
def test_the_best_are_those_of_all_labels(n_labels, depth_first, seed, k):
    """Best-first search finds what the definition gives, and probabilities of all labels sum to 1."""
    rng = np.random.default_rng(seed)
    tree = random_tree(n_labels, rng, depth_first)
    model, X = fitted(n_labels, tree, seed)
    X = sp.vstack([X, sp.csr_matrix((1, 10), dtype=np.float32)], format="csr")  # the last row has no features
    P = plain_probabilities(model, X)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-9)
    ids, scores, depths = model.predict_topk(X, k, return_depths=True)
    n_found = min(k, n_labels)
    np.testing.assert_allclose(scores[:, :n_found], -np.sort(-P, axis=1)[:, :k], rtol=1e-4)
    found = ids[:, :n_found]
    np.testing.assert_allclose(scores[:, :n_found], np.take_along_axis(P, found, axis=1), rtol=1e-4)
    assert np.array_equal(depths[:, :n_found], tree.label_depths[found])
    assert all(np.unique(row).size == n_found for row in found)
    assert (ids[:, n_found:] == -1).all()
    assert (scores[:, n_found:] == -np.inf).all()
    assert np.isnan(depths[:, n_found:]).all()
    if k >= n_labels:
        np.testing.assert_allclose(scores[:, :n_found].sum(axis=1), 1, rtol=1e-5)


def test_a_very_deep_tree_is_searched():
    model, X = fitted(3000, chain(3000), learning_rate=0.001)
    ids, scores, depths = model.predict_topk(X, 3000, return_depths=True)
    np.testing.assert_allclose(scores.sum(axis=1), 1, rtol=1e-4)
    assert depths.max() == 2999
    assert (np.diff(scores, axis=1) <= 0).all()
    assert all(np.array_equal(np.sort(row), np.arange(3000)) for row in ids)


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    model, _ = fitted(50, random_tree(50, rng))
    X, _ = random_problem(500, 10, 2, seed=5)
    results = [model.set_params(n_jobs=n_jobs).predict_topk(X, 7, True) for n_jobs in (1, 2, 3)]
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_dense_and_sparse_are_the_same():
    model, X = fitted(9, chain(9))
    for one, other in zip(model.predict_topk(X), model.predict_topk(X.toarray()), strict=True):
        assert np.array_equal(one, other)


# ---- What is refused ----


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (LabelTree.from_groups([[0], [1], [2]]), "node 0 has 3 children"),
        (LabelTree.from_groups([[[0]], [[1], [2]]]), "node 1 has 1 children"),
        (LabelTree.from_groups([[0, 1], [2]]), "leaf 1 holds 2"),
        (LabelTree.from_groups([[0], [[1], [[2], [0]]]]), "label 0 stands in several leaves"),
        (LabelTree.from_groups([[0], [1]]), "over 2 labels, Y has 3"),
    ],
)
def test_trees_that_are_not_binary_down_to_single_labels_are_refused(tree, words):
    X, Y = random_problem(10, 5, 3)
    with pytest.raises(ValueError, match=words):
        HierarchicalSoftmax(epochs=1).fit(X, Y, [tree])


@pytest.mark.parametrize("trees", [None, [], [chain(3), chain(3)]])
def test_exactly_one_tree_is_needed(trees):
    with pytest.raises(ValueError, match="one LabelTree"):
        HierarchicalSoftmax().fit(*random_problem(10, 5, 3), trees)


@pytest.mark.parametrize(
    "wrong", [{"dimension": 0}, {"learning_rate": 0.0}, {"epochs": -1}, {"random_state": None}, {"n_jobs": 0}]
)
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        HierarchicalSoftmax(**wrong).fit(*random_problem(10, 5, 3), [chain(3)])


def test_a_training_that_diverges_says_so():
    with pytest.raises(ValueError, match="learning_rate=1000"):
        HierarchicalSoftmax(5, learning_rate=1000.0, epochs=50).fit(*random_problem(40, 5, 6), [chain(6)])


def test_negative_weights_and_a_model_without_training_are_refused():
    X, Y = random_problem(10, 5, 3)
    with pytest.raises(ValueError, match="negative"):
        HierarchicalSoftmax().fit(-X, Y, [chain(3)])
    with pytest.raises(RuntimeError, match="not fitted"):
        HierarchicalSoftmax().predict_topk(X)
    model, X = fitted(3, chain(3))
    with pytest.raises(ValueError, match="k must be at least 1"):
        model.predict_topk(X, 0)
    with pytest.raises(ValueError, match="features"):
        model.predict_topk(X[:, :4])


def test_parameters_are_told_and_set():
    model = HierarchicalSoftmax(epochs=5)
    assert repr(model) == "HierarchicalSoftmax(epochs=5)"
    assert repr(model.set_params(dimension=10)) == "HierarchicalSoftmax(dimension=10, epochs=5)"
    assert model.get_params() == {
        "dimension": 10, "learning_rate": 0.5, "epochs": 5, "random_state": 0, "n_jobs": None
    }  # fmt: skip
    with pytest.raises(ValueError, match="no parameter 'depth'"):
        model.set_params(depth=1)


def test_the_size_of_a_model_is_that_of_its_vectors_and_its_tree():
    model, _ = fitted(3, chain(3))
    assert model.model_bytes_ == 4 * LANES * (10 + 2) + 8 * (6 + 6) + 4 * 3
