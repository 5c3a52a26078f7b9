"""The one training loop: Adam over batches, judged after every epoch, and resumed after a kill."""

import copy
import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor, nn
from tqdm import tqdm

from orchard.errors import OrchardError
from orchard.files import atomic_file
from orchard.neural.adam import Adam

CHECKPOINT_SECONDS = 20.0  # between two checkpoints, or more: writing them takes two per cent of the time at most
CHECKPOINT_SHARE = 0.02

logger = logging.getLogger("orchard")

Part = TypeVar("Part")  # whatever tells which samples are in a batch


@dataclass(frozen=True)
class Schedule:
    """How long, and in which steps.

    patience : stop after so many epochs without a better validation accuracy, and keep the best; None trains all the
        epochs and keeps the last.
    annealed : the learning rate falls to zero from epoch to epoch, along half a cosine.
    clip : a longer gradient is shortened to this length.
    """

    learning_rate: float
    epochs: int
    patience: int | None = None
    annealed: bool = False
    clip: float | None = None

    def learning_rate_of(self, epoch: int) -> float:
        """epoch : from 0."""
        if not self.annealed:
            return self.learning_rate
        return self.learning_rate * (1 + math.cos(math.pi * epoch / self.epochs)) / 2


@dataclass
class Course:
    """What has happened so far: a validation accuracy for every epoch, in per cent, and the best epoch, from 1.

    losses : the mean over the batches of every epoch.
    steps_done, seconds_so_far, loss_so_far : of the epoch that is under way.
    """

    validation: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    best_epoch: int = 0
    steps_done: int = 0
    seconds_so_far: float = 0.0
    loss_so_far: float = 0.0

    @property
    def epochs(self) -> int:
        return len(self.seconds)

    def is_over(self, schedule: Schedule) -> bool:
        waited = self.epochs - self.best_epoch
        return self.epochs >= schedule.epochs or (schedule.patience is not None and waited >= schedule.patience)

    def end_epoch(self) -> None:
        self.seconds.append(self.seconds_so_far)
        self.losses.append(self.loss_so_far / max(1, self.steps_done))
        self.steps_done, self.seconds_so_far, self.loss_so_far = 0, 0.0, 0.0


@dataclass
class Training:
    """A training under way: all that it needs to go on from here."""

    network: nn.Module
    optimiser: Adam
    order: torch.Generator  # as it was when the epoch began
    course: Course = field(default_factory=Course)
    best: dict | None = None

    def state(self) -> dict:
        return {
            "course": asdict(self.course),
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "order": self.order.get_state(),
            "best": self.best,
            "random": torch.get_rng_state(),
            "random of the GPU": torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else None,
        }

    @property
    def device(self) -> torch.device:
        return self.optimiser.weights[0].device

    def go_on_from(self, state: dict) -> None:
        self.course, self.best = Course(**state["course"]), state["best"]
        self.network.load_state_dict(state["network"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.order.set_state(state["order"])
        torch.set_rng_state(state["random"])
        if self.device.type == "cuda":
            torch.cuda.set_rng_state(state["random of the GPU"], self.device)


def train(
    network: nn.Module,
    loss: Callable[[nn.Module, Part], Tensor],
    shuffled: Callable[[torch.Generator], Sequence[Part]],
    schedule: Schedule,
    seed: int,
    validate: Callable[[nn.Module], float] | None = None,
    checkpoint: "Checkpoint | None" = None,
) -> Course:
    """Train the network in place; everybody else's random numbers stay as they were.

    loss : of the network on a part of the samples.  shuffled : all parts of the samples, anew for every epoch.
    validate : the accuracy of the network in per cent; needed for a schedule with patience.
    checkpoint : where to go on from, and to write to in between.
    """
    if schedule.patience is not None and validate is None:
        raise ValueError("patience needs a validation set")
    weights = [one for one in network.parameters() if one.requires_grad]
    with torch.random.fork_rng():
        torch.manual_seed(seed)  # dropout's
        training = Training(network, Adam(weights, schedule.learning_rate), torch.Generator().manual_seed(seed))
        if checkpoint and (found := checkpoint.read()):
            training.go_on_from(found)
            logger.info("going on in epoch %d", training.course.epochs + 1)
        with tqdm(unit="step", disable=None, leave=False) as progress:
            while not training.course.is_over(schedule):
                _epoch(training, loss, shuffled, schedule, checkpoint, progress)
                if validate:
                    _judge(training, validate)
                    progress.set_postfix(validation=f"{training.course.validation[-1]:.2f}")
                if checkpoint and checkpoint.is_due():
                    checkpoint.write(training)
    if checkpoint and sum(training.course.seconds) >= CHECKPOINT_SECONDS:
        checkpoint.write(training)  # what comes after the training may be killed, too
    if schedule.patience is not None:
        network.load_state_dict(training.best)
    return training.course


def _epoch(training: Training, loss, shuffled, schedule: Schedule, checkpoint, progress) -> None:
    """The rest of an epoch."""
    course, weights = training.course, training.optimiser.weights
    training.optimiser.learning_rate = schedule.learning_rate_of(course.epochs)
    order = training.order.clone_state()
    parts = shuffled(order)
    training.network.train()
    progress.total, progress.n = schedule.epochs * len(parts), course.epochs * len(parts) + course.steps_done
    progress.set_description(f"epoch {course.epochs + 1} of {schedule.epochs}")
    for part in parts[course.steps_done :]:
        started = time.perf_counter()
        training.optimiser.zero_grad()
        value = loss(training.network, part)
        value.backward()
        if schedule.clip is not None:
            nn.utils.clip_grad_norm_(weights, schedule.clip)
        training.optimiser.step()
        course.loss_so_far += _finite(value.item(), course, schedule)
        del value  # and all that hangs on it
        course.steps_done += 1
        course.seconds_so_far += time.perf_counter() - started
        progress.update()
        if checkpoint and checkpoint.is_due():
            checkpoint.write(training)
    training.network.eval()
    training.order = order
    course.end_epoch()


def _finite(loss: float, course: Course, schedule: Schedule) -> float:
    if math.isfinite(loss):
        return loss
    where = f"step {course.steps_done + 1} of epoch {course.epochs + 1}"
    rate = schedule.learning_rate_of(course.epochs)
    raise OrchardError(f"the loss is {loss} in {where}: the training has diverged; try a learning_rate below {rate:g}")


def _judge(training: Training, validate: Callable[[nn.Module], float]) -> None:
    course = training.course
    course.validation.append(validate(training.network))
    if not course.best_epoch or course.validation[-1] > course.validation[course.best_epoch - 1]:
        course.best_epoch, training.best = course.epochs, copy.deepcopy(training.network.state_dict())


class Checkpoint:
    """A file that holds a training under way; one of another training is not gone on from.

    recipe : all that the training depends on, as a string.
    """

    def __init__(self, path, recipe: str):
        self.path, self.recipe = Path(path), recipe
        self.written, self.took = time.monotonic(), 0.0

    def is_due(self) -> bool:
        return time.monotonic() - self.written >= max(CHECKPOINT_SECONDS, self.took / CHECKPOINT_SHARE)

    def read(self) -> dict | None:
        """The state that was written last; None if that was nothing, or nothing of this training."""
        if not self.path.is_file():
            return None
        try:
            found = torch.load(self.path, weights_only=True, map_location="cpu")
            return found if found["recipe"] == self.recipe else None
        except Exception as error:  # whatever is wrong with it, training anew is right
            logger.warning("%s cannot be read, training starts anew: %s", self.path, error)
            return None

    def write(self, training: Training) -> None:
        started = time.monotonic()
        with atomic_file(self.path) as temporary:
            torch.save({"recipe": self.recipe} | training.state(), temporary)
        self.written = time.monotonic()
        self.took = self.written - started

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
