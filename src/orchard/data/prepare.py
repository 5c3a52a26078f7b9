"""From raw files to the canonical form: read, check against the registered statistics, write."""

import logging
from importlib import import_module
from pathlib import Path

import numpy as np

from orchard.data.readers import make_encoder, module_of
from orchard.data.statistics import compare_with_expected, describe
from orchard.data.store import Dataset, save_dataset
from orchard.errors import ConfigError, OrchardError
from orchard.files import atomic_folder, write_json

log = logging.getLogger(__name__)


def prepare(name: str, config: dict, raw_folder, folder, encoder_folder=None) -> dict:
    """Turn the raw files of data set `name` into its canonical folder; return its statistics.

    Where the reader asks for an `encoder`, `config["encoder"]` is that one's entry (config/encoders/<id>.yaml) and
    `encoder_folder` has its files; the reader gets the encoder itself in the place of its id.
    """
    options = {key: value for key, value in config["reader"].items() if key != "kind"}
    if "encoder" in options:
        log.info("%s: loading the encoder (%s)", name, options["encoder"])
        options["encoder"] = make_encoder(options["encoder"], config["encoder"], encoder_folder)
    log.info("%s: reading (%s)", name, config["reader"]["kind"])
    try:
        dataset = import_module(module_of(config)).read(Path(raw_folder or ""), options)
    except ConfigError as error:
        raise ConfigError(f"config/datasets/{name}.yaml: reader: {error}") from error
    _check_shapes(name, dataset)
    log.info("%s: counting", name)
    statistics = describe(dataset)
    compare_with_expected(name, statistics, config["statistics"])
    identity = {"name": name} | {key: config[key] for key in ("title", "simulated", "propensity")}
    log.info("%s: writing", name)
    with atomic_folder(folder) as temporary:
        save_dataset(temporary, dataset)
        write_json(temporary / "stats.json", identity | statistics)
    return statistics


def _check_shapes(name: str, dataset: Dataset) -> None:
    """The contract that every later step relies on: matching shapes, CSR float32, sorted indices, no stray values."""
    problems = _problems_of_groups(dataset)
    for letter in "XY":
        n_columns = getattr(dataset, f"{letter}_train").shape[1]
        for split in dataset.splits:
            matrix = getattr(dataset, f"{letter}_{split}")
            if matrix.shape[1] != n_columns:
                problems.append(f"{letter} has {n_columns} columns in training and {matrix.shape[1]} in {split}")
            if matrix.format != "csr" or matrix.dtype != np.float32 or not matrix.has_canonical_format:
                problems.append(f"{letter}_{split} is not CSR float32 with sorted, unique indices")
            elif not np.isfinite(matrix.data).all():
                problems.append(f"{letter}_{split} has a value that is not finite")
    for split in dataset.splits:
        rows = getattr(dataset, f"X_{split}").shape[0]
        for what in (f"Y_{split}", f"texts_{split}"):
            value = getattr(dataset, what)
            length = None if value is None else len(value) if isinstance(value, list) else value.shape[0]
            if length is not None and length != rows:
                problems.append(f"X_{split} has {rows} rows, {what} has {length}")
    if dataset.label_names is not None and len(dataset.label_names) != dataset.Y_train.shape[1]:
        problems.append(f"there are {dataset.Y_train.shape[1]} labels and {len(dataset.label_names)} label names")
    if dataset.X_train.shape[0] == 0 or dataset.X_test.shape[0] == 0:
        problems.append("training or test set is empty")
    if problems:
        raise OrchardError(f"{name}: {'; '.join(problems)}")


def _problems_of_groups(dataset: Dataset) -> list[str]:
    """What is wrong with the groups that a data set brings along: they must be numbered without a gap."""
    groups, n_train = dataset.groups_train, dataset.X_train.shape[0]
    if groups is None:
        return []
    if groups.dtype != np.int32 or groups.shape != (n_train,):
        return [f"groups_train is {groups.dtype} {groups.shape}, not int32 ({n_train},)"]
    if n_train and (groups.min() < 0 or not np.bincount(groups).all()):
        return ["groups_train leaves out a group: the groups are 0, 1, 2 …"]
    return []
