"""PubMed articles: titles and abstracts, with the names of their MeSH descriptors as labels.

Options beside the split and TF-IDF's: `share` of the articles that are read at all, and `least`, the number of training
articles that a label needs to stay.
"""

from pathlib import Path

from orchard.data.corpora import read_pubmed, some_documents, split_by_hash, to_dataset, with_frequent_labels
from orchard.data.store import Dataset


def read(folder: Path, options: dict) -> Dataset:
    corpus = read_pubmed(folder / options["file"])
    if "share" in options:
        corpus = some_documents(corpus, options["share"])
    is_test = split_by_hash(corpus.ids, options["test_fraction"])
    if "least" in options:
        corpus, is_test = with_frequent_labels(corpus, is_test, options["least"])
    return to_dataset(corpus, is_test, options.get("tfidf", {}))
