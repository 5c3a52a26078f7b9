"""A job tells a user's mistake in a sentence and everything else with its traceback."""

import os

import pytest

from orchard.errors import OrchardError
from orchard.jobs import job


@pytest.fixture(autouse=True)
def restore_environment(monkeypatch):
    for library in ("NUMBA", "OMP", "OPENBLAS", "MKL"):
        monkeypatch.setenv(f"{library}_NUM_THREADS", "9")


def test_progress_goes_to_the_file_and_the_screen(tmp_path, capsys):
    with job(tmp_path / "deep" / "a.log", threads=2) as log:
        log.info("halfway there")
    assert os.environ["NUMBA_NUM_THREADS"] == "2"
    assert "halfway there" in (tmp_path / "deep" / "a.log").read_text()
    assert "[a] halfway there" in capsys.readouterr().err


def test_a_users_mistake_is_one_sentence(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended, job(tmp_path / "a.log"):
        raise OrchardError("the key is wrong")
    assert ended.value.code == 1
    text = (tmp_path / "a.log").read_text()
    assert text.endswith("the key is wrong\n")
    assert "Traceback" not in text
    assert capsys.readouterr().err == ""  # the workflow shows the log of a failed job: not twice


def test_a_bug_keeps_its_traceback(tmp_path):
    with pytest.raises(SystemExit), job(tmp_path / "a.log"):
        1 / 0  # noqa: B018
    assert "ZeroDivisionError" in (tmp_path / "a.log").read_text()
