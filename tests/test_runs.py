"""A run fits, predicts and scores; the variant's labels take the place of the data set's own."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from orchard.baselines import MostFrequent
from orchard.data.store import Dataset, save_csr
from orchard.errors import ConfigError
from orchard.methods import make_estimator, tree_name, tree_recipe
from orchard.runs import run
from orchard.variants.labels import with_labels


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
