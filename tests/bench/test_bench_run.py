"""The bench's bookkeeping: order, resumption, time limits, files, tables."""

import json
import os
import sys
from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
from test_bench_summary import EDITIONS, record

from bench import data, jit, measure, peers, records, run, same_trees, schedule, settings, summary, tables, worker
from bench.engines import Engine, padded
from bench.engines.orchard import small_problem
from orchard import XRLinear
from orchard.data import read_xmc
from orchard.trees.label_tree import LabelTree


def test_repetitions_are_interleaved():
    """Whatever slows the machine down for a while must hit all engines alike."""
    measurements = schedule.peers(["eurlex-4k"], ("pecos", "orchard"), repeats=2)
    assert [one.repetition for one in measurements] == [1] * 6 + [2] * 6


def test_slow_peers_are_repeated_less_often():
    measurements = schedule.peers(["wiki10-31k-sim"], ("napkinxc", "pecos"), repeats=5)
    names = [one.configuration.name for one in measurements]
    assert (names.count("napkinxc-binary"), names.count("pecos-16-ary")) == (1, 5)


@pytest.mark.parametrize("dataset", settings.PEER_DATASETS)
def test_orchard_and_the_best_peers_have_all_repetitions(dataset):
    names = [one.configuration.name for one in run.plan(run.parse(["--only", dataset, "--parts", "peers"]))]
    for name in ("orchard-binary", "orchard-16-ary", "pecos-16-ary", "omikuji-binary"):
        assert names.count(name) == settings.REPEATS


def test_the_quick_preset_measures_everything_once_on_the_smallest_set():
    assert {(one.dataset, one.repetition) for one in run.plan(run.parse(["--quick"]))} == {("eurlex-4k", 1)}


def test_trees_are_compared_where_both_engines_are_asked_for():
    assert run.datasets_of_trees(run.parse(["--quick"])) == ["eurlex-4k"]
    assert run.datasets_of_trees(run.parse(["--engines", "orchard"])) == []
    assert run.datasets_of_trees(run.parse(["--parts", "peers"])) == []


def test_nothing_is_measured_twice_for_two_parts():
    both = run.plan(run.parse([]))
    assert len(both) == len(set(both))
    assert run.plan(run.parse(["--parts", "report"])) == []


def test_a_mistyped_engine_is_refused(capsys):
    with pytest.raises(SystemExit):
        run.parse(["--engines", "peccos"])
    assert "peccos: unknown, there are" in capsys.readouterr().err


def test_the_rest_is_estimated_from_what_is_known():
    measurements = schedule.peers(["eurlex-4k"], ("pecos",), repeats=1)
    assert schedule.seconds_left(measurements, []) is None
    known = [record("pecos-2-ary", elapsed_s=60.0)]
    assert schedule.seconds_left(measurements, known) == 120


def test_the_later_measurement_counts_and_a_line_cut_off_is_dropped(tmp_path):
    path = tmp_path / "raw.jsonl"
    for seconds in (1.0, 2.0):
        records.append(record("pecos-2-ary", train_s=seconds), path)
    with path.open("a") as file:
        file.write('{"dataset": "eur')
    assert [one["train_s"] for one in records.load(path)] == [2.0]
    records.append(record("fasttext"), path)
    assert len(records.load(path)) == 2


def test_a_damaged_line_in_the_middle_is_named(tmp_path):
    path = tmp_path / "raw.jsonl"
    path.write_text("nonsense\n" + json.dumps(record("fasttext")) + "\n")
    with pytest.raises(ValueError, match=r"raw\.jsonl:1"):
        records.load(path)


def test_other_settings_or_another_version_are_another_edition():
    """Measurements of one must never be taken for those of the other."""
    editions = [records.edition_of_settings({"beam": beam}, version) for beam in (10, 20) for version in ("1.0", "1.1")]
    assert len(set(editions)) == 4


def test_another_way_to_measure_is_another_edition(tmp_path):
    """Of every engine; words that only people read change nothing."""
    assert len({records.edition_of_settings({}, "1.0", measuring) for measuring in ("a", "b")}) == 2
    assert records.edition_of_measuring("pecos") != records.edition_of_measuring("omikuji")
    file = tmp_path / "worker.py"
    digests = []
    for code in ("n = 200", "n = 200  # rows", "n = 300"):
        file.write_text(code)
        digests.append(records.digest_of_code([file]))
    assert digests[0] == digests[1] != digests[2]


def test_an_engine_that_is_not_whole_is_refused_before_it_is_measured():
    class Half(Engine):
        def train(self, data, folder):
            return None

    with pytest.raises(TypeError, match="predict"):
        Half({}, threads=1, seed=0)


def test_a_fresh_process_starts_its_clock_before_it_imports_the_engine(tmp_path):
    """What is imported before is missing from the import's time."""
    code = "import sys, bench.jit; raise SystemExit('orchard' in sys.modules or 'numpy' in sys.modules)"
    assert measure.run_limited([sys.executable, "-c", code], 60, env=measure.environment(1))[0] == 0


def test_the_bar_of_a_first_query_is_for_the_whole_process():
    found = [{"import_s": 0.5, "work_s": 0.5, "process_s": seconds} for seconds in (1.9, 2.5, 2.6)]
    line = jit._line("first query", "warm", found, "", has_bar=True)
    assert (line["process_s"], line["verdict"]) == (2.5, "missed: 2 s")
    failed = jit._line("first query", "warm", [], "killed", has_bar=True)
    table = tables.jit_table({"lines": [line, failed]})
    assert [row[-1] for row in table.rows] == ["missed: 2 s", "failed: killed"]


def test_a_process_that_hangs_is_stopped_with_its_children():
    code, words = measure.run_limited(["sh", "-c", "echo started; sleep 60"], 0.3)
    assert (code, words) == (None, "started")


def test_a_process_that_fails_says_why():
    code, words = measure.run_limited([sys.executable, "-c", "raise SystemExit('no such module')"], 30)
    assert (code, words) == (1, "no such module")


def test_workers_are_told_their_threads():
    variables = measure.environment(1)
    assert variables["NUMBA_NUM_THREADS"] == variables["RAYON_NUM_THREADS"] == "1"
    assert variables.keys() >= os.environ.keys()


def test_the_text_file_holds_the_same_data(tmp_path):
    X = sp.random(20, 30, 0.3, "csr", np.float32, random_state=0)
    Y = sp.random(20, 7, 0.2, "csr", np.float32, random_state=1)
    Y.data[:] = 1
    data.write_xmc(tmp_path / "train.txt", X, Y)
    X_read, Y_read = read_xmc(tmp_path / "train.txt")
    assert (X_read != X).nnz == 0
    assert (Y_read != Y).nnz == 0


def test_fasttext_gets_a_line_for_every_labelled_row(tmp_path):
    X, Y = sp.csr_matrix([[0, 0.5, 0.1], [0.3, 0, 0]]), sp.csr_matrix([[1, 1], [0, 0]])
    data.write_fasttext(tmp_path / "train.txt", X, Y)
    data.write_fasttext(tmp_path / "test.txt", X)
    assert (tmp_path / "train.txt").read_text() == "__label__0 __label__1 1 2\n"
    assert (tmp_path / "test.txt").read_text() == "1 2\n0\n"


def test_rankings_of_any_length_fit():
    assert padded([[3], [1, 2, 0]], k=2).tolist() == [[3, -1], [1, 2]]


def test_a_model_is_measured_by_its_files(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/b").write_bytes(b"678")
    before = worker.measure_files(tmp_path)
    assert before["model_bytes"] == 8
    (tmp_path / "deep/b").write_bytes(b"679")
    assert worker.measure_files(tmp_path)["model_sha256"] != before["model_sha256"]


def test_the_peak_is_not_below_what_is_there():
    block = np.ones(1 << 22)
    resident = worker.resident_bytes()
    assert worker.peak_bytes() >= resident > block.nbytes


def test_the_tables_name_what_failed_and_what_is_not_comparable():
    found = [
        record("orchard-binary", train_s=2.0),
        record("pecos-2-ary"),
        record("fasttext", precision=50.0),
        record("napkinxc-binary") | {"status": "failed", "reason": "killed by signal SIGKILL"},
    ]
    summaries = summary.summarise(found, EDITIONS)
    table = tables.figures_table(summaries, {"cores": 2})
    remarks = {row[1]: row[-1] for row in table.rows}
    assert remarks["napkinXC PLT"] == "failed: killed by signal SIGKILL"
    assert remarks["fastText hs"] == "not comparable: less accurate"
    assert all(len(row) == len(table.header) for row in table.rows)
    assert all(len(row) == len(table.record_header) for row in table.records)
    ratios = tables.ratios_table(summary.ratios(summaries))
    assert "0.2 ✓" in ratios.rows[0]
    assert "1 ✗" in ratios.rows[0]
    assert all(len(row) == len(ratios.record_header) for row in ratios.records)


def test_tables_and_plots_of_the_scaling_part(tmp_path):
    from bench import figures

    found = [
        record(name, dataset=dataset, threads=threads, train_s=n * (3 - threads) / 1e4)
        for name in settings.SCALED
        for dataset, n in settings.CURVE_DATASETS.items()
        for threads in (1, 2)
    ]
    summaries = summary.summarise(found, EDITIONS)
    labels, threads = tables.labels_table(summaries), tables.threads_table(summaries)
    assert "grows like L^1.00" in labels.notes[0]
    assert "amazon-670k-sim: at most 0.0 GB; limit of 16 GB met ✓" in labels.notes[0]
    assert all(
        "largest load average at the start of a measurement was 1.5" in one.notes[-1] for one in (labels, threads)
    )
    assert [row[i] for row in threads.rows[1:2] for i in (4, 7)] == ["2.00 ✓", "1.00 ✗"]
    assert all(len(row) == len(labels.header) for row in labels.rows)
    assert all(len(row) == len(threads.header) for row in threads.rows)
    figures.plot_labels(summary.curve(summaries), tmp_path / "labels.png", tmp_path / "labels.svg")
    figures.plot_peers(summaries[:3], tmp_path / "peers.png", tmp_path / "peers.svg")
    assert len(list(tmp_path.iterdir())) == 4


def test_the_limit_of_memory_is_judged_by_the_largest_set():
    datasets = list(settings.CURVE_DATASETS)
    found = [record("orchard-binary", dataset=dataset, predict_peak_bytes=17e9) for dataset in datasets]
    (note, _) = tables.labels_table(summary.summarise(found, EDITIONS)).notes
    assert "at most 17.0 GB; limit of 16 GB missed ✗" in note
    (note, _) = tables.labels_table(summary.summarise(found[:2], EDITIONS)).notes
    assert "amazon-670k-sim was not measured" in note


def test_the_peers_are_pinned_and_name_no_index():
    pins = [line for line in peers.REQUIREMENTS.read_text().splitlines() if not line.startswith("#")]
    assert {"libpecos==1.2.8", "omikuji==0.5.2", "napkinxc==0.7.2", "fasttext-wheel==0.9.2"} <= set(pins)
    assert all(pin.count("==") == 1 and "/" not in pin for pin in pins)


class MostFrequent(Engine):
    """An engine that is no engine: the most frequent labels for everybody."""

    def train(self, data, folder):
        return np.argsort(-np.asarray(data[1].sum(axis=0)).ravel(), kind="stable")

    def save(self, model, folder):
        folder.mkdir()
        np.save(folder / "labels.npy", model)

    def load(self, folder):
        return np.load(folder / "labels.npy")

    def predict(self, model, batch, k):
        return np.tile(model[:k], (batch.shape[0], 1))

    def ids(self, answer, k):
        return answer


def test_a_measurement_from_training_to_single_queries(tmp_path):
    """What the two processes of a measurement write is what the tables need."""
    Y = sp.csr_matrix(np.eye(4, 6)[[0, 1, 1, 3]], dtype=np.float32)
    for name, matrix in (("X.trn", sp.eye(4)), ("Y.trn", Y), ("X.tst", sp.eye(4))):
        sp.save_npz(tmp_path / f"{name}.npz", sp.csr_matrix(matrix, dtype=np.float32))
    job = {"data": str(tmp_path), "folder": str(tmp_path), "k": 2, "queries": 10}
    engine = MostFrequent({}, threads=1, seed=0)
    found = worker.train(engine, job) | worker.predict(engine, job)
    assert np.load(tmp_path / "ids.npy").tolist() == [[1, 0]] * 4
    (one,) = summary.summarise([record("orchard-binary") | found], EDITIONS)
    assert one.figures["model_bytes"].median == (tmp_path / "model/labels.npy").stat().st_size
    assert found.keys() >= {quantity.key for quantity in settings.QUANTITIES}


def save_as_pecos(folder, tree):
    for level, matrix in enumerate(tree.to_chain()):
        (folder / f"ranker/{level}.model").mkdir(parents=True)
        sp.save_npz(folder / f"ranker/{level}.model/C.npz", sp.csc_matrix(matrix, dtype=np.float32))


def test_the_chain_of_a_saved_model_is_read_from_the_root_down(tmp_path):
    """Eleven levels: "10" comes after "9", not after "1"."""
    groups = [0, 1]
    for label in range(2, 12):
        groups = [groups, [label]]
    tree = LabelTree.from_groups(groups)
    save_as_pecos(tmp_path, tree)
    found = LabelTree.from_chain(same_trees.read_chain(tmp_path), collapse=True)
    assert found.max_depth == tree.max_depth == 10
    np.testing.assert_array_equal(found.label_indices, tree.label_indices)


def test_orchard_is_trained_on_the_tree_that_pecos_saved(tmp_path, monkeypatch):
    X, Y = small_problem()
    for name, matrix in (("X.trn", X), ("Y.trn", Y), ("X.tst", X), ("Y.tst", Y)):
        sp.save_npz(tmp_path / f"{name}.npz", matrix)
    tree = LabelTree.from_groups(np.array_split(np.random.default_rng(0).permutation(Y.shape[1]), 3))
    save_as_pecos(tmp_path / "model", tree)
    result = {"status": "ok", "P@1": 3.0, "P@3": 2.0, "P@5": 1.0}
    monkeypatch.setattr(same_trees, "run_phases", lambda *_, **__: nullcontext((tmp_path, result)))
    monkeypatch.setattr(data, "UNIT_ROWS", tmp_path.parent)
    by_name = {one.name: one for one in settings.CONFIGURATIONS}
    measure._test_labels.cache_clear()
    line = same_trees.compare(by_name["pecos-16-ary"], by_name["orchard-16-ary"], tmp_path.name, seed=5)
    assert line["pecos"] == [3.0, 2.0, 1.0]
    ids, _ = XRLinear(random_state=5).fit(X, Y, trees=[tree]).predict_topk(X)
    assert line["same"] == pytest.approx(list(measure.precisions(ids, tmp_path.name).values()))
    assert line["same"] != line["own"]


def test_the_table_of_same_trees_has_means_and_their_errors():
    """Differences of 1 and 3 points: 2, and their standard deviation √2 over √2 seeds is 1."""
    start = {"dataset": "eurlex-4k", "peer": "pecos-16-ary", "orchard": "orchard-16-ary", "editions": ["a", "b"]}
    lines = [start | {"seed": n, "pecos": [80] * 3, "same": [80] * 3, "own": [80 + 2 * n - 1] * 3} for n in (1, 2)]
    half = start | {"seed": 3, "reason": "train: killed"}
    failed = {"peer": "pecos-2-ary", "orchard": "orchard-2-ary", "seed": 1, "reason": "killed"}
    renamed = start | {"peer": "pecos-gone"}
    editions = {"pecos-16-ary": "a", "orchard-16-ary": "b", "pecos-2-ary": "a", "orchard-2-ary": "b"}
    table = tables.same_trees_table({"lines": [*lines, half, start | failed, renamed]}, editions)
    bad, good = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    assert good["PECOS, P@1 / P@3 / P@5"] == "80.00 / 80.00 / 80.00"
    assert (good["on its trees, P@1"], good["on own trees, P@5"]) == ("+0.00 ± 0.00", "+2.00 ± 1.00")
    assert (good["seeds"], good["remark"]) == ("2", "1 failed: train: killed")
    assert (bad["seeds"], bad["remark"]) == ("0", "1 failed: killed")
    assert len(table.records) == 2
    assert "before the last edit" not in table.notes[-1]
    later = tables.same_trees_table({"lines": lines}, editions | {"orchard-16-ary": "c"})
    assert "before the last edit" in later.notes[-1]


def test_what_was_compared_on_the_same_trees_is_kept(tmp_path, monkeypatch):
    """After every line the file is whole; other data sets and seeds stay, the same edition is not measured twice."""
    asked = []

    def compare(peer, own, dataset, seed):
        asked.append((dataset, peer.name, seed))
        return {"pecos": [1] * 3, "same": [1] * 3, "own": [1] * 3}

    monkeypatch.setattr(same_trees, "FILE", tmp_path / "same_trees.json")
    monkeypatch.setattr(same_trees, "compare", compare)
    monkeypatch.setattr(same_trees, "edition", lambda one: one.name)
    monkeypatch.setattr(data, "export", lambda *_: None)
    same_trees.measure(["wiki10-31k-sim"], most_seeds=5, fresh=False)
    same_trees.measure(["eurlex-4k"], most_seeds=1, fresh=False)
    same_trees.measure(["eurlex-4k", "wiki10-31k-sim"], most_seeds=2, fresh=False)
    assert [(dataset, seed) for dataset, peer, seed in asked if peer == "pecos-16-ary"] == [
        ("wiki10-31k-sim", 1),
        ("eurlex-4k", 1),
        ("eurlex-4k", 2),
    ]
    assert len(json.loads((tmp_path / "same_trees.json").read_text())["lines"]) == 6
