"""The whole DAG in miniature: it ends, it survives being killed, and it re-runs what an edit touches and no more."""

import csv
import json
import os
import signal
import subprocess
import time
import zipfile

import psutil
import pytest

from orchard.data.store import load_dataset, sha256_of_csr
from orchard.report.results_page import parts_of, update_results

ARTEFACTS = {
    "eagle-table1": "table",
    "eagle-table2": "table",
    "eagle-table5": "table",
    "eagle-fig4": "figure",
    "eagle-fig7": "figure",
    "eagle-fig8": "figure",
    "eagle-fig9": "figure",
    "eagle-fig3": "figure",
    "eagle-fig6": "figure",
    "eagle-centring": "figure",
    "eagle-beyond": "table",
    "eagle-choices": "table",
    "eagle-backbones": "table",
    "eagle-table3": "table",
    "eagle-table6": "table",
    "eagle-fig5": "figure",
    "eagle-fig10": "figure",
    "eagle-readings": "table",
    "eagle-groups": "figure",
    "disentangle-table1": "table",
    "disentangle-table2": "table",
    "disentangle-table3": "table",
    "disentangle-table4": "table",
    "disentangle-table5": "table",
    "disentangle-fig2": "figure",
    "disentangle-beams": "figure",
    "disentangle-fig3": "figure",
    "disentangle-a7": "table",
    "disentangle-a8": "table",
    "disentangle-vi": "table",
    "disentangle-beyond": "table",
    "disentangle-choices": "table",
    "disentangle-costs": "table",
    "labeltrees-table1": "table",
    "labeltrees-table2": "table",
    "labeltrees-fig1": "figure",
    "labeltrees-fig2": "figure",
    "labeltrees-fig3": "figure",
    "labeltrees-schemes": "table",
    "labeltrees-mixture": "figure",
    "labeltrees-fig4": "figure",
    "labeltrees-fig5": "figure",
    "labeltrees-fig6": "figure",
    "labeltrees-beyond": "figure",
    "labeltrees-latency": "table",
    "labeltrees-overlap": "figure",
    "otseq2set-table1": "table",
    "otseq2set-fig4": "figure",
    "otseq2set-table3": "table",
    "otseq2set-table4": "table",
    "otseq2set-table5": "table",
    "otseq2set-table6": "table",
    "otseq2set-fig5": "figure",
    "otseq2set-table7": "table",
}
ENDINGS = {"table": ("csv", "md"), "figure": ("csv", "png", "svg")}
# What shows scikit-learn's digits, which are real: networks that learn from groups, and label embeddings.
OF_NETWORKS = ("eagle-table3", "eagle-table6", "eagle-readings", "eagle-groups")
OF_DIGITS = (*OF_NETWORKS, "eagle-fig5", "eagle-fig10")
# What shows networks that write labels.
WRITERS_SCORES = tuple(f"otseq2set-table{number}" for number in (3, 4, 5, 6))
OF_WRITERS = (*WRITERS_SCORES, "otseq2set-fig5", "otseq2set-table7")


def test_every_artefact_is_rendered(finished):
    expected = {f"{name}.{ending}" for name, kind in ARTEFACTS.items() for ending in ENDINGS[kind]}
    expected |= {f"claims.{ending}" for ending in ("json", "md", "csv")}
    rendered = {path.name for path in (finished.folder / "results/artefacts/smoke").iterdir()}
    assert rendered == expected


def test_simulated_data_is_marked_in_every_artefact(finished):
    """Nobody may take the smoke run's numbers for results."""
    folder = finished.folder / "results/artefacts/smoke"
    for name, kind in ARTEFACTS.items():
        with (folder / f"{name}.csv").open() as file:
            sources = {row["source"] for row in csv.DictReader(file)}
        if name in OF_DIGITS:
            assert {"measured"} <= sources <= {"published", "measured"}, name
            continue
        # The sizes of networks are counted; no data is behind them.
        others = {"published", "counted"} if name == "otseq2set-table7" else {"published"}
        assert {"simulated"} <= sources <= {"simulated"} | others, name
        other = (folder / f"{name}.{'md' if kind == 'table' else 'svg'}").read_text()
        assert "imulated data" in other, name


def test_a_second_run_does_nothing(finished):
    done = finished.snakemake("reproduce-all")
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout + done.stderr


def test_every_rule_keeps_a_log(finished):
    folder = finished.folder / "results/logs"
    logs = {str(path.relative_to(folder)) for path in folder.rglob("*.log")}
    assert {f"artefacts/smoke/{name}.log" for name in ARTEFACTS} | {"prepare/smoke-sim.log"} <= logs
    assert "600" in (folder / "prepare/smoke-sim.log").read_text()


def test_results_name_no_place_of_the_machine(finished):
    """A result that holds the folder it was made in cannot be the same bytes elsewhere."""
    for name, content in finished.results().items():
        assert str(finished.folder).encode() not in content, name


def jobs_of(process: psutil.Process) -> list[psutil.Process]:
    """The running scripts below a Snakemake process."""
    return [child for child in process.children(recursive=True) if is_script(child)]


def is_script(process: psutil.Process) -> bool:
    try:
        return any(".py" in part for part in process.cmdline()[1:])
    except psutil.NoSuchProcess:  # it ended meanwhile
        return False


def test_killed_run_resumes_to_the_same_bytes(checkout, finished):
    """SIGKILL of a job, then of Snakemake in mid-job; the next run ends, with byte-identical results on one core."""
    command = checkout.command("reproduce-all", "--cores", "1")
    snakemake = psutil.Popen(
        command, cwd=checkout.folder, env=checkout.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    killed = None
    while time.monotonic() < deadline and snakemake.is_running() and killed is None:
        try:
            for job in jobs_of(snakemake):
                os.kill(job.pid, signal.SIGKILL)
                killed = job.pid
        except (psutil.NoSuchProcess, ProcessLookupError):
            pass
        time.sleep(0.01)
    assert killed, "no job was seen running"
    # With keep-going another job starts; kill Snakemake itself while that one writes, and leave the job alone.
    while time.monotonic() < deadline and not [job for job in jobs_of(snakemake) if job.pid != killed]:
        time.sleep(0.01)
    orphans = jobs_of(snakemake)
    assert orphans, "no second job was seen running"
    snakemake.kill()
    snakemake.wait()
    psutil.wait_procs(orphans, timeout=60)
    assert len(checkout.results()) < len(finished.results())

    unlocked = checkout.snakemake("--unlock")
    assert unlocked.returncode == 0, unlocked.stderr
    done = checkout.snakemake("reproduce-all", "--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    again, whole = checkout.results(), finished.results()
    assert again.keys() == whole.keys()
    assert [name for name in whole if again[name] != whole[name]] == []


def kill_as_soon_as(seen, checkout, target):
    """Run a target until something is seen. Snakemake dies first, so that nobody cleans up, and then its job."""
    snakemake = psutil.Popen(
        checkout.command(target), cwd=checkout.folder, env=checkout.environment(), stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while not seen() and time.monotonic() < deadline:
        pass
    jobs = jobs_of(snakemake)
    snakemake.kill()
    for job in jobs:
        job.kill()
    snakemake.wait()
    psutil.wait_procs(jobs, timeout=60)
    assert seen(), "the job was not killed in the act"


def run_again(checkout, target):
    assert checkout.snakemake("--unlock").returncode == 0
    done = checkout.snakemake(target)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_job_killed_while_it_writes_leaves_nothing_half(checkout):
    """The job dies between its first and its last file."""
    target = "results/data/logs-10m-sim-256th"  # large enough to be caught in the act
    folder = checkout.folder / target
    kill_as_soon_as(lambda: list(folder.parent.glob(f".{folder.name}.*.tmp")), checkout, target)
    assert not folder.exists()

    run_again(checkout, target)
    dataset = load_dataset(folder)
    for name, digest in dataset.stats["sha256"].items():
        assert sha256_of_csr(getattr(dataset, name)) == digest
    assert not list(checkout.folder.rglob("*.tmp"))


def test_a_network_killed_in_training_goes_on_to_the_same_score(copy_of_finished, finished):
    """Its checkpoint outlives the job, is not taken for a result, and is gone in the end."""
    often = copy_of_finished.folder / "src/orchard/neural/training.py"
    code = often.read_text().replace("CHECKPOINT_SECONDS = 20.0", "CHECKPOINT_SECONDS = 0.0")
    often.write_text(code.replace("CHECKPOINT_SHARE = 0.02", "CHECKPOINT_SHARE = 1.0"))
    run = "smoke-text-sim/clean/bm-all-ot-lc/seed-0"
    score = copy_of_finished.folder / f"results/runs/{run}/score.json"
    checkpoint = score.with_name("checkpoint.pt")
    kill_as_soon_as(checkpoint.is_file, copy_of_finished, str(score.relative_to(copy_of_finished.folder)))
    assert not score.exists()

    run_again(copy_of_finished, str(score.relative_to(copy_of_finished.folder)))
    assert "going on in epoch" in (copy_of_finished.folder / f"results/logs/write_labels/{run}.log").read_text()
    assert score.read_bytes() == (finished.folder / f"results/runs/{run}/score.json").read_bytes()
    assert not checkpoint.exists()


ALL = dict.fromkeys(ARTEFACTS, 1)
SIMULATIONS = dict.fromkeys(("eagle-fig3", "eagle-fig6", "eagle-centring"), 1)
OF_DATA = {name: 1 for name in ARTEFACTS if name not in SIMULATIONS and name not in OF_DIGITS}
# Deep-MIML, EAGLE-0, EAGLE, label proportions, and with embeddings: each has two points to choose from.
LEARNED = {"search_point": 5 * 2, "choose": 5, "learn_from_groups": 5} | dict.fromkeys(OF_NETWORKS, 1)
EMBEDDED = {"embed_labels": 4, "eagle-fig5": 1, "eagle-fig10": 1}
PREPARED = {"prepare": 3}
SCORE_TABLES = (
    "eagle-table2",
    "eagle-table5",
    "eagle-beyond",
    "eagle-choices",
    "eagle-backbones",
    "eagle-table3",
    "eagle-readings",
    "disentangle-table3",
    "disentangle-table4",
    "disentangle-a7",
    "disentangle-a8",
    "disentangle-vi",
    "disentangle-beyond",
    "disentangle-choices",
    "labeltrees-schemes",
    "labeltrees-latency",
    *WRITERS_SCORES,  # two of them by its words on runs
)
OF_SCORES = dict.fromkeys(SCORE_TABLES, 1)
OF_DECREMENTS = dict.fromkeys(("eagle-fig4", "eagle-fig7", "eagle-fig8", "eagle-fig9"), 1)
NOT_OF_RUNS = (
    "eagle-table3",
    "eagle-readings",
    "eagle-choices",
    "disentangle-choices",
    "disentangle-vi",
    "labeltrees-latency",
    *WRITERS_SCORES,
)
OF_FIGURES = dict.fromkeys(("disentangle-fig2", "disentangle-beams", "disentangle-fig3"), 1)
BY_SCORES = ("disentangle-table2", "disentangle-table5", "disentangle-costs")  # they use some of its words
TRADEOFFS = dict.fromkeys((f"labeltrees-{name}" for name in ("fig2", "fig3", "fig4", "fig5", "mixture", "overlap")), 1)
LATENCY = {"latency": 1, "labeltrees-beyond": 1, "labeltrees-latency": 1}
OF_CURVES = TRADEOFFS | {"labeltrees-beyond": 1}
SHOWN_BY_RUNS = ("eagle-table1", *OF_SCORES, *OF_DECREMENTS, *OF_FIGURES, *TRADEOFFS)
OF_RUNS = {name: 1 for name in SHOWN_BY_RUNS if name not in NOT_OF_RUNS}
STATISTICS_TABLES = (
    "eagle-table1",
    "disentangle-table1",
    "labeltrees-table1",
    "labeltrees-table2",
    "otseq2set-table1",
)
OF_STATISTICS = dict.fromkeys(STATISTICS_TABLES, 1)
# Label disentanglement: two fusions and their clusters; two methods on samples held out; two tables of costs.
MEANINGS = {"meanings": 2, "disentangle-table2": 1, "disentangle-vi": 1}
HELD_OUT = {"hold_out": 2, "disentangle-choices": 1}
TIMED = {"costs": 2, "disentangle-table5": 1, "disentangle-costs": 1}
# XR-Linear with 32 children and Disentangle+'s on clean labels, each plain and cross-fitted (the latter in two ways),
# and the former on fusions (three of one data set, one of another); of their runs eight have overlapping clusters.
# Two more are over interpolated trees.
MATCHED = {"match": 5 + 4 + 2, "objective": 3} | MEANINGS | HELD_OUT | TIMED
OVERLAPPING = {"run": 5 + 3 + 2} | MATCHED | {name: 1 for name in ARTEFACTS if name.startswith("disentangle-")}
OVERLAPPING |= {"labeltrees-overlap": 1}
del OVERLAPPING["disentangle-table1"]  # statistics of the data sets
# Six methods on clean labels, of which DiSMEC has no tree; Baseline, EAGLE-0 and EAGLE on two groupings, and on one
# of them four methods of our own. All that impute are validated on that one.
OF_PLUS = {"run": 1, "eagle-beyond": 1, "validate": 1, "eagle-choices": 1}
VALIDATED = {"validate": 2 + 4, "eagle-choices": 1}
OF_EAGLE = {"run": 4 + 4} | OF_DECREMENTS | dict.fromkeys(("eagle-table2", "eagle-table5", "eagle-beyond"), 1)
# Label trees: five schemes at three λ′, two λ′ on logs and with 32 children; hierarchical softmax over four trees.
LINEAR, SOFTMAX = {"run": 6 + 6 + 4 + 2 * 3 + 5 + 5 * 3 + 2 + 2 * 2}, 4
RUN = {"run": LINEAR["run"] + SOFTMAX}
BUILT = {"tree": 3 + 4}  # those that are shared: XR-Linear's, two interpolated ones, and one for every fusion
GROUPED = {"aggregate": 2, "entangle": 4}
OF_LINEAR_RUNS = {name: 1 for name in OF_RUNS if name != "labeltrees-fig4"}
# OTSeq2Set: eight methods in Table 3, one more λ in Figure 5. Parameters are counted at the paper's sizes, no data.
WRITTEN = {"write_labels": 8 + 1, "step_times": 1} | dict.fromkeys(OF_WRITERS, 1)
WHOLLY_TRAINED = {name: count for name, count in WRITTEN.items() if name != "step_times"}  # a step alone is none
COUNTED = {"count_parameters": 1, "otseq2set-table7": 1}


@pytest.mark.parametrize(
    ("edited", "reruns"),
    [
        ("src/orchard/report/imbalance.py", {"labeltrees-fig1": 1, "labeltrees-fig6": 1}),
        ("src/orchard/report/tables.py", ALL),
        ("src/orchard/report/statistics_table.py", OF_STATISTICS),
        ("src/orchard/report/scores_table.py", OF_SCORES),
        ("src/orchard/report/decrement.py", OF_DECREMENTS),
        ("src/orchard/report/overlap_figures.py", OF_FIGURES),
        ("src/orchard/report/tradeoff_figures.py", OF_CURVES),
        (
            "src/orchard/report/rows.py",
            OF_STATISTICS | OF_RUNS | OF_SCORES | OF_CURVES | dict.fromkeys((*BY_SCORES, *OF_NETWORKS, *OF_WRITERS), 1),
        ),
        ("src/orchard/report/search_table.py", {"eagle-table6": 1}),
        ("src/orchard/report/group_figure.py", {"eagle-groups": 1}),
        ("src/orchard/report/embedding_figure.py", {"eagle-fig5": 1, "eagle-fig10": 1}),
        ("src/orchard/report/relative_table.py", {"otseq2set-table4": 1, "otseq2set-table5": 1}),
        ("src/orchard/report/lambda_figure.py", {"otseq2set-fig5": 1}),
        ("src/orchard/report/training_table.py", {"otseq2set-table7": 1}),
        ("src/orchard/neural/training.py", LEARNED | WHOLLY_TRAINED),
        ("src/orchard/neural/seq2set/decoder.py", WRITTEN | COUNTED),
        ("src/orchard/neural/seq2set/per_sample.py", {"step_times": 1, "otseq2set-table7": 1}),
        ("src/orchard/neural/seq2set/sizes.py", COUNTED),
        ("src/orchard/data/readers/digits.py", {"prepare": 1, "aggregate": 2} | LEARNED | EMBEDDED),
        ("src/orchard/eagle_simulations.py", SIMULATIONS),
        (
            "src/orchard/data/synthetic.py",
            PREPARED | GROUPED | BUILT | RUN | VALIDATED | MATCHED | LATENCY | WRITTEN | OF_DATA,
        ),
        ("src/orchard/data/formats.py", {}),  # reads files, of which the smoke scale has none
        ("src/orchard/data/sources.py", {}),
        ("src/orchard/metrics.py", RUN | OF_RUNS | MEANINGS | HELD_OUT | LATENCY | LEARNED | WHOLLY_TRAINED),
        (
            "src/orchard/linear/_solver_kernels.py",
            LINEAR | OF_LINEAR_RUNS | VALIDATED | MATCHED | LATENCY,
        ),  # trees stay
        ("src/orchard/linear/search.py", LINEAR | OF_LINEAR_RUNS | VALIDATED | MATCHED | LATENCY),
        (
            "src/orchard/trees/builders.py",
            BUILT | LINEAR | OF_LINEAR_RUNS | VALIDATED | MATCHED | LATENCY,
        ),
        ("src/orchard/softmax/_kernels.py", {"run": SOFTMAX, "labeltrees-fig4": 1}),
        ("src/orchard/latency.py", LATENCY),
        ("src/orchard/_coverage_kernels.py", OVERLAPPING),  # plain methods stay
        ("src/orchard/disentanglement.py", OVERLAPPING),
        ("src/orchard/meanings.py", MEANINGS),
        ("src/orchard/held_out.py", HELD_OUT | LEARNED),
        ("src/orchard/costs.py", TIMED),
        ("src/orchard/_eagle_kernels.py", OF_EAGLE | VALIDATED | LEARNED | EMBEDDED),
        ("src/orchard/eagle_plus.py", OF_PLUS),
        ("src/orchard/group_validation.py", OF_PLUS | VALIDATED),
        ("src/orchard/baselines.py", {}),
        ("workflow_scripts/label_count_figure.py", {"otseq2set-fig4": 1}),
    ],
)
def test_an_edit_reruns_exactly_what_uses_it(copy_of_finished, edited, reruns):
    with (copy_of_finished.folder / edited).open("a") as file:
        file.write("\n# edited\n")
    assert copy_of_finished.jobs_to_run("reproduce-all") == reruns


def test_an_edited_claim_is_judged_anew_and_an_edited_comment_is_not(copy_of_finished):
    path = copy_of_finished.folder / "config/papers/eagle/claims.yaml"
    path.write_text("# edited\n" + path.read_text())
    assert copy_of_finished.jobs_to_run("reproduce-all", left_out=()) == {}
    path.write_text(path.read_text().replace("tolerance: 2", "tolerance: 3", 1))
    summed_up = dict.fromkeys(("judge_claims", "report", "reproduce-all"), 1)
    assert copy_of_finished.jobs_to_run("reproduce-all", left_out=()) == summed_up


def test_a_choice_is_made_anew_when_its_grid_changes(copy_of_finished):
    """Points that were tried are not tried again; what comes after the choice is."""
    path = copy_of_finished.folder / "config/methods/label-proportions.yaml"
    path.write_text(path.read_text().replace("batch_size: [8, 32]", "batch_size: [8, 32, 64]"))
    after = {"search_point": 1 + 2, "choose": 2, "learn_from_groups": 2, "eagle-table3": 1, "eagle-groups": 1}
    assert copy_of_finished.jobs_to_run("reproduce-all") == after


WITHOUT_TORCH = """
import importlib.util
import sys

find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "torch" else find_spec(name, package)


class Refusal:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Refusal)
"""


def test_without_pytorch_its_rows_are_not_run_and_say_why(checkout):
    """What is published is shown all the same; label embeddings need none."""
    hidden = checkout.folder / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(WITHOUT_TORCH)
    environment = {"PYTHONPATH": f"{checkout.folder / 'src'}{os.pathsep}{hidden}"}
    done = checkout.snakemake(*OF_DIGITS, *OF_WRITERS, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    for rule in ("learn_from_groups", "write_labels", "step_times", "count_parameters"):
        assert rule not in done.stdout + done.stderr
    folder = checkout.folder / "results/artefacts/smoke"
    for name in (*OF_NETWORKS, *OF_WRITERS):
        path = folder / f"{name}.{'md' if ARTEFACTS[name] == 'table' else 'svg'}"
        assert "PyTorch is not installed" in " ".join(path.read_text().split()), name
    for name, printed in {
        "eagle-table3": "94.70",
        "eagle-table6": "40.69",
        "otseq2set-table3": "62.46",
        "otseq2set-table4": "16.34%",
        "otseq2set-table5": "59.61",
        "otseq2set-table6": "27.34",
        "otseq2set-table7": "439.8",
    }.items():
        assert printed in (folder / f"{name}.md").read_text(), name
    assert "λ = 8, the best in the paper" in " ".join((folder / "otseq2set-fig5.svg").read_text().split())


def test_a_slice_takes_the_place_of_digits_where_its_files_are(checkout):
    """Demo shows a part of MNIST if MNIST was fetched before, for whatever reason, and scikit-learn's digits if not."""
    assert "mnist-6k" not in checkout.snakemake("--dry-run", "eagle-table3", scale="demo").stdout
    raw = checkout.folder / "results/raw/mnist"
    raw.mkdir(parents=True)
    (raw / "source.json").write_text("{}")
    planned = checkout.snakemake("--dry-run", "eagle-table3", scale="demo").stdout
    assert "results/data/mnist-6k" in planned
    assert "results/data/digits" not in planned


def test_a_config_edit_reruns_only_its_own_steps(copy_of_finished):
    path = copy_of_finished.folder / "config/papers/otseq2set/artefacts.yaml"
    path.write_text(path.read_text().replace("Table 1: data statistics", "Table 1: statistics of the data"))
    assert copy_of_finished.jobs_to_run("reproduce-all") == {"otseq2set-table1": 1}
    path = copy_of_finished.folder / "config/datasets/smoke-text-sim.yaml"
    path.write_text(path.read_text() + "split: words that no step depends on\n")
    assert copy_of_finished.jobs_to_run("reproduce-all") == {"otseq2set-table1": 1}
    path.write_text(path.read_text().replace("title: ", "title: New "))
    shown_in = ("otseq2set-table1", "otseq2set-fig4", "labeltrees-fig4", "labeltrees-fig6", "disentangle-table2")
    fused = ("entangle", "tree", "match", "meanings")
    expected = dict.fromkeys(("prepare", *fused, *shown_in), 1) | {"run": SOFTMAX} | WRITTEN
    assert copy_of_finished.jobs_to_run("reproduce-all") == expected


@pytest.mark.parametrize(
    ("dataset", "reruns"),
    [
        ("smoke-text-sim", WRITTEN),  # eleven methods are like it
        ("eurlex-4k-text", COUNTED),
        ("reuters-21578", {}),  # of a larger scale
    ],
)
def test_a_parameter_for_a_data_set_reruns_all_methods_like_it_there(copy_of_finished, dataset, reruns):
    path = copy_of_finished.folder / "config/methods/seq2seq.yaml"
    before, start, after = path.read_text().partition(f"\n  {dataset}: {{")
    assert start
    path.write_text(f"{before}{start}layers: 1, {after}")
    assert copy_of_finished.jobs_to_run("reproduce-all") == reruns


def test_a_touched_script_regenerates_its_figure_alone(copy_of_finished):
    later = time.time() + 10
    os.utime(copy_of_finished.folder / "workflow_scripts/label_count_figure.py", (later, later))
    assert copy_of_finished.jobs_to_run("reproduce-all") == {"otseq2set-fig4": 1}
    done = copy_of_finished.snakemake("otseq2set-fig4")
    assert done.returncode == 0, done.stderr


def test_a_method_that_shares_its_trees_builds_none_that_are_there(copy_of_finished):
    """A wider beam searches the same trees; another leaf size needs others. Who does not share builds its own."""
    method = copy_of_finished.folder / "config/methods/wide.yaml"
    words = "title: Wide\ndescription: A wide beam.\nestimator: orchard.linear.estimators.XRLinear\n"
    score = "results/runs/smoke-sim/clean/wide/seed-0/score.json"
    method.write_text(words + "parameters: {max_leaf: 50}\n")
    assert copy_of_finished.jobs_to_run(score) == {"run": 1}
    words += "share_trees: true\n"
    method.write_text(words + "parameters: {max_leaf: 50}\n")
    assert copy_of_finished.jobs_to_run(score) == {"run": 1, "tree": 1}
    method.write_text(words + "parameters: {n_splits: 32, max_leaf: 10, beam: 50}\n")
    assert copy_of_finished.jobs_to_run(score) == {"run": 1}
    done = copy_of_finished.snakemake(score)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = (copy_of_finished.folder / score).parent
    narrow = folder.parents[1] / "xr-linear-32/seed-0"
    content, costs = (json.loads((folder / name).read_text()) for name in ("score.json", "cost.json"))
    assert content["params"]["beam"] == 50
    assert {"depth@1", "depth@3", "depth@5"} <= content["metrics"].keys()
    assert costs["seconds"].keys() == {"tree", "fit", "predict"}
    assert costs["seconds"]["tree"] == json.loads((narrow / "cost.json").read_text())["seconds"]["tree"]

    method.write_text(words.replace("XRLinear", "DiSMEC"))
    refused = copy_of_finished.snakemake("--dry-run", score)
    words = "method 'wide': share_trees: orchard.linear.estimators.DiSMEC builds no label trees"
    assert refused.returncode != 0
    assert words in refused.stdout + refused.stderr


def test_a_sweep_over_λ_shares_everything_up_to_the_counts(copy_of_finished):
    """Another λ, another solver: one refit each. Cross-fitted matches are made once; a second round needs its own."""
    runs = "results/runs/smoke-sim/clean"
    more = [f"{runs}/disentangle-{name}/seed-0/score.json" for name in (4, 5, 6, "capped", "coverage", "exact")]
    assert copy_of_finished.jobs_to_run(*more) == {"run": 6}
    crossed = [f"{runs}/disentangle-{name}/seed-0/score.json" for name in ("cross", "coverage-cross", "weighted")]
    assert copy_of_finished.jobs_to_run(*crossed) == {"run": 3}  # the smoke scale has judged clusters by them
    assert copy_of_finished.jobs_to_run(f"{runs}/disentangle-rounds/seed-0/score.json") == {"match": 1, "run": 1}
    over_bonsai = f"{runs}/disentangle-2+bonsai/seed-0/score.json"
    assert copy_of_finished.jobs_to_run(over_bonsai) == {"tree": 1, "match": 1, "run": 1}
    done = copy_of_finished.snakemake(over_bonsai, f"{runs}/disentangle-rounds/seed-0/score.json")
    assert done.returncode == 0, done.stdout + done.stderr
    score = json.loads((copy_of_finished.folder / over_bonsai).read_text())
    assert score["overlap"]["copies"] == 2 and score["metrics"]["copies per label"] > 1


def test_methods_that_cannot_overlap_are_refused(copy_of_finished):
    """One-vs-all has no clusters; fused labels of a plain method have no copies to judge."""
    for target, words in {
        "results/runs/smoke-sim/clean/disentangle-2+dismec/seed-0/score.json": "has no label trees that could overlap",
        "results/meanings/smoke-sim/entangled/hard-2/xr-linear/seed-0/score.json": "has no overlapping clusters",
        "results/objectives/smoke-sim/clean/disentangle-rounds/seed-0/score.json": "clusters of a later round",
    }.items():
        done = copy_of_finished.snakemake("--dry-run", target)
        assert done.returncode != 0
        assert words in done.stdout + done.stderr


def test_variants_of_the_labels(copy_of_finished, finished):
    """Grouped and fused labels are files of the DAG: asked for by path, the same for one core and two."""
    variants = "results/variants/smoke-sim"
    targets = [
        f"{variants}/aggregated/random-4/seed-0/Y2.npz",
        f"{variants}/aggregated/clustered-5-noise-50-set/seed-1/Y1.npz",
        f"{variants}/entangled/medium-2/seed-0/fused_of_label.npy",
        "results/runs/smoke-sim/aggregated/random-4/most-frequent/seed-0/score.json",
        "results/runs/smoke-sim/entangled/medium-2/most-frequent/seed-0/score.json",
        "results/runs/smoke-sim/clean/most-frequent/seed-0/score.json",
        "results/runs/smoke-sim/aggregated/random-4/xr-linear/seed-0/score.json",
    ]
    results = []
    for cores in ("1", "2"):
        done = copy_of_finished.snakemake(*targets, "--cores", cores, "--forcerun", "aggregate", "entangle")
        assert done.returncode == 0, done.stdout + done.stderr
        results.append(copy_of_finished.results())
    assert results[0] == results[1]
    assert {target.removeprefix("results/") for target in targets} <= results[0].keys()


def test_the_results_of_a_paper_are_written_down_and_those_of_others_stay(copy_of_finished):
    """Twice the same part, with every artefact and verdict of the paper, and the commands that make them again."""
    path = copy_of_finished.folder / "RESULTS.md"
    update_results(path, "otseq2set", "## Another paper", ["eagle", "otseq2set"])
    parts = []
    for _ in range(2):
        done = copy_of_finished.snakemake("eagle-results")
        assert done.returncode == 0, done.stdout + done.stderr
        parts.append(parts_of(path.read_text(encoding="utf-8")))
    assert parts[0] == parts[1] and parts[0]["otseq2set"].strip() == "## Another paper"
    assert "results it is not known" not in parts[0]["eagle"]
    for name in (name for name in ARTEFACTS if name.startswith("eagle-")):
        assert f"`snakemake {name} --config scale=smoke`" in parts[0]["eagle"]


def test_a_crate_has_the_code_of_every_job_and_follows_what_it_packs(copy_of_finished):
    own = copy_of_finished.folder / "src/centroid.py"
    own.write_text("A method of one's own, as the README has it.\n")
    crate = "results/crate/smoke.zip"
    done = copy_of_finished.snakemake("crate")
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(copy_of_finished.folder / crate) as packed:
        names = set(packed.namelist())
        graph = json.loads(packed.read("ro-crate-metadata.json"))["@graph"]
    instruments = {one["instrument"]["@id"] for one in graph if one["@id"].startswith("#job/")}
    assert instruments and instruments <= names
    assert "src/centroid.py" in names
    assert copy_of_finished.jobs_to_run("crate") == {}
    readme = copy_of_finished.folder / "README.md"
    readme.write_text(readme.read_text() + "\nAnother word.\n")
    assert "crate" in copy_of_finished.jobs_to_run("crate")
