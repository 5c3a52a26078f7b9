"""PubMed articles: titles and abstracts, with the names of their MeSH descriptors as labels."""

from pathlib import Path

from orchard.data.corpora import read_pubmed, split_by_hash, to_dataset
from orchard.data.store import Dataset


def read(folder: Path, options: dict) -> Dataset:
    corpus = read_pubmed(folder / options["file"])
    return to_dataset(corpus, split_by_hash(corpus.ids, options["test_fraction"]), options.get("tfidf", {}))
