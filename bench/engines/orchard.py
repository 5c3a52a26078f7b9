"""Orchard's own engine, through the public estimators."""

import numpy as np
import scipy.sparse as sp

import orchard
from bench.engines import Engine


class Adapter(Engine):
    def warm_up(self):
        """Fit and predict something small of the same kinds, so that numba has loaded (or compiled) every kernel."""
        X, Y = small_problem()
        model = self.estimator().fit(X, Y)
        model.predict_topk(X, k=5)
        model.predict_topk(X[0], k=5)

    def train(self, data, folder):
        return self.estimator().fit(*data)

    def save(self, model, folder):
        folder.mkdir(parents=True, exist_ok=True)
        model.save(folder / "model")

    def load(self, folder):
        (saved,) = folder.iterdir()  # `save` may have added an ending
        model = self._class().load(saved)
        model.n_jobs = self.threads  # not a property of the model, so the file may not know it
        return model

    def predict(self, model, batch, k):
        return model.predict_topk(batch, k=k)

    def ids(self, answer, k):
        return np.asarray(answer[0], np.int64)

    def _class(self):
        return getattr(orchard, self.settings["estimator"])

    def estimator(self):
        s = self.settings
        parameters = {key: s[key] for key in ("max_leaf", "beam", "C", "threshold")}
        parameters |= {"n_trees": s["n_trees"]} if s["estimator"] == "Parabel" else {"n_splits": s["n_splits"]}
        return self._class()(**parameters, random_state=self.seed, n_jobs=self.threads)


def small_problem():
    """X (400, 200) and Y (400, 150): a tree of two leaves, in a moment and in memory that no measurement feels.

    The root is trained in narrow lanes, its leaves in wide ones. One kernel is not reached, the 2-means of large nodes
    that threads share: the first training ever that needs it compiles it, a second more.
    """
    random = np.random.default_rng(0)
    X = sp.random(400, 200, 0.1, "csr", np.float32, random_state=random)
    Y = sp.random(400, 150, 0.05, "csr", np.float32, random_state=random)
    Y.data[:] = 1
    return X, Y
