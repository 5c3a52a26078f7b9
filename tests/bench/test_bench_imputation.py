"""The imputation's part of the bench: what is measured, in which order, and what the tables say of it."""

from dataclasses import asdict, replace

import numpy as np
import pytest
import scipy.sparse as sp

from bench import figures, imputation, imputation_tables, job_runner, records, run, settings, worker
from bench.engines.orchard import small_problem
from bench.imputation import Job
from bench.job_points import notes

BASE = Job("impute", settings.IMPUTATION_DATASET)
PARABEL = replace(BASE, what="parabel", n_trees=3)
PLAIN = replace(BASE, what="plain", threads=1)


def record(job, seconds=1.0, edition="engine/now", **values):
    costs = {"seconds": seconds, "cpu_s": 2 * seconds, "growth_bytes": 3e6, "result_bytes": 1e5}
    about = {"n": round(job.rows * 8000), "n_groups": round(job.rows * 8000) / job.group_size, "n_features": 500}
    about |= {"n_pairs": 900, "data_bytes": 2e6}
    state = {"status": "ok", "edition": edition, "again": False, "run": "monday", "load_average": 1.5}
    return asdict(job) | {"configuration": job.name} | state | costs | about | values


def points(*found, current="engine/now"):
    return imputation_tables.points(list(found), current)[0]


def ratios(*found):
    table = imputation_tables.ratios_table(points(*found), [])
    assert all(len(row) == len(table.header) for row in table.rows)
    assert all(len(row) == len(table.record_header) for row in table.records)
    return {(row[0], row[1]): row[2:] for row in table.rows}


@pytest.fixture
def data_folder(tmp_path):
    X, Y = small_problem()
    sp.save_npz(tmp_path / "X.trn.npz", X)
    sp.save_npz(tmp_path / "Y.trn.npz", Y)
    return tmp_path


# ---- What is measured ----


def test_imputation_and_training_are_interleaved_and_nothing_is_measured_twice():
    jobs = imputation.plan(None, repeats=5, quick=False)
    assert [job.repetition for job in jobs] == sorted(job.repetition for job in jobs)
    identities = {records.identity(job_runner.start_of_record(job, "engine/now")) for job in jobs}
    assert len(identities) == len(jobs)
    assert {job.what for job in jobs if job.repetition == 5} == {"impute", "parabel"}


def test_the_quick_preset_imputes_on_the_smallest_set_and_samples_the_labels_of_scipy():
    jobs = run.plan_imputation(run.parse(["--quick"]))
    assert {(job.dataset, job.repetition) for job in jobs} == {("eurlex-4k", 1)}
    assert [job.n_labels for job in jobs if job.what == "plain"] == [settings.PLAIN_LABELS]
    assert {job.group_size for job in jobs} == set(settings.GROUP_SIZES)


def test_imputation_is_measured_where_it_is_asked_for():
    assert run.plan_imputation(run.parse(["--parts", "peers,report"])) == []
    assert run.plan_imputation(run.parse(["--engines", "pecos"])) == []
    assert run.plan(run.parse(["--parts", "imputation"])) == []


def test_what_is_measured_is_not_measured_again(tmp_path, monkeypatch):
    """A failure is a record with its reason, and the others are measured all the same."""
    raw, load, append = tmp_path / "raw.jsonl", records.load, records.append
    monkeypatch.setattr(records, "load", lambda: load(raw))
    monkeypatch.setattr(records, "append", lambda found: append(found, raw))
    asked = []

    def measured(job):
        asked.append(job)
        failed = {"status": "failed", "reason": "killed"}
        return failed if job and job.what == "parabel" else {"status": "ok", "seconds": 1.0, "cpu_s": 1.0}

    monkeypatch.setattr(imputation, "_run", measured)
    imputation.measure([PARABEL, BASE], fresh=False)
    imputation.measure([PARABEL, BASE, PLAIN], fresh=False)
    assert asked == [None, PARABEL, BASE, None, PLAIN]
    assert [found["status"] for found in records.load()] == ["failed", "ok", "ok"]


def test_the_parts_of_the_bench_share_a_file(tmp_path, monkeypatch):
    """The records of the imputation are no measurements of an engine, and the other way round."""
    from test_bench_summary import EDITIONS
    from test_bench_summary import record as engine_record

    from bench import summary

    both = [record(BASE), engine_record("orchard-binary")]
    assert [one.configuration.name for one in summary.summarise(both, EDITIONS)] == ["orchard-binary"]
    assert [one.job for one in points(*both)] == [BASE]
    assert run._subject(both[0])


# ---- One measurement ----


@pytest.mark.parametrize(
    "job",
    [
        replace(BASE, threads=1, group_size=2),
        replace(BASE, rows=0.25, iterations=0),
        replace(PARABEL, n_trees=1),
        PLAIN,
        replace(PLAIN, n_labels=20),
    ],
    ids=lambda job: job.name,
)
def test_a_measurement_has_what_the_tables_need(job, data_folder):
    result = imputation.run_job(job, data_folder)
    assert result["n"] == round(job.rows * 400)
    assert result["n_groups"] == result["n"] / job.group_size
    one = points(record(job) | result)[0]
    assert one.figures["seconds"].median > 0
    assert one.group_size == job.group_size


def test_scipy_gives_the_same_labels_and_a_sample_is_scaled_up(data_folder):
    whole, sample = (imputation.run_job(replace(PLAIN, n_labels=n), data_folder) for n in (None, 30))
    assert whole["share"] == 1
    assert 0.1 < sample["share"] < 0.3
    for result in (whole, sample):
        assert result["n_equal"] == result["n_given"] > 0


def test_a_label_that_scipy_gave_to_another_sample_is_noticed(data_folder, monkeypatch):
    plain = imputation.load_plain()
    original = plain.eagle

    def moved(*arguments):
        Y, embeddings = original(*arguments)
        row, column = (place[0] for place in Y.nonzero())
        Y[row, column] = 0
        Y[next(i for i in range(Y.shape[0]) if i != row and not Y[i, column]), column] = 1
        return Y, embeddings

    monkeypatch.setattr(plain, "eagle", moved)
    monkeypatch.setattr(imputation, "load_plain", lambda: plain)
    result = imputation.run_job(PLAIN, data_folder)
    assert result["n_equal"] == result["n_given"] - 1


def test_memory_that_was_there_before_does_not_count():
    """Half a gigabyte that is gone again is forgotten, what comes afterwards is seen."""
    block = np.ones(1 << 26)
    del block
    before = imputation.forget_peak()
    if before is None:
        pytest.skip("this system does not forget a peak")
    assert worker.peak_bytes() - before < 1 << 27
    block = np.ones(1 << 25)
    assert worker.peak_bytes() - before > 0.9 * block.nbytes


# ---- The tables ----


def test_the_ratios_are_judged_by_their_bars():
    one_thread = replace(BASE, threads=1)
    found = ratios(
        *(record(replace(BASE, repetition=n), seconds) for n, seconds in enumerate((1.0, 2.0, 9.0), start=1)),
        record(one_thread, 3.0),
        record(PARABEL, 8.0),
        record(replace(PARABEL, n_trees=1), 4.0),
        record(replace(PARABEL, threads=1), 10.0),
        record(PLAIN, 120.0, cpu_s=330.0, n_equal=899, n_given=900, share=1.0),
    )
    assert found["imputation, T = 20 / training Parabel, 3 trees", "2"] == ["0.25 ✓", "0.25 ✓", "≤ 0.25"]
    assert found["imputation, T = 20 / training Parabel, 3 trees", "1"] == ["0.3 ✗", "0.3 ✗", "≤ 0.25"]
    assert found["imputation, T = 20 / training Parabel, 1 tree", "2"] == ["0.5", "0.5", ""]
    assert found["scipy, T = 20 / imputation, T = 20", "1"] == ["40 ✗", "55 ✓", "≥ 50"]
    assert found["imputation, T = 20 / imputation, T = 20", "1 / 2"] == ["1.5", "1.5", ""]


def test_a_sample_of_labels_is_said_to_be_one_and_gives_way_to_the_whole():
    sample = record(replace(PLAIN, n_labels=100), 50.0, n_equal=9, n_given=10, share=0.025)
    whole = record(PLAIN, 60.0, n_equal=900, n_given=900, share=1.0)
    ours = record(replace(BASE, threads=1))
    table = imputation_tables.cost_table(points(sample, ours), [])
    assert table.rows[-1][-1] == "100 labels at random, scaled up by 40.0"
    notes = imputation_tables.ratios_table(points(sample, ours), []).notes
    assert "in 9 of 10 cases (90.000 %). The time of scipy is that of 100 labels at random" in notes[1]
    table = imputation_tables.cost_table(points(sample, whole, ours), [])
    assert [row[-1] for row in table.rows] == ["", ""]
    assert "scaled" not in imputation_tables.ratios_table(points(sample, whole, ours), []).notes[1]


def test_what_failed_is_in_the_table_with_its_reason():
    found = points(record(BASE), record(PARABEL) | {"status": "failed", "reason": "killed"})
    table = imputation_tables.cost_table(found, [])
    assert [row[-1] for row in table.rows] == ["", "failed: killed"]
    assert all(len(row) == len(table.header) for row in table.rows)
    assert imputation_tables.ratios_table(found, []).rows == []


def test_an_older_engine_is_named_and_another_way_to_measure_is_not_shown():
    old = record(BASE, edition="before/now")
    found, is_old = imputation_tables.points([old], "engine/now")
    assert (len(found), is_old) == (1, True)
    assert "before the last edit" in notes(found, is_old)[-1]
    assert points(old, current="engine/other") == []
    found, is_old = imputation_tables.points([old, record(PARABEL)], "engine/now")
    assert ([one.job for one in found], is_old) == ([PARABEL], False)
    assert imputation_tables.make([], False) == {}


def test_ratios_of_two_runs_are_said_to_be_such():
    found = points(record(BASE), record(PARABEL, run="tuesday"))
    assert any("Not all of it was measured in one run" in note for note in notes(found, False))


def test_cost_against_groups_and_samples(tmp_path):
    """Cost that is proportional to ḡ and to n² gives exponents of 1 and 2."""
    found = points(
        *(record(replace(BASE, group_size=size), size / 4) for size in settings.GROUP_SIZES),
        *(record(replace(BASE, rows=share), share**2) for share in settings.ROW_SHARES),
        *(record(Job("impute", "wiki10-31k-sim", rows=share), share) for share in settings.ROW_SHARES),
    )
    tables = imputation_tables.make(found, False)
    table = tables["imputation_curve"]
    assert "grows like eurlex-4k: ḡ^1.00; eurlex-4k: n^2.00; wiki10-31k-sim: n^1.00." in table.notes[0]
    of_line = {(row[0], row[1], row[2], row[3]): row[-1] for row in table.rows}
    assert of_line["eurlex-4k", "ḡ", "32.0", "8,000"] == "1.00"
    assert of_line["eurlex-4k", "n", "4.0", "8,000"] == "8.00"
    for one in tables.values():
        assert all(len(row) == len(one.header) for row in one.rows)
        assert all(len(row) == len(one.record_header) for row in one.records)
    figures.plot_imputation(found, tmp_path / "imputation.png", tmp_path / "imputation.svg")
    assert len(list(tmp_path.iterdir())) == 2


def test_a_figure_of_one_curve_only_is_drawn(tmp_path):
    """`--only wiki10-31k-sim` has no curve against ḡ."""
    found = points(*(record(Job("impute", "wiki10-31k-sim", rows=share), share) for share in settings.ROW_SHARES))
    figures.plot_imputation(found, tmp_path / "imputation.png", tmp_path / "imputation.svg")


def test_memory_is_shown_of_whole_sets_only_and_where_it_is_known():
    largest = Job("impute", settings.IMPUTATION_LARGEST, threads=1)
    found = points(
        record(BASE), record(replace(BASE, rows=0.5)), record(largest, growth_bytes=None), record(PARABEL),
        record(replace(largest, threads=2), growth_bytes=5e6, data_bytes=4e6),
    )  # fmt: skip
    table = imputation_tables.memory_table(found, [])
    assert [(row[0], row[1], row[-1]) for row in table.rows] == [
        ("eurlex-4k", "2", "1.50"),
        (settings.IMPUTATION_LARGEST, "2", "1.25"),
    ]
