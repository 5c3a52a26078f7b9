"""Measurements that are a process each, for the parts whose jobs are their own: each ends as a record, a failure too.

A job is a frozen dataclass with `dataset`, `repetition`, `threads` and `name`; its fields are kept in the record.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from bench import data, records, settings
from bench.measure import environment, run_limited


def measure(part: str, jobs: list, edition: str, run: Callable, describe: Callable, fresh: bool) -> None:
    """Add the measurements that are not in results/bench/raw.jsonl.

    run : what `in_process` does; called with None first, to compile in a process that nobody measures.
    describe : the words for a record that is one of a success.
    """
    this_run = time.strftime("%Y-%m-%d %H:%M:%S")
    done = set() if fresh else {records.identity(record) for record in records.load()}
    todo = [job for job in jobs if records.identity(start_of_record(job, edition)) not in done]
    if todo:
        run(None)
    for number, job in enumerate(todo, start=1):
        print(f"{part} [{number}/{len(todo)}] {time.strftime('%H:%M:%S')} {title(job)}: ", end="", flush=True)
        record = start_of_record(job, edition) | {"load_average": os.getloadavg()[0], "run": this_run} | run(job)
        records.append(record)
        print(describe(record) if record["status"] == "ok" else f"FAILED, {record['reason']}", flush=True)


def start_of_record(job, edition: str) -> dict:
    """The job, with what makes it this measurement and no other."""
    return asdict(job) | {"configuration": job.name, "edition": edition, "again": False}


def title(job) -> str:
    threads = "1 thread" if job.threads == 1 else f"{job.threads} threads"
    return f"{job.dataset} · {job.name} · repetition {job.repetition} · {threads}"


def in_process(module: str, job) -> dict:
    """Run `python -m <module> <job.json>`, which `answer`s; None in the place of a job only warms up."""
    with tempfile.TemporaryDirectory(prefix="orchard-bench-") as folder:
        if job:
            data.export(job.dataset, set())
        path = Path(folder, "job.json")
        path.write_text(json.dumps(job and asdict(job)))
        command = [sys.executable, "-m", module, path]
        code, last_words = run_limited(command, settings.TIME_LIMIT, env=environment(job.threads if job else 1))
        if code == 0:
            return {"status": "ok"} | json.loads(path.with_name("result.json").read_text())
    reason = f"stopped after the limit of {settings.TIME_LIMIT} s" if code is None else last_words[:200]
    return {"status": "failed", "reason": reason or f"return code {code}"}


def answer(job_file: str, kind: type, warm_up: Callable, run_job: Callable) -> None:
    """The other end of `in_process`: do the job in the file, or warm up where there is none."""
    job = json.loads(Path(job_file).read_text())
    result = warm_up() or {} if job is None else run_job(kind(**job), data.UNIT_ROWS / job["dataset"])
    Path(job_file).with_name("result.json").write_text(json.dumps(result))
