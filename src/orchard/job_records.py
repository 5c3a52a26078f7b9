"""What a finished job leaves behind: which commit made which files from which, with what, where, and in what time.

A record is a small JSON file in `results/provenance/`, at the place that the log of its job has in `results/logs/`. It
names files by path and SHA-256, so that a reader can tell whether it still belongs to the file that it finds there.
"""

import hashlib
import json
import resource
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

from orchard.files import sha256_of_file, write_json
from orchard.surroundings import machine, peak_rss_mb, versions

LOGS, RECORDS = Path("results/logs"), Path("results/provenance")
SOURCES = ("Snakefile", "rules", "workflow_scripts", "src", "config")


class Stopwatch:
    """Wall-clock and CPU seconds of this process, the latter since it began to live; and the commit it began with."""

    def __init__(self):
        self.started, self._start = datetime.now(UTC), time.perf_counter()
        self.cpu_before, self.commit = time.process_time(), commit()

    def told(self) -> dict:
        spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return {
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - self._start, 3),
            "cpu_seconds": round(sum(one.ru_utime + one.ru_stime for one in spent), 3),
            "cpu_seconds_before": round(self.cpu_before, 3),
        }


def record_path(log_path) -> Path:
    """Where the record of the job with this log stands; beside a log that is not among the workflow's."""
    log_path = Path(log_path)
    if log_path.is_relative_to(LOGS):
        return (RECORDS / log_path.relative_to(LOGS)).with_suffix(".json")
    return log_path.with_suffix(".provenance.json")


def write_record(task, stopwatch: Stopwatch) -> None:
    """task : what the workflow hands a script: rule, wildcards, params, input, output, log."""
    params, took = dict(task.params.items()), stopwatch.told()  # before files are hashed
    write_json(
        record_path(task.log[0]),
        {
            "rule": task.rule,
            "wildcards": dict(task.wildcards.items()),
            **stopwatch.commit,
            "code": params.pop("code", None),
            "config_sha256": hashlib.sha256(json.dumps(params, default=str).encode()).hexdigest(),
            "inputs": hashes(task.input),
            "outputs": hashes(task.output),
            **took,
            "versions": versions(),
            "machine": machine(),
            "threads": task.threads,
            "peak_rss_mb": round(peak_rss_mb(), 1),
        },
    )


def hashes(paths) -> dict[str, str]:
    return {str(path): sha256_of(path) for path in dict.fromkeys(map(str, paths))}


def sha256_of(path) -> str:
    """Of a file; of a folder, over the names and hashes of its files, but for the time stamp that Snakemake leaves."""
    path = Path(path)
    if path.is_file():
        return sha256_of_file(path)
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.name != ".snakemake_timestamp")
    lines = (f"{file.relative_to(path).as_posix()} {sha256_of_file(file)}\n" for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def commit() -> dict:
    """The commit of the checkout that this library is part of, and whether it was edited since; nothing outside one.

    What nobody has committed yet counts as an edit, if it is code or configuration.
    """
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return {"commit": None, "edited": None}
    head, changes = _git(root, "rev-parse", "HEAD"), _git(root, "status", "--porcelain", "--", *SOURCES)
    return {"commit": head, "edited": None if changes is None else bool(changes)}


def _git(root: Path, *arguments: str) -> str | None:
    try:
        command = ["git", "--no-optional-locks", "-C", str(root), *arguments]  # a user may be committing
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):  # no git, or a hanging file system: a result is worth more than this
        return None
    return done.stdout.strip() if done.returncode == 0 else None
