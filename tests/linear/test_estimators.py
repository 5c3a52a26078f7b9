"""Parabel, XR-Linear, Bonsai and DiSMEC as scikit-learn's users know estimators."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from plain_engine import random_X, random_Y
from sklearn.base import clone

from orchard.linear.estimators import Bonsai, DiSMEC, Parabel, TreeEstimator, XRLinear
from orchard.trees.label_tree import LabelTree

KINDS = [Parabel, XRLinear, Bonsai, DiSMEC]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    return random_X(rng, 50, 20), random_Y(rng, 50, 12)


@pytest.fixture(scope="module")
def separable():
    """Every label has words of its own: (X, Y, X_test, Y_test), 60 labels."""
    rng = np.random.default_rng(2)

    def draw(n):
        labels = rng.integers(60, size=(n, 2))
        Y = sp.csr_matrix((np.ones(2 * n), (np.repeat(np.arange(n), 2), labels.ravel())), shape=(n, 60))
        Y.data[:] = 1
        own = sp.kron(Y, np.ones((1, 3)), format="csr")
        return sp.hstack([own, 0.3 * random_X(rng, n, 40, 0.1)], format="csr"), Y

    return *draw(600), *draw(200)


def precision_at_1(estimator, X, Y):
    ids, _ = estimator.predict_topk(X, 1)
    return np.asarray(Y[np.arange(Y.shape[0]), ids[:, 0]] > 0).mean()


# ---- scikit-learn's protocol


@pytest.mark.parametrize("kind", KINDS)
def test_the_constructor_only_stores(kind):
    """Whatever it is given, wrong values too: they are refused by fit, so that grids can be built in any order."""
    names = kind().get_params()
    values = {name: object() for name in names}
    estimator = kind(**values)
    assert {name: getattr(estimator, name) for name in names} == values == estimator.get_params()
    assert vars(estimator).keys() == names.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_can_be_read_set_and_cloned(kind, data):
    """clone() takes the parameters and leaves what was learned; an unknown name is refused with the known ones."""
    estimator = kind(max_leaf=5, C=0.5)
    assert estimator.set_params(beam=3, C=2.0) is estimator and (estimator.beam, estimator.C) == (3, 2.0)
    copy = clone(estimator.fit(*data))
    assert type(copy) is kind and copy.get_params() == estimator.get_params() and not hasattr(copy, "models_")
    with pytest.raises(ValueError, match=f"{kind.__name__} has no parameter 'depth'.*max_leaf"):
        estimator.set_params(depth=3)


def test_the_representation_tells_what_was_changed():
    """Not seventeen defaults."""
    assert repr(Parabel()) == "Parabel()"
    assert repr(XRLinear(n_splits=32, beam=10, loss="logistic")) == "XRLinear(loss='logistic', n_splits=32)"


COMMON = {"max_leaf": 100, "C": 1, "C_positive": None, "bias": 1, "beam": 10, "negatives": "tfn", "merge": "mean"}
PAPERS = {
    Parabel: {"n_trees": 3, "threshold": 0.1, "kmeans_tolerance": 1e-4, "max_iterations": 20, "combiner": "l2-hinge"},
    XRLinear: {"n_trees": 1, "threshold": 0.1, "tolerance": 0.1, "max_iterations": 100, "combiner": "l3-hinge"}
    | {"n_splits": 16, "discount": 1},
    Bonsai: {"n_trees": 3, "n_splits": 100, "max_depth": 3, "discount": 0.98},
    DiSMEC: {"n_trees": 1, "threshold": 0.01},
}


@pytest.mark.parametrize("kind", KINDS)
def test_defaults_are_the_papers(kind):
    """A number in a table is that of the method only if nobody had to set anything."""
    found = kind().get_params()
    expected = COMMON | PAPERS[kind] | {"loss": "squared-hinge", "normalise": True}
    assert {name: found[name] for name in expected} == expected


def test_the_shared_class_builds_no_trees(data):
    """It is there to load any estimator; fit says what is missing."""
    with pytest.raises(TypeError, match="TreeEstimator does not say how its trees are built"):
        TreeEstimator().fit(*data)


# ---- learning


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
@pytest.mark.parametrize("kind", KINDS)
def test_separable_labels_are_learned(separable, kind, loss):
    """Labels with words of their own are found in new samples; a bug in any step shows here."""
    X, Y, X_test, Y_test = separable
    settings = {"n_splits": 8} if hasattr(kind(), "n_splits") else {}
    combiner = {"combiner": "sigmoid"} if loss == "logistic" else {}
    estimator = kind(max_leaf=8, loss=loss, C=10, **settings, **combiner).fit(X, Y)
    assert precision_at_1(estimator, X_test, Y_test) > 0.97


@pytest.mark.parametrize("negatives", ["man", "tfn+man"])
def test_separable_labels_are_learned_with_the_matchers_negatives(separable, negatives):
    """Samples that only come by are negatives of all; the own ones must still be found."""
    X, Y, X_test, Y_test = separable
    estimator = XRLinear(max_leaf=8, n_splits=4, C=10, negatives=negatives, beam=3).fit(X, Y)
    assert precision_at_1(estimator, X_test, Y_test) > 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_the_model_depends_on_random_state_alone(separable, kind, tmp_path):
    """The same bytes with one thread, two, three and on a second run; trees of an ensemble differ from each other."""
    X, Y, *_ = separable
    files = [tmp_path / str(turn) for turn in range(4)]
    for n_jobs, file in zip((1, 2, 3, 1), files, strict=True):
        kind(max_leaf=8, random_state=4, n_jobs=n_jobs).fit(X, Y).save(file)
    assert len({file.read_bytes() for file in files}) == 1
    if kind is Parabel:
        trees = [model.tree for model in kind.load(files[0]).models_]
        assert not trees[0].same_as(trees[1]) and not trees[1].same_as(trees[2])


def test_trees_can_be_built_once_and_given_to_fit(data):
    """fit(X, Y, trees=build_trees(X, Y)) is fit(X, Y)."""
    X, Y = data
    estimator = Parabel(max_leaf=3)
    trees = estimator.build_trees(X, Y)
    assert len(trees) == 3 and not hasattr(estimator, "models_")
    one, other = clone(estimator).fit(X, Y), clone(estimator).fit(X, Y, trees=trees)
    np.testing.assert_array_equal(one.predict_topk(X, 5)[1], other.predict_topk(X, 5)[1])
    overlapping = LabelTree.from_groups([[*range(8)], [*range(4, 12)]])
    assert XRLinear().fit(X, Y, trees=[overlapping]).match(X).shape == (50, 2)
    for wrong in ([], [LabelTree.from_groups(range(11))]):
        with pytest.raises(ValueError, match="trees must be at least one LabelTree over the 12 labels of Y"):
            XRLinear().fit(X, Y, trees=wrong)


def test_the_costs_of_both_sides_reach_the_solver(data):
    """A dear positive raises every label's score; C_positive is C unless it is given."""
    X, Y = data
    scores = [DiSMEC(C_positive=C).fit(X, Y).predict_topk(X, 12)[1].mean() for C in (None, 1.0, 10.0)]
    assert scores[0] == scores[1] < scores[2]


# ---- prediction


@pytest.fixture(scope="module")
def fitted(data):
    return Parabel(max_leaf=3, beam=2).fit(*data)


def test_predict_topk_returns_the_best_first(fitted, data):
    """int32 ids and float32 scores, (n, k) each, falling; depths on request."""
    ids, scores = fitted.predict_topk(data[0], k=4)
    assert ids.shape == scores.shape == (50, 4) and (ids.dtype, scores.dtype) == (np.int32, np.float32)
    assert (np.diff(scores, axis=1) <= 0).all() and (ids >= 0).all() and (scores <= 1).all()
    *same, depths = fitted.predict_topk(data[0], k=4, return_depths=True)
    np.testing.assert_array_equal(same[0], ids)
    assert (depths == 2).all()  # twelve labels, three to a leaf: all leaves are two levels deep
    assert fitted.predict_topk(data[0])[0].shape == (50, 5)


def test_more_than_was_found_is_filled_up(fitted, data):
    """k beyond the labels of the leaves in the beam: id −1, score −∞, depth NaN, and all real ones before them."""
    ids, scores, depths = fitted.predict_topk(data[0], k=20, return_depths=True)
    n_found = (ids >= 0).sum(axis=1)
    assert n_found.max() <= 12
    is_filled = np.arange(20) >= n_found[:, None]
    assert (ids[is_filled] == -1).all() and (scores[is_filled] == -np.inf).all() and np.isnan(depths[is_filled]).all()
    assert np.isfinite(scores[~is_filled]).all() and (depths[~is_filled] > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_predict_is_an_indicator_of_good_scores(kind, data):
    """CSR with ones where predict_topk's score reaches the threshold, for all labels that the beam can reach."""
    X, Y = data
    estimator = kind(max_leaf=3, beam=3).fit(X, Y)
    ids, scores = estimator.predict_topk(X, 12)
    for threshold in (0.5, 0.2):
        found = estimator.predict(X, threshold=threshold)
        assert found.shape == Y.shape and found.has_canonical_format and found.dtype == np.float32
        expected = np.zeros(Y.shape)
        for row in range(50):
            expected[row, ids[row][(ids[row] >= 0) & (scores[row] >= threshold)]] = 1
        np.testing.assert_array_equal(found.toarray(), expected)
    assert estimator.predict(X[:0]).shape == (0, 12)


def test_match_has_a_column_for_every_leaf_of_every_tree(fitted, data):
    """The leaves of the first tree, then those of the next; `beam` leaves in every row of each."""
    M = fitted.match(data[0])
    n_leaves = [model.tree.n_leaves for model in fitted.models_]
    assert M.shape == (50, sum(n_leaves)) and M.format == "csr"
    begins = np.cumsum([0, *n_leaves])
    for begin, end in pairwise(begins):
        assert (np.diff(M[:, begin:end].indptr) == 2).all()


def test_search_parameters_can_change_after_training(fitted, data):
    """A wider beam without another fit."""
    wide = clone(fitted).fit(*data).set_params(beam=20)
    assert (wide.predict_topk(data[0], 12)[0] >= 0).all()
    with pytest.raises(ValueError, match="beam"):
        wide.set_params(beam=0).predict_topk(data[0])


def test_threads_may_share_an_estimator(fitted, data):
    """predict_topk from several threads at once gives what one thread gets."""
    X, expected = data[0], fitted.predict_topk(data[0], 4)
    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(lambda _: fitted.predict_topk(X, 4), range(30)):
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_array_equal(found[1], expected[1])


def test_queries_may_have_a_beam_of_their_own(fitted, data):
    """Predictions are those of that beam; the matcher's matrix is that of training."""
    other = clone(fitted).fit(*data)
    narrow = other.set_params(query_beam=1)
    expected = clone(fitted).fit(*data).set_params(beam=1)
    np.testing.assert_array_equal(narrow.predict_topk(data[0], 9)[0], expected.predict_topk(data[0], 9)[0])
    np.testing.assert_array_equal(narrow.predict(data[0]).toarray(), expected.predict(data[0]).toarray())
    np.testing.assert_array_equal(narrow.match(data[0]).toarray(), fitted.match(data[0]).toarray())
    with pytest.raises(ValueError, match="beam must be at least 1, not 0"):
        narrow.set_params(query_beam=0).predict_topk(data[0])


def test_what_is_not_fitted_says_so(data):
    """Each method, with the way out."""
    for do in (lambda e: e.predict_topk(data[0]), lambda e: e.predict(data[0]), lambda e: e.match(data[0])):
        with pytest.raises(
            RuntimeError, match=r"this Bonsai is not fitted yet: call fit\(X, Y\) or load\(path\) first"
        ):
            do(Bonsai())
    with pytest.raises(RuntimeError, match="not fitted"):
        Bonsai().save("nowhere")


# ---- refusals

WRONG = [
    *[("C", value) for value in (0, -1.0, np.inf)],
    *[("C_positive", value) for value in (0, np.nan)],
    *[("tolerance", value) for value in (0, -1.0)],
    *[("bias", -1.0), ("threshold", -0.1), ("max_iterations", 0), ("loss", "hinge"), ("negatives", "none")],
    *[
        ("beam", 0),
        ("query_beam", "3"),
        ("combiner", "sum"),
        ("discount", 0.0),
        ("merge", "sum"),
        ("n_trees", 0),
        ("max_leaf", 0),
    ],
    *[("max_model_gb", value) for value in (0, -5, np.inf, np.nan, "5", True)],
    *[("n_splits", 1), ("random_state", None), ("random_state", 1.5), ("random_state", True)],
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_wrong_parameter_is_named(data, name, value):
    """By its own name, before any work is done."""
    with pytest.raises(ValueError, match=f"{name}.* must "):
        XRLinear(**{name: value}).fit(*data)


@pytest.mark.parametrize("k", [0, -1])
def test_a_wrong_k_is_named(fitted, data, k):
    with pytest.raises(ValueError, match="k must be at least 1"):
        fitted.predict_topk(data[0], k)


# ---- strategies


def test_queries_alone_take_the_strategy(data, tmp_path):
    """Training and `match` are those of the beam; a file keeps the strategy, and best-first is as wide as the tree."""
    X, Y = data[:2]
    how = {"n_trees": 1, "max_leaf": 3, "beam": 2, "negatives": "tfn+man"}
    plain = Parabel(**how).fit(X, Y)
    other = Parabel(**how, strategy="best-first", budget=1000).fit(X, Y)
    assert (plain.match(X) != other.match(X)).nnz == 0
    wide = plain.set_params(query_beam=plain.models_[0].tree.n_leaves)
    np.testing.assert_array_equal(other.predict_topk(X, 5)[1], wide.predict_topk(X, 5)[1])
    assert (other.predict(X, 0.01) != wide.predict(X, 0.01)).nnz == 0
    other.save(tmp_path / "model")
    loaded = Parabel.load(tmp_path / "model")
    assert (loaded.strategy, loaded.budget) == ("best-first", 1000)
    for strategy in ("best-first", "adaptive"):
        report = other.set_params(strategy=strategy, budget=None).search_report(X, Y)
        assert 0 < report["scored@1"] <= report["scored"] <= wide.search_report(X, Y)["scored"]
        assert report["matcher recall"] <= 100
    assert "matcher recall" not in other.set_params(strategy="best-first", budget=3).search_report(X, Y)


def test_trees_without_a_bound_are_refused_before_training(data):
    """Three trees, a discount: `fit` says so at once."""
    X, Y = data[:2]
    with pytest.raises(ValueError, match="searches one tree, not 3"):
        Parabel(strategy="best-first").fit(X, Y)
    with pytest.raises(ValueError, match="discount 1"):
        Bonsai(n_trees=1, strategy="adaptive").fit(X, Y)
