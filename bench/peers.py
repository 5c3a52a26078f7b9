"""The peers' environment: .venv-peers, made once from bench/requirements-peers.txt."""

import subprocess
import sys
import venv

from bench.records import ROOT

FOLDER = ROOT / ".venv-peers"
REQUIREMENTS = ROOT / "bench/requirements-peers.txt"


def set_up() -> str | None:
    """Install what is missing, package by package: one that fails does not keep the others away.

    Returns None, or what went wrong; the bench then goes on and reports the peers that are not there.
    """
    stamp = FOLDER / ".requirements.txt"
    if stamp.is_file() and stamp.read_text() == REQUIREMENTS.read_text():
        return None
    print(f"Setting up the peers in {FOLDER.name} (once; a minute or two)", flush=True)
    if not (FOLDER / "bin/python").exists():
        venv.create(FOLDER, with_pip=True)
    pins = [line for line in REQUIREMENTS.read_text().splitlines() if line and not line.startswith("#")]
    failed = [pin for pin in pins if not _install(pin)]
    if failed:
        return f"not installed: {', '.join(failed)}"
    stamp.write_text(REQUIREMENTS.read_text())
    return None


def _install(pin: str) -> bool:
    command = [
        FOLDER / "bin/python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        pin,
    ]
    done = subprocess.run([*command, "--only-binary", ":all:"], capture_output=True, text=True)
    if done.returncode:
        print(f"{pin}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr, flush=True)
    return done.returncode == 0
