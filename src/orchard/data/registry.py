"""The registered data sets, sentence encoders and word vectors: one YAML file each, and what no schema can say."""

import os
import re
from pathlib import Path

from orchard.config import load_folder, pick
from orchard.errors import ConfigError
from orchard.files import read_json

# A second copy of a fetch's record, which a workflow engine that clears declared outputs does not know of.
KEPT_RECORD = ".source.json"
# Readers whose data comes with a library that is installed anyway.
BUNDLED = frozenset({"digits"})
# Options of readers that name a raw file.
_FILE_OPTIONS = {
    *("file", "train", "test", "reviews", "businesses"),
    *("train_images", "train_labels", "test_images", "test_labels"),
    *("vectors", "vocabulary"),
}


def load_registry(folder, schema_path) -> dict[str, dict]:
    """Every data set of `folder` by its id, checked: {id: content of its YAML file}."""
    registry = load_folder(folder, schema_path)
    for name, dataset in registry.items():
        path, generated = Path(folder) / f"{name}.yaml", dataset["reader"]["kind"] == "synthetic"
        _check_id(path)
        if not generated == dataset["simulated"] == ("-sim" in name):
            raise ConfigError(
                f"{path}: simulated: generated data says so here and by -sim in its id, and other data does neither"
            )
        _check_reader_files(path, dataset["reader"], _files_of(path, dataset, registry))
    return registry


def load_encoders(folder, schema_path, datasets: dict[str, dict]) -> dict[str, dict]:
    """Every sentence encoder of `folder` by its id, checked, and that every encoder which a data set names is there."""
    encoders = load_folder(folder, schema_path)
    for name in encoders:
        _check_new_id(Path(folder) / f"{name}.yaml", {"a data set": datasets})
    for name, dataset in datasets.items():
        if "encoder" in dataset["reader"]:
            try:
                pick("encoder", dataset["reader"]["encoder"], encoders)
            except ConfigError as error:
                raise ConfigError(f"config/datasets/{name}.yaml: reader.encoder: {error}") from None
    return encoders


def load_word_vector_entries(folder, schema_path, datasets: dict[str, dict], encoders: dict[str, dict]) -> dict:
    """Every entry of word vectors in `folder` by its id, checked: {id: content of its YAML file}."""
    entries = load_folder(folder, schema_path)
    for name, entry in entries.items():
        path = Path(folder) / f"{name}.yaml"
        _check_new_id(path, {"a data set": datasets, "an encoder": encoders})
        _check_reader_files(path, entry["reader"], entry["files"])
    return entries


def kind_of(config: dict) -> str:
    """The folder of config/ that an entry belongs into, told by what only such entries have."""
    if "encoder" in config:
        return "encoders"
    return "word_vectors" if "n_words" in config.get("statistics", {}) else "datasets"


def _check_id(path: Path) -> None:
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", path.stem):
        raise ConfigError(f"{path}: the file's name is its id: small letters, digits, - and . only")


def _check_new_id(path: Path, others: dict[str, dict]) -> None:
    """All that is fetched shares results/raw, whatever it is."""
    _check_id(path)
    name = path.stem
    for what, entries in others.items():
        if name in entries:
            raise ConfigError(f"{path}: {what} has this id too, and both would be fetched into results/raw/{name}")


def _check_reader_files(path: Path, reader: dict, files: dict) -> None:
    for option in sorted(_FILE_OPTIONS & reader.keys()):
        if reader[option] not in files:
            raise ConfigError(f"{path}: reader.{option}: {reader[option]!r} does not stand under files")


def _files_of(path: Path, dataset: dict, registry: dict[str, dict]) -> dict:
    """The raw files of a data set: its own, another's (`files_of`), or none if it is generated or bundled."""
    without = dataset["reader"]["kind"] in {"synthetic", *BUNDLED}
    if ("files" in dataset) + ("files_of" in dataset) != (not without):
        raise ConfigError(
            f"{path}: files: every data set names its raw files, or in files_of the one that has them; "
            "except generated and bundled ones, which have none"
        )
    if "files_of" not in dataset:
        return dataset.get("files", {})
    if own := [key for key in ("sources", "by_hand") if key in dataset]:
        raise ConfigError(f"{path}: {own[0]}: the files are those of {dataset['files_of']}, which tells their sources")
    other = registry.get(dataset["files_of"], {})
    if "files" not in other:
        raise ConfigError(f"{path}: files_of: {dataset['files_of']!r} is no registered data set with files of its own")
    return other["files"]


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
