"""Algorithm 1 over any tree model: what it trains, what it keeps, what it refuses."""

import logging
from copy import copy

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from orchard import Bonsai, DiSMEC, Parabel, XRLinear, disentangle
from orchard.disentanglement import Overlap, choose_clusters, cross_matched, kept_matchers, matched, refit, unfitted
from orchard.errors import OrchardError, OversizedModel
from orchard.label_clusters import clusters_of, label_counts, objective
from orchard.metrics import precision_at_k

MODELS = [
    XRLinear(n_splits=4, max_leaf=4, beam=3),
    Parabel(n_trees=2, max_leaf=5, beam=3),
    Bonsai(n_trees=1, n_splits=4, max_leaf=6, beam=3),
]


def topics(seed, n, n_labels=40, n_topics=8, words=6):
    """Labels with two meanings: their samples have the words of one of two topics, and some of the label's own."""
    rng = np.random.default_rng(seed)
    meaning = np.random.default_rng(0).integers(n_topics, size=(n_labels, 2))
    labels = rng.integers(n_labels, size=n)
    topic = meaning[labels, rng.integers(2, size=n)]
    features = np.column_stack(
        [
            topic[:, None] * words + rng.integers(words, size=(n, 4)),
            n_topics * words + labels,
            rng.integers(300, 400, n),
        ]
    )
    values = np.tile([1, 1, 1, 1, 0.3, 0.3], n).astype(np.float32)
    X = sp.csr_matrix((values, features.ravel(), np.arange(0, 6 * n + 1, 6)), shape=(n, 400))
    Y = sp.csr_matrix((np.ones(n, np.float32), labels, np.arange(n + 1)), shape=(n, n_labels))
    return X, Y


@pytest.fixture(scope="module")
def data():
    return *topics(1, 600), *topics(2, 300)


@pytest.fixture(scope="module")
def fitted(data):
    return XRLinear(n_splits=4, max_leaf=4, beam=3).fit(*data[:2])


def trees_of(model):
    return [each.tree for each in model.models_]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_any_tree_model_is_disentangled(model, data):
    """Up to λ copies in each of its trees; the model that was given is left alone; ids and scores as ever."""
    X, Y, X_test, _ = data
    new = disentangle(model, X, Y, copies=2)
    assert type(new) is type(model)
    assert new.get_params() == model.get_params()
    assert not hasattr(model, "models_")
    assert len(new.models_) == len(unfitted(model).fit(X, Y).models_)
    for tree in trees_of(new):
        assert tree.n_copies.max() == 2
        assert tree.n_copies.min() >= 1
    ids, scores = new.predict_topk(X_test, 5)
    assert (np.diff(scores, axis=1) <= 0).all()
    assert all(len(set(row[row >= 0])) == (row >= 0).sum() for row in ids)


def test_a_fitted_model_is_the_first_matcher(data, fitted):
    """It is not trained again: handing it over gives what an unfitted one with the same seed gives."""
    X, Y, X_test, _ = data
    from_fitted, from_scratch = disentangle(fitted, X, Y), disentangle(unfitted(fitted), X, Y)
    np.testing.assert_array_equal(from_fitted.predict_topk(X_test)[1], from_scratch.predict_topk(X_test)[1])


def test_labels_with_two_meanings_are_found_more_often(data):
    """What it is for: with a beam of one, a label whose samples lie in two clusters has to stand in both."""
    X, Y, X_test, Y_test = data
    one = XRLinear(n_splits=4, max_leaf=4, beam=1).fit(X, Y)
    two = disentangle(one, X, Y, copies=2)
    reached, precision = [], []
    for model in (one, two):
        (M,) = matched(model, X_test)
        reached.append(objective(Y_test, M, clusters_of(model.models_[0].tree))[0] / Y_test.nnz)
        precision.append(precision_at_k(model.predict_topk(X_test)[0], Y_test, 1))
    assert reached[1] > reached[0] + 0.1
    assert precision[1] > precision[0] + 0.05


def test_the_clusters_are_those_of_the_closed_form(data, fitted):
    """One round of Algorithm 1 is M, YᵀM, Eq. 10, and the engine's own training on the new clusters."""
    X, Y, X_test, _ = data
    (M,) = matched(fitted, X)
    C = choose_clusters(Overlap(copies=3), Y, M, clusters_of(fitted.models_[0].tree))
    tree = fitted.models_[0].tree.with_leaf_labels(C.T.tocsr(), drop_empty=True)
    expected = unfitted(fitted).fit(X, Y, trees=[tree])
    found = disentangle(fitted, X, Y, copies=3)
    assert trees_of(found)[0].same_as(tree)
    np.testing.assert_array_equal(found.predict_topk(X_test)[1], expected.predict_topk(X_test)[1])


def test_a_second_round_starts_from_the_first(data, fitted):
    """Two rounds at once are one round twice, and the second one changes something."""
    X, Y, _, _ = data
    once = disentangle(fitted, X, Y, folds=2)
    twice = disentangle(fitted, X, Y, folds=2, rounds=2)
    assert trees_of(disentangle(once, X, Y, folds=2))[0].same_as(trees_of(twice)[0])
    assert not trees_of(once)[0].same_as(trees_of(twice)[0])


def test_trees_are_disentangled_one_by_one(data):
    """Of several trees each has a matcher of its own: the first one's clusters do not depend on the second."""
    X, Y, _, _ = data
    both = Parabel(n_trees=2, max_leaf=5, beam=3).fit(X, Y)
    alone = Parabel(n_trees=1, max_leaf=5, beam=3).fit(X, Y, trees=trees_of(both)[:1])
    alone.models_ = both.models_[:1]
    new, first = disentangle(both, X, Y), disentangle(alone, X, Y)
    assert trees_of(new)[0].same_as(trees_of(first)[0])
    assert not trees_of(new)[0].same_as(trees_of(new)[1])


@pytest.mark.parametrize("model", [MODELS[0], MODELS[1]], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("negatives", ["tfn", "man"])
def test_without_the_alternative_update_the_matcher_stays(model, negatives, data):
    """Table 4, 'No': every query is sent to the same clusters with the same scores, only labels are trained anew."""
    X, Y, X_test, _ = data
    model = unfitted(model).set_params(negatives=negatives).fit(X, Y)
    kept = disentangle(model, X, Y, copies=2, retrain_matcher=False)
    retrained = disentangle(model, X, Y, copies=2)
    assert [tree.n_leaves for tree in trees_of(kept)] == [tree.n_leaves for tree in trees_of(model)]
    np.testing.assert_array_equal(kept.match(X_test).toarray(), model.match(X_test).toarray())
    assert (retrained.match(X_test) != model.match(X_test)).nnz > 0
    for tree, other in zip(trees_of(kept), trees_of(retrained), strict=True):
        assert tree.same_as(other)
    assert (kept.predict_topk(X_test)[1] != model.predict_topk(X_test)[1]).any()


@given(st.integers(0, 1000))
@settings(max_examples=10)
def test_a_kept_matcher_forgets_emptied_clusters_alone(seed):
    """Clusters that lost all labels are left out of the beam; the others keep their scores to the bit."""
    X, Y = topics(1, 300)
    model = Parabel(n_trees=1, max_leaf=3, beam=40).fit(X, Y)  # the beam holds all leaves
    tree = model.models_[0].tree
    rng = np.random.default_rng(seed)
    kept_leaves = np.sort(rng.choice(tree.n_leaves, tree.n_leaves // 2, replace=False))
    C = sp.csr_matrix(
        (np.ones(40, np.float32), kept_leaves[np.arange(40) % kept_leaves.size], np.arange(41)),
        shape=(40, tree.n_leaves),
    )
    new = refit(model, X, Y, [C], retrain_matcher=False)
    np.testing.assert_array_equal(new.match(X).toarray(), model.match(X).toarray()[:, kept_leaves])


def test_ranker_of_a_kept_matcher_is_that_of_training(data, fitted):
    """With the same matcher anyway (same tree, same samples) both ways train the same classifiers for labels."""
    X, Y, X_test, _ = data
    C = clusters_of(fitted.models_[0].tree)
    same = refit(fitted, X, Y, [C], retrain_matcher=False)
    np.testing.assert_array_equal(same.predict_topk(X_test)[1], fitted.predict_topk(X_test)[1])
    assert same.model_bytes_ == fitted.model_bytes_


def test_a_matcher_of_another_tree_is_refused(data, fitted):
    X, Y, _, _ = data
    other = XRLinear(n_splits=4, max_leaf=10, beam=3).fit(X, Y)
    matchers = kept_matchers(fitted, [clusters_of(fitted.models_[0].tree)])
    with pytest.raises(ValueError, match="trained on another tree"):
        unfitted(fitted).fit(X, Y, trees=trees_of(other), matchers=matchers)
    with pytest.raises(ValueError, match="1 matchers for 2 trees"):
        unfitted(fitted).fit(X, Y, trees=trees_of(other) * 2, matchers=matchers)


def test_the_size_of_a_model_with_a_kept_matcher_is_counted(data, fitted):
    """`max_model_gb` sees the weights that were kept as well: a limit between ranker and whole is exceeded."""
    X, Y, _, _ = data
    options = {"copies": 2, "retrain_matcher": False}
    size = disentangle(fitted, X, Y, **options).model_bytes_ / 1e9
    roomy, tight = (copy(fitted).set_params(max_model_gb=size + slack) for slack in (1e-9, -1e-9))
    assert disentangle(roomy, X, Y, **options).model_bytes_ / 1e9 == size
    with pytest.raises(OversizedModel):
        disentangle(tight, X, Y, **options)


def test_copies_are_merged_by_mean_or_max(data, fitted):
    """The mean is never above the maximum, and differs where several copies are reached."""
    X, Y, X_test, _ = data
    model = disentangle(fitted, X, Y, copies=3)
    mean = dict(zip(*(array[0] for array in model.predict_topk(X_test[:1], 40)), strict=True))
    best = dict(zip(*(array[0] for array in model.set_params(merge="max").predict_topk(X_test[:1], 40)), strict=True))
    assert mean.keys() == best.keys()
    assert all(mean[label] <= best[label] * (1 + 1e-6) for label in mean if label >= 0)
    assert any(mean[label] < best[label] for label in mean if label >= 0)


def test_every_sample_is_matched_by_a_model_that_has_not_seen_it(data, fitted):
    """Cross-fitting: a sample's row changes when its own label does not reach the model that matches it."""
    X, Y, _, _ = data
    (M,) = cross_matched(unfitted(fitted), trees_of(fitted), X, Y, folds=3)
    assert M.shape == (600, fitted.models_[0].tree.n_leaves)
    assert (np.diff(M.indptr) == 3).all()
    fold_of = np.random.default_rng(0).permutation(600) % 3
    for fold in range(3):
        seen, unseen = fold_of != fold, fold_of == fold
        by_others = unfitted(fitted).fit(X[seen], Y[seen], trees=trees_of(fitted)).match(X[unseen])
        np.testing.assert_array_equal(M[unseen].toarray(), by_others.toarray())


@pytest.mark.parametrize("solver", ["projection", "coverage", "exact", "random"])
def test_results_do_not_depend_on_threads(solver, data, fitted):
    X, Y, X_test, _ = data
    found = [
        disentangle(unfitted(fitted).set_params(n_jobs=n_jobs), X, Y, solver=solver, copies=3).predict_topk(X_test)[1]
        for n_jobs in (1, 3)
    ]
    np.testing.assert_array_equal(*found)


def test_solvers_do_what_they_are_called(data, fitted):
    """Coverage covers most, random copies least; limits bind; a budget is spent."""
    X, Y, _, _ = data
    (M,), tree = cross_matched(fitted, trees_of(fitted), X, Y), fitted.models_[0].tree
    C = clusters_of(tree)
    chosen = {
        name: choose_clusters(Overlap(**options), Y, M, C)
        for name, options in {
            "projection": {},
            "capped": {"cap": 1.2},
            "budget": {"copies": 4, "budget": 1.5},
            "coverage": {"solver": "coverage"},
            "exact": {"solver": "exact"},
            "random": {"solver": "random"},
        }.items()
    }
    covered = {name: objective(Y, M, one)[0] for name, one in chosen.items()}
    assert covered["exact"] >= covered["coverage"] >= covered["projection"] > covered["random"]
    sizes = {name: np.diff(one.tocsc().indptr) for name, one in chosen.items()}
    assert sizes["capped"].max() <= np.ceil(1.2 * 2 * 40 / tree.n_leaves) < sizes["projection"].max()
    assert chosen["budget"].nnz == 60
    assert np.diff(chosen["budget"].indptr).max() > 2


def test_counts_that_are_there_are_not_made_again(data, fitted):
    """A sweep over λ hands them over: M and Y are then not needed at all."""
    X, Y, _, _ = data
    (M,) = matched(fitted, X)
    C, counts = clusters_of(fitted.models_[0].tree), label_counts(Y, M)
    expected = choose_clusters(Overlap(copies=3), Y, M, C)
    found = choose_clusters(Overlap(copies=3), None, None, C, counts)
    np.testing.assert_array_equal(found.toarray(), expected.toarray())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"copies": 0}, "copies must be at least 1, not 0"),
        ({"rounds": 0}, "rounds must be at least 1, not 0"),
        ({"copies": 2.0}, "copies must be an integer, not 2.0"),
        ({"solver": "magic"}, "solver must be one of projection, coverage, exact, random, not 'magic'"),
        ({"cap": 0.5}, "cap must be at least 1"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"cap": 2.0, "solver": "random"}, "cap goes with projection or coverage"),
        ({"weighted": True}, "weighted goes with coverage"),
        ({"folds": 1}, "folds must be 0, or at least 2, not 1"),
        ({"rounds": 2, "retrain_matcher": False}, "rounds must be 1"),
    ],
)
def test_wrong_options_are_refused_before_any_work(options, message):
    """No data is looked at: there is none."""
    with pytest.raises(ValueError, match=message):
        disentangle(XRLinear(), None, None, **options)


def test_more_folds_than_samples_are_refused(data, fitted):
    X, Y, _, _ = data
    with pytest.raises(ValueError, match="folds must be between 2 and the 600 samples"):
        disentangle(fitted, X, Y, folds=601)


def test_data_that_does_not_fit_is_refused(data, fitted):
    """Kernels read what they are told to: wrong shapes must not reach them."""
    X, Y, _, _ = data
    for columns in (Y[:, :30], sp.hstack([Y, Y[:, :20]], format="csr")):
        for options in ({}, {"cap": 1.5}, {"solver": "random"}, {"solver": "coverage"}, {"folds": 2}):
            with pytest.raises(ValueError, match=f"Y has {columns.shape[1]} labels, the model was fitted on 40"):
                disentangle(fitted, X, columns, **options)
    (M,), C = matched(fitted, X), clusters_of(fitted.models_[0].tree)
    with pytest.raises(ValueError, match="Y has 600 samples, M has 10"):
        label_counts(Y, M[:10])
    with pytest.raises(ValueError, match="labels × clusters are"):
        choose_clusters(Overlap(), Y[:, :30], M, C)
    with pytest.raises(OrchardError, match="list is none of Orchard's estimators"):
        disentangle([], X, Y)


@pytest.mark.parametrize(
    ("options", "n_fits"), [({}, 2), ({"folds": 2}, 3), ({"folds": 2, "rounds": 2}, 5), ({"rounds": 2}, 3)]
)
def test_nothing_is_trained_in_vain(options, n_fits, data, monkeypatch):
    """The backbone for its matches, or each fold, and the model in the end; a matcher that others match for is none."""
    X, Y, _, _ = data
    fits = []
    fit = XRLinear.fit
    monkeypatch.setattr(XRLinear, "fit", lambda self, *given, **more: (fits.append(self), fit(self, *given, **more))[1])
    disentangle(XRLinear(n_splits=4, max_leaf=4, beam=3), X, Y, **options)
    assert len(fits) == n_fits


def test_a_kept_matcher_that_speaks_for_single_labels_is_told(caplog):
    """A leaf with one label has no classifier: the edge to it was trained for the labels that were there before."""
    X, Y = topics(1, 300)
    model = Parabel(n_trees=1, max_leaf=5).fit(X, Y)
    leaves = np.zeros(40, np.int64)
    leaves[0] = 1
    C = sp.csr_matrix((np.ones(40, np.float32), leaves, np.arange(41)), shape=(40, model.models_[0].tree.n_leaves))
    with caplog.at_level(logging.WARNING, "orchard"):
        refit(model, X, Y, [C], retrain_matcher=False)
    assert "1 clusters have one label left" in caplog.text


def test_one_leaf_has_nothing_to_overlap(data):
    """One-vs-all is a tree of one cluster: the model comes out as it was."""
    X, Y, X_test, _ = data
    model = DiSMEC().fit(X, Y)
    np.testing.assert_array_equal(disentangle(model, X, Y).predict_topk(X_test)[1], model.predict_topk(X_test)[1])
