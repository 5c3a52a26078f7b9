"""What the tests of all networks share."""

import pytest


class Killed(BaseException):
    """What no except clause of a library catches."""


@pytest.fixture
def killed_at(monkeypatch):
    """Have a training write a checkpoint after every step, and die right after that of a place (epochs, steps)."""
    from orchard.neural import training

    write = training.Checkpoint.write

    def run_until(place, fit):
        def write_and_die(self, state):
            write(self, state)
            if (state.course.epochs, state.course.steps_done) == place:
                raise Killed

        monkeypatch.setattr(training.Checkpoint, "is_due", lambda self: True)
        monkeypatch.setattr(training.Checkpoint, "write", write_and_die)
        with pytest.raises(Killed):
            fit()
        monkeypatch.setattr(training.Checkpoint, "write", write)

    return run_until
