"""A run fits, predicts and scores; the variant's labels take the place of the data set's own."""

import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from orchard.baselines import MostFrequent
from orchard.data.store import Dataset, save_csr
from orchard.errors import ConfigError, FormatError, OrchardError
from orchard.linear.estimators import Parabel
from orchard.methods import make_estimator, make_imputation, match_recipe, recipe_name, tree_recipe
from orchard.runs import run
from orchard.shared_trees import load_trees, save_trees, timed_trees
from orchard.softmax import TextSoftmax
from orchard.timing import timed
from orchard.trees.label_tree import LabelTree
from orchard.variants.labels import imputation_report, with_labels


@pytest.fixture
def dataset():
    X = sp.csr_matrix(np.eye(4, dtype=np.float32))
    Y_train = sp.csr_matrix(np.array([[0, 1, 0], [0, 1, 1], [0, 1, 1], [1, 0, 0]], np.float32))
    Y_test = sp.csr_matrix(np.array([[0, 1, 0], [1, 0, 1]], np.float32))
    return Dataset(X, Y_train, X[:2], Y_test, label_names=["a", "b", "c"], stats={"propensity": {"A": 0.55, "B": 1.5}})


def test_most_frequent_labels_first_and_missing_ones_marked(dataset):
    ids, scores = MostFrequent().fit(dataset.X_train, dataset.Y_train).predict_topk(dataset.X_test, k=5)
    assert ids.tolist() == [[1, 2, 0, -1, -1]] * 2
    assert scores[0].tolist() == [0.75, 0.5, 0.25, -np.inf, -np.inf]


def test_a_run_is_scored_by_hand(dataset):
    """Labels 1, 2, 0 for both test samples: label 1 hits the first, labels 2 and 0 the second."""
    metrics, cost = run(dataset, dataset.Y_train, MostFrequent(), threads=1)
    assert metrics["P@1"] == 50
    assert metrics["P@3"] == pytest.approx(100 * (1 / 3 + 2 / 3) / 2)
    assert metrics["recall@3"] == 100
    assert cost["threads"] == 1
    assert cost["seconds"].keys() == {"fit", "predict"}


def test_texts_reach_an_estimator_that_takes_them(dataset):
    """And its trees are built from the features; without texts it gets the features."""
    texts = ["red apple", "red car", "green car", "tall tree"]
    softmax = TextSoftmax(tree="interpolated", dimension=4, epochs=2)
    with_texts = replace(dataset, texts_train=texts, texts_test=texts[:2])
    metrics, _ = run(with_texts, dataset.Y_train, softmax, threads=1)
    assert b"red" in softmax.ngrams_.vocabulary_ and "depth@1" in metrics
    run(dataset, dataset.Y_train, softmax, threads=1)
    assert softmax.ngrams_ is None and softmax.n_features_in_ == 4


def test_parameters_are_recorded_with_their_defaults_and_the_seed():
    estimator, parameters = make_estimator("sklearn.cluster.KMeans", {"n_clusters": 3, "tol": 0.5}, seed=7, threads=1)
    assert (estimator.random_state, estimator.tol) == (7, 0.5)
    assert parameters == estimator.get_params()


def test_threads_reach_the_estimator_and_are_no_parameter():
    estimator, parameters = make_estimator("sklearn.neighbors.KNeighborsClassifier", {}, seed=0, threads=2)
    assert estimator.n_jobs == 2
    assert "n_jobs" not in parameters


def test_propensities_do_not_come_from_smeared_labels(dataset):
    """The same predictions score the same, whatever the labels that the method was shown."""
    everything = sp.csr_matrix(np.ones((4, 3), np.float32))
    fixed = MostFrequent().fit(None, dataset.Y_train)
    fixed.fit = lambda X, Y: fixed
    scores = [run(dataset, Y, fixed, threads=1)[0]["PSP@3"] for Y in (dataset.Y_train, everything)]
    assert scores[0] == scores[1]


@pytest.mark.parametrize(
    ("estimator", "parameters", "message"),
    [
        ("orchard.baselines.Missing", {}, "'orchard.baselines.Missing' cannot be imported"),
        ("orchard.baselines.MostFrequent", {"depth": 3}, "has no parameter depth (its parameters: none)"),
        ("sklearn.cluster.KMeans", {"random_state": 1}, "random_state comes from the run"),
        ("sklearn.neighbors.KNeighborsClassifier", {"n_jobs": 1}, "n_jobs comes from the run"),
        ("sklearn.cluster.KMeans", {"init": MostFrequent}, "a parameter cannot be written down"),
    ],
)
def test_mistakes_in_a_method_are_named(estimator, parameters, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        make_estimator(estimator, parameters, seed=0, threads=1)


def test_aggregated_labels_are_spread_over_their_group(dataset, tmp_path):
    """Samples 0 and 3 share a group: both are seen with labels 0 and 1; what is scored stays."""
    Y1 = sp.csr_matrix(np.array([[1, 0], [0, 1], [0, 1], [1, 0]], np.float32))
    save_csr(tmp_path / "Y1.npz", Y1)
    save_csr(tmp_path / "Y2.npz", (Y1.T @ dataset.Y_train).tocsr())
    scored, observed = with_labels(dataset, {"Y1": tmp_path / "Y1.npz", "Y2": tmp_path / "Y2.npz"})
    assert observed.toarray().tolist() == [[1, 1, 0], [0, 1, 1], [0, 1, 1], [1, 1, 0]]
    assert scored is dataset


def test_imputed_labels_are_seen_instead_and_compared_with_the_true_ones(dataset, tmp_path):
    """Two samples are given everything: of six labels three are right, and three of the six true ones were given."""
    Y1 = sp.csr_matrix(np.array([[1, 0], [0, 1], [0, 1], [1, 0]], np.float32))
    save_csr(tmp_path / "Y1.npz", Y1)
    save_csr(tmp_path / "Y2.npz", (Y1.T @ dataset.Y_train).tocsr())

    def to_first_and_second(X, Y1, Y2):
        assert (X is dataset.X_train) and Y1.shape == (4, 2) and Y2.sum() == 6
        return sp.csr_matrix(np.array([[1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0]], np.float32))

    files = {"Y1": tmp_path / "Y1.npz", "Y2": tmp_path / "Y2.npz"}
    impute, took = timed(to_first_and_second)
    scored, observed = with_labels(dataset, files, impute)
    assert scored is dataset
    assert observed.toarray().tolist() == [[1, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 0]]
    assert imputation_report(observed, dataset.Y_train) == {"imputed precision": 50, "imputed recall": 50}
    assert took["seconds"] >= 0 and took["compile_seconds"] == 0

    counted = with_labels(dataset, files, lambda X, Y1, Y2: np.full((4, 3), 2))[1]
    assert counted.format == "csr" and set(counted.data) == {1}
    for wrong, words in ((np.ones((3, 3)), r"is \(3, 3\), samples × labels are \(4, 3\)"), (None, "must be a matrix")):
        with pytest.raises(OrchardError, match=words):
            with_labels(dataset, files, lambda X, Y1, Y2, wrong=wrong: wrong)


def test_an_imputation_is_found_by_its_name_and_gets_threads_and_seed():
    impute, parameters = make_imputation("orchard.eagle.impute_labels", {"iterations": 3}, seed=1, threads=2)
    assert parameters == {"iterations": 3, "step": 0.1, "centre": False, "by_count": False}
    assert impute.keywords == parameters | {"n_jobs": 2}
    assert impute(np.eye(2), np.eye(2), np.eye(2)).toarray().tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ConfigError, match=r"impute_labels has no parameter X \(its parameters: iterations"):
        make_imputation("orchard.eagle.impute_labels", {"X": 3}, seed=1, threads=2)


def test_fused_labels_replace_both_splits(dataset, tmp_path):
    fused = sp.csr_matrix(np.ones((4, 2), np.float32))
    save_csr(tmp_path / "train.npz", fused)
    save_csr(tmp_path / "test.npz", fused[:2])
    entangled, observed = with_labels(dataset, {"Y_train": tmp_path / "train.npz", "Y_test": tmp_path / "test.npz"})
    assert (observed.shape, entangled.Y_train.shape, entangled.Y_test.shape) == ((4, 2), (4, 2), (2, 2))
    assert entangled.stats["n_labels"] == 2
    assert entangled.label_names is None


def test_a_clean_run_keeps_its_labels(dataset):
    scored, observed = with_labels(dataset, {})
    assert scored is dataset
    assert observed is dataset.Y_train


class TwoLevels:
    """Predicts the labels in the order of their leaves; its trees are given or built."""

    TREE_PARAMETERS = ("max_leaf",)

    def __init__(self, max_leaf=2, C=1.0, random_state=0):
        self.max_leaf, self.C, self.random_state = max_leaf, C, random_state

    def build_trees(self, X, Y):
        labels = list(range(Y.shape[1]))
        return [LabelTree.from_groups([labels[i : i + self.max_leaf] for i in range(0, len(labels), self.max_leaf)])]

    def fit(self, X, Y, trees=None):
        self.trees_ = trees or self.build_trees(X, Y)
        return self

    def predict_topk(self, X, k=5, return_depths=False):
        ids, depths = np.full((X.shape[0], k), -1), np.full((X.shape[0], k), np.nan)
        ids[:, :3], depths[:, :3] = [0, 1, 2], [1, 1, 2]
        found = (ids, np.zeros(ids.shape))
        return (*found, depths) if return_depths else found


def test_shared_trees_reach_the_estimator_and_their_time_the_cost(dataset):
    estimator = TwoLevels()
    trees, seconds = timed_trees(TwoLevels(), dataset.X_train, dataset.Y_train)
    _, cost = run(dataset, dataset.Y_train, estimator, threads=1, trees=trees, tree_seconds=seconds)
    assert estimator.trees_ is trees
    assert cost["seconds"].keys() == {"tree", "fit", "predict"}
    assert cost["seconds"]["tree"] == seconds


def test_the_deepest_label_counts_and_missing_ones_do_not(dataset):
    metrics, _ = run(dataset, dataset.Y_train, TwoLevels(), threads=1)
    assert [metrics[f"depth@{k}"] for k in (1, 3, 5)] == [1, 2, 2]
    metrics, _ = run(dataset, dataset.Y_train, MostFrequent(), threads=1)
    assert "depth@1" not in metrics


def test_a_sample_without_any_label_leaves_the_depth_out(dataset):
    """A search that finds nothing must not look cheap, and must not end the run either."""
    estimator = TwoLevels()
    nothing = np.full((2, 5), -1), np.zeros((2, 5)), np.full((2, 5), np.nan)
    estimator.predict_topk = lambda X, k=5, return_depths=False: nothing
    metrics, _ = run(dataset, dataset.Y_train, estimator, threads=1)
    assert metrics["P@1"] == 0
    assert "depth@1" not in metrics


def test_a_run_that_is_given_up_has_no_metrics_but_a_cost(dataset):
    """What it took until then; an estimator that was not fitted cannot be asked for its size."""
    estimator = Parabel(max_model_gb=1e-9)
    metrics, cost = run(dataset, dataset.Y_train, estimator, threads=1)
    assert metrics is None
    assert cost["seconds"].keys() == {"tree", "fit"}
    assert cost["seconds"]["fit"] > 0 and cost["peak_rss_mb"] > 0
    assert (cost["model_mb"], cost["ms_per_sample"]) == (None, None)
    _, finished = run(dataset, dataset.Y_train, Parabel(), threads=1)
    assert cost.keys() == finished.keys()


XR_LINEAR = "orchard.linear.estimators.XRLinear"


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ({}, {"beam": 20, "C": 0.5, "negatives": "tfn+man"}, True),
        ({}, {"max_model_gb": 5}, True),
        ({}, {"n_splits": 16}, True),  # the default, written out
        ({}, {"n_splits": 32}, False),
        ({}, {"max_leaf": 50}, False),
        ({}, {"normalise": False}, False),
    ],
)
def test_methods_that_agree_in_what_trees_depend_on_share_them(one, other, share):
    names = [recipe_name(tree_recipe(XR_LINEAR, parameters)) for parameters in (one, other)]
    assert (names[0] == names[1]) == share
    assert all(re.fullmatch(r"XRLinear-[0-9a-f]{8}", name) for name in names)


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ({}, {"query_beam": 5, "merge": "max", "strategy": "adaptive", "budget": 9}, True),  # what queries do alone
        ({}, {"beam": 5}, False),
        ({}, {"negatives": "man"}, False),
    ],
)
def test_methods_whose_matchers_agree_share_their_matches(one, other, share):
    """Any λ and any solver; cross-fitted matches, and those of a second round, are others."""
    first, second = ({"estimator": XR_LINEAR, "parameters": parameters} for parameters in (one, other))
    assert (match_recipe(first, {"copies": 2}) == match_recipe(second, {"copies": 3, "solver": "coverage"})) == share
    assert match_recipe(first, {}) != match_recipe(first, {"folds": 2})
    assert match_recipe(first, {"rounds": 2}) != match_recipe(first, {})


@pytest.mark.parametrize("estimator", ["orchard.baselines.MostFrequent", "orchard.linear.estimators.DiSMEC"])
def test_an_estimator_without_trees_worth_sharing_has_no_recipe(estimator):
    assert tree_recipe(estimator, {}) is None


def test_a_recipe_makes_the_trees_of_every_method_that_shares_it():
    """Parameters that a recipe leaves out must not change the trees."""
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(rng.random((60, 20), np.float32))
    Y = sp.csr_matrix(rng.random((60, 12)) < 0.2, dtype=np.float32)
    parameters = {"max_leaf": 3, "beam": 2, "C": 0.1}
    method, _ = make_estimator(XR_LINEAR, parameters, seed=3, threads=1)
    builder, _ = make_estimator(**tree_recipe(XR_LINEAR, parameters), seed=3, threads=1)
    (own,), (shared,) = method.build_trees(X, Y), builder.build_trees(X, Y)
    assert own.n_leaves == 4
    assert own.same_as(shared)


def test_trees_come_back_in_their_order(tmp_path):
    trees = [LabelTree.from_groups([[*range(i)], [*range(i, 13)]]) for i in range(1, 12)]
    save_trees(tmp_path / "trees", trees)
    loaded = load_trees(tmp_path / "trees")
    assert all(one.same_as(other) for one, other in zip(loaded, trees, strict=True))
    (tmp_path / "trees/tree-4.npz").unlink()
    with pytest.raises(FormatError, match="not a folder of label trees"):
        load_trees(tmp_path / "trees")
