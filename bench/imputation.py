"""What EAGLE's imputation costs: beside the training that follows it, beside the paper's algorithms written with scipy,
against the size of the groups and the number of samples, and in memory.

`python -m bench.imputation <job.json>` is one measurement, a process of its own; `measure` starts them, repetition
after repetition. An edit of the engine makes all of them stale at once: a ratio is always one of the same engine.
"""

import ctypes
import importlib.util
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from bench import job_runner, records, settings
from bench.engines.orchard import small_problem
from bench.worker import peak_bytes, resident_bytes, timed
from orchard import Parabel, impute_labels
from orchard.data.store import load_csr
from orchard.variants.aggregate import aggregate

PLAIN = records.ROOT / "tests/plain_eagle.py"


@dataclass(frozen=True)
class Job:
    """One measurement. `what` is timed: `impute`, `parabel` (training on what was imputed) or `plain` (scipy)."""

    what: str
    dataset: str
    repetition: int = 1
    threads: int = settings.THREADS
    group_size: int = settings.GROUP_SIZE
    rows: float = 1.0  # the share of the samples that is used, drawn at random
    iterations: int = settings.IMPUTATION_ITERATIONS
    n_trees: int | None = None  # of `parabel`
    n_labels: int | None = None  # of `plain`: a random sample of so many labels, None for all

    @property
    def name(self) -> str:
        """What a record calls its configuration."""
        parts = [f"{self.what}-{self.iterations}", f"random-{self.group_size}", f"rows-{self.rows:g}"]
        parts += [f"trees-{self.n_trees}"] if self.n_trees else []
        parts += [f"labels-{self.n_labels}"] if self.n_labels else []
        return " ".join(parts)


# ---- Which measurements there are ----


def plan(only, repeats: int, quick: bool) -> list[Job]:
    """Repetition 1 of everything comes before repetition 2; what two tables need is measured once."""
    jobs = []
    for repetition in range(1, repeats + 1):
        for threads in (1, settings.THREADS):
            here = {"dataset": settings.IMPUTATION_DATASET, "repetition": repetition, "threads": threads}
            jobs += [Job("impute", **here, iterations=T) for T in (settings.IMPUTATION_ITERATIONS, 0)]
            jobs += [Job("parabel", **here, n_trees=n_trees) for n_trees in settings.IMPUTATION_TREES]
        if repetition <= settings.IMPUTATION_CURVE_REPEATS:
            jobs += [
                Job("impute", settings.IMPUTATION_DATASET, repetition, group_size=size) for size in settings.GROUP_SIZES
            ]
            jobs += [
                Job("impute", dataset, repetition, rows=share)
                for dataset in settings.PEER_DATASETS
                for share in settings.ROW_SHARES
            ]
        if repetition == 1:
            n_labels = settings.PLAIN_LABELS if quick else None
            jobs.append(Job("plain", settings.IMPUTATION_DATASET, threads=1, n_labels=n_labels))
            jobs += [Job("impute", settings.IMPUTATION_LARGEST, threads=threads) for threads in (1, settings.THREADS)]
    return [job for job in dict.fromkeys(jobs) if only is None or job.dataset in only]


@cache
def edition() -> str:
    """Grouping, imputation and training as they are now, and how they are measured."""
    own = [records.ROOT / "src/orchard" / file for file in ("eagle.py", "_eagle_kernels.py", "variants/aggregate.py")]
    files = ("imputation.py", "job_runner.py", "worker.py", "measure.py", "data.py", "engines/orchard.py")
    measuring = records.digest_of_code([PLAIN, *(records.ROOT / "bench" / file for file in files)])
    return records.edition_of_settings(
        {}, f"{records.edition_of_engine()}-{records.digest_of_code(own)[:8]}", measuring
    )


def measure(jobs: list[Job], fresh: bool) -> None:
    """Add the measurements that are not in results/bench/raw.jsonl; one that fails is a record with its reason."""
    job_runner.measure("imputation", jobs, edition(), _run, "{seconds:.2f} s (CPU {cpu_s:.2f})".format_map, fresh)


def _run(job):
    return job_runner.in_process("bench.imputation", job)


# ---- One measurement ----


def run_job(job: Job, folder: Path) -> dict:
    """Read the data, warm up, do what is to be measured once. folder : with X.trn.npz and Y.trn.npz."""
    X, Y = load_csr(folder / "X.trn.npz"), load_csr(folder / "Y.trn.npz")
    if job.rows < 1:
        chosen = np.random.default_rng(0).permutation(X.shape[0])[: round(job.rows * X.shape[0])]
        chosen.sort()
        X, Y = X[chosen], Y[chosen]
    Y1, Y2 = aggregate(X, Y, f"random-{job.group_size}", seed=0)
    del Y
    result = {
        "n": X.shape[0], "n_features": X.shape[1], "features_per_row": X.nnz / X.shape[0], "n_groups": Y1.shape[1],
        "n_pairs": Y2.nnz, "data_bytes": sum(map(_bytes_of, (X, Y1, Y2))),
    }  # fmt: skip
    return result | {"impute": _impute, "parabel": _train, "plain": _plain}[job.what](job, X, Y1, Y2)


def _impute(job, X, Y1, Y2):
    warm_up()
    memory_before = forget_peak()
    (seconds, cpu_s), Y = timed(lambda: impute_labels(X, Y1, Y2, job.iterations, n_jobs=job.threads))
    growth = None if memory_before is None else peak_bytes() - memory_before
    return {"seconds": seconds, "cpu_s": cpu_s, "growth_bytes": growth, "result_bytes": _bytes_of(Y)}


def _train(job, X, Y1, Y2):
    warm_up()
    Y = impute_labels(X, Y1, Y2, job.iterations, n_jobs=job.threads)
    (seconds, cpu_s), _ = timed(Parabel(n_trees=job.n_trees, random_state=job.repetition, n_jobs=job.threads).fit, X, Y)
    return {"seconds": seconds, "cpu_s": cpu_s}


def _plain(job, X, Y1, Y2):
    """The time is that of all labels: where only some were done, it is scaled up by their pairs of label and group."""
    plain, share = load_plain(), 1.0
    Y = impute_labels(X, Y1, Y2, job.iterations, n_jobs=1)
    if job.n_labels:
        chosen = np.random.default_rng(0).permutation(Y2.shape[1])[: job.n_labels]
        share = Y2[:, chosen].nnz / Y2.nnz
        Y, Y2 = Y[:, chosen], Y2[:, chosen]
    rows = plain.unit(X)
    (seconds, cpu_s), (found, _) = timed(plain.eagle, rows, Y1, Y2, job.iterations)
    n_equal = Y.multiply(found.tocsr()).nnz
    return {"seconds": seconds / share, "cpu_s": cpu_s / share, "share": share} | {
        "n_equal": n_equal, "n_given": max(Y.nnz, found.nnz)
    }  # fmt: skip


def load_plain():
    """tests/plain_eagle.py, which is no part of any package."""
    spec = importlib.util.spec_from_file_location(PLAIN.stem, PLAIN)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def warm_up() -> None:
    """Impute and train something small of the same kinds, so that numba has loaded (or compiled) every kernel."""
    X, Y = small_problem()
    Y1, Y2 = aggregate(X, Y, "random-4", seed=0)
    Parabel(n_trees=1).fit(X, impute_labels(X, Y1, Y2))


def forget_peak() -> int | None:
    """Make the peak of this process what is resident now, and return it; None where the system cannot do that.

    What was freed but not given back goes back first: a new array in its place would not be seen to grow.
    """
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    except (AttributeError, OSError):
        return None
    return resident_bytes()


def _bytes_of(matrix):
    return matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes


if __name__ == "__main__":
    job_runner.answer(sys.argv[1], Job, warm_up, run_job)
