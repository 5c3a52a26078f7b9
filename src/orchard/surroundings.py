"""Where a job takes place, with what, and the memory that it takes: part of every cost.json and of every record."""

import os
import platform
import resource
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("orchard-xmc", "numpy", "scipy", "numba", "scikit-learn")
IF_LOADED = ("matplotlib", "torch", "transformers")  # their versions matter to those who import them


def surroundings(threads: int) -> dict:
    """The machine, the versions of what computes, and the most memory that this process has taken so far."""
    return {"peak_rss_mb": peak_rss_mb(), "threads": threads, "versions": versions(), "machine": machine()}


def versions() -> dict[str, str]:
    packages = [*PACKAGES, *(name for name in IF_LOADED if name in sys.modules)]
    return {"python": platform.python_version()} | {name: _version(name) for name in packages}


def _version(package: str) -> str | None:
    """None of what is imported without being installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def machine() -> dict:
    """What a reader wants to know of the hardware; no name of a host or a person."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
    }


@cache
def _processor() -> str:
    """Its model; Linux tells it in a file, others through `platform`."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def peak_rss_mb() -> float:
    # Linux counts in kilobytes, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
