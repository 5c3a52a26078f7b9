"""Yelp's review data as EAGLE uses it (section 7.3, B.3): four-sentence reviews to train on, one-sentence ones to test.

A training sample is a sentence, its group is the review. A review carries those of the chosen tags that its business
has. Which reviews are taken is decided by the SHA-256 of their ids, so that the choice is random and the same
everywhere; the one-sentence reviews that come first in that order are for validation.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from orchard.data.corpora import is_unicode
from orchard.data.sentences import Document, split_sentences, to_sentence_dataset
from orchard.data.store import Dataset
from orchard.errors import ConfigError, FormatError


def read(folder: Path, options: dict) -> Dataset:
    if options["train_sentences"] == options["test_sentences"]:
        raise ConfigError(
            f"train_sentences, test_sentences: both are {options['train_sentences']}, and reviews would be trained on "
            "that are tested on too; they must differ"
        )
    tags_of_business = {
        business["business_id"]: tags
        for business in _json_lines(folder / options["businesses"], ("business_id", "categories"))
        if (tags := sorted(set((business["categories"] or "").split(", ")) & set(options["tags"])))
    }
    candidates = {options["train_sentences"]: [], options["test_sentences"]: []}
    for review in _json_lines(folder / options["reviews"], ("review_id", "business_id", "text")):
        if not (tags := tags_of_business.get(review["business_id"])):
            continue
        sentences = split_sentences(review["text"] or "")
        if len(sentences) in candidates:
            order = hashlib.sha256(review["review_id"].encode()).digest()
            candidates[len(sentences)].append((order, Document(sentences, tags)))
    train = _first(candidates[options["train_sentences"]], options["n_train"])
    held_out = _first(candidates[options["test_sentences"]], options["n_validation"] + options["n_test"])
    valid, test = held_out[: options["n_validation"]], held_out[options["n_validation"] :]
    return to_sentence_dataset(train, valid, test, options["encoder"], options.get("dimensions"))


def _first(candidates: list[tuple[bytes, Document]], n: int) -> list[Document]:
    return [document for _, document in sorted(candidates)[:n]]


def _json_lines(path: Path, keys: tuple[str, ...]) -> Iterator[dict]:
    """One JSON object per line, each with all of `keys`, whose values are strings or null."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                record = json.loads(line)
            except ValueError as error:  # of JSON, of UTF-8, or an integer of thousands of digits
                raise FormatError(path, number, f"not a JSON object: {error}") from None
            missing = [key for key in keys if not isinstance(record, dict) or key not in record]
            if missing:
                raise FormatError(path, number, f"the record has no {', '.join(missing)}")
            wrong = [
                key for key in keys if not isinstance(record[key], str | None) or not is_unicode(record[key] or "")
            ]
            if wrong:
                raise FormatError(path, number, f"{', '.join(wrong)} must be a string of whole characters")
            yield record
