"""What a run says it cost, and what the workflow expects a job to need."""

import json

import numba
import numpy as np
import pytest
import scipy.sparse as sp

from orchard.data.store import Dataset
from orchard.errors import ConfigError
from orchard.methods import NotImportable, tree_recipe
from orchard.runs import run
from orchard.shared_trees import timed_trees
from orchard.timing import compilation
from orchard.trees.label_tree import LabelTree


class Planted:
    """Has trees and cannot do without: `fit` refuses to build them."""

    TREE_PARAMETERS = ("max_leaf",)

    def __init__(self, max_leaf=2):
        self.max_leaf = max_leaf

    def build_trees(self, X, Y):
        return [LabelTree.from_groups([[0], [1, 2]])]

    def fit(self, X, Y, trees=None):
        assert trees, "the trees' time would be counted as the fit's"
        return self

    def predict_topk(self, X, k=5):
        return np.tile([0, 1, 2, -1, -1], (X.shape[0], 1)), np.zeros((X.shape[0], k))


class Misspelt(Planted):
    TREE_PARAMETERS = ("max_leaf", "max_laef")


@pytest.fixture
def dataset():
    X, Y = sp.eye(4, format="csr", dtype=np.float32), sp.csr_matrix(np.eye(4, 3), dtype=np.float32)
    return Dataset(X, Y, X, Y, stats={"propensity": {"A": 0.55, "B": 1.5}})


def test_trees_are_timed_apart_from_the_fit_whoever_builds_them(dataset):
    trees, seconds = timed_trees(Planted(), dataset.X_train, dataset.Y_train)
    _, own = run(dataset, dataset.Y_train, Planted(), threads=1)
    _, shared = run(dataset, dataset.Y_train, Planted(), threads=1, trees=trees, tree_seconds=seconds)
    assert own["seconds"].keys() == shared["seconds"].keys() == {"tree", "fit", "predict"}
    assert own["seconds"]["tree"] > 0


def test_compilation_is_counted_and_its_absence_too(dataset):
    with compilation() as spent:
        numba.njit(lambda x: x + 1)(1)
    assert spent["seconds"] > 0
    assert run(dataset, dataset.Y_train, Planted(), threads=1)[1]["compile_seconds"] == 0


def test_a_misspelt_tree_parameter_is_named():
    """Were it taken for 'no trees', every method of the class would quietly build its own."""
    with pytest.raises(ConfigError, match="TREE_PARAMETERS names max_laef") as caught:
        tree_recipe(f"{__name__}.Misspelt", {})
    assert not isinstance(caught.value, NotImportable)


def test_an_estimator_that_does_not_compile_is_not_found(tmp_path, monkeypatch):
    (tmp_path / "half_written.py").write_text("class Half(:\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("half_written.Half", "not_written.Yet", "orchard.baselines.Missing"):
        with pytest.raises(NotImportable):
            tree_recipe(name, {})


def test_the_workflow_names_a_misspelt_tree_parameter(checkout):
    path = checkout.folder / "src/misspelt.py"
    path.write_text("class Trees:\n    TREE_PARAMETERS = ('leaf',)\n\n    def build_trees(self, X, Y):\n        pass\n")
    method = "title: Trees\ndescription: Trees.\nestimator: misspelt.Trees\nshare_trees: true\n"
    (checkout.folder / "config/methods/trees.yaml").write_text(method)
    done = checkout.snakemake("--dry-run", "results/runs/smoke-sim/clean/trees/seed-0/score.json")
    assert done.returncode != 0
    assert "TREE_PARAMETERS names leaf" in done.stdout + done.stderr


def test_a_model_that_outgrows_its_limit_is_a_result(checkout):
    """Not a failure: score.json says so, the same bytes every time; the trees are those of a method without limit."""
    methods = checkout.folder / "config/methods"
    free = (methods / "parabel.yaml").read_text() + "share_trees: true\n"
    (methods / "free.yaml").write_text(free)
    (methods / "small.yaml").write_text(free + "parameters: {max_model_gb: 0.00001}\n")
    limited, free = (f"results/runs/smoke-sim/clean/{name}/seed-0/score.json" for name in ("small", "free"))
    done = checkout.snakemake(limited, free)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(checkout.folder.glob("results/trees/smoke-sim/clean/*"))) == 1
    written = (checkout.folder / limited).read_bytes()
    score, other = json.loads(written), json.loads((checkout.folder / free).read_text())
    assert (score["oversized"], score["metrics"], score["params"]["max_model_gb"]) == (True, {}, 0.00001)
    assert score.keys() - other.keys() == {"oversized"}
    assert score["data_sha256"] == other["data_sha256"]
    cost = json.loads((checkout.folder / limited).with_name("cost.json").read_text())
    assert cost["seconds"].keys() == {"tree", "fit"}
    assert cost["model_mb"] is None and cost["peak_rss_mb"] > 0
    assert checkout.snakemake(limited, "--forcerun", "run").returncode == 0
    assert (checkout.folder / limited).read_bytes() == written


def test_training_asks_for_the_memory_that_was_measured(checkout):
    """Enough for the largest set that was measured, and not twice as much."""
    score = "results/runs/amazon-670k-sim/clean/xr-linear-32/seed-0/score.json"
    done = checkout.snakemake(score, "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    blocks = (done.stdout + done.stderr).split("\nrule ")
    asked = {
        block.partition(":")[0]: int(block.partition("mem_mb=")[2].partition(",")[0])
        for block in blocks
        if "mem_mb=" in block
    }
    assert 5400 < asked["run"] < 10800
    assert 4700 < asked["tree"] < 9400


def test_the_scheduler_looks_for_jobs_when_one_ends_and_not_every_second(checkout):
    """Otherwise Snakemake's own part of the time grows with the square of the number of jobs."""
    variants = [f"results/variants/smoke-sim/aggregated/random-{g}/seed-0/Y1.npz" for g in (2, 3, 4, 5)]
    done = checkout.snakemake("--verbose", "--cores", "1", *variants)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert said.count("Resources before job selection") == said.count("Finished jobid") == 5
