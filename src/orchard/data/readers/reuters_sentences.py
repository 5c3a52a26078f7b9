"""Stories of Reuters-21578 as bags of sentences, in the way of EAGLE's Yelp reviews (section 7.3).

A story with one of the chosen topics is trained on as a bag of its first sentences; of a story held out only the first
sentence is asked for. The hash of a story's id decides which it is.
"""

import re
from pathlib import Path

from orchard.data.corpora import reuters_stories, split_by_hash
from orchard.data.sentences import Document, split_sentences, to_sentence_dataset
from orchard.data.store import Dataset
from orchard.errors import ConfigError

# How a body ends: with the agency's name, at times with dots, with a carriage return written as ^M, and with ETX.
_SIGNATURE = re.compile(r"\breuter[\WM]*$", re.IGNORECASE)
_WHOLE_SENTENCE = re.compile(r"""[.!?]["')\]]*$""")
_FEWEST_WORDS = 5


def read(folder: Path, options: dict) -> Dataset:
    held_out = options["test_fraction"] + options["validation_fraction"]
    if held_out >= 1:
        raise ConfigError(
            f"validation_fraction, test_fraction: together they are {held_out:g}, and must be less than 1: the rest of "
            "the stories is trained on"
        )
    chosen, n_sentences = set(options["topics"]), options["train_sentences"]
    stories = [
        (story.id, sentences, topics)
        for story in reuters_stories(sorted(folder.glob(options["files"])))
        if (topics := sorted(chosen.intersection(story.topics))) and (sentences := story_sentences(story.body))
    ]
    ids = [story_id for story_id, _, _ in stories]
    is_test = split_by_hash(ids, options["test_fraction"])
    is_valid = split_by_hash(ids, held_out) & ~is_test

    train, valid, test = [], [], []
    for (_, sentences, topics), tested, validated in zip(stories, is_test, is_valid, strict=True):
        if tested or validated:
            (test if tested else valid).append(Document(sentences[:1], topics))
        elif len(sentences) >= n_sentences:
            train.append(Document(sentences[:n_sentences], topics))
    return to_sentence_dataset(train, valid, test, options["encoder"], options.get("dimensions"))


def story_sentences(body: str) -> list[str]:
    """The whole sentences of a story's body.

    Headings and rows of tables, which have no end mark, are left out, and so are their footnotes (`x-minus total.`).
    """
    lines = split_sentences(_SIGNATURE.sub("", body))
    return [line for line in lines if _WHOLE_SENTENCE.search(line) and len(line.split()) >= _FEWEST_WORDS]
