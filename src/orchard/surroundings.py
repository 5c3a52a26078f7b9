"""Where a run takes place, and the memory that it takes: what every cost.json ends with."""

import platform
import resource
import sys
from importlib.metadata import version

PACKAGES = ("orchard-xmc", "numpy", "scipy", "numba", "scikit-learn")


def surroundings(threads: int, *more_packages: str) -> dict:
    """The machine, the versions of what computes, and the most memory that this process has taken so far."""
    packages = (*PACKAGES, *more_packages)
    return {
        "peak_rss_mb": _peak_rss_mb(),
        "threads": threads,
        "versions": {"python": platform.python_version()} | {package: version(package) for package in packages},
        "machine": {"system": platform.system(), "processor": platform.machine()},
    }


def _peak_rss_mb() -> float:
    # Linux counts in kilobytes, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
