"""A job tells a user's mistake in a sentence and everything else with its traceback, and leaves a record in the end."""

import os
from types import SimpleNamespace

import pytest

from orchard.errors import OrchardError
from orchard.files import read_json
from orchard.job_records import record_path, sha256_of
from orchard.jobs import job


@pytest.fixture(autouse=True)
def restore_environment(monkeypatch, tmp_path):
    for library in ("NUMBA", "OMP", "OPENBLAS", "MKL"):
        monkeypatch.setenv(f"{library}_NUM_THREADS", "9")
    monkeypatch.chdir(tmp_path)


def task(log="results/logs/run/a.log", **changes):
    """As the workflow hands it to a script."""
    given = {"input": [], "output": [], "params": {}, "wildcards": {}, "threads": 1} | changes
    return SimpleNamespace(rule="run", log=[log], **given)


def test_progress_goes_to_the_file_and_the_screen(tmp_path, capsys):
    with job(task("deep/a.log", threads=2)) as log:
        log.info("halfway there")
    assert os.environ["NUMBA_NUM_THREADS"] == "2"
    assert "halfway there" in (tmp_path / "deep" / "a.log").read_text()
    assert "[a] halfway there" in capsys.readouterr().err


def test_a_job_may_claim_more_threads_than_it_computes_with():
    with job(task(threads=2), threads=1):
        assert os.environ["NUMBA_NUM_THREADS"] == "1"


def test_a_users_mistake_is_one_sentence(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended, job(task("a.log")):
        raise OrchardError("the key is wrong")
    assert ended.value.code == 1
    text = (tmp_path / "a.log").read_text()
    assert text.endswith("the key is wrong\n")
    assert "Traceback" not in text
    assert capsys.readouterr().err == ""  # the workflow shows the log of a failed job: not twice


def test_a_bug_keeps_its_traceback(tmp_path):
    with pytest.raises(SystemExit), job(task("a.log")):
        1 / 0  # noqa: B018
    assert "ZeroDivisionError" in (tmp_path / "a.log").read_text()


def test_a_record_tells_what_was_made_of_what(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.txt").write_text("x")
    made = task(
        input=["in"],
        output=["out.txt"],
        params={"code": "c0de", "method": {"C": 1}},
        wildcards={"seed": "3"},
        threads=2,
    )
    with job(made):
        (tmp_path / "out.txt").write_text("hello")
    record = read_json("results/provenance/run/a.json")
    assert record["outputs"] == {"out.txt": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}
    assert record["inputs"] == {"in": sha256_of("in")}
    assert (record["rule"], record["wildcards"], record["code"], record["threads"]) == ("run", {"seed": "3"}, "c0de", 2)
    assert record["seconds"] >= 0
    assert record["versions"]["numpy"]
    assert record["machine"]["cores"] >= 1


def test_the_hash_of_the_configuration_follows_the_parameters_and_not_the_code(tmp_path):
    def config_hash(**params):
        with job(task(params=params)):
            pass
        return read_json("results/provenance/run/a.json")["config_sha256"]

    assert config_hash(method={"C": 1}, code="a") == config_hash(method={"C": 1}, code="b")
    assert config_hash(method={"C": 1}, code="a") != config_hash(method={"C": 2}, code="a")


def test_a_failed_job_leaves_no_record(tmp_path):
    with pytest.raises(SystemExit), job(task()):
        raise OrchardError("no")
    assert not record_path("results/logs/run/a.log").exists()


def test_a_record_that_cannot_be_written_does_not_fail_the_job(tmp_path, capsys):
    """Its result is there, and worth more."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results/provenance").write_text("no folder")
    with job(task()):
        pass
    assert "no record of this job" in capsys.readouterr().err


def test_a_record_of_an_earlier_job_does_not_outlive_what_it_tells_of(tmp_path, monkeypatch):
    with job(task()):
        pass
    assert record_path("results/logs/run/a.log").exists()
    monkeypatch.setattr("orchard.jobs.write_record", lambda *_: 1 / 0)
    with job(task()):
        pass
    assert not record_path("results/logs/run/a.log").exists()


def test_the_hash_of_a_folder_follows_names_and_contents_and_no_time_stamp(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a").write_text("1")
    before = sha256_of(folder)
    (folder / ".snakemake_timestamp").touch()
    assert sha256_of(folder) == before
    (folder / "a").rename(folder / "b")
    assert sha256_of(folder) != before
