"""Yelp's review data as EAGLE uses it (section 7.3, B.3): four-sentence reviews to train on, one-sentence ones to test.

A review carries those of the chosen tags that its business has. Which reviews are taken is decided by the SHA-256 of
their ids, so that the choice is random and the same everywhere; the one-sentence reviews that come first in that
order are left out of both splits, for validation.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from orchard.data.corpora import Corpus, is_unicode, to_dataset
from orchard.data.store import Dataset
from orchard.errors import FormatError

_SENTENCE_END = re.compile(r"[.!?]+(?:\s+|$)")


def read(folder: Path, options: dict) -> Dataset:
    tags_of_business = {
        business["business_id"]: tags
        for business in _json_lines(folder / options["businesses"], ("business_id", "categories"))
        if (tags := sorted(set((business["categories"] or "").split(", ")) & set(options["tags"])))
    }
    candidates = {options["train_sentences"]: [], options["test_sentences"]: []}
    for review in _json_lines(folder / options["reviews"], ("review_id", "business_id", "text")):
        chosen = candidates.get(count_sentences(review["text"] or ""))
        if chosen is not None and review["business_id"] in tags_of_business:
            order = hashlib.sha256(review["review_id"].encode()).digest()
            chosen.append((order, review["review_id"], review["text"], tags_of_business[review["business_id"]]))
    train = sorted(candidates[options["train_sentences"]])[: options["n_train"]]
    held_out = options["n_validation"] + options["n_test"]
    test = sorted(candidates[options["test_sentences"]])[options["n_validation"] : held_out]
    corpus = Corpus()
    for _, review_id, text, tags in train + test:
        corpus.add(review_id, " ".join(text.split()), tags)
    return to_dataset(corpus, np.arange(len(corpus.ids)) >= len(train), options.get("tfidf", {}))


def count_sentences(text: str) -> int:
    """Sentences end with `.`, `!` or `?` before white space or at the end; a rest without such an end is one more."""
    return sum(1 for sentence in _SENTENCE_END.split(text) if sentence.strip())


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


def _is_text(value) -> bool:
    return isinstance(value, str) and is_unicode(value)
