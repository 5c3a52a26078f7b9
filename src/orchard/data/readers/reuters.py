"""Reuters-21578: newswire stories with their topics as labels."""

from pathlib import Path

from orchard.data.corpora import read_reuters, split_by_hash, to_dataset
from orchard.data.store import Dataset


def read(folder: Path, options: dict) -> Dataset:
    corpus = read_reuters(sorted(folder.glob(options["files"])))
    return to_dataset(corpus, split_by_hash(corpus.ids, options["test_fraction"]), options.get("tfidf", {}))
