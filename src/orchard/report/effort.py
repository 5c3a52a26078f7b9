"""What jobs took, when, where and at which commits, told by their records (`orchard.job_records`)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from orchard.report.job_history import JobHistory


@dataclass(frozen=True)
class Effort:
    """What some jobs took together, where, and at which commits; as {what: number of jobs}, most frequent first.

    unrecorded : how many results among these jobs' are of jobs that left no record, and so are not told of here.
    """

    jobs: int
    seconds: float
    cpu_seconds: float
    commits: dict[str, int]
    machines: dict[str, int]
    versions: dict[str, int]
    started: str
    ended: str
    unrecorded: int = 0


def effort_behind(history: JobHistory, paths: Iterable[str]) -> Effort | None:
    """What it took to make these files, everything that they come from included."""
    paths = list(paths)
    return effort_of([job.record for job in history.behind(paths)], len(history.unrecorded(paths)))


def effort_of(records: list[dict], unrecorded: int = 0) -> Effort | None:
    if not records:
        return None
    versions = (f"{name} {version}" for record in records for name, version in record["versions"].items())
    return Effort(
        jobs=len(records),
        seconds=sum(record["seconds"] for record in records),
        cpu_seconds=sum(record["cpu_seconds"] for record in records),
        commits=_counted(map(commit_told, records)),
        machines=_counted(machine_told(record["machine"]) for record in records),
        versions=_counted(versions),
        started=date_told(min(record["started"] for record in records)),
        ended=date_told(max(map(end_of, records))),
        unrecorded=unrecorded,
    )


def end_of(record: dict) -> str:
    """When a job ended, as its record tells when it started: an ISO moment in whole seconds."""
    ended = datetime.fromisoformat(record["started"]) + timedelta(seconds=record["seconds"])
    return ended.isoformat(timespec="seconds")


def commit_told(record: dict) -> str:
    """`ec8a1e282aaa`, `ec8a1e282aaa, edited since`, or that nobody knows."""
    if not record["commit"]:
        return "not recorded (no git checkout)"
    return record["commit"][:12] + (", edited since" if record["edited"] else "")


def machine_told(machine: dict) -> str:
    """`AMD EPYC, 2 cores, 23.5 GB, Linux x86_64`; an older cost.json knows less."""
    parts = [machine.get("processor") or "processor unknown"]
    if "cores" in machine:
        parts.append(f"{machine['cores']} cores")
    if "memory_gb" in machine:
        parts.append(f"{machine['memory_gb']} GB")
    return ", ".join([*parts, " ".join(filter(None, (machine.get("system"), machine.get("architecture"))))])


def date_told(moment: str) -> str:
    """`2026-11-18 17:33 UTC` of an ISO moment."""
    return f"{datetime.fromisoformat(moment):%Y-%m-%d %H:%M} UTC"


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(Counter(values).most_common())
