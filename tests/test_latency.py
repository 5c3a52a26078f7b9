"""Latency is measured on the model as it is, and leaves it so."""

import numpy as np
import pytest
import scipy.sparse as sp

from orchard import Parabel
from orchard.latency import measure_latency


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
