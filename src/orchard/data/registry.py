"""The registered data sets: one YAML file each, and what no schema can say about them."""

import os
import re
from pathlib import Path

from orchard.config import load_folder
from orchard.errors import ConfigError
from orchard.files import read_json

# A second copy of a fetch's record, which a workflow engine that clears declared outputs does not know of.
KEPT_RECORD = ".source.json"
# Options of readers that name a raw file.
_FILE_OPTIONS = {
    *("file", "train", "test", "reviews", "businesses"),
    *("train_images", "train_labels", "test_images", "test_labels"),
}


def load_registry(folder, schema_path) -> dict[str, dict]:
    """Every data set of `folder` by its id, checked: {id: content of its YAML file}."""
    registry = load_folder(folder, schema_path)
    for name, dataset in registry.items():
        path, generated = Path(folder) / f"{name}.yaml", dataset["reader"]["kind"] == "synthetic"
        if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name):
            raise ConfigError(f"{path}: the file's name is the data set's id: small letters, digits, - and . only")
        if not generated == dataset["simulated"] == ("-sim" in name):
            raise ConfigError(
                f"{path}: simulated: generated data says so here and by -sim in its id, and other data does neither"
            )
        if generated == ("files" in dataset):
            raise ConfigError(f"{path}: files: every data set names its raw files, except generated ones")
        for option in sorted(_FILE_OPTIONS & dataset["reader"].keys()):
            if dataset["reader"][option] not in dataset["files"]:
                raise ConfigError(f"{path}: reader.{option}: {dataset['reader'][option]!r} does not stand under files")
    return registry


def own_editions(dataset_id: str, config: dict, raw_folder) -> dict[str, list[int]]:
    """Size and time stamp of the user's own files in ORCHARD_DATA: {file: [bytes, nanoseconds]}.

    Only of files without a registered SHA-256: the others cannot change. Where ORCHARD_DATA does not have them (any
    more), what was recorded when they were fetched stands: they are not gone because a variable is not set.
    """
    place = os.environ.get("ORCHARD_DATA", "")
    editions = {}
    if place and not place.startswith(("http://", "https://")):
        for name, facts in config.get("files", {}).items():
            own = Path(place).expanduser() / dataset_id / name
            if "sha256" not in (facts or {}) and own.is_file():
                editions[name] = [own.stat().st_size, own.stat().st_mtime_ns]
    kept = Path(raw_folder) / KEPT_RECORD
    if not editions and kept.is_file():
        editions = read_json(kept)["own_editions"]
    return editions
