"""What no schema can say: whose files a data set reads, which encoder its sentences, and which ids are taken."""

import shutil
from pathlib import Path

import pytest
import yaml

from orchard.config import load_yaml
from orchard.data.registry import kind_of, load_encoders, load_registry, load_word_vector_entries
from orchard.errors import ConfigError

CONFIG = Path(__file__).parents[2] / "config"


@pytest.fixture
def config(tmp_path):
    """A registry of six data sets, one encoder and two kinds of word vectors, which tests may spoil."""
    for folder, names in (
        ("datasets", ("mnist", "mnist-6k", "digits", "smoke-sim", "reuters-21578", "reuters-sentences")),
        ("encoders", ("all-minilm-l6-v2",)),
        ("word_vectors", ("glove-6b-50d", "glove-840b-300d")),
    ):
        (tmp_path / folder).mkdir()
        for name in names:
            shutil.copy(CONFIG / folder / f"{name}.yaml", tmp_path / folder)
    return tmp_path


def load(config):
    datasets = load_registry(config / "datasets", CONFIG / "schemas/dataset.schema.yaml")
    return datasets, load_encoders(config / "encoders", CONFIG / "schemas/encoder.schema.yaml", datasets)


def load_vectors(config):
    return load_word_vector_entries(config / "word_vectors", CONFIG / "schemas/word_vectors.schema.yaml", *load(config))


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


def test_word_vectors_as_they_are_registered(config):
    entries = load_vectors(config)
    assert {name: entry["reader"]["kind"] for name, entry in entries.items()} == {
        "glove-6b-50d": "package",
        "glove-840b-300d": "text",
    }


@pytest.mark.parametrize(
    ("taken", "owner"),
    [("mnist", "a data set"), ("all-minilm-l6-v2", "an encoder")],
)
def test_word_vectors_cannot_share_an_id_with_anything_that_is_fetched(config, taken, owner):
    shutil.copy(config / "word_vectors/glove-6b-50d.yaml", config / f"word_vectors/{taken}.yaml")
    with pytest.raises(ConfigError, match=rf"word_vectors/{taken}\.yaml: {owner} has this id too"):
        load_vectors(config)


@pytest.mark.parametrize(
    ("reader", "message"),
    [
        ({"kind": "text", "file": "glove.txt"}, r"reader\.file: 'glove\.txt' does not stand under files"),
        ({"kind": "package", "vectors": "v.npy", "vocabulary": "w"}, r"reader\.vectors: 'v\.npy' does not stand"),
        ({"kind": "txt", "file": "glove.840B.300d.txt"}, r"reader\.kind: 'txt' is not one of .* mean 'text'"),
        ({"kind": "text", "file": "glove.840B.300d.txt", "limits": 3}, r"unknown key 'limits'; did you mean 'limit'"),
        ({"kind": "package", "vectors": "v.npy"}, r"reader: 'vocabulary' is a required property"),
    ],
)
def test_a_wrong_reader_of_word_vectors_is_named(config, reader, message):
    change(config / "word_vectors/glove-840b-300d.yaml", reader=reader)
    with pytest.raises(ConfigError, match=message) as caught:
        load_vectors(config)
    assert "glove-840b-300d.yaml: " in str(caught.value)


def test_the_name_of_a_file_of_word_vectors_is_an_id(config):
    shutil.copy(config / "word_vectors/glove-6b-50d.yaml", config / "word_vectors/GloVe_6B.yaml")
    with pytest.raises(ConfigError, match=r"GloVe_6B\.yaml: the file's name is its id"):
        load_vectors(config)


def test_an_entry_tells_which_folder_it_belongs_into(config):
    """Messages of `fetch` name the file by it."""
    for folder in ("datasets", "encoders", "word_vectors"):
        assert {kind_of(load_yaml(path)) for path in (config / folder).glob("*.yaml")} == {folder}
