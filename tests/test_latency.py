"""Latency is measured on the model as it is, and leaves it so."""

import numpy as np
import pytest
import scipy.sparse as sp

from orchard import Parabel
from orchard.latency import SEARCHES, compare_searches, measure_latency


@pytest.mark.parametrize("strategy", ["beam", "best-first"])
def test_times_are_positive_and_the_model_stays_as_it_is(strategy):
    """Every key is there, the slowest queries take no less than the median, and `scored` is what the report says."""
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(rng.random((60, 20), dtype=np.float32))
    Y = sp.csr_matrix((rng.random((60, 30)) < 0.1).astype(np.float32))
    model = Parabel(n_trees=1, max_leaf=4, strategy=strategy, n_jobs=2).fit(X, Y)
    found = measure_latency(model, X, 5, n_queries=10, seed=3)
    assert set(found) == {"median_ms", "p99_ms", "batch_ms_per_sample", "scored"}
    assert all(value > 0 for value in found.values()) and found["p99_ms"] >= found["median_ms"]
    assert found["scored"] == pytest.approx(model.search_report(X, Y)["scored"])
    assert model.n_jobs == 2


def test_searches_of_one_model_are_compared_and_leave_it_alone():
    """The exact search is as precise as the beam that holds all leaves; shares are of the beam of ten."""
    rng = np.random.default_rng(1)
    X = sp.csr_matrix(rng.random((60, 20), dtype=np.float32))
    Y = sp.csr_matrix((rng.random((60, 30)) < 0.1).astype(np.float32))
    model = Parabel(n_trees=1, max_leaf=4, combiner="l2-hinge-untied").fit(X, Y)
    before = model.get_params()
    found = compare_searches(model, X, Y, (1, 5), n_queries=5, seed=0)
    assert found.keys() == SEARCHES.keys() and model.get_params() == before
    for told in found.values():
        assert told["of beam@1"] == pytest.approx(told["µs@1"] / found["beam-10"]["µs@1"])
        assert told["depth@1"] <= told["depth@5"] and told["scored@1"] <= told["scored@5"]
    assert found["best-first"]["P@5"] == pytest.approx(found["beam-10"]["P@5"])
    assert found["best-first"]["scored@1"] < found["beam-10"]["scored@1"]
