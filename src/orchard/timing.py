"""How long a function takes, and how much of that is numba's compiling."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event


def timed(function: Callable) -> tuple[Callable, dict[str, float]]:
    """The same function, and a dictionary that has its seconds, compiling among them, once it was called."""
    took = {}

    def measured(*arguments):
        with compilation() as compiled:
            started = time.perf_counter()
            result = function(*arguments)
            took["seconds"] = time.perf_counter() - started
        took["compile_seconds"] = compiled["seconds"]
        return result

    return measured, took


@contextmanager
def compilation() -> Iterator[dict[str, float]]:
    """Yields {"seconds": s}, where s is at the end what numba has spent on compiling: 0 where its cache had it all."""
    timer, spent = event.TimingListener(), {"seconds": 0.0}
    with event.install_listener("numba:compile", timer):
        yield spent
    spent["seconds"] = timer.duration if timer.done else 0.0
