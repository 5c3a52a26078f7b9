"""What building interpolated trees costs: planned, measured and told."""

from dataclasses import asdict

import scipy.sparse as sp

from bench import run, settings, tree_building
from bench.engines.orchard import small_problem
from bench.tree_building import Job
from orchard.report.tables import write_table


def record(job, balanced, edition, **slower):
    seconds = {"balanced": balanced} | {f"{lam:g}": balanced for lam in settings.TREE_LAMBDAS} | slower
    told = {f"{name}{end}": value for name, value in seconds.items() for end in ("_s", "_cpu_s")}
    told |= {f"{name}_depth": 3 for name in seconds}
    state = {"status": "ok", "edition": edition, "again": False, "run": "monday", "load_average": 0.5, "n_labels": 9}
    return asdict(job) | {"configuration": job.name} | state | told


def test_every_tree_is_built_and_timed(tmp_path):
    X, Y = small_problem()
    sp.save_npz(tmp_path / "X.trn.npz", X)
    sp.save_npz(tmp_path / "Y.trn.npz", Y)
    found = tree_building.run_job(Job("small", threads=1), tmp_path)
    for name in ("balanced", *(f"{lam:g}" for lam in settings.TREE_LAMBDAS)):
        assert found[f"{name}_s"] > 0 and found[f"{name}_cpu_s"] >= 0
    assert found["n_labels"] == Y.shape[1]


def test_the_table_holds_every_tree_to_the_bar(monkeypatch, tmp_path):
    """Medians of the ratios, repetition by repetition; what is above the bar is marked."""
    monkeypatch.setattr(tree_building, "edition", lambda: "engine/now")
    jobs = [Job("amazon-67k-sim", repetition) for repetition in (1, 2, 3)]
    found = [record(job, 2.0, "engine/now", **{"1": slow}) for job, slow in zip(jobs, (2.2, 4.0, 3.8), strict=True)]
    table = tree_building.table(found)
    lines = {row[3]: row for row in table.rows}
    assert lines["λ′ = 1"][6:9] == ["1.90", "1.90", "✗"]
    assert lines["λ′ = 0.5"][6:9] == ["1.00", "1.00", "✓"]
    assert lines["balanced"][4] == "2.00" and lines["balanced"][8] == ""
    assert all(len(row) == len(table.header) for row in table.rows)
    assert {row[3] for row in table.records} >= {"_s", "_s of"}
    write_table(table, tmp_path / "table.csv", tmp_path / "table.md")
    assert "| amazon-67k-sim |" in (tmp_path / "table.md").read_text(encoding="utf-8")


def test_the_plan_has_both_sizes_and_both_numbers_of_threads():
    jobs = run.plan_building(run.parse(["--parts", "building"]))
    assert {(job.dataset, job.threads) for job in jobs} == {
        (name, threads) for name in settings.TREE_DATASETS for threads in (1, settings.THREADS)
    }
    assert run.plan_building(run.parse(["--parts", "building", "--quick"])) == []
