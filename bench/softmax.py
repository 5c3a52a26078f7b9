"""Hierarchical softmax beside the official fastText: the same texts, the same settings, a Huffman tree, one thread.

`bench/softmax_worker.py` is one measurement, a process of its own; `measure` starts them, the two programs in turn.
An edit of either side makes all of them stale at once: a ratio is always one of the same engine.
"""

import json
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np

from bench import data, job_runner, measure, records, settings
from orchard.data.store import load_csr, matrix_file, text_file
from orchard.provenance import source_hash

PROGRAMS = ("orchard", "orchard-alike", "fasttext")  # the second has the tree and the start of fastText


@dataclass(frozen=True)
class Job:
    """One measurement of one program."""

    program: str
    dataset: str
    epochs: int
    repetition: int = 1
    threads: int = 1

    @property
    def name(self) -> str:
        """What a record calls its configuration."""
        return f"softmax-{self.program}-{self.epochs}"


def plan(only, repeats: int, quick: bool) -> list[Job]:
    """The programs in turn, repetition 1 of everything before repetition 2; --quick leaves out the long training."""
    return [
        Job(program, dataset, epochs, repetition)
        for repetition in range(1, repeats + 1)
        for dataset in settings.SOFTMAX_WORD_NGRAMS
        for epochs, most in settings.SOFTMAX_EPOCHS.items()
        for program in PROGRAMS
        if (only is None or dataset in only) and repetition <= most and not (quick and most == 1)
    ]


@cache
def edition() -> str:
    """The softmax, the n-grams and the peer as they are now, and how they are measured."""
    own = source_hash(records.ROOT / "src/orchard/softmax/__init__.py")[:12]
    files = ("softmax.py", "softmax_worker.py", "requirements-peers.txt")
    measuring = records.digest_of_code([records.ROOT / "bench" / file for file in files[:2]])
    pins = (records.ROOT / "bench" / files[2]).read_text()
    return records.edition_of_settings(settings.SOFTMAX | settings.SOFTMAX_WORD_NGRAMS, own, measuring + pins)


def measure_jobs(jobs: list[Job], fresh: bool) -> None:
    """Add the measurements that are not in results/bench/raw.jsonl; one that fails is a record with its reason."""
    words = (
        "train {train_s:.1f} s (CPU {train_cpu_s:.1f}) · {predict_ms:.3f} ms · P@1/3/5 {P@1:.1f}/{P@3:.1f}/{P@5:.1f}"
    )
    job_runner.measure("softmax", jobs, edition(), _run, words.format_map, fresh)


def _run(job: Job | None) -> dict:
    if job is None:  # every process compiles before its clock starts
        return {}
    own, peer = Path(sys.executable), measure.PEERS_PYTHON
    steps = {
        "orchard": [(own, "measure")],
        "orchard-alike": [(peer, "order"), (own, "measure")],
        "fasttext": [(peer, "measure")],
    }
    data.export(job.dataset, set())
    with tempfile.TemporaryDirectory(prefix="orchard-softmax-") as folder:
        write_job(job, data.PREPARED / job.dataset, Path(folder))
        for python, step in steps[job.program]:
            if not python.exists():
                return {"status": "failed", "reason": "not installed (`make bench` sets the peers up)"}
            command = [python, "-m", "bench.softmax_worker", step, folder]
            environment = measure.environment(job.threads)
            code, last_words = measure.run_limited(command, settings.TIME_LIMIT, env=environment)
            if code != 0:
                reason = f"stopped after the limit of {settings.TIME_LIMIT} s" if code is None else last_words[:200]
                return {"status": "failed", "reason": reason or f"return code {code}"}
        result = json.loads(Path(folder, "result.json").read_text())
        return {"status": "ok"} | result | measure.precisions(np.load(Path(folder, "ids.npy")), job.dataset)


def write_job(job: Job, source: Path, folder: Path) -> None:
    """The job, the labels, the texts, and the training texts with their labels in the way of fastText."""
    job_data = asdict(job) | {"settings": settings.SOFTMAX, "k": settings.K}
    job_data |= {"word_ngrams": settings.SOFTMAX_WORD_NGRAMS[job.dataset]}
    (folder / "job.json").write_text(json.dumps(job_data))
    shutil.copy(source / matrix_file("Y", "train"), folder)
    for split in ("train", "test"):
        if (source / text_file(split)).is_file():
            shutil.copy(source / text_file(split), folder)
        else:
            write_features(folder / text_file(split), load_csr(source / matrix_file("X", split)))
    Y = load_csr(source / matrix_file("Y", "train"))
    with (
        (folder / text_file("train")).open(encoding="utf-8", newline="\n") as texts,
        (folder / "train.txt").open("w", encoding="utf-8", newline="\n") as file,
    ):
        for labels, text in zip(np.split(Y.indices, Y.indptr[1:-1]), texts, strict=True):
            file.write(" ".join([*(f"__label__{label}" for label in labels), text]))


def write_features(path: Path, X) -> None:
    """A text for data that have none: every feature is a word, and its value is lost."""
    with path.open("w") as file:
        for features in np.split(X.indices, X.indptr[1:-1]):
            file.write(" ".join(f"w{feature}" for feature in features) + "\n")
