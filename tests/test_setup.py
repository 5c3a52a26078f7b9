"""Setting up: pinned packages from whatever index the user has, and one clear sentence where Python is too old."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def make_with(path: Path, *arguments) -> subprocess.CompletedProcess:
    """Run make in a folder of its own, with nothing on PATH but `path`."""
    for name in ("Makefile", "requirements.txt", "requirements-neural.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, path.parent)
    for tool in ("sh", "echo", "touch"):
        (path / tool).symlink_to(shutil.which(tool))
    return subprocess.run(
        [shutil.which("make"), *arguments], cwd=path.parent, env={"PATH": str(path)}, capture_output=True, text=True
    )


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
@pytest.mark.parametrize("version", [None, (3, 10)], ids=["no Python", "an old Python"])
def test_a_missing_or_old_python_gets_one_clear_sentence(tmp_path, version):
    """The old Python is this one, which is made to believe that it is 3.10."""
    path = tmp_path / "bin"
    path.mkdir()
    if version:
        pretence = f"import sys; sys.version_info = {version}; exec(sys.argv[2])"
        (path / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{pretence}" "$@"\n')
        (path / "python3").chmod(0o755)
    done = make_with(path, "test")
    assert done.returncode != 0
    sentences = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert len(sentences) == 1
    assert sentences[0].startswith("Orchard needs Python 3.11 or newer")
    assert not (tmp_path / ".venv").exists()


def test_the_version_check_accepts_this_python():
    """Or the test above would pass with a check that refuses everything."""
    check = re.search(r"^IS_FIT := (.*)$", (ROOT / "Makefile").read_text(), flags=re.M)[1]
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-neural.txt"])
def test_requirements_are_exact_and_name_no_index(name):
    lines = [line for line in (ROOT / name).read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][A-Za-z0-9.]*", line) for line in lines)


def test_every_dependency_of_the_package_is_pinned():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name, dependencies in (
        ("requirements.txt", project["dependencies"]),
        ("requirements-neural.txt", project["optional-dependencies"]["neural"]),
    ):
        pinned = {line.partition("==")[0].lower() for line in (ROOT / name).read_text().splitlines()}
        assert {re.match(r"[\w-]+", dependency)[0] for dependency in dependencies} <= pinned, name
