"""What a training step takes, method by method in turn, and how much of it matching and transport take."""

import time
from collections.abc import Sequence
from copy import copy
from statistics import median
from types import ModuleType

import numpy as np
import torch
from torch import nn

from orchard.data.store import Dataset
from orchard.data.word_vectors import WordVectors
from orchard.neural.adam import Adam
from orchard.neural.devices import pick_device, repeatable, rounded_products
from orchard.neural.seq2set import objectives, per_sample
from orchard.neural.seq2set.batches import shuffled_rows
from orchard.neural.seq2set.estimators import LabelWriter, OTSeq2Set

WARM_UP = 3  # steps


class Timed:
    """A module's objectives, and the milliseconds that those of Eq. 13 and Eq. 14 have taken since `forget`."""

    def __init__(self, module: ModuleType):
        self.module = module
        self.sequence_loss = objectives.sequence_loss
        self.forget()

    def forget(self) -> None:
        self.taken = {"matching": 0.0, "transport": 0.0}

    def matching_loss(self, *arguments):
        return self._timed("matching", *arguments)

    def transport_loss(self, *arguments):
        return self._timed("transport", *arguments)

    def _timed(self, part: str, *arguments):
        started = _now()
        loss = getattr(self.module, f"{part}_loss")(*arguments)
        self.taken[part] += 1000 * (_now() - started)
        return loss


class Stepper:
    """An estimator that trains step by step and notes what every step takes.

    loss : how its loss is computed, in a word.
    module : `objectives`, or `per_sample`, which matches and transports one sample after the other.
    """

    def __init__(self, method: str, estimator: LabelWriter, loss: str = "its own", module: ModuleType = objectives):
        self.about, self.estimator = {"method": method, "loss": loss}, estimator
        self.estimator.objectives = self.objectives = Timed(module)
        self.notes: list[dict[str, float]] = []

    def begin(self, dataset: Dataset, word_vectors: WordVectors | None) -> None:
        about = dataset.texts_train, dataset.Y_train, dataset.label_names, word_vectors
        self.network, self.batch_of, self.documents = self.estimator.begin(*about)
        self.network.train()
        self.optimiser = Adam(self.network.parameters(), self.estimator.learning_rate)

    def step(self, rows: np.ndarray) -> None:
        """One step of training on these texts."""
        batch = self.batch_of(rows)
        self.objectives.forget()
        started = _now()
        self.optimiser.zero_grad()
        self.estimator.loss(self.network, batch).backward()
        nn.utils.clip_grad_norm_(self.optimiser.weights, self.estimator.clip)
        self.optimiser.step()
        self.notes.append({"step": 1000 * (_now() - started)} | self.objectives.taken)

    def report(self) -> dict:
        """Medians over the steps after the first few, in milliseconds."""
        notes = self.notes[WARM_UP:]
        medians = {f"{part}_ms": median(note[part] for note in notes) for part in notes[0]}
        return self.about | {"steps": len(notes)} | medians


def steppers_of(method: str, estimator: LabelWriter) -> list[Stepper]:
    """A method; and beside a set model the same with plain cross-entropy, and with its losses sample by sample."""
    if not isinstance(estimator, OTSeq2Set):
        return [Stepper(method, estimator)]
    plain = copy(estimator).set_params(scheme="in order", transport=0.0)
    return [
        Stepper(method, estimator),
        Stepper(method, plain, "cross-entropy"),
        Stepper(method, copy(estimator), "sample by sample", per_sample),
    ]


def measure_steps(
    dataset: Dataset, steppers: Sequence[Stepper], word_vectors: WordVectors | None, steps: int, seed: int = 0
) -> list[dict]:
    """What a step of each takes, and the matching and the transport in it, medians over `steps`.

    They take turns on the same batches, which are those of a training, so that what drifts on the machine hits all
    alike.
    """
    first, order = steppers[0], torch.Generator().manual_seed(seed)
    with repeatable(), rounded_products(pick_device(), first.estimator.mixed_precision is not False):
        for stepper in steppers:
            stepper.begin(dataset, word_vectors)
        labelled = np.flatnonzero(np.diff(dataset.Y_train.indptr))
        lengths = first.documents.lengths[labelled]
        batches = []
        while len(batches) < WARM_UP + steps:
            batches += shuffled_rows(lengths, first.estimator.batch_size, order)
        for rows in batches[: WARM_UP + steps]:
            for stepper in steppers:
                stepper.step(labelled[rows])
    return [stepper.report() for stepper in steppers]


def _now() -> float:
    if pick_device().type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()
