import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from orchard.data.statistics import label_frequencies
from orchard.trees.frequencies import greedy_frequencies, marginal_frequencies

untimed = settings(deadline=None)

# Contexts {0, 1}, {0, 1}, {0, 2}, {1}, {1, 2}, {3}, {}: f = (3, 4, 2, 1).
Y = sp.csr_matrix(
    np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1], [0] * 4])
)


def greedy_as_printed(Y, p):
    """Algorithm 1 of labeltrees, line by line."""
    Y, p = Y.toarray(), p.astype(float).copy()
    f = np.zeros(Y.shape[1])
    while (Y.T @ p).any():
        label = int(np.argmax(Y.T @ p))
        f[label] = (Y.T @ p)[label]
        p[Y[:, label] > 0] = 0
    return f


def marginal_as_printed(Y, p):
    """Algorithm 2 of labeltrees, with the context's frequency p_i where it prints p_j."""
    Y, f, f_tilde = Y.toarray(), Y.toarray().T @ p, np.zeros(Y.shape[1])
    for i in range(Y.shape[0]):
        if Y[i].any():
            f_tilde[np.argmax(Y[i] * (f + 1e-300))] += p[i]
    return f_tilde


def test_frequencies_of_a_case_worked_by_hand():
    """Label 1 takes four contexts, label 0 is left with one, then label 2 with none and label 3 with its own."""
    np.testing.assert_array_equal(label_frequencies(Y), [3, 4, 2, 1])
    np.testing.assert_array_equal(greedy_frequencies(Y), [1, 4, 0, 1])
    np.testing.assert_array_equal(marginal_frequencies(Y), [1, 4, 0, 1])
    # With the last of {1}'s asked for a hundred times and {0, 2} ten times: f = (12, 103, 11, 1).
    p = np.array([1, 1, 10, 100, 1, 1, 5])
    np.testing.assert_array_equal(label_frequencies(Y, p), [12, 103, 11, 1])
    np.testing.assert_array_equal(greedy_frequencies(Y, p), [10, 103, 0, 1])


def test_greedy_and_marginal_differ_where_a_frequent_label_has_lost_its_contexts():
    """1 takes five contexts, which leaves 0 and 2 with one and two of their four.

    Of {2, 3} greedy then asks 3, which still has all of its three; the marginals ask 2, which had four.
    """
    contexts = [{0, 1}] * 3 + [{0}] + [{1, 2}] * 2 + [{2, 3}] * 2 + [{3}]
    Y = sp.csr_matrix(np.array([[label in context for label in range(4)] for context in contexts], dtype=float))
    np.testing.assert_array_equal(label_frequencies(Y), [4, 5, 4, 3])
    np.testing.assert_array_equal(greedy_frequencies(Y), [1, 5, 0, 3])
    np.testing.assert_array_equal(marginal_frequencies(Y), [1, 5, 2, 1])


@untimed
@given(st.integers(0, 100_000), st.integers(1, 25), st.integers(1, 12), st.booleans())
def test_lazy_is_as_printed(seed, n, n_labels, weighted):
    """Stale frequencies on the heap change nothing; integers, so that ties are ties."""
    rng = np.random.default_rng(seed)
    Y = sp.csr_matrix(rng.random((n, n_labels)) < rng.uniform(0.05, 0.6), dtype=np.float32)
    p = rng.integers(0, 4, n).astype(float) if weighted else np.ones(n)
    np.testing.assert_array_equal(greedy_frequencies(Y, p), greedy_as_printed(Y, p))
    np.testing.assert_array_equal(marginal_frequencies(Y, p), marginal_as_printed(Y, p))


@untimed
@given(st.integers(0, 100_000), st.floats(0, 1))
def test_every_context_is_counted_once(seed, sharpness):
    """f̃ shares the contexts out: its sum is theirs, and it never exceeds f; the mixture goes from f to f̃."""
    rng = np.random.default_rng(seed)
    Y = sp.csr_matrix(rng.random((30, 9)) < 0.3, dtype=np.float32)
    p = rng.random(30)
    f, with_label = label_frequencies(Y, p), np.diff(Y.indptr) > 0
    for f_tilde in (greedy_frequencies(Y, p), marginal_frequencies(Y, p)):
        assert f_tilde.sum() == pytest.approx(p[with_label].sum())
        assert (f_tilde <= f + 1e-12).all()
    np.testing.assert_allclose(
        marginal_frequencies(Y, p, sharpness), sharpness * marginal_frequencies(Y, p) + (1 - sharpness) * f
    )


@pytest.mark.parametrize("contexts", [np.ones(3), -np.ones(7), np.full(7, np.nan), np.ones((7, 1))])
def test_wrong_contexts_are_refused(contexts):
    with pytest.raises(ValueError, match="contexts must be 7 frequencies"):
        greedy_frequencies(Y, contexts)


def test_wrong_sharpness_is_refused():
    with pytest.raises(ValueError, match=r"sharpness must be between 0 and 1, not 1\.5"):
        marginal_frequencies(Y, sharpness=1.5)
