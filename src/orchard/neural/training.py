"""The one training loop: Adam over batches of groups, judged after every epoch, and resumed after a kill."""

import copy
import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn
from tqdm import tqdm

from orchard.files import atomic_file
from orchard.neural.adam import Adam
from orchard.neural.bags import Bags, Batch

CHECKPOINT_SECONDS = 20.0

logger = logging.getLogger("orchard")


@dataclass(frozen=True)
class Schedule:
    """How long, and in which steps.

    patience : stop after so many epochs without a better validation accuracy, and keep the best; None trains all the
        epochs and keeps the last.
    """

    batch_size: int
    learning_rate: float
    epochs: int
    patience: int | None = None


@dataclass
class Course:
    """What has happened so far: a validation accuracy for every epoch, in per cent, and the best epoch, from 1."""

    validation: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    best_epoch: int = 0

    @property
    def epochs(self) -> int:
        return len(self.seconds)

    def is_over(self, schedule: Schedule) -> bool:
        waited = self.epochs - self.best_epoch
        return self.epochs >= schedule.epochs or (schedule.patience is not None and waited >= schedule.patience)


def train(
    network: nn.Module,
    loss: Callable[[nn.Module, Tensor, Batch], Tensor],
    X: Tensor,
    bags: Bags,
    schedule: Schedule,
    seed: int,
    validate: Callable[[nn.Module], float] | None = None,
    checkpoint: "Checkpoint | None" = None,
) -> Course:
    """Train the network in place.

    loss : of the network, the instances X (n, d) of a batch, and the batch.
    validate : the accuracy of the network in per cent; needed for a schedule with patience.
    checkpoint : where to go on from, and to write to in between.
    """
    if schedule.patience is not None and validate is None:
        raise ValueError("patience needs a validation set")
    optimiser = Adam((one for one in network.parameters() if one.requires_grad), schedule.learning_rate)
    order = torch.Generator().manual_seed(seed)
    course, best = Course(), None
    if checkpoint and (found := checkpoint.read()):
        course = Course(**found["course"])
        network.load_state_dict(found["network"])
        optimiser.load_state_dict(found["optimiser"])
        order.set_state(found["order"])
        best = found["best"]
        logger.info("going on after epoch %d", course.epochs)
    with tqdm(total=schedule.epochs, initial=course.epochs, unit="epoch", disable=None, leave=False) as progress:
        while not course.is_over(schedule):
            started = time.perf_counter()
            network.train()
            for batch in bags.shuffled(schedule.batch_size, order):
                optimiser.zero_grad()
                loss(network, X[batch.members], batch).backward()
                optimiser.step()
            network.eval()
            course.seconds.append(time.perf_counter() - started)
            if validate:
                course.validation.append(validate(network))
                progress.set_postfix(validation=f"{course.validation[-1]:.2f}")
                if not course.best_epoch or course.validation[-1] > course.validation[course.best_epoch - 1]:
                    course.best_epoch, best = course.epochs, copy.deepcopy(network.state_dict())
            if checkpoint and checkpoint.is_due():
                checkpoint.write(course, network, optimiser, order, best)
            progress.update()
    if schedule.patience is not None:
        network.load_state_dict(best)
    return course


class Checkpoint:
    """A file that holds a training between two epochs; one of another training is not gone on from.

    recipe : all that the training depends on, as a string.
    """

    def __init__(self, path, recipe: str):
        self.path, self.recipe = Path(path), recipe
        self.written = time.monotonic()

    def is_due(self) -> bool:
        return time.monotonic() - self.written >= CHECKPOINT_SECONDS

    def read(self) -> dict | None:
        """What was written last; None if that was nothing, or nothing of this training."""
        if not self.path.is_file():
            return None
        try:
            found = torch.load(self.path, weights_only=True, map_location="cpu")
            return found if found["recipe"] == self.recipe else None
        except Exception as error:  # whatever is wrong with it, training anew is right
            logger.warning("%s cannot be read, training starts anew: %s", self.path, error)
            return None

    def write(
        self, course: Course, network: nn.Module, optimiser: Adam, order: torch.Generator, best: dict | None
    ) -> None:
        state = {"recipe": self.recipe, "course": asdict(course), "order": order.get_state(), "best": best}
        state |= {"network": network.state_dict(), "optimiser": optimiser.state_dict()}
        with atomic_file(self.path) as temporary:
            torch.save(state, temporary)
        self.written = time.monotonic()

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
