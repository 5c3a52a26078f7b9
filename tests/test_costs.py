"""Costs are measured in turn, whole, and after a warm-up."""

import numpy as np
import pytest

from orchard import costs, methods
from orchard.costs import measure_costs
from orchard.data.store import Dataset


def test_every_method_is_trained_in_turn_after_a_warm_up(monkeypatch):
    """A plain method is fitted, one with an overlap goes through all of Algorithm 1; the median counts."""
    said = []

    class Model:
        def __init__(self, name):
            self.name = name

        def predict_topk(self, X):
            said.append(("ask", self.name, len(X)))

    class Estimator(Model):
        def fit(self, X, Y):
            said.append(("train", self.name, len(X)))
            return self

    def disentangle(estimator, X, Y, **options):
        said.append(("overlap", estimator.name, len(X), options))
        return Model(estimator.name)

    turns = [[0, 1, 2, 0, 4, 6], [0, 1, 2, 0, 4, 6], [0, 4, 2, 0, 4, 6]]  # in the last one something disturbs
    ticks = iter(np.cumsum(turns).tolist())
    monkeypatch.setattr(methods, "make_estimator", lambda name, parameters, seed, threads: (Estimator(name), {}))
    monkeypatch.setattr(methods, "_find", {"orchard.disentanglement.disentangle": disentangle}.__getitem__)
    monkeypatch.setattr(costs.time, "perf_counter", lambda: next(ticks))
    both = [
        {"method": "plain", "estimator": "A", "parameters": {}, "overlap": None},
        {"method": "over", "estimator": "B", "parameters": {}, "overlap": {"copies": 2}},
    ]
    rows = np.zeros((1000, 1))
    found = measure_costs(Dataset(rows, rows, rows[:500], rows[:500]), rows, both, seed=0, threads=1)
    warm_up = [("train", "A", 300), ("ask", "A", 300), ("overlap", "B", 300, {"copies": 2}), ("ask", "B", 300)]
    turn = [("train", "A", 1000), ("ask", "A", 500), ("overlap", "B", 1000, {"copies": 2}), ("ask", "B", 500)]
    assert said == warm_up + 3 * turn
    assert [(one["method"], one["train_s"], one["query_ms"]) for one in found] == [
        ("plain", 1, pytest.approx(4.0)),
        ("over", 4, pytest.approx(12.0)),
    ]
    assert [one["train_s_error"] for one in found] == [pytest.approx(1.0), 0]  # of 1, 1 and 4 s: √3 / √3
    assert [one["query_ms_error"] for one in found] == [pytest.approx(0), pytest.approx(0)]
