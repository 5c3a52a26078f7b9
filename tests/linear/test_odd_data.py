"""Data as it comes: any matrix that scipy knows, holes in it, and what cannot be learned from."""

import numpy as np
import pytest
import scipy.sparse as sp
from plain_engine import random_X, random_Y

from orchard.linear import _ranking_kernels
from orchard.linear.estimators import Bonsai, DiSMEC, Parabel, XRLinear
from orchard.linear.search import SearchSettings, topk
from orchard.trees.embeddings import pifa

KINDS = [Parabel, XRLinear, Bonsai, DiSMEC]


def estimator_of(kind, **parameters):
    splits = {"n_splits": 3} if hasattr(kind(), "n_splits") else {}
    return kind(**{"max_leaf": 3, **splits, **parameters})


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    return random_X(rng, 40, 30), random_Y(rng, 40, 12)


@pytest.fixture(scope="module")
def fitted(data):
    return estimator_of(XRLinear).fit(*data)


def untidy(X, index, kind):
    """The same matrix with every entry cut in halves, in any order within its row."""
    rng, coo = np.random.default_rng(0), X.tocoo()
    order = np.concatenate([rng.permutation(coo.nnz)] * 2)
    order = order[np.argsort(coo.row[order], kind="stable")]
    untidy = sp.csr_matrix(X.shape, dtype=kind)
    untidy.data = (coo.data[order] / 2).astype(kind)
    untidy.indices, untidy.indptr = coo.col[order].astype(index), (2 * X.indptr).astype(index)
    untidy.has_sorted_indices = untidy.has_canonical_format = False
    return untidy


FORMS = {
    "dense": lambda X: X.toarray(),
    "dense float64": lambda X: X.toarray().astype(np.float64),
    "a list": lambda X: X.toarray().tolist(),
    "csc": sp.csc_matrix,
    "coo": sp.coo_matrix,
    "lil": sp.lil_matrix,
    "csr float64": lambda X: X.astype(np.float64),
    "csr_array": sp.csr_array,
    "untidy": lambda X: untidy(X, np.int32, np.float32),
    "untidy, int64, float64": lambda X: untidy(X, np.int64, np.float64),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_the_matrices_makes_no_difference(data, fitted, form):
    """Dense and sparse, any format, order and index type: the same model, the same predictions, to the bit."""
    X, Y = data
    expected = fitted.predict_topk(X, 5)
    other = estimator_of(XRLinear).fit(FORMS[form](X), FORMS[form](Y))
    for found in (other.predict_topk(X, 5), fitted.predict_topk(FORMS[form](X), 5)):
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])


def test_what_is_handed_in_is_not_changed(data):
    """Neither values nor order nor flags: the caller still needs them."""
    X, Y = untidy(data[0], np.int32, np.float32), untidy(data[1], np.int32, np.float32)
    before = [array.copy() for M in (X, Y) for array in (M.data, M.indices, M.indptr)]
    for array in (X.data, X.indices, X.indptr):
        array.setflags(write=False)
    estimator_of(XRLinear).fit(X, Y).predict_topk(X)
    for array, old in zip([array for M in (X, Y) for array in (M.data, M.indices, M.indptr)], before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_any_positive_entry_of_Y_is_a_label(data, fitted):
    """Counts, booleans and stored zeros: an entry is there or it is not."""
    X, Y = data
    with_zeros = sp.csr_matrix(np.ones(Y.shape, np.float32))
    with_zeros.data[:] = Y.toarray().ravel()
    counts = Y.copy()
    counts.data = np.random.default_rng(0).integers(1, 6, Y.nnz).astype(np.float32)
    for other in (counts, Y.astype(bool), Y.astype(int), with_zeros):
        found = estimator_of(XRLinear).fit(X, other).predict_topk(X)
        np.testing.assert_array_equal(found[1], fitted.predict_topk(X)[1])


def test_the_length_of_a_sample_does_not_matter_unless_asked(data, fitted):
    """normalise=True scales every row to unit length, in training and in prediction; False leaves it."""
    X, Y = data
    longer = sp.diags(np.linspace(0.5, 8, 40).astype(np.float32)) @ X
    np.testing.assert_allclose(fitted.predict_topk(longer)[1], fitted.predict_topk(X)[1], rtol=1e-4)
    as_it_is = estimator_of(XRLinear, normalise=False).fit(X, Y)
    assert not np.allclose(as_it_is.predict_topk(longer)[1], as_it_is.predict_topk(X)[1], rtol=1e-2)


def test_every_kind_of_matrix_uses_the_kernels_that_are_compiled(data, fitted):
    """64-bit pointers and read-only arrays would cost half a minute of compilation each."""
    X, _ = data
    wide, closed = X.copy(), X.copy()
    wide.indptr = wide.indptr.astype(np.int64)
    for array in (closed.indptr, closed.indices, closed.data):
        array.setflags(write=False)
    fitted.predict_topk(X)
    n_compiled = len(_ranking_kernels.best_of_tree.signatures)
    for other in (wide, closed):
        np.testing.assert_array_equal(fitted.predict_topk(other)[1], fitted.predict_topk(X)[1])
    assert len(_ranking_kernels.best_of_tree.signatures) == n_compiled


def test_a_row_too_short_for_its_length_is_left_as_it_is(fitted):
    """1 / ‖x‖ of the smallest numbers is beyond float32; the scores must stay those of an empty row, nearly."""
    tiny = sp.csr_matrix(np.full((1, 30), 1e-42, np.float32))
    found, empty = fitted.predict_topk(tiny)[1], fitted.predict_topk(sp.csr_matrix((1, 30), dtype=np.float32))[1]
    np.testing.assert_allclose(found, empty, rtol=1e-5)


def test_a_beam_wider_than_the_tree_is_the_whole_tree(data, fitted):
    """It neither costs memory for places that nothing can take nor changes a score."""
    X, _ = data
    found = []
    for beam in (max(model.tree.n_leaves for model in fitted.models_), 10**6):
        settings = SearchSettings(beam=beam, combiner="l3-hinge")
        found.append(topk(fitted.models_, X, 5, settings)[1])
    np.testing.assert_array_equal(*found)


def test_predict_finds_all_labels_above_the_threshold(data, fitted):
    """More than the first few: however many labels a row has, none is cut off."""
    X, _ = data
    ids, scores = fitted.predict_topk(X, 12)
    for threshold in (0.0, 1e-6, 0.3, 2.0):
        expected = np.zeros((40, 12), np.float32)
        rows, places = np.nonzero((scores >= threshold) & (ids >= 0))
        expected[rows, ids[rows, places]] = 1
        np.testing.assert_array_equal(fitted.predict(X, threshold).toarray(), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_single_label_is_learned(data, kind):
    """There is no edge above a root that could tell its only label's samples from the others."""
    X, Y = data
    only_one = Y[:, :1].toarray().ravel() > 0
    scores = estimator_of(kind, C=100.0, threshold=0.0).fit(X, Y[:, :1]).predict_topk(X, 1)[1].ravel()
    assert scores[only_one].min() > scores[~only_one].max()


# ---- holes


def only(chosen):
    """What keeps the chosen rows or columns of a matrix and empties the others."""
    return sp.diags(chosen.astype(np.float32))


HOLES = {
    "rows without features": lambda X, Y: (only(np.arange(40) % 3 > 0) @ X, Y),
    "rows without labels": lambda X, Y: (X, only(np.arange(40) % 3 > 0) @ Y),
    "labels without samples": lambda X, Y: (X, Y @ only(np.arange(12) % 3 > 0)),
    "only one label has samples": lambda X, Y: (X, Y @ only(np.arange(12) == 5)),
    "no labels at all": lambda X, Y: (X, 0 * Y),
    "every label everywhere": lambda X, Y: (X, sp.csr_matrix(np.ones(Y.shape))),
    "no features at all": lambda X, Y: (0 * X, Y),
    "a feature that is all there is": lambda X, Y: (X[:, :1], Y),
    "columns twice": lambda X, Y: (sp.hstack([X, X]), Y),
    "labels twice": lambda X, Y: (X, sp.hstack([Y, Y])),
    "samples twice": lambda X, Y: (sp.vstack([X, X]), sp.vstack([Y, Y])),
    "one sample": lambda X, Y: (X[:1], Y[:1]),
    "two labels": lambda X, Y: (X, Y[:, :2]),
    "one label": lambda X, Y: (X, Y[:, :1]),
    "features that nobody has": lambda X, Y: (sp.hstack([X, sp.csr_matrix((X.shape[0], 70))]), Y),
}


@pytest.mark.parametrize("holes", HOLES)
@pytest.mark.parametrize("kind", KINDS)
def test_data_with_holes_is_learned_from(data, kind, holes):
    """Nothing of this is an error: every prediction is a label with a finite score, each label once."""
    X, Y = (sp.csr_matrix(matrix, dtype=np.float32) for matrix in HOLES[holes](*data))
    estimator = estimator_of(kind, beam=20).fit(X, Y)
    ids, scores = estimator.predict_topk(X, Y.shape[1])
    np.testing.assert_array_equal(np.sort(ids, axis=1), np.tile(np.arange(Y.shape[1]), (X.shape[0], 1)))
    assert np.isfinite(scores).all() and (scores >= 0).all() and (scores <= 1).all()
    assert (estimator.predict_topk(X, Y.shape[1] + 3)[0][:, -3:] == -1).all()


@pytest.mark.parametrize("kind", KINDS)
def test_labels_without_samples_come_last(data, kind):
    """What was never seen is no better than what was learned: no such label is the first of a training sample."""
    X, Y = data[0], sp.csr_matrix(data[1] @ only(np.arange(12) % 3 > 0))
    ids, _ = estimator_of(kind, beam=20, C=10, threshold=0).fit(X, Y).predict_topk(X, 1)
    assert (ids % 3 > 0).all()


@pytest.mark.parametrize("kind", [Parabel, XRLinear, Bonsai])
def test_more_leaves_than_labels(data, kind):
    """max_leaf=1: every label has a leaf of its own, whose edge is its classifier."""
    unlimited = {"max_depth": None} if kind is Bonsai else {}
    estimator = estimator_of(kind, max_leaf=1, beam=20, **unlimited).fit(*data)
    for model in estimator.models_:
        assert model.tree.n_leaves == 12 and model.biases.size == model.tree.n_nodes - 1
    assert (np.sort(estimator.predict_topk(data[0], 12)[0], axis=1) == np.arange(12)).all()


def test_queries_without_features_get_the_biases(data):
    """An empty row, and one with only features that no weight knows, are answered alike."""
    empty = sp.csr_matrix((1, 30), dtype=np.float32)
    X = sp.csr_matrix(data[0] @ only(np.arange(30) > 0))
    estimator = estimator_of(XRLinear).fit(X, data[1])
    unknown = sp.csr_matrix(([1.0], ([0], [0])), shape=(1, 30))
    for found, expected in zip(estimator.predict_topk(unknown), estimator.predict_topk(empty), strict=True):
        np.testing.assert_array_equal(found, expected)


# ---- refusals


def with_value(matrix, value):
    matrix = matrix.copy()
    matrix.data[matrix.indptr[7]] = value
    return matrix


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused_with_their_row(data, fitted, bad):
    """In fit, in every kind of prediction, in X and in Y."""
    X, Y = data
    with pytest.raises(ValueError, match="row 7 of X has a value that is not finite"):
        XRLinear().fit(with_value(X, bad), Y)
    for do in (fitted.predict_topk, fitted.predict, fitted.match):
        with pytest.raises(ValueError, match="row 7 of X has a value that is not finite"):
            do(with_value(X, bad))
    with pytest.raises(ValueError, match="row 7 of Y has a value that is not finite"):
        XRLinear().fit(X, with_value(Y, bad))


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_values_beyond_float32_are_refused(data, fitted):
    """1e300 would become infinite on the way in."""
    with pytest.raises(ValueError, match="row 7 of X has a value that is not finite"):
        fitted.predict_topk(with_value(data[0].astype(np.float64), 1e300))


def test_shapes_that_do_not_fit_are_refused(data, fitted):
    """With both numbers, so that one sees which is wrong."""
    X, Y = data
    with pytest.raises(ValueError, match="X has 40 samples, Y has 39"):
        XRLinear().fit(X, Y[:39])
    with pytest.raises(ValueError, match="X has 29 features, the model was trained on 30"):
        fitted.predict_topk(X[:, :29])
    with pytest.raises(ValueError, match="X is empty: it has 0 rows and 30 columns"):
        XRLinear().fit(X[:0], Y[:0])
    with pytest.raises(ValueError, match="Y is empty: it has 40 rows and 0 columns"):
        XRLinear().fit(X, Y[:, :0])
    with pytest.raises(ValueError, match="Y has negative entries"):
        XRLinear().fit(X, with_value(Y, -1))


@pytest.mark.parametrize("wrong", [np.ones(30), np.ones((2, 2, 30)), [["a"] * 30], np.array([[{}] * 30]), 3.0, None])
def test_what_is_no_matrix_is_refused(data, fitted, wrong):
    """A single sample is a matrix of one row; letters are not numbers."""
    with pytest.raises(ValueError, match="X must be a matrix of numbers, samples in rows"):
        fitted.predict_topk(wrong)
    with pytest.raises(ValueError, match="Y must be a matrix of numbers, samples in rows"):
        XRLinear().fit(data[0], wrong)


# ---- the toy example of eagle §3


def toy(n=6, d=4):
    """X = 1 ⊗ [x; −x], Y¹ = I ⊗ 1₂, Y² = 1: (X, Y¹Y², the clean labels)."""
    x = np.arange(1, d + 1, dtype=np.float32)
    X = np.kron(np.ones((n // 2, 1)), np.stack([x, -x]))
    Y1, Y2 = np.kron(np.eye(n // 2), np.ones((2, 1))), np.ones((n // 2, 2))
    return X, Y1 @ Y2, np.tile(np.eye(2), (n // 2, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_the_toy_example_learns_nothing_from_aggregated_labels(kind):
    """eagle §3: Y¹Y² gives both labels the embedding 0, and the classifiers cannot tell x from −x."""
    X, Y, _ = toy()
    assert not pifa(sp.csr_matrix(X), sp.csr_matrix(Y)).toarray().any()
    for max_leaf in (1, 2):
        scores = np.zeros((6, 2))
        ids, found = estimator_of(kind, max_leaf=max_leaf, threshold=0, tolerance=1e-4).fit(X, Y).predict_topk(X, 2)
        np.put_along_axis(scores, ids, found, axis=1)
        np.testing.assert_allclose(scores, scores[0, 0], atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_the_toy_example_is_learned_from_clean_labels(kind):
    """With the labels where they belong, x is label 1 and −x is label 2."""
    X, _, Y = toy()
    for max_leaf in (1, 2):
        ids, _ = estimator_of(kind, max_leaf=max_leaf).fit(X, Y).predict_topk(np.vstack([X, 0.1 * X[::-1]]), 1)
        np.testing.assert_array_equal(ids[:, 0], [0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0])
