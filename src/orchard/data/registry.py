"""The registered data sets: one YAML file each, and what no schema can say about them."""

import re
from pathlib import Path

from orchard.config import load_folder
from orchard.errors import ConfigError


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
    return registry
