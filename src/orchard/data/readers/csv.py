"""A user's own texts and labels in a CSV file, split by hash."""

from pathlib import Path

from orchard.data.corpora import read_csv, split_by_hash, to_dataset
from orchard.data.store import Dataset


def read(folder: Path, options: dict) -> Dataset:
    columns = {key: options[key] for key in ("text_column", "labels_column", "separator") if key in options}
    corpus = read_csv(folder / options["file"], **columns)
    return to_dataset(corpus, split_by_hash(corpus.ids, options["test_fraction"]), options.get("tfidf", {}))
