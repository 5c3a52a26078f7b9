"""Start the processes of a measurement, watch the clock, and make a record of what came out or why nothing did."""

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

from bench import data, records
from bench.settings import QUERIES, THREADS, TIME_LIMIT, Configuration, K
from orchard.data.store import load_csr
from orchard.metrics import precision_at_k

ROOT = records.ROOT
PEERS_PYTHON = ROOT / ".venv-peers/bin/python"
PACKAGES = {"pecos": "libpecos", "omikuji": "omikuji", "napkinxc": "napkinxc", "fasttext": "fasttext-wheel"}


def measure(configuration: Configuration, dataset: str, repetition: int, threads: int, again: bool = False) -> dict:
    """One measurement. Whatever goes wrong is in the record: `status` and `reason`."""
    record = {
        "dataset": dataset, "configuration": configuration.name, "repetition": repetition, "threads": threads,
        "edition": edition(configuration), "again": again, "load_average": os.getloadavg()[0],
    }  # fmt: skip
    with run_phases(configuration, dataset, repetition, threads) as (_, result):
        return record | result


@contextmanager
def run_phases(configuration: Configuration, dataset: str, seed: int, threads: int, queries: int = QUERIES):
    """Train, predict and score; gives the folder with the saved model, which is gone afterwards, and the results."""
    deadline, result = _Deadline(TIME_LIMIT), {"status": "ok"}
    with _job_folder(configuration, dataset, seed, threads, queries) as folder:
        for phase in ("train", "predict"):
            if failure := _run(_python(configuration), phase, folder, threads, deadline):
                result = {"status": "failed", "reason": f"{phase}: {failure}"}
                break
            result |= json.loads((folder / f"{phase}.json").read_text())
        if result["status"] == "ok":
            try:
                result |= precisions(np.load(folder / "ids.npy"), dataset)
            except ValueError as error:  # a ranking that is none, for instance with a label twice
                result = {"status": "failed", "reason": f"scoring: {error}"}
        yield folder, result


def precisions(ids: np.ndarray, dataset: str) -> dict:
    """P@1/3/5 on the test labels, per cent."""
    return {f"P@{k}": 100 * precision_at_k(ids, _test_labels(dataset), k) for k in (1, 3, 5)}


def fill_cache(configuration: Configuration) -> str | None:
    """Let numba compile in a process that nobody measures: the compiler's memory would count in the first one that is.

    Returns None, or the reason why it failed.
    """
    with _job_folder(configuration, "", 0, THREADS) as folder:
        return _run(_python(configuration), "warm-up", folder, THREADS, _Deadline(TIME_LIMIT))


@contextmanager
def _job_folder(configuration, dataset, seed, threads, queries=QUERIES):
    """A folder for the model and the results, with job.json in it; on the disk of results/, since models are large."""
    records.FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="measuring-", dir=records.FOLDER) as folder:
        job = {
            "engine": configuration.engine, "settings": configuration.settings, "threads": threads,
            "seed": seed, "k": K, "queries": queries, "folder": folder, "data": str(data.UNIT_ROWS / dataset),
        }  # fmt: skip
        Path(folder, "job.json").write_text(json.dumps(job))
        yield Path(folder)


def edition(configuration: Configuration) -> str:
    """What is measured and how; a record of another edition is not one of this."""
    version = records.edition_of_engine() if configuration.is_orchard else _peer_versions().get(configuration.engine)
    job = configuration.settings | {"k": K, "queries": QUERIES}
    measuring = records.edition_of_measuring(configuration.engine)
    return records.edition_of_settings(job, version or "not installed", measuring)


def machine() -> dict:
    """What the figures depend on, for the notes under the tables."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {"processor": model, "cores": os.cpu_count(), "python": platform.python_version()} | _peer_versions()


def environment(threads: int) -> dict:
    """The environment of a worker: every library's own way to be told the number of threads."""
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON")
    return os.environ | {f"{name}_NUM_THREADS": str(threads) for name in names} | {"PYTHONPATH": str(ROOT)}


def run_limited(command: list, limit: float, **options) -> tuple[int | None, str]:
    """Run a command in a process group of its own; (return code or None after `limit` seconds, its last words)."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            [str(part) for part in command], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True, **options,
        )  # fmt: skip
        try:
            code = process.wait(limit)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            code = None
        output.seek(0)
        lines = [line.strip() for line in output.read()[-4000:].splitlines() if line.strip()]
    return code, lines[-1] if lines else ""


class _Deadline:
    """The phases of a measurement share one time limit."""

    def __init__(self, seconds):
        self.seconds, self.end = seconds, _now() + seconds

    def left(self):
        return max(1.0, self.end - _now())


def _now():
    return os.times().elapsed


def _python(configuration):
    return Path(sys.executable) if configuration.is_orchard else PEERS_PYTHON


def _run(python, phase, folder, threads, deadline):
    """Run a phase; returns None, or the reason why it failed."""
    if not python.exists():
        return "not installed (`make bench` sets the peers up)"
    command = [python, "-m", "bench.worker", phase, Path(folder, "job.json")]
    code, last_words = run_limited(command, deadline.left(), env=environment(threads))
    if code is None:
        return f"stopped after the limit of {deadline.seconds} s"
    if code < 0:
        return f"killed by signal {signal.Signals(-code).name}"
    return last_words[:200] or f"return code {code}" if code else None


@cache
def _peer_versions() -> dict:
    """{engine: version} of the peers that are installed; the others are reported as failed with their reason."""
    if not PEERS_PYTHON.exists():
        return {}
    ask = "import json, sys; from importlib.metadata import distributions as d; "
    ask += "print(json.dumps({x.metadata['Name'].lower(): x.version for x in d()}))"
    done = subprocess.run([PEERS_PYTHON, "-c", ask], capture_output=True, text=True, check=True)
    installed = json.loads(done.stdout)
    return {engine: installed[package] for engine, package in PACKAGES.items() if package in installed}


@cache
def _test_labels(dataset):
    return load_csr(data.UNIT_ROWS / dataset / "Y.tst.npz")
