"""Jobs over their repetitions: medians with their ranges, and what has to be said of them. It measures nothing."""

import statistics
from dataclasses import dataclass, fields, replace
from typing import Any

from bench import settings
from bench.summary import Figure


@dataclass(frozen=True)
class Point:
    """A job over its repetitions. Where `reason` is given it failed, and there are no figures."""

    job: Any  # of repetition 1
    n: int
    figures: dict[str, Figure]
    record: dict  # the first that succeeded: what does not differ between repetitions
    reason: str | None
    runs: frozenset[str]
    load_average: float

    @property
    def ok(self) -> bool:
        return self.reason is None


def points(records: list[dict], current: str, job_type: type, keys, point_type=Point) -> tuple[list[Point], bool]:
    """The measurements of a part to show, and whether they are of an older engine.

    They are those of the `current` edition or, where there is none, of the last one that was measured in the same way.
    keys : what to take the median of, where it is given.
    """
    measuring = current.rpartition("/")[2]
    editions = [record["edition"] for record in records if record["edition"].rpartition("/")[2] == measuring]
    if not editions:
        return [], False
    shown = current if current in editions else editions[-1]
    groups = {}
    for record in records:
        if record["edition"] == shown:
            job = job_type(**{field.name: record[field.name] for field in fields(job_type)})
            groups.setdefault(replace(job, repetition=1), []).append(record)
    return [_point(point_type, job, found, keys) for job, found in groups.items()], shown != current


def _point(point_type, job, found, keys):
    good = [record for record in found if record["status"] == "ok"]
    if not good:
        return point_type(job, 0, {}, {}, found[0]["reason"], frozenset(), 0.0)
    values = {key: [one[key] for one in good if one.get(key) is not None] for key in keys}
    figures = {key: Figure(statistics.median(all_), min(all_), max(all_)) for key, all_ in values.items() if all_}
    runs = frozenset(record["run"] for record in good)
    return point_type(job, len(good), figures, good[0], None, runs, max(record["load_average"] for record in good))


def notes(found: list[Point], is_old: bool) -> list[str]:
    """What has to be said under every table."""
    said = [
        f"The largest load average at the start of a measurement was {max(one.load_average for one in found):.1f}; the "
        f"bench's own measurements before make up to {settings.THREADS} of that, what is above came from others."
    ]
    if len(frozenset().union(*(one.runs for one in found))) > 1:
        said.append("Not all of it was measured in one run: what the machine did besides may differ.")
    if is_old:
        said.append("Measured before the last edit of the engine's sources.")
    return said
