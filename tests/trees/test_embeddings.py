import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from orchard.trees import _embedding_kernels as kernels
from orchard.trees.embeddings import pifa, unit_rows


def test_unit_rows_scales_each_row_and_leaves_its_argument_alone():
    """(3, 4) becomes (0.6, 0.8); an empty row stays empty; the input keeps its values."""
    matrix = sp.csr_matrix([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(unit_rows(matrix).toarray(), [[0.6, 0.8], [0, 0]], rtol=1e-6)
    np.testing.assert_array_equal(matrix.toarray(), [[3, 4], [0, 0]])


def test_parabel_lets_every_sample_speak_with_unit_length():
    """A long sample must not drown a short one: (10, 0) and (0, 1) average to the diagonal."""
    X, Y = sp.csr_matrix([[10.0, 0.0], [0.0, 1.0]]), sp.csr_matrix([[1.0], [1.0]])
    np.testing.assert_allclose(pifa(X, Y, "parabel").toarray(), [[np.sqrt(0.5), np.sqrt(0.5)]], rtol=1e-6)


def test_xr_linear_divides_a_sample_among_its_labels():
    """The sample with four labels counts half as much for each as the sample with one."""
    X, Y = sp.csr_matrix([[1.0, 0.0], [0.0, 1.0]]), sp.csr_matrix([[1.0, 0, 0, 0], [1.0, 1, 1, 1]])
    expected = np.array([1.0, 0.5]) / np.hypot(1.0, 0.5)
    np.testing.assert_allclose(pifa(X, Y, "xr-linear").toarray()[0], expected, rtol=1e-6)


def test_a_label_without_positives_has_an_empty_row():
    """There is nothing to say about it, and nothing must become NaN."""
    V = pifa(sp.csr_matrix([[1.0, 2.0]]), sp.csr_matrix([[0.0, 1.0, 0.0]]))
    assert V.shape == (3, 2)
    np.testing.assert_array_equal(np.diff(V.indptr), [0, 2, 0])
    assert np.isfinite(V.data).all()


@settings(deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["parabel", "xr-linear"]))
def test_pifa_agrees_with_dense_numpy(seed, weighting):
    """Sparse and dense agree, rows are unit or empty, and the result is a canonical float32 CSR matrix."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 7)) * (rng.random((12, 7)) < 0.5)
    Y = (rng.random((12, 5)) < 0.3).astype(float)

    def unit(A):
        norms = np.linalg.norm(A, axis=1, keepdims=True)
        return np.divide(A, norms, out=np.zeros_like(A), where=norms > 0)

    expected = unit(Y.T @ unit(X)) if weighting == "parabel" else unit(unit(Y).T @ X)
    V = pifa(sp.csr_matrix(X), sp.csr_matrix(Y), weighting)
    np.testing.assert_allclose(V.toarray(), expected, atol=2e-6)
    assert V.format == "csr" and V.dtype == np.float32 and V.has_sorted_indices


@pytest.mark.parametrize("weighting", ["parabel", "xr-linear"])
def test_pifa_is_the_sparse_product_whatever_the_number_of_threads(weighting):
    """Labels of one, few and many samples, dense and sparse features: scipy's product, and not a bit of difference."""
    rng = np.random.default_rng(0)
    X = sp.random(400, 3000, 0.01, "csr", np.float32, rng)
    X = sp.hstack([X, sp.random(400, 70, 0.5, "csr", np.float32, rng)]).tocsr()
    Y = sp.csr_matrix(rng.random((400, 90)) < np.geomspace(1e-3, 0.9, 90), dtype=np.float32)
    V = pifa(X, Y, weighting, n_jobs=1)
    expected = unit_rows(
        (Y if weighting == "parabel" else unit_rows(Y)).T @ (unit_rows(X) if weighting == "parabel" else X)
    )
    expected.sort_indices()
    np.testing.assert_array_equal(V.indptr, expected.indptr)
    np.testing.assert_array_equal(V.indices, expected.indices)
    np.testing.assert_allclose(V.data, expected.data, rtol=1e-5)
    for n_jobs in (2, 5):
        other = pifa(X, Y, weighting, n_jobs=n_jobs)
        np.testing.assert_array_equal(other.indptr, V.indptr)
        np.testing.assert_array_equal(other.indices, V.indices)
        np.testing.assert_array_equal(other.data, V.data)


def test_pifa_sorts_what_comes_unsorted_and_leaves_it_alone():
    """Features in any order, one of them twice: the label still gets its sum once per feature, in order."""
    X = sp.csr_matrix((np.float32([1, 2, 1]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 4))
    V = pifa(X, sp.csr_matrix([[1.0, 0.0]]))
    np.testing.assert_array_equal(V.indices, [0, 2])
    np.testing.assert_allclose(V.data, [np.sqrt(0.5)] * 2, rtol=1e-6)
    np.testing.assert_array_equal(X.indices, [2, 0, 2])


def test_nothing_in_nothing_out():
    """No sample has a label, or there is no label: an empty matrix of the right shape."""
    assert pifa(sp.csr_matrix((3, 4)), sp.csr_matrix((3, 2))).shape == (2, 4)
    assert pifa(sp.csr_matrix(np.eye(3)), sp.csr_matrix((3, 0))).shape == (0, 3)


@settings(deadline=None)
@given(st.lists(st.integers(0, 63), unique=True))
def test_the_set_bits_of_a_word_come_out_in_order(positions):
    """From none to all 64, after what is there already."""
    out = np.full(70, -1, np.int32)
    n = kernels.append_bits(np.uint64(sum(1 << position for position in positions)), 100, out, 2)
    np.testing.assert_array_equal(out[:n], [-1, -1, *(100 + position for position in sorted(positions))])


def test_wrong_arguments_are_named():
    """A typo in the weighting or samples that do not match are told, not computed."""
    X = sp.csr_matrix(np.eye(2))
    with pytest.raises(ValueError, match="'xr_linear'"):
        pifa(X, X, "xr_linear")
    with pytest.raises(ValueError, match="X has 2 samples, Y has 3"):
        pifa(X, sp.csr_matrix(np.eye(3)))
