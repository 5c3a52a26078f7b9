"""One measurement of hierarchical softmax: `python -m bench.softmax_worker measure <folder>`, by fastText or Orchard.

Runs in the peers' environment as well as in Orchard's, so each program imports what it needs itself. What the folder
holds is written by `bench/softmax.py`, which reads the times and the ranking that this leaves there.
"""

import json
import statistics
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from bench.worker import timed

_WARM_UP_ROWS, _PREDICTIONS = 200, 3
_LABEL = "__label__"


def measure(folder: Path) -> None:
    job = json.loads((folder / "job.json").read_text())
    programs = {"orchard": Orchard, "orchard-alike": OrchardAlike, "fasttext": FastText}
    program = programs[job["program"]](job, folder)
    program.warm_up()
    (seconds, cpu_s), model = timed(program.train)
    texts = read_texts(folder / "X.tst.txt")
    program.predict(model, texts[:_WARM_UP_ROWS])
    predictions = [timed(program.predict, model, texts) for _ in range(_PREDICTIONS)]
    milliseconds = 1e3 * statistics.median(wall for (wall, _), _ in predictions) / len(texts)
    np.save(folder / "ids.npy", program.ids(predictions[0][1]))
    result = {"train_s": seconds, "train_cpu_s": cpu_s, "predict_ms": milliseconds, **program.details}
    (folder / "result.json").write_text(json.dumps(result))


def write_order(folder: Path) -> None:
    """The labels in fastText's order, the most frequent first; those of equal frequency stand as its sort left them."""
    import fasttext

    model = fasttext.train_supervised(str(folder / "train.txt"), loss="hs", dim=1, epoch=1, thread=1, verbose=0)
    np.save(folder / "order.npy", [int(label.removeprefix(_LABEL)) for label in model.labels])


def read_texts(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


class FastText:
    """Reads its file inside the call that trains, so reading and n-grams are in its time."""

    def __init__(self, job, folder):
        self.job, self.file, self.details = job, str(folder / "train.txt"), {}

    def warm_up(self):
        pass

    def train(self):
        import fasttext

        s = self.job["settings"]
        return fasttext.train_supervised(
            self.file, loss="hs", dim=s["dimension"], lr=s["learning_rate"], minCount=s["min_count"],
            wordNgrams=self.job["word_ngrams"], epoch=self.job["epochs"], seed=self.job["repetition"], thread=1,
            verbose=0,
        )  # fmt: skip

    def predict(self, model, texts):
        return model.predict(texts, k=self.job["k"])[0]

    def ids(self, answer):
        ids = np.full((len(answer), self.job["k"]), -1, np.int64)
        for row, labels in enumerate(answer):
            ids[row, : len(labels)] = [int(label.removeprefix(_LABEL)) for label in labels]
        return ids


class Orchard:
    """Reads the texts inside the time too, makes the n-grams, the Huffman tree and the model."""

    def __init__(self, job, folder):
        self.job, self.folder, self.details = job, folder, {}

    def warm_up(self):
        from orchard.softmax import HierarchicalSoftmax, WordNgrams
        from orchard.trees.coding import huffman_label_tree

        Y, ngrams = sp.csr_matrix(np.eye(3, dtype=np.float32)), WordNgrams()
        X = ngrams.fit_transform(["a b", "b c", "c a"])
        model = HierarchicalSoftmax(epochs=1, n_jobs=1).fit(X, Y, [huffman_label_tree(np.ones(3))])
        self.predict((ngrams, model), ["a"])

    def train(self):
        from orchard.softmax import WordNgrams
        from orchard.trees.coding import huffman_label_tree

        s = self.job["settings"]
        texts, Y = read_texts(self.folder / "X.trn.txt"), sp.csr_matrix(sp.load_npz(self.folder / "Y.trn.npz"))
        ngrams = WordNgrams(s["min_count"], self.job["word_ngrams"])
        (self.details["features_s"], _), X = timed(ngrams.fit_transform, texts)
        parameters = s["dimension"], s["learning_rate"], self.job["epochs"], self.job["repetition"], 1
        model = self.estimator(ngrams, X)(*parameters)
        frequencies = np.bincount(Y.indices, minlength=Y.shape[1])
        return ngrams, model.fit(X, Y, [huffman_label_tree(frequencies, self.order(frequencies))])

    def order(self, frequencies):
        """The labels, the rarest first."""
        return np.argsort(frequencies, kind="stable")

    def estimator(self, ngrams, X):
        from orchard.softmax import HierarchicalSoftmax

        return HierarchicalSoftmax

    def predict(self, model, texts):
        ngrams, softmax = model
        return softmax.predict_topk(ngrams.transform(texts), self.job["k"])[0]

    def ids(self, answer):
        return answer


class OrchardAlike(Orchard):
    """Orchard with fastText's own tree, and with the start that fastText 0.9.2 has with one thread.

    It fills only the first tenth of its vectors with random numbers, the others are zero: each thread fills a tenth.
    Words come first, the most frequent ones before the others, then the buckets.
    """

    def order(self, frequencies):
        known = np.load(self.folder / "order.npy")[::-1]  # labels that no sample has are unknown to fastText
        return np.concatenate([np.setdiff1d(np.arange(frequencies.size), known), known])

    def estimator(self, ngrams, X):
        from orchard.softmax import HierarchicalSoftmax

        n_words, has_buckets = len(ngrams.vocabulary_), ngrams.word_ngrams > 1
        place = np.empty(ngrams.n_columns_, np.int64)  # of every column in fastText's matrix
        place[np.argsort(-np.asarray(X.sum(axis=0)).ravel()[:n_words], kind="stable")] = np.arange(n_words)
        place[ngrams.bucket_columns_] = n_words + np.arange(ngrams.bucket)  # the last column is zero anyway
        is_zero = place >= (n_words + has_buckets * ngrams.bucket) // 10

        class Alike(HierarchicalSoftmax):
            def _first_embeddings(self, n_features, rng):
                embeddings = super()._first_embeddings(n_features, rng)
                embeddings[:, is_zero] = 0
                return embeddings

        return Alike


if __name__ == "__main__":
    {"measure": measure, "order": write_order}[sys.argv[1]](Path(sys.argv[2]))
