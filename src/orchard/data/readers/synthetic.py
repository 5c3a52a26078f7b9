"""Generated data: there are no raw files, the options are the generator's parameters."""

from pathlib import Path

from orchard.data.store import Dataset
from orchard.data.synthetic import SyntheticSpec, generate


def read(folder: Path, options: dict) -> Dataset:
    data = generate(SyntheticSpec.from_config(options))
    return Dataset(
        data.X_train, data.Y_train, data.X_test, data.Y_test, data.texts_train, data.texts_test, data.label_names
    )
