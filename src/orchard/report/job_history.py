"""Where a file comes from: the jobs behind it, by the records that they left, and whether these still fit the files."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from orchard.files import read_json
from orchard.job_records import RECORDS, sha256_of


@dataclass(frozen=True)
class Job:
    """A finished job. root : the folder that all paths are relative to.  path : of its record."""

    root: Path
    path: str
    record: dict

    def fits(self, output: str) -> bool:
        """Whether a file or folder that it wrote is still there, and what it was."""
        path = self.root / output
        return path.exists() and sha256_of(path) == self.record["outputs"][output]

    @cached_property
    def is_fresh(self) -> bool:
        """Whether all that it wrote is; otherwise its record is stale."""
        return all(map(self.fits, self.record["outputs"]))


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


class JobHistory:
    """All jobs that left a record in the results of a project, by the files that they wrote."""

    def __init__(self, root: Path):
        self._by_output: dict[str, Job] = {}
        paths = sorted((root / RECORDS).rglob("*.json"))
        jobs = [Job(root, path.relative_to(root).as_posix(), read_json(path)) for path in paths]
        for job in sorted(jobs, key=lambda one: one.record["started"]):  # the latest job goes last, and stays
            for output in job.record["outputs"]:
                self._by_output[output] = job

    def outputs_in(self, folder: str) -> list[str]:
        """What jobs wrote below a folder, be it still there or not."""
        return [output for output in self._by_output if output.startswith(f"{folder}/")]

    def of(self, path: str) -> Job | None:
        """The job that wrote a file, or the folder that it lies in."""
        candidates = (path, *map(str, Path(path).parents))
        return next((self._by_output[one] for one in candidates if one in self._by_output), None)

    def origin(self, path: str) -> Origin:
        """The same for a file that is there, with its hash compared."""
        job = self.of(path)
        if job is None or path not in job.record["outputs"]:
            return Origin(path, job and job.record, None)
        return Origin(path, job.record, job.fits(path))

    def origins(self, paths: Iterable[str]) -> Origin:
        """Of files that one job wrote: the first of them that does not fit its record, or else the first."""
        origins = [self.origin(path) for path in paths]
        return next((one for one in origins if not one.fits), origins[0])

    def behind(self, paths: Iterable[str], beyond: Callable[[Job], bool] = lambda job: True) -> list[Job]:
        """All jobs that files come from, directly or not, each once.

        beyond : whether to go on with what a job read; those for which it is false are the last of their branch.
        """
        found = {job.path: job for job in self._met(paths, beyond).values() if job}
        return list(found.values())

    def unrecorded(self, paths: Iterable[str]) -> list[str]:
        """The results among those files, and among what they were made from, that no job left a record of."""
        met = self._met(paths, beyond=lambda job: True)
        return [path for path, job in met.items() if job is None and path.startswith("results/")]

    def _met(self, paths: Iterable[str], beyond: Callable[[Job], bool]) -> dict[str, Job | None]:
        """{path: the job that made it} of those files and all that they come from."""
        met, to_look_at, read = {}, list(paths), set()
        while to_look_at:
            path = to_look_at.pop()
            if path in met:
                continue
            met[path] = job = self.of(path)
            if job and job.path not in read:
                read.add(job.path)
                to_look_at += job.record["inputs"] if beyond(job) else []
        return met
