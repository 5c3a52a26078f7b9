"""What an interpolated label tree costs to build, beside Parabel's balanced one over the same embeddings.

`python -m bench.tree_building <job.json>` is one measurement, a process of its own: the balanced tree and one for every
λ′ in turn, so that what disturbs the machine disturbs all of them.
"""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench import job_points, job_runner, records, settings
from bench.engines.orchard import small_problem
from bench.tables import MET, short
from bench.worker import timed
from orchard.data.store import load_csr
from orchard.report.tables import Table
from orchard.trees.builders import balanced_label_tree
from orchard.trees.embeddings import pifa
from orchard.trees.interpolated import Interpolation

BALANCED = "balanced"
WARM_UP_LABELS = 20_000
_COSTS = {"_s": "time", "_cpu_s": "CPU"}


@dataclass(frozen=True)
class Job:
    """One measurement: all trees over the labels of a data set."""

    dataset: str
    repetition: int = 1
    threads: int = settings.THREADS
    builds: str = "trees"  # tells its records from those of other parts

    @property
    def name(self) -> str:
        """What a record calls its configuration."""
        return "tree building"


def plan(only, repeats: int) -> list[Job]:
    jobs = [
        Job(dataset, repetition, threads)
        for repetition in range(1, min(repeats, settings.TREE_REPEATS) + 1)
        for dataset in settings.TREE_DATASETS
        for threads in (1, settings.THREADS)
    ]
    return [job for job in jobs if only is None or job.dataset in only]


@cache
def edition() -> str:
    """The builders of trees as they are now, and how they are measured."""
    own = sorted((records.ROOT / "src/orchard/trees").glob("*.py"))
    measuring = [
        records.ROOT / "bench" / file for file in ("tree_building.py", "job_runner.py", "worker.py", "data.py")
    ]
    lambdas = {"lambda_primes": settings.TREE_LAMBDAS}
    return records.edition_of_settings(lambdas, records.digest_of_code(own)[:12], records.digest_of_code(measuring))


def measure(jobs: list[Job], fresh: bool) -> None:
    """Add the measurements that are not in results/bench/raw.jsonl."""
    job_runner.measure("tree building", jobs, edition(), _run, _describe, fresh)


def _run(job):
    return job_runner.in_process("bench.tree_building", job)


def _describe(record: dict) -> str:
    ratios = [record[f"{lam:g}_s"] / record["balanced_s"] for lam in settings.TREE_LAMBDAS]
    return f"balanced {record['balanced_s']:.2f} s, interpolated {min(ratios):.2f} to {max(ratios):.2f} times that"


def run_job(job: Job, folder: Path) -> dict:
    """Build every tree once; the embeddings are not in the time, the frequencies are."""
    X, Y = load_csr(folder / "X.trn.npz"), load_csr(folder / "Y.trn.npz")
    warm_up()
    result = {"n_labels": Y.shape[1]}
    embeddings = pifa(X, Y, n_jobs=job.threads)
    for build in builders(embeddings[:WARM_UP_LABELS], Y[:, :WARM_UP_LABELS], job.repetition, job.threads).values():
        build()  # kernels for large nodes are loaded too, before the first tree is timed
    for name, build in builders(embeddings, Y, job.repetition, job.threads).items():
        (seconds, cpu_s), tree = timed(build)
        result |= {f"{name}_s": seconds, f"{name}_cpu_s": cpu_s, f"{name}_depth": tree.max_depth}
    return result


def builders(embeddings, Y, seed: int, threads: int) -> dict:
    """What builds the balanced tree, and one for every λ′."""
    how = {"seed": seed, "n_jobs": threads}
    interpolated = {
        f"{lam:g}": lambda lam=lam: Interpolation(lambda_prime=lam).interpolated_tree(embeddings, Y, **how)
        for lam in settings.TREE_LAMBDAS
    }
    return {BALANCED: lambda: balanced_label_tree(embeddings, **how)} | interpolated


def warm_up() -> None:
    X, Y = small_problem()
    embeddings = pifa(X, Y)
    balanced_label_tree(embeddings, max_leaf=4)
    Interpolation(lambda_prime=1.0).interpolated_tree(embeddings, Y, max_leaf=4)


# ---- The table ----


def table(found: list[dict]) -> Table:
    """A line for every data set, number of threads and λ′: seconds, and how many times those of the balanced tree."""
    ours = [record for record in found if "builds" in record]
    names = [f"{lam:g}" for lam in settings.TREE_LAMBDAS]
    for record in ours:
        if record["status"] == "ok":
            record |= {
                f"{name}{end} of": record[name + end] / record[BALANCED + end] for name in names for end in _COSTS
            }
    keys = [f"{name}{end}{of}" for name in [BALANCED, *names] for end in _COSTS for of in ("", " of")]
    points, is_old = job_points.points(ours, edition(), Job, keys)
    made = Table(
        "Interpolated trees: what building them costs",
        ["data set", "labels", "threads", "tree", "s", "CPU s", "of balanced", "of balanced, CPU", "bar", "depth", "n"],
        rows=[],
        record_header=["data set", "threads", "tree", "column", "value"],
    )
    for one in points:
        lead = [one.job.dataset, one.record.get("n_labels", ""), one.job.threads]
        if not one.ok:
            made.rows.append([*lead, one.reason, *[""] * 7])
            continue
        for name in [BALANCED, *names]:
            shown = {
                key: one.figures[f"{name}{key}"].median
                for key in [*_COSTS, "_s of", "_cpu_s of"]
                if f"{name}{key}" in one.figures
            }
            met = "" if name == BALANCED else MET[shown["_s of"] <= settings.TREE_BAR]
            cells = [short(shown[key]) if key in shown else "" for key in ("_s", "_cpu_s", "_s of", "_cpu_s of")]
            told = name if name == BALANCED else f"λ′ = {name}"
            made.rows.append([*lead, told, *cells, met, one.record[f"{name}_depth"], one.n])
            made.records += [[one.job.dataset, one.job.threads, told, key, value] for key, value in shown.items()]
    if points:
        bar = f"Bar: at most {settings.TREE_BAR:g} times the time of the balanced tree."
        timed_part = "Frequencies are in the time, embeddings are not."
        made.notes = [f"{bar} {timed_part}", *job_points.notes(points, is_old)]
    return made


if __name__ == "__main__":
    job_runner.answer(sys.argv[1], Job, warm_up, run_job)
