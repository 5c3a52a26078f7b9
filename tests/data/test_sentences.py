"""Bags of sentences: how texts are split, and the data set that documents become."""

import json

import numpy as np
import pytest
from sentence_double import WordSum

from orchard.config import load_yaml
from orchard.data import load_dataset
from orchard.data.prepare import prepare
from orchard.data.readers.reuters_sentences import read, story_sentences
from orchard.data.sentences import Document, random_projection, split_sentences, to_sentence_dataset
from orchard.errors import ConfigError, OrchardError
from orchard.variants.aggregate import aggregate

TOY = {"title": "Toy", "simulated": False, "propensity": {"A": 0.55, "B": 1.5}, "statistics": {}}


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("No end", ["No end"]),
        ("Good. Bad", ["Good.", "Bad"]),
        ("Wow!!! Really?", ["Wow!!!", "Really?"]),
        ("great food. will come back.", ["great food.", "will come back."]),
        ("It has 3.5 stars, 1,200.75 of them.", ["It has 3.5 stars, 1,200.75 of them."]),
        (
            "The U.S. Treasury and J.P. Morgan said so. It rose.",
            ["The U.S. Treasury and J.P. Morgan said so.", "It rose."],
        ),
        ("Asamera Oil (U.S.) Inc fell. Mr. Smith left.", ["Asamera Oil (U.S.) Inc fell.", "Mr. Smith left."]),
        ("It is No. 1 here. I said No. It stays.", ["It is No. 1 here.", "I said No.", "It stays."]),
        ("My wife and I. We came.", ["My wife and I.", "We came."]),
        ("Sold for 40\nmln dlrs. Next.", ["Sold for 40 mln dlrs.", "Next."]),
        ("made in the U.S.\n    A new paragraph.", ["made in the U.S.", "A new paragraph."]),
        ("First line\n\nsecond one", ["First line", "second one"]),
        ('"It is over," he said. "Go!" They went.', ['"It is over," he said.', '"Go!"', "They went."]),
        ("Good ... 1. -- ?", ["Good ..."]),
    ],
)
def test_sentences_end_where_a_reader_sees_them_end(text, sentences):
    assert split_sentences(text) == sentences


def test_a_body_without_its_signature_and_its_tables():
    body = (
        "Brazil sold more coffee\nin March, traders said.\n    Exports (in bags):\n    March    1.2 mln\n"
        "    x-minus total.\n    Prices fell at once. REUTER...^M\n\x03"
    )
    assert story_sentences(body) == ["Brazil sold more coffee in March, traders said."]
    assert story_sentences("Prices in London fell at once.\n Reuter\n\x03") == ["Prices in London fell at once."]


def stories(n=60):
    """Stories of two topics, and some that have neither; every third has too few sentences to train on."""
    for number in range(n):
        topic = ("gold", "coffee", "earn")[number % 3]
        lines = [f"Sentence number {part} of story {number} on {topic}." for part in range(2 if number % 4 == 3 else 5)]
        yield {
            "id": str(number),
            "title": topic,
            "body": "\n    ".join(lines) + "\n Reuter\n",
            "topics": [topic, "rare"],
        }
    yield {"id": "empty", "topics": ["gold"]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "reuters-000.json").write_text(json.dumps(list(stories())))
    return tmp_path


READER = {
    "kind": "reuters_sentences",
    "files": "reuters-*.json",
    "topics": ["gold", "coffee"],
    "train_sentences": 4,
    "validation_fraction": 0.25,
    "test_fraction": 0.25,
}


def test_stories_become_bags_and_single_sentences(folder):
    dataset = read(folder, READER | {"encoder": WordSum(None)})
    assert np.bincount(dataset.groups_train).tolist() == [4] * (dataset.groups_train.max() + 1)
    assert dataset.label_names == ["coffee", "gold"]
    for group in range(dataset.groups_train.max() + 1):
        lines = [dataset.texts_train[i] for i in np.flatnonzero(dataset.groups_train == group)]
        assert [line.split()[2] for line in lines] == list("0123")
        assert len({line.split()[5] for line in lines}) == 1
    assert all(line.split()[2] == "0" for line in dataset.texts_valid + dataset.texts_test)
    numbers = [
        {line.split()[5] for line in lines} for lines in (dataset.texts_train, dataset.texts_valid, dataset.texts_test)
    ]
    assert not (numbers[0] & numbers[1] or numbers[0] & numbers[2] or numbers[1] & numbers[2])
    for lines, Y in ((dataset.texts_train, dataset.Y_train), (dataset.texts_test, dataset.Y_test)):
        names = [dataset.label_names[column] for column in Y.indices]
        assert [line.split()[-1] for line in lines] == [f"{name}." for name in names]


@pytest.mark.parametrize("test_fraction", [0.75, 0.9])
def test_fractions_that_leave_no_story_to_train_on_are_refused(folder, tmp_path, test_fraction):
    reader = READER | {"encoder": "toy", "test_fraction": test_fraction}
    config = TOY | {"reader": reader, "encoder": {"encoder": "sentence_double.WordSum"}}
    with pytest.raises(ConfigError, match=r"toy\.yaml: reader: validation_fraction, test_fraction: .* less than 1"):
        prepare("toy", config, folder, tmp_path / "toy")


def test_prepared_bags_come_back_and_are_aggregated(folder, tmp_path):
    """Validation split, groups and statistics survive the folder; `given` groups have the labels of the story once."""
    encoder = {"encoder": "sentence_double.WordSum", "parameters": {"dimensions": 6}}
    config = TOY | {"reader": READER | {"encoder": "toy"}, "encoder": encoder}
    statistics = prepare("toy", config, folder, tmp_path / "toy", encoder_folder="somewhere")
    dataset = load_dataset(tmp_path / "toy")
    assert dataset.X_valid.shape == (statistics["n_valid"], 6)
    assert len(dataset.texts_valid) == dataset.Y_valid.shape[0] == statistics["n_valid"] > 0
    assert dataset.groups_train.dtype == np.int32 and statistics["n_groups"] * 4 == statistics["n_train"]
    assert {"X_valid", "Y_valid", "groups_train"} <= statistics["sha256"].keys()
    Y1, Y2 = aggregate(dataset.X_train, dataset.Y_train, "given", seed=0, groups=dataset.groups_train)
    assert Y1.shape == (statistics["n_train"], statistics["n_groups"])
    assert Y2.data.tolist() == [1] * statistics["n_groups"]
    assert (dataset.Y_train != Y1 @ Y2).nnz == 0


def test_preparing_sentences_twice_gives_the_same_bytes(folder, tmp_path):
    encoder = {"encoder": "sentence_double.WordSum"}
    config = TOY | {"reader": READER | {"encoder": "toy", "dimensions": 4}, "encoder": encoder}
    for name in ("one", "two"):
        prepare("toy", config, folder, tmp_path / name, encoder_folder="somewhere")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name
    assert load_dataset(tmp_path / "one").X_train.shape[1] == 4


def test_a_projection_keeps_inner_products():
    """Johnson and Lindenstrauss: 4096 dimensions become 512, and cosines move by a few hundredths."""
    E = np.random.default_rng(1).standard_normal((20, 4096)).astype(np.float32)
    E[1] += 2 * E[0]
    E /= np.linalg.norm(E, axis=1, keepdims=True)
    projected = random_projection(E, 512, seed=0)
    assert projected.shape == (20, 512) and projected.dtype == np.float32
    assert projected.var() == pytest.approx(1 / 512, rel=0.1)
    assert np.abs(projected @ projected.T - E @ E.T).max() < 0.2
    assert (projected @ projected.T)[0, 1] > 0.8


def test_a_projection_is_reproducible():
    """Twice the same bits; the golden values depend on the seed, and rows not on each other, up to rounding."""
    E = np.sin(np.arange(40 * 384, dtype=np.float32)).reshape(40, 384)
    projected = random_projection(E, 32, seed=0)
    assert projected.shape == (40, 32)
    np.testing.assert_array_equal(random_projection(E, 32, seed=0), projected)
    np.testing.assert_allclose(projected[-1, :3], [2.36144, -1.01325, -0.75668], rtol=1e-4)
    np.testing.assert_allclose(random_projection(E[7:8], 32, seed=0), projected[7:8], rtol=1e-5, atol=1e-6)
    assert (random_projection(E, 32, seed=1) != projected).all()


def test_only_a_longer_embedding_is_projected():
    """512 dimensions of 384 would only add noise."""
    documents = [Document(["one two", "three four"], ["a"])]
    single = [Document(["five"], ["b"])]
    E = WordSum(None).encode(documents[0].sentences)
    for dimensions, expected in ((None, E), (512, E), (8, E), (5, random_projection(E, 5, seed=0))):
        dataset = to_sentence_dataset(documents, single, single, WordSum(None), dimensions)
        assert dataset.X_train.shape[1] == dataset.X_valid.shape[1] == expected.shape[1]
        np.testing.assert_allclose(dataset.X_train.toarray(), expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(ConfigError, match="no document for the validation set"):
        to_sentence_dataset(documents, [], single, WordSum(None))


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        ({"encoder": "sentence_double.Wordsum"}, r"toy\.yaml: encoder: sentence_double\.Wordsum cannot be imported"),
        ({"encoder": "nowhere.WordSum"}, r"toy\.yaml: encoder: nowhere\.WordSum cannot be imported"),
        ({"encoder": "sentence_double.WordSum", "parameters": {"size": 3}}, r"toy\.yaml: parameters: .*'size'"),
    ],
)
def test_an_encoder_that_cannot_be_made_is_told(folder, tmp_path, encoder, message):
    config = TOY | {"reader": READER | {"encoder": "toy"}, "encoder": encoder}
    with pytest.raises(ConfigError, match=f"config/encoders/{message}"):
        prepare("toy", config, folder, tmp_path / "toy")


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.array([0, 0, 1], np.int64), r"groups_train is int64 \(3,\), not int32 \(3,\)"),
        (np.array([0, 1], np.int32), r"groups_train is int32 \(2,\), not int32 \(3,\)"),
        (np.array([0, 2, 2], np.int32), "groups_train leaves out a group"),
    ],
)
def test_groups_that_fit_nothing_are_refused(groups, message):
    from dataclasses import replace

    from orchard.data.prepare import _check_shapes

    document, single = Document(["one", "two", "three"], ["a"]), [Document(["four"], ["b"])]
    dataset = to_sentence_dataset([document], single, single, WordSum(None))
    _check_shapes("toy", dataset)
    with pytest.raises(OrchardError, match=message):
        _check_shapes("toy", replace(dataset, groups_train=groups))


def test_the_registered_topics_are_eleven():
    assert len(load_yaml("config/datasets/reuters-sentences.yaml")["reader"]["topics"]) == 11
