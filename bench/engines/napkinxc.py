"""napkinXC: probabilistic label trees in C++, set up as Parabel (squared hinge, balanced 2-means, beam search).

It can train from a file too; from memory it is spared the reading. It writes its model while it trains.
"""

from napkinxc.models import PLT

from bench.engines import Engine, padded


class Adapter(Engine):
    def train(self, data, folder):
        X, Y = data
        model = self._model(folder)
        model.fit(X, Y)
        return model

    def save(self, model, folder):
        pass  # `train` has written it

    def load(self, folder):
        model = self._model(folder)
        model.load()
        return model

    def predict(self, model, batch, k):
        return model.predict(batch, top_k=k)

    def ids(self, answer, k):
        return padded(answer, k)  # its beam search returns more than top_k

    def _model(self, folder):
        s = self.settings
        return PLT(
            str(folder), tree_type="hierarchicalKmeans", arity=2, max_leaves=s["max_leaf"], ensemble=s["n_trees"],
            optimizer="liblinear", loss="l2", liblinear_c=s["C"], weights_threshold=s["threshold"],
            tree_search_type="beam", beam_search_width=s["beam"], seed=self.seed, threads=self.threads,
        )  # fmt: skip
