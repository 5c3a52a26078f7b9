"""What an engine has to say for itself: one small module per engine, all with this protocol.

The worker (`bench/worker.py`) calls these methods and does all the timing, so no adapter can time itself differently.
"""

from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path

import numpy as np
import scipy.sparse as sp


class Engine(ABC):
    """`settings` are those of the configuration (`bench/settings.py`); the arrays that come in are unit rows."""

    # What training starts from: "arrays" (X, Y in memory) or the name of a file that `bench/data.py` writes.
    trains_from = "arrays"

    def __init__(self, settings: dict, threads: int, seed: int):
        self.settings, self.threads, self.seed = settings, threads, seed

    def warm_up(self) -> None:  # noqa: B027 (most engines have nothing to warm up)
        """Whatever happens once per machine and not once per model (a JIT compiler); outside every timing."""

    def read(self, source):
        """Turn the source into what `train` takes; timed on its own. With arrays, `source` is (X, Y)."""
        return source

    @abstractmethod
    def train(self, data, folder: Path):
        """Embeddings, tree and solver. An engine that cannot help writing its model does so in `folder`."""

    @abstractmethod
    def save(self, model, folder: Path) -> None:
        """Write the model into `folder`, which is not there yet; the size of what it holds is the model's."""

    @abstractmethod
    def load(self, folder: Path):
        """The model as it predicts fastest."""

    def batch_input(self, X: sp.csr_matrix, data_folder: Path):
        """The test rows in the engine's own form; outside the timing."""
        return X

    @abstractmethod
    def predict(self, model, batch, k: int):
        """The best `k` labels of every row of what `batch_input` gave, in the engine's own form."""

    def query(self, batch, row: int):
        """One test row as the public API takes it; outside the timing."""
        return batch[row]

    def ask(self, model, query, k: int):
        """One query through the public API."""
        return self.predict(model, query, k)

    @abstractmethod
    def ids(self, answer, k: int) -> np.ndarray:
        """What `predict` gave as int64 (n, k), best first, -1 for none; outside the timing."""


def make_engine(name: str, settings: dict, threads: int, seed: int) -> Engine:
    """The adapter is imported here, not at the top: each environment has only some of the engines."""
    return import_module(f"bench.engines.{name}").Adapter(settings, threads, seed)


def padded(rankings, k: int) -> np.ndarray:
    """Lists of label ids of any length as an array (n, k), -1 where a list is too short."""
    ids = np.full((len(rankings), k), -1, np.int64)
    for row, labels in enumerate(rankings):
        labels = list(labels)[:k]
        ids[row, : len(labels)] = labels
    return ids
