"""How many threads, and how they end."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from orchard.threads import cancelling, n_threads


def test_all_cores_unless_told():
    """None and −1 mean the same, at least one thread."""
    assert n_threads(None) == n_threads(-1) >= 1
    assert n_threads(3) == 3


@pytest.mark.parametrize("wrong", [0, -2, 1.5, "2", True])
def test_a_wrong_number_is_refused_by_name(wrong):
    """The message names the parameter that people set."""
    with pytest.raises(ValueError, match="n_jobs must be a positive number"):
        n_threads(wrong)


def test_an_interrupted_job_does_not_wait_for_the_queue():
    """Ctrl-C in hours of training must end it: what has not begun is dropped."""
    begun, go_on, done = threading.Event(), threading.Event(), []

    def first():
        begun.set()
        go_on.wait(10)

    with pytest.raises(KeyboardInterrupt), cancelling(ThreadPoolExecutor(1)) as pool:
        pool.submit(first)
        for number in range(100):
            pool.submit(done.append, number)
        begun.wait(10)
        threading.Timer(0.2, go_on.set).start()
        raise KeyboardInterrupt
    assert done == []
