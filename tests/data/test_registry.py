"""What no schema can say: whose files a data set reads, and which encoder its sentences."""

import shutil
from pathlib import Path

import pytest
import yaml

from orchard.config import load_yaml
from orchard.data.registry import load_encoders, load_registry
from orchard.errors import ConfigError

CONFIG = Path(__file__).parents[2] / "config"


@pytest.fixture
def config(tmp_path):
    """A registry of six data sets and one encoder, which tests may spoil."""
    for folder, names in (
        ("datasets", ("mnist", "mnist-6k", "digits", "smoke-sim", "reuters-21578", "reuters-sentences")),
        ("encoders", ("all-minilm-l6-v2",)),
    ):
        (tmp_path / folder).mkdir()
        for name in names:
            shutil.copy(CONFIG / folder / f"{name}.yaml", tmp_path / folder)
    return tmp_path


def load(config):
    datasets = load_registry(config / "datasets", CONFIG / "schemas/dataset.schema.yaml")
    return datasets, load_encoders(config / "encoders", CONFIG / "schemas/encoder.schema.yaml", datasets)


def change(path, **changes):
    content = {key: value for key, value in (load_yaml(path) | changes).items() if value is not None}
    path.write_text(yaml.safe_dump(content))


def test_the_registry_as_it_is(config):
    datasets, encoders = load(config)
    assert "files" not in datasets["mnist-6k"] and len(datasets) == 6
    assert encoders["all-minilm-l6-v2"]["encoder"] == "orchard.neural.encoders.MiniLM"


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("mnist-6k", {"files_of": None}, "files: every data set names its raw files"),
        ("mnist-6k", {"files": {"x": {}}}, "files: every data set names its raw files"),
        ("mnist-6k", {"files_of": "mnits"}, "files_of: 'mnits' is no registered data set with files"),
        ("mnist-6k", {"files_of": "digits"}, "files_of: 'digits' is no registered data set with files"),
        ("mnist-6k", {"files_of": "mnist-6k"}, "files_of: 'mnist-6k' is no registered data set with files"),
        ("mnist-6k", {"files_of": "reuters-21578"}, "reader.test_images: 't10k-images-idx3-ubyte' does not stand"),
        ("mnist-6k", {"by_hand": "look"}, "by_hand: the files are those of mnist"),
        ("digits", {"files": {"x": {}}}, "except generated and bundled ones"),
        ("digits", {"files_of": "mnist"}, "except generated and bundled ones"),
        ("digits", {"simulated": True}, "simulated: generated data says so"),
        ("smoke-sim", {"files_of": "mnist"}, "except generated and bundled ones"),
    ],
)
def test_a_wrong_entry_is_named(config, name, changes, message):
    change(config / f"datasets/{name}.yaml", **changes)
    with pytest.raises(ConfigError, match=message) as caught:
        load(config)
    assert f"{name}.yaml: " in str(caught.value)


def test_an_unknown_encoder_is_named(config):
    reader = load_yaml(config / "datasets/reuters-sentences.yaml")["reader"] | {"encoder": "all-minilm-l6"}
    change(config / "datasets/reuters-sentences.yaml", reader=reader)
    with pytest.raises(
        ConfigError, match=r"reader\.encoder: unknown encoder 'all-minilm-l6'; did you mean 'all-minilm-l6-v2'"
    ):
        load(config)


def test_a_data_set_and_an_encoder_cannot_share_an_id(config):
    """Their files would share a folder."""
    shutil.copy(config / "encoders/all-minilm-l6-v2.yaml", config / "encoders/mnist.yaml")
    with pytest.raises(ConfigError, match=r"mnist\.yaml: a data set has this id too"):
        load(config)


def test_an_encoders_files_are_checked_as_those_of_data_sets_are(config):
    """By a reference from one schema to the other."""
    change(config / "encoders/all-minilm-l6-v2.yaml", files={"model.safetensors": {"sha256": "abc"}}, encoder="MiniLM")
    with pytest.raises(ConfigError) as caught:
        load(config)
    problems = str(caught.value).splitlines()
    assert len(problems) == 2
    assert "encoder: 'MiniLM' does not match" in problems[0]
    assert "files.model.safetensors.sha256: 'abc' does not match" in problems[1]
