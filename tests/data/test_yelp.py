"""Yelp's JSON files, in miniature: who is taken, and into which split."""

import json

import numpy as np
import pytest
from sentence_double import WordSum

from orchard.data.readers.yelp import read
from orchard.data.sentences import split_sentences
from orchard.errors import ConfigError, FormatError

OPTIONS = {
    "reviews": "review.json",
    "businesses": "business.json",
    "tags": ["Pizza", "Burgers"],
    "train_sentences": 4,
    "test_sentences": 1,
    "n_train": 6,
    "n_validation": 2,
    "n_test": 4,
    "encoder": WordSum(None),
}


def write(folder, n_long=10, n_short=9):
    businesses = [("p", "Restaurants, Pizza"), ("b", "Burgers, Pizza"), ("x", "Dentists"), ("n", None)]
    (folder / "business.json").write_text(
        "".join(json.dumps({"business_id": key, "categories": tags}) + "\n" for key, tags in businesses)
    )
    reviews = [("long", i, "One good. Two is better! Three? Four, and 3.5 stars") for i in range(n_long)]
    reviews += [("short", i, f"Just one sentence number {i}.") for i in range(n_short)]
    reviews += [("two", 0, "First sentence. Second sentence.")]
    lines = []
    for kind, i, text in reviews:
        for business in ("p", "b", "x", "n"):
            own = text.replace("number", f"of {business}, number")
            record = {"review_id": f"{kind}-{i}-{business}", "business_id": business, "text": own, "stars": 5}
            lines.append(json.dumps(record) + "\n")
    (folder / "review.json").write_text("".join(lines))


def test_long_reviews_train_and_short_ones_test(tmp_path):
    write(tmp_path)
    dataset = read(tmp_path, OPTIONS)
    assert dataset.X_train.shape == (6 * 4, 8)
    assert dataset.X_valid.shape == (2, 8)
    assert dataset.X_test.shape == (4, 8)
    assert dataset.groups_train.tolist() == np.repeat(range(6), 4).tolist()
    assert dataset.texts_train[:4] == ["One good.", "Two is better!", "Three?", "Four, and 3.5 stars"]
    assert not set(dataset.texts_valid) & set(dataset.texts_test)
    assert all(len(split_sentences(text)) == 1 for text in dataset.texts_valid + dataset.texts_test)
    assert dataset.label_names == ["Burgers", "Pizza"]
    # Every business that was kept has Pizza; only one of the two has Burgers. The sentences share their review's tags.
    assert (dataset.Y_train.toarray()[:, 1] == 1).all()
    assert (np.ptp(dataset.Y_train.toarray().reshape(6, 4, 2), axis=1) == 0).all()


def test_reviews_of_one_length_for_both_are_refused(tmp_path):
    write(tmp_path)
    with pytest.raises(ConfigError, match="train_sentences, test_sentences: both are 4, and reviews would be trained"):
        read(tmp_path, OPTIONS | {"test_sentences": 4})


def test_embeddings_are_projected(tmp_path):
    write(tmp_path)
    assert read(tmp_path, OPTIONS | {"dimensions": 5}).X_train.shape == (24, 5)


def test_the_choice_does_not_depend_on_the_order_of_the_file(tmp_path):
    write(tmp_path)
    before = read(tmp_path, OPTIONS)
    lines = (tmp_path / "review.json").read_text().splitlines(keepends=True)
    (tmp_path / "review.json").write_text("".join(reversed(lines)))
    after = read(tmp_path, OPTIONS)
    assert after.texts_valid == before.texts_valid
    assert after.texts_test == before.texts_test
    assert (after.Y_train != before.Y_train).nnz == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{broken", "review.json:77: not a JSON object"),
        ('{"review_id": "r"}', "review.json:77: the record has no business_id, text"),
        ("[1]", "review.json:77: the record has no review_id"),
        ('{"review_id": "r", "business_id": "p", "text": ["a"]}', "review.json:77: text must be a string"),
        ('{"review_id": "r", "business_id": "p", "text": "\\ud800"}', "review.json:77: text must be a string"),
        ('{"review_id": ' + "1" * 5000 + "}", "review.json:77: not a JSON object: Exceeds the limit"),
    ],
)
def test_a_broken_line_is_named(tmp_path, line, message):
    write(tmp_path, n_long=9)
    text = (tmp_path / "review.json").read_text()
    assert text.count("\n") == 76
    (tmp_path / "review.json").write_text(text + line + "\n")
    with pytest.raises(FormatError, match=message):
        read(tmp_path, OPTIONS)
