"""The floor under every method: what a predictor that never looks at the sample can reach."""

import numpy as np
import scipy.sparse as sp


class MostFrequent:
    """Predicts the most frequent training labels for everybody; ties go to the lower label id."""

    def fit(self, X: sp.csr_matrix, Y: sp.csr_matrix) -> "MostFrequent":
        """X (n, d) is ignored; Y (n, L)."""
        frequencies = np.bincount(Y.indices, minlength=Y.shape[1])
        self.order_ = np.argsort(-frequencies, kind="stable")
        self.scores_ = frequencies[self.order_] / max(Y.shape[0], 1)
        return self

    def predict_topk(self, X: sp.csr_matrix, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Top labels and their scores, (n, k) each; -1 where there are fewer than k labels."""
        ids, scores = np.full(k, -1), np.full(k, -np.inf)
        n_known = min(k, len(self.order_))
        ids[:n_known], scores[:n_known] = self.order_[:n_known], self.scores_[:n_known]
        return np.tile(ids, (X.shape[0], 1)), np.tile(scores, (X.shape[0], 1))

    @property
    def model_bytes_(self) -> int:
        return self.order_.nbytes + self.scores_.nbytes
