"""Setting up: pinned packages from whatever index the user has, and one clear sentence where Python is too old."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def make_with(path: Path, *arguments) -> subprocess.CompletedProcess:
    """Run make in a folder of its own, with nothing on PATH but `path`."""
    for name in ("Makefile", "requirements.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, path.parent)
    for tool in ("sh", "echo", "touch"):
        (path / tool).symlink_to(shutil.which(tool))
    return subprocess.run(
        [shutil.which("make"), *arguments], cwd=path.parent, env={"PATH": str(path)}, capture_output=True, text=True
    )


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
@pytest.mark.parametrize("script", [None, "#!/bin/sh\nexit 1\n"], ids=["no Python", "an old Python"])
def test_a_missing_or_old_python_gets_one_clear_sentence(tmp_path, script):
    """The old Python fails the version check, as 3.10 would."""
    path = tmp_path / "bin"
    path.mkdir()
    if script:
        (path / "python3").write_text(script)
        (path / "python3").chmod(0o755)
    done = make_with(path, "test")
    assert done.returncode != 0
    sentences = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert len(sentences) == 1
    assert sentences[0].startswith("Orchard needs Python 3.11 or newer")
    assert not (tmp_path / ".venv").exists()


def test_requirements_are_exact_and_name_no_index():
    lines = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][A-Za-z0-9.]*", line) for line in lines)


def test_every_dependency_of_the_package_is_pinned():
    import tomllib

    pinned = {line.partition("==")[0].lower() for line in (ROOT / "requirements.txt").read_text().splitlines()}
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {re.match(r"[\w-]+", dependency)[0] for dependency in dependencies} <= pinned
