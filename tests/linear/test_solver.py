"""Dual coordinate descent against scikit-learn, a general optimiser, and the same algorithm in plain Python."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_engine import minimum, objective, one_vs_all, random_X, random_Y
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from orchard.linear import _solver_kernels
from orchard.linear._solver_kernels import NARROW, WIDE

EXACT = {"tolerance": 1e-5, "max_iterations": 5000}


def signs(Y, label):
    return np.where(Y.toarray()[:, label] > 0, 1.0, -1.0)


def assert_optimal(W, X, Y, **problem):
    """Every label's weights are the minimiser's, and cost no more."""
    for label in range(Y.shape[1]):
        y = signs(Y, label)
        best = minimum(X, y, **problem)
        np.testing.assert_allclose(W[label], best, atol=2e-4)
        assert objective(W[label], X, y, **problem) <= objective(best, X, y, **problem) * (1 + 1e-5) + 1e-6


@pytest.mark.parametrize("bias", [0.0, 1.0, 0.5])
@pytest.mark.parametrize(("C_positive", "C_negative"), [(1, 1), (0.1, 0.1), (5, 0.5), (0.2, 2)])
@pytest.mark.parametrize("n_labels", [2, NARROW, NARROW + 1, WIDE + 5])
def test_squared_hinge_against_linear_svc(n_labels, C_positive, C_negative, bias):
    """LIBLINEAR's weights, whatever the costs and the bias are, with fewer labels than lanes and with more."""
    rng = np.random.default_rng(n_labels)
    X, Y = random_X(rng, 40, 15), random_Y(rng, 40, n_labels)
    W = one_vs_all(X, Y, C_positive=C_positive, C_negative=C_negative, bias=bias, **EXACT)
    with_bias = np.column_stack([X.toarray(), np.full(40, bias)])
    for label in range(n_labels):
        y = signs(Y, label)
        weights = {1.0: C_positive, -1.0: C_negative}
        svc = LinearSVC(C=1, dual=True, tol=1e-7, max_iter=100_000, fit_intercept=False, class_weight=weights)
        expected = svc.fit(with_bias, y).coef_[0]
        np.testing.assert_allclose(W[label], expected, atol=2e-4)
        costs = {"C_positive": C_positive, "C_negative": C_negative, "bias": bias}
        assert objective(W[label], X, y, **costs) <= objective(expected, X, y, **costs) * (1 + 1e-5)


@pytest.mark.parametrize(("C_positive", "C_negative", "bias"), [(1, 1, 1), (3, 0.5, 1), (0.2, 2, 0)])
@pytest.mark.parametrize("n_labels", [2, WIDE + 1])
def test_logistic_loss_against_logistic_regression(n_labels, C_positive, C_negative, bias):
    """The dual solver of Yu et al. finds scikit-learn's weights."""
    rng = np.random.default_rng(n_labels)
    X, Y = random_X(rng, 40, 12), random_Y(rng, 40, n_labels)
    W = one_vs_all(X, Y, loss="logistic", C_positive=C_positive, C_negative=C_negative, bias=bias, **EXACT)
    with_bias = np.column_stack([X.toarray(), np.full(40, bias)]).astype(np.float64)
    for label in range(n_labels):
        weights = {1.0: C_positive, -1.0: C_negative}
        logistic = LogisticRegression(
            C=1, tol=1e-9, solver="newton-cholesky", max_iter=10_000, fit_intercept=False, class_weight=weights
        )
        np.testing.assert_allclose(W[label], logistic.fit(with_bias, signs(Y, label)).coef_[0], atol=2e-4)


ODD_PROBLEMS = {
    "a label of nobody and one of everybody": lambda X, Y: (X, np.column_stack([Y, 0 * Y[:, 0], 0 * Y[:, 0] + 1])),
    "every sample twice": lambda X, Y: (np.vstack([X, X]), np.vstack([Y, Y])),
    "the same sample with and without the label": lambda X, Y: (np.vstack([X, X]), np.vstack([Y, 1 - Y])),
    "empty rows": lambda X, Y: (X * (np.arange(len(X)) % 3 > 0)[:, None], Y),
    "only empty rows": lambda X, Y: (0 * X, Y),
    "features that nobody has": lambda X, Y: (np.hstack([0 * X, X, 0 * X]), Y),
    "every column twice": lambda X, Y: (np.hstack([X, X]), Y),
    "one sample": lambda X, Y: (X[:1], Y[:1]),
    "large values": lambda X, Y: (10 * X, Y),
    "small values": lambda X, Y: (0.01 * X, Y),
}


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
@pytest.mark.parametrize("odd", ODD_PROBLEMS)
def test_odd_problems_have_the_same_minimum(odd, loss):
    """What real data brings sooner or later; scikit-learn refuses half of it."""
    rng = np.random.default_rng(5)
    X, Y = ODD_PROBLEMS[odd](random_X(rng, 20, 8).toarray(), random_Y(rng, 20, 3).toarray())
    X, Y = sp.csr_matrix(X.astype(np.float32)), sp.csr_matrix(Y)
    slow = {**EXACT, "max_iterations": 50_000} if odd == "large values" else EXACT
    assert_optimal(one_vs_all(X, Y, loss=loss, **slow), X, Y, loss=loss)


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
@pytest.mark.parametrize("n_labels", [3, 20])
def test_features_of_one_sample_alone_are_learned_too(n_labels, loss):
    """On a part of the samples such features need no place in W; their weights must come out as if they had one."""
    rng = np.random.default_rng(n_labels)
    shared, own = random_X(rng, 30, 6).toarray(), np.diag(rng.normal(size=30)) + np.eye(30, k=3)
    X = sp.csr_matrix(np.hstack([own, shared, 2 * np.eye(30)]).astype(np.float32))
    Y = random_Y(rng, 30, n_labels)
    samples = np.sort(rng.choice(30, 20, replace=False))
    W = one_vs_all(X, Y, samples, loss=loss, **EXACT)
    assert_optimal(W, X[samples], Y[samples], loss=loss)


@given(st.integers(0, 10_000), st.integers(1, 20), st.integers(1, 8), st.integers(2, 20), st.booleans())
@settings(max_examples=25)
def test_any_small_problem_is_solved(seed, n, d, n_labels, only_some):
    """Shrinking, waiting lanes and lanes that take another label never change what is the minimum."""
    rng = np.random.default_rng(seed)
    X, Y = random_X(rng, n, d), random_Y(rng, n, n_labels)
    samples = np.flatnonzero(rng.random(n) < 0.7) if only_some else np.arange(n)
    W = one_vs_all(X, Y, samples, seed, **EXACT)
    if samples.size == 0:
        np.testing.assert_array_equal(W, 0)
    else:
        assert_optimal(W[:6], X[samples], Y[samples][:, :6])


def plain_descent(X, y, C_positive, C_negative, bias, n_passes=400):
    """Hsieh et al. 2008, Alg. 1, in order and without shrinking."""
    X = np.column_stack([X.toarray(), np.full(X.shape[0], bias)]).astype(np.float64)
    w, alpha = np.zeros(X.shape[1]), np.zeros(len(y))
    for _ in range(n_passes):
        for i in range(len(y)):
            half = 0.5 / (C_positive if y[i] > 0 else C_negative)
            gradient = y[i] * (w @ X[i]) - 1 + half * alpha[i]
            new = max(0.0, alpha[i] - gradient / (X[i] @ X[i] + half))
            w += (new - alpha[i]) * y[i] * X[i]
            alpha[i] = new
    return w


@given(st.integers(0, 1000), st.sampled_from([0.3, 1.0, 4.0]), st.sampled_from([0.0, 1.0]))
@settings(max_examples=10)
def test_the_same_algorithm_in_plain_python(seed, C_positive, bias):
    """A second implementation of the dual, on tiny cases, agrees in every weight."""
    rng = np.random.default_rng(seed)
    X, Y = random_X(rng, 8, 5), random_Y(rng, 8, 2)
    W = one_vs_all(X, Y, C_positive=C_positive, bias=bias, **EXACT)
    for label in range(2):
        np.testing.assert_allclose(W[label], plain_descent(X, signs(Y, label), C_positive, 1, bias), atol=1e-4)


@pytest.fixture
def passes(monkeypatch):
    """(visits, passes) of every job of the solver."""
    seen = []

    def watched(solve):
        def solve_and_tell(*arguments):
            result = solve(*arguments)
            seen.append(result[-2:])
            return result

        return solve_and_tell

    for name in ("solve_narrow", "solve_wide", "solve_logistic"):
        monkeypatch.setattr(_solver_kernels, name, watched(getattr(_solver_kernels, name)))
    return seen


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
@pytest.mark.parametrize("max_iterations", [1, 2, 7])
def test_the_limit_of_iterations_is_kept(passes, max_iterations, loss):
    """With a tolerance out of reach every label is given so many passes and not one more."""
    rng = np.random.default_rng(0)
    X, Y = random_X(rng, 60, 10), random_Y(rng, 60, NARROW)
    one_vs_all(X, Y, loss=loss, tolerance=1e-12, max_iterations=max_iterations)
    ((n_visits, n_passes),) = passes
    assert n_passes == max_iterations and n_visits <= 60 * max_iterations
    one_vs_all(X, random_Y(rng, 60, WIDE + 1), loss=loss, tolerance=1e-12, max_iterations=max_iterations)
    assert passes[1][1] == 2 * max_iterations  # the last label had to wait for a lane


def test_samples_that_teach_nothing_are_left_out(passes):
    """Shrinking: an easy problem is solved with fewer visits than passes times samples."""
    rng = np.random.default_rng(0)
    X = random_X(rng, 400, 10)
    Y = sp.csr_matrix((X[:, [0, 0]].toarray() > 0.5).astype(np.float32))
    one_vs_all(X, Y, tolerance=1e-4, max_iterations=1000)
    ((n_visits, n_passes),) = passes
    assert n_visits < 0.9 * 400 * n_passes


def test_easy_labels_are_learned_beside_a_hard_one(passes):
    """Lanes are refilled while another one goes on: together they take hardly more passes than the longer of both."""
    rng = np.random.default_rng(0)
    X = random_X(rng, 200, 20)
    hard, easy = random_Y(rng, 200, 1, share=0.5), sp.csr_matrix((200, 5 * WIDE), dtype=np.float32)
    for Y in (hard, easy, sp.hstack([hard, easy], format="csr")):
        one_vs_all(X, sp.csr_matrix(Y), tolerance=0.01, max_iterations=10_000)
    alone, others, together = (n_passes for _, n_passes in passes)
    assert min(alone, others) > 5
    assert together < max(alone, others) + min(alone, others) / 2


def test_a_looser_tolerance_takes_fewer_passes(passes):
    """The tolerance is what stops the descent, long before the limit."""
    rng = np.random.default_rng(0)
    X, Y = random_X(rng, 60, 10), random_Y(rng, 60, 3)
    for tolerance in (1.0, 0.1, 1e-3):
        one_vs_all(X, Y, tolerance=tolerance, max_iterations=10_000)
    assert passes[0][1] < passes[1][1] < passes[2][1] < 10_000


@pytest.mark.parametrize("only_some", [False, True])
@pytest.mark.parametrize("threshold", [0.01, 0.1, 0.3])
def test_pruning_keeps_exactly_the_weights_that_reach_the_threshold(threshold, only_some):
    """The same weights to the bit, the small ones gone, the biases untouched; private features are no exception."""
    rng = np.random.default_rng(1)
    X = sp.hstack([random_X(rng, 30, 10), sp.identity(30, np.float32)], format="csr")
    Y = random_Y(rng, 30, 6)
    samples = np.arange(0, 30, 2) if only_some else None
    whole, pruned = (one_vs_all(X, Y, samples, threshold=t) for t in (0.0, threshold))
    expected = np.where(np.abs(whole) >= np.float32(threshold), whole, 0)
    expected[:, -1] = whole[:, -1]
    assert 0 < np.count_nonzero(expected) < np.count_nonzero(whole)
    np.testing.assert_array_equal(pruned, expected)
