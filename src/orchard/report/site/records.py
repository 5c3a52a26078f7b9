"""Where a file comes from: the records that jobs left behind, and whether they still belong to the files."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from orchard.files import read_json
from orchard.job_records import RECORDS, sha256_of


@dataclass(frozen=True)
class Origin:
    """The record of the job that made a file. fits : whether the file is still what that job wrote."""

    path: str
    record: dict | None
    fits: bool | None

    @property
    def told(self) -> str:
        if self.record is None:
            return "no record of the job that made this file"
        if self.fits:
            return "the file is what the recorded job wrote (SHA-256)"
        return "made by a later or earlier run than the recorded one: the file's SHA-256 is another"


class Records:
    """All records of a results folder, by the files that their jobs wrote."""

    def __init__(self, root: Path):
        self.root = root
        self._by_output: dict[str, dict] = {}
        records = [read_json(path) for path in sorted((root / RECORDS).rglob("*.json"))]
        for record in sorted(records, key=lambda one: one["started"]):  # the latest job goes last, and stays
            for output in record["outputs"]:
                self._by_output[output] = record

    def of(self, path: str) -> dict | None:
        """The record of the job that wrote a file, or the folder that it lies in."""
        candidates = (path, *map(str, Path(path).parents))
        return next((self._by_output[one] for one in candidates if one in self._by_output), None)

    def origin(self, path: str) -> Origin:
        """The same for a file that is there, with its hash compared."""
        record = self.of(path)
        if record is None or path not in record["outputs"]:
            return Origin(path, record, None)
        return Origin(path, record, sha256_of(self.root / path) == record["outputs"][path])

    def origins(self, paths: Iterable[str]) -> Origin:
        """Of files that one job wrote: the first of them that does not fit its record, or else the first."""
        origins = [self.origin(path) for path in paths]
        return next((one for one in origins if not one.fits), origins[0])

    def behind(self, paths: Iterable[str]) -> list[dict]:
        """The records of all jobs that files come from, directly or not, each once."""
        found, to_look_at, seen = {}, list(paths), set()
        while to_look_at:
            path = to_look_at.pop()
            if path in seen:
                continue
            seen.add(path)
            if (record := self.of(path)) and id(record) not in found:
                found[id(record)] = record
                to_look_at += record["inputs"]
        return list(found.values())


@dataclass(frozen=True)
class Effort:
    """What some jobs took together, where, and at which commits; as {what: number of jobs}, most frequent first."""

    jobs: int
    seconds: float
    cpu_seconds: float
    commits: dict[str, int]
    machines: dict[str, int]
    versions: dict[str, int]
    started: str
    ended: str


def effort_of(records: list[dict]) -> Effort | None:
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
        ended=date_told(max(map(_end, records))),
    )


def commit_told(record: dict) -> str:
    """`ec8a1e282aaa`, `ec8a1e282aaa, edited`, or that nobody knows."""
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


def _end(record: dict) -> str:
    return (datetime.fromisoformat(record["started"]) + timedelta(seconds=record["seconds"])).isoformat()


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(Counter(values).most_common())
