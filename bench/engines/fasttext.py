"""fastText with hierarchical softmax: another model altogether, shown for its speed.

A feature becomes a word, so the TF-IDF values are lost; its accuracy is far below that of the label trees. It trains
from a file, and the reading cannot be told from the training.
"""

import fasttext
import numpy as np

from bench.engines import Engine

_LABEL = "__label__"


class Adapter(Engine):
    trains_from = "train.fasttext.txt"

    def train(self, data, folder):
        s = self.settings
        return fasttext.train_supervised(
            str(data), loss="hs", dim=s["dim"], epoch=s["epoch"], lr=s["lr"], minCount=1, thread=self.threads,
            seed=self.seed, verbose=0,
        )  # fmt: skip

    def save(self, model, folder):
        folder.mkdir(parents=True, exist_ok=True)
        model.save_model(str(folder / "model.bin"))

    def load(self, folder):
        fasttext.FastText.eprint = lambda *words: None
        return fasttext.load_model(str(folder / "model.bin"))

    def batch_input(self, X, data_folder):
        return (data_folder / "test.fasttext.txt").read_text().splitlines()

    def predict(self, model, batch, k):
        return model.predict(batch, k=k)

    def ids(self, answer, k):
        labels = [answer[0]] if isinstance(answer[0], tuple) else answer[0]
        ids = np.full((len(labels), k), -1, np.int64)
        for row, found in enumerate(labels):
            ids[row, : len(found)] = [int(label.removeprefix(_LABEL)) for label in found]
        return ids
