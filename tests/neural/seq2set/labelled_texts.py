"""Small texts and networks that the tests of label writers share."""

import numpy as np
import scipy.sparse as sp

from orchard.data.store import Dataset

SMALL = {
    **{"hidden": 12, "embedding_size": 8, "label_embedding_size": 8, "batch_size": 10, "learning_rate": 0.02},
    **{"max_tokens": 30, "held_out": 0.0, "device": "cpu"},
}


def labelled_texts(n=20, n_labels=8, seed=0):
    """Texts in which every label has a word of its own, among others."""
    random = np.random.default_rng(seed)
    dense = random.random((n, n_labels)) < 0.3
    dense[np.arange(n), random.integers(0, n_labels, n)] = True
    Y = sp.csr_matrix(dense, dtype=np.float32)
    texts = []
    for row in Y:
        words = [f"word{label}" for label in row.indices] + [f"other{i}" for i in random.integers(0, 20, 5)]
        texts.append(" ".join(random.permutation(words)))
    return texts, Y


def labelled_dataset() -> Dataset:
    """Twenty training and ten test texts with names of their labels; a network that reads texts sees no features."""
    texts, Y = labelled_texts(30)
    none, names = sp.csr_matrix((0, 0), dtype=np.float32), [f"label {column}" for column in range(Y.shape[1])]
    return Dataset(none, Y[:20], none, Y[20:], texts[:20], texts[20:], names)
