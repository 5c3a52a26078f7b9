"""PECOS XR-Linear (libpecos): PIFA embeddings, hierarchical 2-means, dual coordinate descent."""

import numpy as np
from pecos.xmc import LabelEmbeddingFactory
from pecos.xmc.base import HierarchicalKMeans
from pecos.xmc.xlinear.model import XLinearModel

from bench.engines import Engine


class Adapter(Engine):
    def read(self, source):
        X, Y = source
        return X, Y.tocsc()  # the form that PECOS's own loader gives

    def train(self, data, folder):
        X, Y = data
        s = self.settings
        embeddings = LabelEmbeddingFactory.create(Y, X, method="pifa", threads=self.threads)
        clusters = HierarchicalKMeans.gen(
            embeddings, nr_splits=s["n_splits"], max_leaf_size=s["max_leaf"], seed=self.seed, threads=self.threads
        )
        return XLinearModel.train(
            X, Y, C=clusters, nr_splits=s["n_splits"], Cp=s["C"], Cn=s["C"], threshold=s["threshold"],
            negative_sampling_scheme="tfn", threads=self.threads,
            pred_kwargs={"beam_size": s["beam"], "only_topk": 5, "post_processor": "l3-hinge"},
        )  # fmt: skip

    def save(self, model, folder):
        model.save(str(folder))

    def load(self, folder):
        # A model in any other form predicts many times slower.
        return XLinearModel.load(str(folder), is_predict_only=True)

    def predict(self, model, batch, k):
        return model.predict(
            batch, beam_size=self.settings["beam"], only_topk=k, post_processor="l3-hinge", threads=self.threads
        )

    def ask(self, model, query, k):
        return model.predict(query, beam_size=self.settings["beam"], only_topk=k, post_processor="l3-hinge", threads=1)

    def ids(self, answer, k):
        ids = np.full((answer.shape[0], k), -1, np.int64)
        for row in range(answer.shape[0]):
            here = slice(answer.indptr[row], answer.indptr[row + 1])
            best = np.argsort(-answer.data[here], kind="stable")[:k]
            ids[row, : len(best)] = answer.indices[here][best]
        return ids
