"""results/bench/raw.jsonl: one line per measurement, so that an interrupted run goes on where it stopped."""

import ast
import hashlib
import json
from functools import cache
from pathlib import Path

from orchard.provenance import source_hash

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "results/bench"
RAW = FOLDER / "raw.jsonl"

# Two measurements with the same values of these keys are the same measurement; the later one counts.
IDENTITY = ("dataset", "configuration", "repetition", "threads", "edition", "again")


def identity(record: dict) -> tuple:
    return tuple(record.get(key) for key in IDENTITY)


def append(record: dict, path: Path = RAW) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, sort_keys=True) + "\n")


def load(path: Path = RAW) -> list[dict]:
    """Every measurement once, in the order of the file. A last line that a kill cut off is dropped."""
    if not path.is_file():
        return []
    found = {}
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
        except ValueError:
            if number < len(lines):
                raise ValueError(f"{path.name}:{number}: not a record") from None
            path.write_text("".join(f"{line}\n" for line in lines[:-1]), encoding="utf-8")
            continue
        found.pop(identity(record), None)
        found[identity(record)] = record
    return list(found.values())


def edition_of_engine() -> str:
    """Orchard's engine as it is now: a measurement of an older one must not pass for it."""
    return source_hash(ROOT / "src/orchard/linear/estimators.py")[:12]


def edition_of_settings(settings: dict, version: str, measuring: str = "") -> str:
    """What a measurement is of: the engine's version, and in one digest its settings and how it is measured."""
    text = json.dumps(settings, sort_keys=True) + measuring
    return f"{version}/{hashlib.sha256(text.encode()).hexdigest()[:8]}"


@cache
def edition_of_measuring(engine: str) -> str:
    """The code that measures an engine, without its comments: figures of another method must not stand beside these."""
    files = ("worker.py", "measure.py", "data.py", "engines/__init__.py", f"engines/{engine}.py")
    return digest_of_code([ROOT / "bench" / file for file in files])


def digest_of_code(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(ast.dump(ast.parse(file.read_bytes())).encode() + b"\0")
    return digest.hexdigest()
