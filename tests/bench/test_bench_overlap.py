"""The overlap's part of the bench: what is measured, what PECOS is given, and what the tables say of it."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
import scipy.sparse as sp
from test_bench_imputation import BASE as IMPUTATION
from test_bench_imputation import record as imputation_record

from bench import (
    data,
    imputation_tables,
    job_runner,
    measure,
    overlap,
    overlap_agreement,
    overlap_pecos,
    overlap_tables,
    records,
    run,
    settings,
)
from bench.engines.orchard import small_problem
from bench.overlap import Job
from orchard import XRLinear, disentangle, provenance
from orchard.trees.label_tree import LabelTree

STEPS, SOLVERS = Job("steps", "eurlex-4k"), Job("solvers", "eurlex-4k")


def record(job, edition="engine/now", **values):
    """Steps of 4, 1, 1, 1 and 5 seconds; prediction takes twice as long afterwards; every solver takes a second."""
    state = {"status": "ok", "edition": edition, "again": False, "run": "monday", "load_average": 1.5}
    start = asdict(job) | {"configuration": job.name} | state
    if job.measures == "solvers":
        lines = [
            {"solver": solver, "threads": threads, "seconds": 1.0, "cpu_s": 2.0}
            for solver in settings.SOLVERS
            for threads in (1, 2)
        ]
        reached = dict.fromkeys(settings.SOLVERS, 0.9) | {"backbone": 0.8}
        return start | {"solvers": lines, "reached": reached} | values
    costs = dict(zip(overlap.STEPS, (4.0, 1.0, 1.0, 1.0, 5.0), strict=True))
    costs = {f"{step}{end}": seconds for step, seconds in costs.items() for end in ("_s", "_cpu_s")}
    costs |= {f"{name}_{key}": n for n, name in ((1.0, "backbone"), (2.0, "overlapping")) for key in _predictions()}
    return start | costs | {"mean_copies": 1.9, "largest_before": 60, "largest": 300} | values


def _predictions():
    return "batch_ms", "batch_cpu_ms", "single_median_ms", "single_p99_ms"


def tables_of(*found, current="engine/now"):
    points, is_old = overlap_tables.points(list(found), current)
    agreement = overlap_tables.agreement_table(None, [])
    made = overlap_tables.make(points, is_old, agreement)
    for table in made.values():
        assert all(len(row) == len(table.header) for row in table.rows)
        assert all(len(line) == len(table.record_header) for line in table.records)
    return made


def cells(table, row=0):
    return dict(zip(table.header, table.rows[row], strict=True))


@pytest.fixture
def data_folder(tmp_path):
    X, Y = small_problem()
    for name, matrix in (("X.trn", X), ("Y.trn", Y), ("X.tst", X), ("Y.tst", Y)):
        sp.save_npz(tmp_path / f"{name}.npz", matrix)
    return tmp_path


@pytest.fixture
def overlapping():
    """A model over four leaves, whose labels stand in two of them, with what it was trained on."""
    X, Y = small_problem()
    return disentangle(XRLinear(n_splits=2, max_leaf=40, beam=3, random_state=3), X, Y, copies=2), X, Y


# ---- What is measured ----


def test_data_sets_and_copies_are_interleaved_and_nothing_is_measured_twice():
    jobs = overlap.plan(None, repeats=5)
    assert [job.repetition for job in jobs] == sorted(job.repetition for job in jobs)
    assert max(job.repetition for job in jobs) == settings.OVERLAP_REPEATS == 3
    identities = {records.identity(job_runner.start_of_record(job, "engine/now")) for job in jobs}
    assert len(identities) == len(jobs)
    first = {(job.dataset, job.measures, job.copies) for job in jobs if job.repetition == 1}
    assert first == {
        (dataset, *what)
        for dataset in settings.PEER_DATASETS
        for what in (("steps", 1), ("steps", 2), ("steps", 4), ("solvers", 2))
    }


def test_what_takes_very_long_is_measured_less_often():
    jobs = [job for job in overlap.plan(None, repeats=3) if (job.dataset, job.measures) == ("wiki10-31k-sim", "steps")]
    assert [[job.copies for job in jobs].count(copies) for copies in (1, 2, 4)] == [3, 3, 1]


def test_overlap_is_measured_where_it_is_asked_for():
    quick = run.plan_overlap(run.parse(["--quick"]))
    assert {(job.dataset, job.repetition) for job in quick} == {("eurlex-4k", 1)}
    assert run.plan_overlap(run.parse(["--parts", "imputation,report"])) == []
    assert run.plan_overlap(run.parse(["--engines", "pecos"])) == []
    assert run.plan(run.parse(["--parts", "overlap"])) == []


def test_pecos_is_compared_where_both_engines_and_its_data_are_asked_for():
    assert run.compares_overlap(run.parse(["--quick"]))
    assert not run.compares_overlap(run.parse(["--engines", "orchard"]))
    assert not run.compares_overlap(run.parse(["--parts", "peers"]))
    assert not run.compares_overlap(run.parse(["--only", "wiki10-31k-sim"]))


def test_an_edit_of_the_engine_or_of_any_module_of_the_overlap_makes_the_part_stale():
    source = records.ROOT / "src/orchard"
    counted = provenance._closure(source / "disentanglement.py", (source.parent,))
    modules = ("coverage", "_coverage_kernels", "cluster_limits", "label_clusters", "_cluster_kernels", "matches")
    modules += ("linear/training", "linear/search", "trees/label_tree")
    assert {source / f"{module}.py" for module in modules} <= counted
    assert overlap.edition().startswith(overlap.version())
    assert overlap_agreement.editions()[0].startswith(overlap.version())


def test_what_was_measured_is_told_and_not_measured_again(tmp_path, monkeypatch, capsys):
    raw, load, append = tmp_path / "raw.jsonl", records.load, records.append
    monkeypatch.setattr(records, "load", lambda: load(raw))
    monkeypatch.setattr(records, "append", lambda found: append(found, raw))
    failed = {"status": "failed", "reason": "killed"}
    answers = {None: {}, STEPS: record(STEPS), SOLVERS: record(SOLVERS), replace(STEPS, copies=4): failed}
    asked = []
    monkeypatch.setattr(overlap, "_run", lambda job: asked.append(job) or answers[job])
    monkeypatch.setattr(overlap, "edition", lambda: "engine/now")
    overlap.measure([STEPS, SOLVERS, replace(STEPS, copies=4)], fresh=False)
    overlap.measure([STEPS, SOLVERS], fresh=False)
    assert asked == list(answers)
    said = capsys.readouterr().out
    assert "backbone 4 s" in said
    assert "greedy coverage 1.000 s" in said
    assert "FAILED, killed" in said


# ---- One measurement ----


def test_the_steps_are_those_of_disentangle(data_folder, monkeypatch):
    """What is timed line by line must end in the model that `disentangle` gives."""
    models, predict = [], overlap._predict
    monkeypatch.setattr(overlap, "_predict", lambda engine, model, _: models.append(model) or predict(engine, model, _))
    monkeypatch.setattr(settings, "QUERIES", 5)
    result = overlap.run_job(replace(STEPS, copies=1, repetition=3), data_folder)
    X, Y = small_problem()
    backbone = XRLinear(n_splits=32, random_state=3).fit(X, Y)
    for found, expected in zip(models, (backbone, disentangle(backbone, X, Y, copies=1)), strict=True):
        np.testing.assert_array_equal(found.predict_topk(X)[1], expected.predict_topk(X)[1])
    assert result["mean_copies"] == 1
    made = tables_of(record(STEPS, **result))
    assert made["overlap"].rows
    assert all(result[f"{step}_s"] > 0 for step in overlap.STEPS)


def test_every_solver_is_timed_on_the_same_matches(data_folder):
    result = overlap.run_job(SOLVERS, data_folder)
    timed = {(one["solver"], one["threads"]) for one in result["solvers"]}
    assert timed == {(solver, threads) for solver in settings.SOLVERS for threads in (1, 2)}
    reached = result["reached"]
    assert reached["exact coverage"] >= reached["greedy coverage"] >= reached["projection"] >= reached["backbone"] > 0
    assert len(tables_of(record(SOLVERS, **result))["overlap_solvers"].rows) == len(settings.SOLVERS)


# ---- What PECOS is given, and what is made of its answer ----


def test_a_label_of_its_own_for_every_copy_is_the_same_model(overlapping):
    """Trained on the chain and the labels that PECOS gets, Orchard must rank as it does over the overlapping tree."""
    model, X, Y = overlapping
    tree = model.models_[0].tree
    assert tree.n_copies.max() == 2
    chain, label_of_copy = overlap_agreement.chain_of_copies(tree)
    assert chain[-1].shape == (label_of_copy.size, tree.n_leaves)
    of_copies = LabelTree.from_chain(chain)
    plain = XRLinear(n_splits=2, max_leaf=40, beam=3, random_state=3).fit(X, Y[:, label_of_copy], trees=[of_copies])
    ids, scores = plain.predict_topk(X, k=label_of_copy.size)
    reached = ids >= 0
    indptr = np.append(0, np.cumsum(reached.sum(axis=1)))
    answer = sp.csr_matrix((scores[reached], ids[reached], indptr), shape=(X.shape[0], label_of_copy.size))
    merged = overlap_pecos.mean_of_copies(answer, label_of_copy, Y.shape[1])
    expected_ids, expected = model.predict_topk(X, k=1)
    np.testing.assert_allclose(merged.max(axis=1).toarray(), expected, rtol=1e-5)
    best = np.asarray(merged.argmax(axis=1)).ravel()
    assert (best == expected_ids[:, 0]).mean() > 0.99  # equal scores may be rounded apart


def test_copies_that_were_not_reached_do_not_count():
    answer = sp.csr_matrix([[0.8, 0.4, 0, 0.5], [0, 0, 0.2, 0.6]])
    merged = overlap_pecos.mean_of_copies(answer, np.array([1, 1, 0, 0]), n_labels=3)
    np.testing.assert_allclose(merged.toarray(), [[0.5, 0.6, 0], [0.4, 0, 0]])


class Answering:
    """In the place of PECOS: scores that are given."""

    settings, threads = {}, 1

    def __init__(self, scores):
        self.scores = scores

    def save(self, model, folder):
        np.savez(folder, *model)

    def load(self, folder):
        return np.load(f"{folder}.npz")

    def predict(self, model, batch, k):
        assert k == 160
        return sp.csr_matrix(self.scores)

    def ids(self, answer, k):
        return np.argsort(-answer.toarray(), axis=1, kind="stable")[:, :k]


def test_pecos_is_trained_on_the_copies_and_its_scores_are_merged(data_folder, tmp_path, monkeypatch):
    """The whole of its process, but for PECOS: the labels' columns are there once for every copy."""
    X, Y = small_problem()
    tree = LabelTree.from_groups([range(100), range(60, Y.shape[1])])
    folder = tmp_path / "job"
    folder.mkdir()
    job = {"data": str(data_folder), "settings": {}, "threads": 1, "seed": 0, "best": 160, "k": 2}
    overlap_agreement.write_job(folder, job, tree)
    label_of_copy = np.load(folder / "label_of_copy.npy")
    assert label_of_copy.size == Y.shape[1] + 40
    scores = np.zeros((X.shape[0], label_of_copy.size))
    scores[:, label_of_copy == 70] = [0.9, 0.3]  # 0.6 on average
    scores[:, label_of_copy == 5] = 0.7
    trained = []

    def train(X, Y, chain, engine):
        trained.append((Y, chain))
        return [X.shape]

    monkeypatch.setattr(overlap_pecos, "train", train)
    monkeypatch.setattr(overlap_pecos, "make_engine", lambda *_: Answering(scores))
    overlap_pecos.main(folder)
    assert np.load(folder / "ids.npy").tolist() == [[5, 70]] * X.shape[0]
    ((Y_copies, chain),) = trained
    assert (Y_copies != Y[:, label_of_copy]).nnz == 0
    np.testing.assert_array_equal(chain[-1].sum(axis=0), [[100, Y.shape[1] - 60]])


def test_both_engines_are_scored_over_the_same_trees(data_folder, monkeypatch):
    monkeypatch.setattr(data, "UNIT_ROWS", data_folder.parent)
    measure._test_labels.cache_clear()
    _, Y = small_problem()
    trees = []

    def ids(tree, dataset, seed):
        trees.append(tree)
        return np.full((Y.shape[0], 5), -1), None

    monkeypatch.setattr(overlap_agreement, "ids_of_pecos", ids)
    found = overlap_agreement.compare(data_folder.name, seed=2)
    assert [tree.n_copies.max() for tree in trees] == [1, 2]
    for name in overlap.MODELS:
        assert found[name]["pecos"] == [0, 0, 0]
        assert min(found[name]["orchard"]) > 0


def test_pecos_that_is_not_there_is_a_line_with_its_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "PEERS_PYTHON", tmp_path / "python")
    ids, reason = overlap_agreement.ids_of_pecos(LabelTree.from_groups([[0], [1]]), "eurlex-4k", seed=1)
    assert ids is None
    assert "not installed" in reason


def test_a_comparison_is_kept_until_something_changes(tmp_path, monkeypatch):
    file, asked, editions = tmp_path / "overlap_pecos.json", [], ["a", "b"]
    monkeypatch.setattr(overlap_agreement, "FILE", file)
    monkeypatch.setattr(overlap_agreement, "editions", lambda: editions)
    monkeypatch.setattr(data, "export", lambda *_: None)
    found = {"overlapping": {"pecos": [80.0], "orchard": [80.2]}}
    monkeypatch.setattr(overlap_agreement, "compare", lambda dataset, seed: asked.append(seed) or found)
    for most_seeds in (1, 5):
        overlap_agreement.compare_seeds(most_seeds, fresh=False)
    assert asked == [1, 2, 3]
    editions = ["a", "c"]
    overlap_agreement.compare_seeds(1, fresh=False)
    assert asked == [1, 2, 3, 1]
    lines = json.loads(file.read_text())["lines"]
    assert [line["seed"] for line in lines] == [1, 2, 3]
    assert [line["editions"][1] for line in lines] == ["c", "b", "b"]


# ---- The tables ----


def test_what_overlap_adds_is_a_multiple_of_the_backbone():
    """Match, counts, choosing and refit of 1, 1, 1 and 5 seconds after 4 of the backbone: twice its time."""
    found = [
        record(replace(STEPS, repetition=n), refit_s=seconds) for n, seconds in enumerate((5.0, 4.0, 9.0), start=1)
    ]
    made = tables_of(*found)
    seconds, extra = cells(made["overlap"]), cells(made["overlap_extra"])
    assert (seconds["backbone, s"], seconds["counts, ms"]) == ("4.00 ±0 %", "1000 ±0 %")
    assert (seconds["refit, s"], seconds["n"]) == ("5.00 ±50 %", "3")
    assert (extra["extra training"], extra["extra training CPU"]) == ("2.00× ±0.62", "2.00× ±0.00")
    assert (extra["refit"], extra["match"]) == ("1.25× ±0.62", "0.25× ±0.00")
    assert extra["extra inference, batch"] == "1.00× ±0.00"
    assert extra["batch, ms"] == "1.00 ±0 % → 2.00 ±0 %"


def test_a_ratio_is_one_of_the_same_process():
    """The machine was half as fast the second time; what overlap adds is the same."""
    slow = {f"{step}{end}": 2 * record(STEPS)[f"{step}{end}"] for step in overlap.STEPS for end in ("_s", "_cpu_s")}
    made = tables_of(record(STEPS), record(replace(STEPS, repetition=2), **slow))
    assert cells(made["overlap_extra"])["extra training"] == "2.00× ±0.00"


def test_published_numbers_stand_under_their_own_names_and_simulated_data_are_called_so():
    table = tables_of(record(STEPS), record(replace(STEPS, dataset="wiki10-31k-sim")))["overlap_extra"]
    lines = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    sources = {(line["data"], line["source"]) for line in lines}
    assert {("eurlex-4k", "measured"), ("wiki10-31k-sim", "measured, simulated data")} <= sources
    published = [line for line in lines if line["source"] == "published"]
    assert {line["data"] for line in published} == {"wiki10-31k", "amazoncat-13k", "amazon-670k", "amazon-3m"}
    assert not any(line["data"].endswith("-sim") for line in published)
    line = next(line for line in published if (line["data"], line["λ"]) == ("wiki10-31k", "2"))
    assert (line["extra training"], line["extra inference, batch"]) == ("5.58×", "4.80×")
    assert len(table.records) == 2  # the CSV file has what was measured


def test_coverage_is_judged_by_its_bar_and_projection_is_not():
    lines = record(SOLVERS)["solvers"]
    for one in lines:
        if one["solver"] in ("greedy coverage", "exact coverage"):
            one |= {"seconds": 2.0, "cpu_s": 5.0} if one["threads"] == 1 else {"seconds": 2.5}
    table = tables_of(record(SOLVERS, solvers=lines))["overlap_solvers"]
    found = {row[1]: dict(zip(table.header, row, strict=True)) for row in table.rows}
    greedy, exact = found["greedy coverage"], found["exact coverage"]
    assert (greedy["1 thread: time / projection"], greedy["1 thread: CPU / projection"]) == ("2.00 ✓", "2.50 ✗")
    assert (greedy["2 threads: time / projection"], greedy["2 threads: CPU / projection"]) == ("2.50 ✗", "1.00 ✓")
    assert exact["2 threads: time / projection"] == "2.50 ✗"
    assert found["projection with limits"]["2 threads: time / projection"] == "1.00"
    assert greedy["true labels reached, %"] == "90.00"
    assert "without overlap it is eurlex-4k 80.00" in table.notes[1]


def test_what_failed_is_in_the_tables_with_its_reason():
    failed = {"status": "failed", "reason": "stopped after the limit of 1800 s"}
    slow = asdict(replace(STEPS, copies=4)) | {"configuration": "slow", "edition": "engine/now", **failed}
    made = tables_of(record(STEPS), slow, asdict(SOLVERS) | {"edition": "engine/now", **failed})
    assert [row[-1] for row in made["overlap"].rows] == ["", "failed: stopped after the limit of 1800 s"]
    assert made["overlap_solvers"].rows[0][1] == "failed: stopped after the limit of 1800 s"
    assert [row[2] for row in made["overlap_extra"].rows if row[1] == "measured"] == ["2"]


def test_an_older_engine_is_named_and_without_measurements_there_are_no_tables():
    made = tables_of(record(STEPS, edition="before/now"))
    assert "before the last edit" in made["overlap"].notes[-1]
    assert not any(table.rows for table in tables_of(record(STEPS), current="engine/other").values())


def test_the_records_of_the_parts_do_not_mix():
    both = [record(STEPS), imputation_record(IMPUTATION)]
    assert [one.job for one in overlap_tables.points(both, "engine/now")[0]] == [STEPS]
    assert [one.job for one in imputation_tables.points(both, "engine/now")[0]] == [IMPUTATION]


def test_agreement_is_judged_by_the_mean_over_the_seeds():
    """Differences of 0.4 and 0.8 points: 0.6, more than the bar."""

    def line(seed, *points):
        same = {"pecos": [80.0, 70.0, 60.0]}
        found = {
            name: same | {"orchard": [80.0 + of_tree, 70.0, 60.0]}
            for name, of_tree in zip(overlap.MODELS, points, strict=True)
        }
        return {"seed": seed, "editions": ["a", "b"]} | found

    lines = [line(1, 0.1, 0.4), line(2, -0.1, 0.8)]
    table = overlap_tables.agreement_table({"lines": lines}, ["a", "b"])
    backbone, overlapping = cells(table, 0), cells(table, 1)
    assert backbone["P@1, points"] == "+0.00 ± 0.10 ✓"
    assert (overlapping["P@1, points"], overlapping["P@3, points"]) == ("+0.60 ± 0.20 ✗", "+0.00 ± 0.00 ✓")
    assert overlapping["Orchard, P@1 / P@3 / P@5"] == "80.60 / 70.00 / 60.00"
    assert all(len(values) == len(table.record_header) for values in table.records)
    assert len(table.notes) == 1
    failed = {"seed": 3, "editions": ["a", "c"], "reason": "backbone: killed"}
    table = overlap_tables.agreement_table({"lines": [*lines, failed]}, ["a", "b"])
    assert cells(table)["remark"] == "1 failed: backbone: killed"
    assert "before the last edit" in table.notes[-1]
    assert len(overlap_tables.agreement_table({"lines": [failed]}, ["a", "c"]).rows) == 2
