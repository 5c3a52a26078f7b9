"""Which jobs are told of in a crate, and which files go in: no data, for its size and its licences, and no models."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from orchard.errors import OrchardError
from orchard.job_records import RECORDS
from orchard.report.job_history import Job, JobHistory

# What one needs to run it again, beside data.
SOURCES = (
    "CITATION.cff",
    "LICENSE",
    "README.md",
    "Snakefile",
    "config/**/*",
    "environment.yml",
    "profiles/**/*",
    "pyproject.toml",
    "requirements*.txt",
    "rules/**/*",
    "src/**/*",
    "workflow_scripts/*.py",
)
DATA_FOLDERS = tuple(f"results/{name}/" for name in ("raw", "data", "word-vectors"))


@dataclass(frozen=True)
class Run:
    """What is to be packed. root : the folder of the workflow, to which all paths in records are relative.

    shown : the scale, or what else the folder of the artefacts is called.  steps : {rule: {"script": path, "purpose":
    sentence}}.  parameters : {name: value} of what the user chose.  engine_version : of Snakemake.
    """

    root: Path
    shown: str
    steps: dict[str, dict]
    parameters: dict[str, str]
    engine_version: str

    @property
    def artefact_folder(self) -> str:
        return f"results/artefacts/{self.shown}"


@dataclass
class Contents:
    """The files of a crate as bytes, by their path, with their hashes."""

    files: dict[str, bytes] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)

    def add(self, root: Path, path: str) -> None:
        if path not in self.files:
            self.files[path] = (root / path).read_bytes()
            self.hashes[path] = hashlib.sha256(self.files[path]).hexdigest()


def jobs_behind(run: Run) -> tuple[list[Job], int]:
    """The jobs that made the artefacts, and what they were made from; the number of stale records met on the way."""
    history = JobHistory(run.root)
    met = history.behind(history.outputs_in(run.artefact_folder), beyond=lambda job: is_told(run, job))
    told = [job for job in met if is_told(run, job)]
    if not told:
        raise OrchardError(
            f"{RECORDS}: no record fits the files in {run.artefact_folder}: "
            "run `snakemake reproduce-all --forceall` once, so that every job leaves one"
        )
    return sorted(told, key=lambda job: job.path), len(met) - len(told)


def is_told(run: Run, job: Job) -> bool:
    """Whether a record still tells the truth about the files that are there; its rule must be known, too."""
    return job.record["rule"] in run.steps and job.is_fresh


def contents_of(run: Run, jobs: list[Job]) -> Contents:
    """The workflow, all artefacts, what was measured, and the records; no data, no models."""
    contents = Contents()
    for path in files_of(run.root, (*SOURCES, f"{run.artefact_folder}/*")):
        contents.add(run.root, path)
    for job in jobs:
        for output in job.record["outputs"]:
            if output.endswith(".json") and not output.startswith(DATA_FOLDERS) and is_inside(output):
                contents.add(run.root, output)
        if all(map(is_inside, (*job.record["inputs"], *job.record["outputs"]))):
            contents.add(run.root, job.path)
    return contents


def files_of(root: Path, patterns: Iterable[str] = SOURCES) -> list[str]:
    """The files that fit the patterns, by path; no caches, and nothing hidden."""
    paths = (path.relative_to(root) for pattern in patterns for path in sorted(root.glob(pattern)) if path.is_file())
    return [path.as_posix() for path in paths if not any(map(_is_by_product, path.parts))]


def _is_by_product(name: str) -> bool:
    return name.startswith((".", "__pycache__")) or name.endswith(".egg-info")


def is_inside(path: str) -> bool:
    """Whether a path stays within the workflow's folder; others would tell about somebody's machine."""
    return not PurePosixPath(path).is_absolute() and ".." not in PurePosixPath(path).parts


def is_configuration(path: str) -> bool:
    return path.startswith("config/")


def is_artefact(path: str, run: Run) -> bool:
    return path.startswith(f"{run.artefact_folder}/")


def configuration(contents: Contents) -> list[str]:
    return sorted(filter(is_configuration, contents.files))


def artefacts(run: Run, contents: Contents) -> list[str]:
    return sorted(path for path in contents.files if is_artefact(path, run))
