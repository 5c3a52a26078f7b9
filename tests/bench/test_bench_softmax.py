"""The softmax's part of the bench: what is measured, what both programs are given, and what the table says of it."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
import scipy.sparse as sp

from bench import run, settings, softmax, softmax_tables, softmax_worker
from bench.softmax import PROGRAMS, Job

OWN = Job("orchard", "eurlex-4k", 25)
ALIKE, PEER = (replace(OWN, program=program) for program in PROGRAMS[1:])


def record(job, seconds, precision, edition="engine/now", **values):
    state = {"status": "ok", "edition": edition, "again": False, "run": "monday", "load_average": 1.5}
    costs = {"train_s": seconds, "train_cpu_s": 2 * seconds, "predict_ms": 0.1}
    scores = {"P@1": precision, "P@3": 40.0, "P@5": 30.0}
    return asdict(job) | {"configuration": job.name} | state | costs | scores | values


def table(*found):
    made = softmax_tables.make(*softmax_tables.points(list(found), "engine/now"))["softmax"]
    assert all(len(row) == len(made.header) for row in made.rows)
    assert all(len(row) == len(made.record_header) for row in made.records)
    return made


@pytest.fixture
def source(tmp_path):
    """A prepared data set without text: two features and two labels that go together."""
    folder = tmp_path / "prepared"
    folder.mkdir()
    X = sp.csr_matrix(np.tile(np.eye(2, dtype=np.float32), (10, 1)))
    for split in ("trn", "tst"):
        for letter in "XY":
            sp.save_npz(folder / f"{letter}.{split}.npz", X)
    return folder


def test_the_programs_take_turns_and_the_long_training_is_done_once():
    jobs = softmax.plan(None, repeats=5, quick=False)
    assert [job.repetition for job in jobs] == sorted(job.repetition for job in jobs)
    assert len(set(jobs)) == len(jobs)
    assert tuple(job.program for job in jobs[:3]) == PROGRAMS
    assert max(job.repetition for job in jobs) == 3
    assert {job.repetition for job in jobs if job.epochs == 200} == {1}


def test_the_softmax_is_measured_where_it_is_asked_for():
    assert run.plan_softmax(run.parse(["--parts", "peers,report"])) == []
    assert run.plan_softmax(run.parse(["--engines", "orchard"])) == []
    quick = run.plan_softmax(run.parse(["--quick"]))
    assert {(job.dataset, job.epochs, job.repetition) for job in quick} == {("eurlex-4k", 25, 1)}
    assert {job.dataset for job in run.plan_softmax(run.parse(["--only", "pubmed-mesh"]))} == {"pubmed-mesh"}


def test_both_programs_get_the_same_texts(source, tmp_path):
    softmax.write_job(OWN, source, tmp_path)
    assert (tmp_path / "X.trn.txt").read_text().splitlines()[:2] == ["w0", "w1"]
    assert (tmp_path / "train.txt").read_text().splitlines()[:2] == ["__label__0 w0", "__label__1 w1"]
    (source / "X.trn.txt").write_text("".join(f"text {i}\n" for i in range(20)))
    softmax.write_job(PEER, source, tmp_path)
    assert (tmp_path / "train.txt").read_text().splitlines()[1] == "__label__1 text 1"


@pytest.mark.parametrize("job", [OWN, ALIKE], ids=lambda job: job.program)
def test_a_measurement_has_what_the_table_needs(job, source, tmp_path):
    softmax.write_job(replace(job, epochs=5), source, tmp_path)
    job_file = tmp_path / "job.json"
    job_file.write_text(json.dumps(json.loads(job_file.read_text()) | {"k": 2}))
    np.save(tmp_path / "order.npy", [1, 0])
    softmax_worker.measure(tmp_path)
    result = json.loads((tmp_path / "result.json").read_text())
    assert result.keys() == {"train_s", "train_cpu_s", "predict_ms", "features_s"}
    assert np.sort(np.load(tmp_path / "ids.npy")).tolist() == [[0, 1]] * 20


def test_the_bars_are_judged():
    found = table(
        *(record(replace(OWN, repetition=n), seconds, 52.0) for n, seconds in enumerate((1.0, 2.0, 9.0), start=1)),
        record(ALIKE, 11.0, 51.0),
        record(PEER, 10.0, 50.0),
    )
    own, alike = found.rows
    assert own[1:5] == ["its own", "25", "1", "52.00/40.00/30.00"]
    assert (own[6], own[9], own[10]) == ("+2.00 ✗", "0.200 ✓", "0.200 ✓")
    assert (alike[1], alike[6], alike[9]) == ("fastText's", "+1.00 ✓", "1.100 ✗")
    assert f"within {settings.SOFTMAX_PRECISION_BAR} points" in found.notes[0]


def test_what_failed_is_in_the_table_with_its_reason_and_what_stands_alone_is_not():
    found = table(record(OWN, 1.0, 52.0), record(PEER, 1.0, 1.0) | {"status": "failed", "reason": "killed"})
    assert [row[-1] for row in found.rows] == ["failed: killed"]
    assert table(record(OWN, 1.0, 52.0)).rows == []
    assert softmax_tables.make([], False) == {}
