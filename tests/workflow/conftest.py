"""Checkouts of the workflow in temporary folders, and ways to run it there."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLES_OF_TIMES = (
    "disentangle-table5",
    "disentangle-costs",
    "labeltrees-latency",
    "labeltrees-beyond",
    "otseq2set-table7",
    "claims",  # some speak of times
)
SUMMARIES = ("judge_claims", "report")
PARTS = (
    "Snakefile",
    "rules",
    "workflow_scripts",
    "config",
    "profiles",
    "environment.yml",
    "src",
    "docs",
    "README.md",
    "CITATION.cff",
)


@dataclass
class Checkout:
    """A copy of the workflow and its library, which tests may edit."""

    folder: Path

    def environment(self, **changes) -> dict:
        # PYTHONPATH comes before the installed package: the copy of the library is the one that runs.
        return os.environ | {"PYTHONPATH": str(self.folder / "src"), "ORCHARD_DATA": ""} | changes

    def command(self, *arguments, scale="smoke") -> list[str]:
        return [sys.executable, "-m", "snakemake", *arguments, "--config", f"scale={scale}"]

    def snakemake(self, *arguments, scale="smoke", config=(), environment=None) -> subprocess.CompletedProcess:
        command = [*self.command(*arguments, scale=scale), *config]
        environment = self.environment(**(environment or {}))
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=600)

    def jobs_to_run(self, *arguments, left_out=("reproduce-all", *SUMMARIES), **options) -> dict[str, int]:
        """What a dry run would do: {rule: number of jobs}; what sums everything up follows every change."""
        done = self.snakemake("--dry-run", *arguments, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        table = done.stdout.partition("Job stats:")[2].partition("total")[0].splitlines()[3:]
        counts = {name: int(count) for name, count in (line.split() for line in table if line.strip())}
        return {name: count for name, count in counts.items() if name not in left_out}

    def results(self) -> dict[str, bytes]:
        """The content of every result, without logs, records, report, costs, timings and Snakemake's time stamps."""
        folder = self.folder / "results"
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
            and path.relative_to(folder).parts[0] not in ("logs", "provenance", "report")
            and path.name not in ("cost.json", ".snakemake_timestamp")
            and path.stem not in TABLES_OF_TIMES
        }


def new_checkout(folder: Path) -> Checkout:
    """Copied with time stamps and caches, so that compiled kernels need not be compiled again."""
    folder.mkdir(parents=True)
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, folder / part)
    return Checkout(folder)


@pytest.fixture
def checkout(tmp_path) -> Checkout:
    return new_checkout(tmp_path / "orchard")


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Checkout:
    """A checkout in which the whole smoke scale has run; do not edit it, take `copy_of_finished`."""
    checkout = new_checkout(tmp_path_factory.mktemp("finished") / "orchard")
    done = checkout.snakemake("reproduce-all")
    assert done.returncode == 0, done.stdout + done.stderr
    return checkout


@pytest.fixture
def copy_of_finished(finished, tmp_path) -> Checkout:
    return Checkout(Path(shutil.copytree(finished.folder, tmp_path / "orchard", symlinks=True)))
