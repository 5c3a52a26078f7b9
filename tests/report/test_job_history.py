"""The jobs behind a file are found by their records, directly or not, and a record that does not fit is known."""

import pytest

from orchard.files import write_json, write_text
from orchard.job_records import hashes
from orchard.report.job_history import JobHistory

DATA, SCORE, TABLE = "results/data/toy", "results/runs/toy/score.json", "results/artefacts/smoke/table.csv"


def leave_record(name, inputs, outputs, started="2026-01-02T10:00:00+00:00"):
    record = {"rule": name, "inputs": hashes(inputs), "outputs": hashes(outputs), "started": started}
    write_json(f"results/provenance/{name}.json", record)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A table of a run on data, which is a folder; the run read a single file of it."""
    monkeypatch.chdir(tmp_path)  # records have paths relative to here
    for path in (f"{DATA}/X.npz", SCORE, TABLE):
        write_text(path, f"This is {path}.\n")
    leave_record("prepare", [], [DATA])
    leave_record("run", [f"{DATA}/X.npz"], [SCORE])
    leave_record("table", [SCORE, "config/not-made-by-a-job.csv"], [TABLE])
    return tmp_path


def names(jobs):
    return [job.record["rule"] for job in jobs]


def test_all_jobs_behind_a_file_are_found_each_once(project):
    """Through a folder, too, of which a job read one file only."""
    history = JobHistory(project)
    assert names(history.behind([TABLE])) == ["table", "run", "prepare"]
    assert names(history.behind([SCORE, TABLE, TABLE])) == ["table", "run", "prepare"]
    assert history.behind(["config/not-made-by-a-job.csv"]) == []
    assert history.outputs_in("results/artefacts/smoke") == [TABLE]


def test_results_without_a_record_are_known(project):
    """Of jobs before there were records; what is no result was never made by a job."""
    assert JobHistory(project).unrecorded([TABLE]) == []
    (project / "results/provenance/run.json").unlink()
    history = JobHistory(project)
    assert history.unrecorded([TABLE]) == [SCORE]
    assert names(history.behind([TABLE])) == ["table"]


def test_a_branch_ends_at_a_job_that_is_not_gone_beyond(project):
    """What a stale job read says nothing about the file that is there; the job itself is met."""
    write_text(SCORE, "edited")
    met = JobHistory(project).behind([TABLE], beyond=lambda job: job.is_fresh)
    assert [(job.record["rule"], job.is_fresh) for job in met] == [("table", True), ("run", False)]


def test_of_two_jobs_that_wrote_a_file_the_later_one_counts(project):
    """Wherever its record stands: a rule may have got another name."""
    leave_record("a-newer-name", [], [SCORE], started="2026-01-03T10:00:00+00:00")
    leave_record("z-older-name", [], [SCORE], started="2026-01-01T10:00:00+00:00")
    assert names(JobHistory(project).behind([TABLE])) == ["table", "a-newer-name"]


@pytest.mark.parametrize("spoil", [lambda path: path.write_text("edited"), lambda path: path.unlink()])
def test_a_job_is_fresh_while_all_that_it_wrote_is_there(project, spoil):
    assert JobHistory(project).of(f"{DATA}/X.npz").is_fresh
    assert JobHistory(project).origin(TABLE).fits
    spoil(project / DATA / "X.npz")
    spoil(project / TABLE)
    assert not JobHistory(project).of(DATA).is_fresh
    assert not JobHistory(project).origin(TABLE).fits


def test_a_file_that_no_job_wrote_has_no_origin(project):
    origin = JobHistory(project).origin("config/not-made-by-a-job.csv")
    assert (origin.record, origin.fits) == (None, None)
    assert origin.told == "no record of the job that made this file"
