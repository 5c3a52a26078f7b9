"""One phase of one measurement, in a process of its own: `python -m bench.worker warm-up|train|predict <job.json>`.

Runs in the peers' environment as well as in Orchard's, so it needs numpy and scipy only. Training and prediction are
separate processes: every engine predicts with a model that it has loaded, and neither's memory counts for the other.
"""

import hashlib
import itertools
import json
import resource
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from bench.engines import make_engine

_WARM_UP_ROWS = 200
_BATCH_REPEATS, _BATCH_SECONDS = 3, 20
_WARM_UP_SECONDS, _SINGLE_SECONDS = 2, 15  # of single queries: a slow engine answers fewer


def main(phase: str, job_file: str) -> None:
    job = json.loads(Path(job_file).read_text())
    engine = make_engine(job["engine"], job["settings"], job["threads"], job["seed"])
    result = {"warm-up": warm_up, "train": train, "predict": predict}[phase](engine, job)
    Path(job["folder"], f"{phase}.json").write_text(json.dumps(result))


def warm_up(engine, job: dict) -> dict:
    """What fills the caches on disk."""
    engine.warm_up()
    return {}


def train(engine, job: dict) -> dict:
    engine.warm_up()
    folder, model_folder = Path(job["data"]), Path(job["folder"], "model")
    if engine.trains_from == "arrays":
        source = sp.load_npz(folder / "X.trn.npz"), sp.load_npz(folder / "Y.trn.npz")
    else:
        source = folder / engine.trains_from
    read, data = timed(engine.read, source)
    del source
    memory_before = resident_bytes()
    trained, model = timed(engine.train, data, model_folder)
    peak = peak_bytes()
    saved, _ = timed(engine.save, model, model_folder)
    return {
        "read_s": read[0], "train_s": trained[0], "train_cpu_s": trained[1], "save_s": saved[0],
        "memory_before_bytes": memory_before, "train_peak_bytes": peak,
        **measure_files(model_folder),
    }  # fmt: skip


def predict(engine, job: dict) -> dict:
    X = sp.load_npz(Path(job["data"], "X.tst.npz"))
    loaded, model = timed(engine.load, Path(job["folder"], "model"))
    batch = engine.batch_input(X, Path(job["data"]))
    k, n = job["k"], X.shape[0]

    engine.predict(model, batch[:_WARM_UP_ROWS], k)
    times, answer, started = [], None, time.perf_counter()
    while len(times) < _BATCH_REPEATS and (not times or time.perf_counter() - started < _BATCH_SECONDS):
        answer = None  # not two of them in memory
        spent, answer = timed(engine.predict, model, batch, k)
        times.append(spent)
    peak = peak_bytes()
    np.save(Path(job["folder"], "ids.npy"), engine.ids(answer, k))

    rows = itertools.cycle(range(n))
    ask_many(engine, model, batch, rows, k, _WARM_UP_ROWS, _WARM_UP_SECONDS)
    latencies = ask_many(engine, model, batch, rows, k, job["queries"], _SINGLE_SECONDS)
    return {
        "load_s": loaded[0],
        "batch_ms": 1e3 * statistics.median(wall for wall, _ in times) / n,
        "batch_cpu_ms": 1e3 * statistics.median(cpu for _, cpu in times) / n,
        "single_median_ms": float(np.median(latencies)), "single_p99_ms": float(np.percentile(latencies, 99)),
        "predict_peak_bytes": peak,
    }  # fmt: skip


def ask_many(engine, model, batch, rows, k, at_most: int, seconds: float) -> np.ndarray:
    """The milliseconds of single queries, one after the other, until there are enough or the time is over."""
    latencies, end = [], time.perf_counter() + seconds
    while len(latencies) < at_most and (not latencies or time.perf_counter() < end):
        latencies.append(1e3 * ask_one(engine, model, batch, next(rows), k))
    return np.array(latencies)


def ask_one(engine, model, batch, row, k) -> float:
    query = engine.query(batch, row)
    started = time.perf_counter()
    engine.ask(model, query, k)
    return time.perf_counter() - started


def timed(function, *arguments):
    """((wall seconds, CPU seconds of all threads), what the function returned)."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = function(*arguments)
    return (time.perf_counter() - wall, time.process_time() - cpu), result


def measure_files(folder: Path) -> dict:
    """The size of a saved model, and a digest by which two of them are seen to be the same."""
    digest, size = hashlib.sha256(), 0
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        size += path.stat().st_size
        digest.update(str(path.relative_to(folder)).encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return {"model_bytes": size, "model_sha256": digest.hexdigest()}


def peak_bytes() -> int:
    """The most memory this process has had. Linux hands ru_maxrss down through fork and exec, VmHWM it does not."""
    return _of_status("VmHWM") or _max_rss()


def resident_bytes() -> int:
    return _of_status("VmRSS") or _max_rss()


def _of_status(key: str) -> int | None:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:")), None)


def _max_rss() -> int:
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts in bytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    main(*sys.argv[1:])
