"""What overlapping clusters cost (disentangle): every step of Algorithm 1 beside the training of the backbone,
prediction before and after, and the solvers that choose the clusters beside one another.

`python -m bench.overlap <job.json>` is one measurement, a process of its own: it holds both sides of every ratio, since
the machine's speed changes from hour to hour. An edit of the engine or of the overlap makes all of them stale at once.
"""

import statistics
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from bench import job_runner, records, settings, worker
from bench.engines import make_engine
from bench.engines.orchard import small_problem
from bench.worker import timed
from orchard.cluster_limits import limited_projection
from orchard.data.store import load_csr
from orchard.disentanglement import Overlap, choose_clusters, matched, refit
from orchard.label_clusters import clusters_of, label_counts, objective
from orchard.provenance import source_hash
from orchard.trees.bisection import MANY_ENTRIES
from orchard.trees.builders import merged_label_tree

STEPS = ("backbone", "match", "counts", "choosing", "refit")
MODELS = ("backbone", "overlapping")


@dataclass(frozen=True)
class Job:
    """One measurement of the `steps` of Algorithm 1 (projection) with what follows, or of all `solvers`."""

    measures: str
    dataset: str
    repetition: int = 1
    copies: int = settings.SOLVER_COPIES
    threads: int = settings.THREADS  # of all that is done; the solvers are timed with one, too

    @property
    def name(self) -> str:
        """What a record calls its configuration."""
        return f"overlap-{self.measures} copies-{self.copies}"


# ---- Which measurements there are ----


def plan(only, repeats: int) -> list[Job]:
    """Repetition 1 of everything comes before repetition 2."""
    jobs = []
    for repetition in range(1, min(repeats, settings.OVERLAP_REPEATS) + 1):
        for dataset in settings.PEER_DATASETS:
            jobs += [
                Job("steps", dataset, repetition, copies)
                for copies in settings.OVERLAP_COPIES
                if repetition <= settings.OVERLAP_FEWER_REPEATS.get((dataset, copies), repeats)
            ]
            jobs.append(Job("solvers", dataset, repetition))
    return [job for job in jobs if only is None or job.dataset in only]


@cache
def edition() -> str:
    """What is measured, with which settings, and how; a record of another edition is not one of this."""
    how = {
        "backbone": settings.OVERLAP_BACKBONE, "solvers": settings.SOLVERS, "calls": settings.SOLVER_CALLS,
        "k": settings.K, "queries": settings.QUERIES,
    }  # fmt: skip
    files = (
        "overlap.py", "job_runner.py", "worker.py", "measure.py", "data.py", "engines/__init__.py", "engines/orchard.py"
    )  # fmt: skip
    measuring = records.digest_of_code([records.ROOT / "bench" / file for file in files])
    return records.edition_of_settings(how, version(), measuring)


@cache
def version() -> str:
    """Overlap and engine, with all that they import, as they are now."""
    return source_hash(records.ROOT / "src/orchard/disentanglement.py")[:12]


def measure(jobs: list[Job], fresh: bool) -> None:
    """Add the measurements that are not in results/bench/raw.jsonl; one that fails is a record with its reason."""
    job_runner.measure("overlap", jobs, edition(), _run, _describe, fresh)


def _run(job):
    return job_runner.in_process("bench.overlap", job)


def _describe(record):
    if record["measures"] == "steps":
        return " · ".join(f"{step} {record[f'{step}_s']:.3g} s" for step in STEPS)
    return " · ".join(
        f"{one['solver']} {one['seconds']:.3f} s" for one in record["solvers"] if one["threads"] == record["threads"]
    )


# ---- One measurement ----


def run_job(job: Job, folder: Path) -> dict:
    """Read the data, warm up, do what is to be measured once. folder : with X.trn.npz, Y.trn.npz and X.tst.npz."""
    X, Y = load_csr(folder / "X.trn.npz"), load_csr(folder / "Y.trn.npz")
    warm_up()
    return {"steps": _steps, "solvers": _solvers}[job.measures](job, X, Y, folder)


def _steps(job, X, Y, folder):
    """Algorithm 1 with its lines timed one by one, then both models predict."""
    engine, costs = backbone_engine(job.threads, job.repetition), {}

    def step(name, function, *arguments):
        (costs[f"{name}_s"], costs[f"{name}_cpu_s"]), result = timed(function, *arguments)
        return result

    model = step("backbone", engine.estimator().fit, X, Y)
    C = clusters_of(model.models_[0].tree)
    (M,) = step("match", matched, model, X)
    counts = step("counts", label_counts, Y, M, job.threads)
    new_C = step("choosing", choose_clusters, Overlap(job.copies), Y, M, C, counts, job.repetition, job.threads)
    overlapping = step("refit", refit, model, X, Y, [new_C])
    for name, trained in zip(MODELS, (model, overlapping), strict=True):
        costs |= {f"{name}_{key}": value for key, value in _predict(engine, trained, folder).items()}
    largest = [int(np.bincount(each.indices).max()) for each in (C, new_C)]
    return costs | {"mean_copies": new_C.nnz / new_C.shape[0], "largest_before": largest[0], "largest": largest[1]}


def _predict(engine, model, folder):
    """As every engine of the bench predicts: with a model that was saved and loaded."""
    with tempfile.TemporaryDirectory(prefix="orchard-overlap-") as model_folder:
        engine.save(model, Path(model_folder, "model"))
        job = {"data": str(folder), "folder": model_folder, "k": settings.K, "queries": settings.QUERIES}
        return worker.predict(engine, job)


def _solvers(job, X, Y, folder):
    """Every solver on the same matches, from Y and M to the clusters; one call of each after the other, then again."""
    model = backbone_engine(job.threads, job.repetition).estimator().fit(X, Y)
    C, (M,) = clusters_of(model.models_[0].tree), matched(model, X)
    times, found = {}, {}
    for _ in range(settings.SOLVER_CALLS):
        for solver, options in settings.SOLVERS.items():
            for threads in (1, job.threads):
                arguments = Overlap(job.copies, **options), Y, M, C, None, job.repetition, threads
                spent, new_C = timed(choose_clusters, *arguments)
                times.setdefault((solver, threads), []).append(spent)
                found[solver] = new_C
    lines = []
    for (solver, threads), spent in times.items():
        seconds, cpu_s = map(statistics.median, zip(*spent, strict=True))
        lines.append({"solver": solver, "threads": threads, "seconds": seconds, "cpu_s": cpu_s})
    found["backbone"] = C
    return {"solvers": lines, "reached": {name: objective(Y, M, each)[0] / Y.nnz for name, each in found.items()}}


def backbone_engine(threads: int, seed: int):
    return make_engine("orchard", settings.OVERLAP_BACKBONE, threads, seed)


def warm_up() -> None:
    """Do all of it with something small of the same kinds, so that numba has loaded (or compiled) every kernel."""
    X, Y = small_problem()
    model = backbone_engine(settings.THREADS, seed=0).estimator().fit(X, Y)
    C, (M,) = clusters_of(model.models_[0].tree), matched(model, X)
    for options in settings.SOLVERS.values():
        new_C = choose_clusters(Overlap(settings.SOLVER_COPIES, **options), Y, M, C)
    limited_projection(label_counts(Y, M), C, settings.SOLVER_COPIES, exact=False)  # as for large problems
    objective(Y, M, new_C)
    for trained in (model, refit(model, X, Y, [new_C])):
        trained.predict_topk(X, settings.K)
        trained.predict_topk(X[0], settings.K)
    merged_label_tree(_large_embeddings(), settings.OVERLAP_BACKBONE["n_splits"])


def _large_embeddings():
    """Labels whose 2-means threads share, and whose rows are copied on the way: neither happens with few entries."""
    random, n, shape = np.random.default_rng(0), 2 * MANY_ENTRIES, (1 << 12, 1 << 17)
    columns = random.integers(shape[1], size=n, dtype=np.int32)
    rows = sp.csr_matrix((np.ones(n, np.float32), columns, np.arange(0, n + 1, n // shape[0])), shape=shape)
    rows.sum_duplicates()
    return rows


if __name__ == "__main__":
    job_runner.answer(sys.argv[1], Job, warm_up, run_job)
