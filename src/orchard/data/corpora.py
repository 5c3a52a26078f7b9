"""Corpora of labelled texts: PubMed, Reuters-21578 and a user's own CSV; their split and their label matrix."""

import csv
import gzip
import hashlib
import io
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

import numpy as np
from scipy.sparse import csr_matrix

from orchard.data.store import Dataset
from orchard.data.text import tfidf
from orchard.errors import FormatError


@dataclass
class Corpus:
    """Labelled texts: three lists of one length, in the order of the files."""

    ids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # one line each, words parted by single blanks
    labels: list[list[str]] = field(default_factory=list)

    def add(self, document_id: str, text: str, labels: list[str]) -> None:
        self.ids.append(document_id)
        self.texts.append(text)
        self.labels.append(labels)


def read_pubmed(path) -> Corpus:
    """Read a gzipped PubMed file; keep the articles that have an abstract and at least one MeSH heading.

    id: the PMID · text: title, then abstract · labels: names of the MeSH descriptors, without qualifiers.
    The file is streamed: memory holds only what is kept.
    """
    reader = _PubmedReader(path)
    try:
        with gzip.open(path) as file:
            reader.parser.ParseFile(file)
    except expat.ExpatError as error:
        raise FormatError(path, error.lineno, f"malformed XML: {expat.ErrorString(error.code)}") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(path, reader.parser.CurrentLineNumber, f"damaged gzip file: {error}") from error
    except OSError as error:
        raise FormatError(path, None, f"cannot be read: {error.strerror}") from error
    except FormatError:
        raise
    except (LookupError, ValueError) as error:  # what Python says of an encoding that it cannot decode piecewise
        raise FormatError(path, 1, f"the encoding cannot be read: {error}") from error
    if not reader.corpus.ids:
        raise FormatError(path, None, "no article has both an abstract and a MeSH heading")
    return reader.corpus


# element -> its parent and the field it fills. The parent matters: a comment's citation has a PMID of its own, and
# OtherAbstract holds the abstract in another language.
_PUBMED_FIELDS = {
    "PMID": ("MedlineCitation", "pmid"),
    "ArticleTitle": ("Article", "title"),
    "AbstractText": ("Abstract", "abstract"),
    "DescriptorName": ("MeshHeading", "descriptors"),
}


class _PubmedReader:
    """Collects articles from expat's events, which need no tree in memory and know their lines."""

    def __init__(self, path):
        self.path = path
        self.corpus = Corpus()
        self.line_of_pmid: dict[str, int] = {}
        self.open_elements = [""]
        self.article: dict[str, list[list[str]]] | None = None  # field -> its elements -> their pieces of text
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.EntityDeclHandler = self.parser.SkippedEntityHandler = self.refuse_entity

    def refuse(self, problem: str):
        raise FormatError(self.path, self.parser.CurrentLineNumber, problem)

    def refuse_entity(self, name, *_):
        # Nested entities blow a small file up without end, an undeclared one would vanish; PubMed uses neither.
        self.refuse(f"entity {name!r}: only the five entities of XML itself are accepted")

    def start(self, element, _attributes):
        parent = self.open_elements[-1]
        self.open_elements.append(element)
        if element == "PubmedArticle":
            if self.article is not None:
                self.refuse("a PubmedArticle inside of another")
            self.article = {name: [] for _, name in _PUBMED_FIELDS.values()}
        elif element in _PUBMED_FIELDS and _PUBMED_FIELDS[element][0] == parent:
            if self.article is None:
                self.refuse(f"{element} outside of a PubmedArticle")
            pieces: list[str] = []
            self.article[_PUBMED_FIELDS[element][1]].append(pieces)
            # Text is only asked for inside of a field, mark-up such as <i> in it included: most of a file is not.
            self.parser.CharacterDataHandler = pieces.append

    def end(self, element):
        self.open_elements.pop()
        if element in _PUBMED_FIELDS:
            self.parser.CharacterDataHandler = None
        elif element == "PubmedArticle":
            self.finish_article()

    def finish_article(self):
        article = {name: [one_line("".join(pieces)) for pieces in values] for name, values in self.article.items()}
        self.article = None
        if len(article["pmid"]) != 1 or not article["pmid"][0]:
            self.refuse("an article needs exactly one PMID")
        pmid = article["pmid"][0]
        if pmid in self.line_of_pmid:
            self.refuse(f"PMID {pmid} again, after the article that ends in line {self.line_of_pmid[pmid]}")
        self.line_of_pmid[pmid] = self.parser.CurrentLineNumber
        if "" in article["descriptors"]:
            self.refuse(f"PMID {pmid}: a DescriptorName is empty")
        if any(article["abstract"]) and article["descriptors"]:
            text = " ".join(filter(None, article["title"] + article["abstract"]))
            self.corpus.add(pmid, text, article["descriptors"])


def read_reuters(paths: Iterable) -> Corpus:
    """Read the JSON files of Reuters-21578; keep the documents that have a body and at least one topic.

    id: the collection's NEWID · text: title, then body · labels: the topics.
    A file is a list of objects with an `id` and, where the document has them, `title`, `body` and `topics`.
    """
    corpus = Corpus()
    for story in reuters_stories(paths):
        if (body := one_line(story.body)) and story.topics:
            corpus.add(story.id, one_line(f"{story.title} {body}"), story.topics)
    if not corpus.ids:
        raise FormatError("Reuters-21578", None, "no document has both a body and topics")
    return corpus


class ReutersStory(NamedTuple):
    """A document of Reuters-21578; title and body as they stand in the file, empty if there is none."""

    id: str
    title: str
    body: str
    topics: list[str]


def reuters_stories(paths: Iterable) -> Iterator[ReutersStory]:
    """All documents of the JSON files of Reuters-21578, checked, in their order."""
    file_of_id: dict[str, Path] = {}
    for path in map(Path, paths):
        for number, document in enumerate(_read_json_list(path), start=1):
            try:
                story = _reuters_story(document)
                if story.id in file_of_id:
                    raise ValueError(f"id {story.id!r} again, after {file_of_id[story.id].name}")
            except ValueError as error:
                raise FormatError(path, None, f"document {number}: {error}") from error
            file_of_id[story.id] = path
            yield story


def _reuters_story(document) -> ReutersStory:
    """The story that one object is; ValueError says what is wrong with it."""
    if not isinstance(document, dict):
        raise ValueError("not an object")
    for key in ("id", "title", "body"):
        if not isinstance(document.get(key, ""), str):
            raise ValueError(f"{key!r} is not a string")
        if not is_unicode(document.get(key, "")):
            raise ValueError(f"{key!r} has half of a surrogate pair, which is no character")
    topics = document.get("topics", [])
    if not isinstance(topics, list) or not all(isinstance(topic, str) and topic.strip() for topic in topics):
        raise ValueError("'topics' is not a list of names")
    if not document.get("id"):
        raise ValueError("'id' is missing or empty")
    return ReutersStory(document["id"], document.get("title", ""), document.get("body", ""), topics)


def is_unicode(text: str) -> bool:
    """Whether a text can be written at all: JSON may name half of a surrogate pair, and Python lets it in."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_json_list(path: Path) -> list:
    content = _read_utf8(path)
    try:
        documents = json.loads(content)
    except json.JSONDecodeError as error:
        raise FormatError(path, error.lineno, f"malformed JSON: {error.msg}") from error
    except RecursionError as error:
        raise FormatError(path, None, "malformed JSON: nested too deeply") from error
    except ValueError as error:  # Python refuses to convert it
        raise FormatError(path, None, "malformed JSON: a number of thousands of digits") from error
    if not isinstance(documents, list):
        raise FormatError(path, None, "the file is not a list of documents")
    return documents


def read_csv(path, text_column: str = "text", labels_column: str = "labels", separator: str = ";") -> Corpus:
    """Read a user's own texts from a CSV file (UTF-8, comma, double quotes) whose first line names the columns.

    Labels stand in one field, parted by `separator`, white space around them is dropped; an empty field is a document
    without labels. Other columns are ignored. The last line may lack its line break, as the format allows. The id is
    the SHA-256 of the text, so that `split_by_hash` does not depend on the order of rows and never parts equal texts.
    """
    content = _read_utf8(path)
    # The csv module refuses fields of more than 128 KiB by default; a document may be longer.
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))
    rows = csv.reader(io.StringIO(content, newline=""), strict=True)
    corpus = Corpus()
    line = 1  # where the current row begins; a quoted field may hold line breaks
    try:
        header = next(rows, None)
        if not header:
            raise ValueError("the file is empty or its first line is; it must name the columns")
        text_at, labels_at = (_column(header, name) for name in (text_column, labels_column))
        line = rows.line_num + 1
        for row in rows:
            if not row:  # a blank line, which many programs leave at the end
                line = rows.line_num + 1
                continue
            if len(row) != len(header):
                raise ValueError(f"{len(row)} fields where the header names {len(header)} columns")
            text = one_line(row[text_at])
            if not text:
                raise ValueError(f"the text in column {text_column!r} is empty")
            labels = [one_line(label) for label in row[labels_at].split(separator)] if row[labels_at].strip() else []
            if "" in labels:
                raise ValueError(f"an empty label in {row[labels_at]!r}")
            corpus.add(hashlib.sha256(text.encode()).hexdigest(), text, labels)
            line = rows.line_num + 1
    except (ValueError, csv.Error) as error:
        raise FormatError(path, line, str(error)) from error
    if not corpus.ids:
        raise FormatError(path, None, "no document follows the header")
    return corpus


def _column(header: list[str], name: str) -> int:
    if header.count(name) != 1:
        raise ValueError(f"{header.count(name)} columns are named {name!r}; the header has {', '.join(header)}")
    return header.index(name)


def split_by_hash(ids: Sequence[str], test_fraction: float) -> np.ndarray:
    """Which documents belong to the test set, bool (n_documents,).

    The first 48 bits of the SHA-256 of an id are a number in [0, 1); below `test_fraction` the document is tested on.
    So a document stays on its side whatever the order of the files, whatever else they hold, on every machine; and a
    larger fraction only adds to the test set.
    """
    if not 0 <= test_fraction <= 1:
        raise ValueError(f"test_fraction must lie between 0 and 1, not {test_fraction}")
    hashes = [int.from_bytes(hashlib.sha256(document_id.encode()).digest()[:6], "big") for document_id in ids]
    return np.array(hashes, dtype=np.float64) / 2**48 < test_fraction


def with_frequent_labels(corpus: Corpus, is_test: np.ndarray, least: int) -> tuple[Corpus, np.ndarray]:
    """The corpus without labels that fewer than `least` training documents have, and without documents that then have
    none; and which of those that are left belong to the test set.
    """
    counts = Counter(label for labels in compress(corpus.labels, ~is_test) for label in {*labels})
    kept, is_test_kept = Corpus(), []
    for document_id, text, labels, out in zip(corpus.ids, corpus.texts, corpus.labels, is_test, strict=True):
        if frequent := [label for label in labels if counts[label] >= least]:
            kept.add(document_id, text, frequent)
            is_test_kept.append(out)
    return kept, np.array(is_test_kept, bool)


def some_documents(corpus: Corpus, share: float) -> Corpus:
    """About this share of the documents, by a hash of their ids that is not the one which splits them."""
    kept = split_by_hash([f"kept {document_id}" for document_id in corpus.ids], share)
    return Corpus(*(list(compress(column, kept)) for column in (corpus.ids, corpus.texts, corpus.labels)))


def label_matrix(labels: Sequence[Iterable[str]]) -> tuple[csr_matrix, list[str]]:
    """Y, CSR float32 (n_documents, n_labels) of ones with sorted indices, and the label name of every column.

    The columns are all labels that occur, sorted by code point; call it on training and test set together, so that
    labels that occur only in the test set count as they do in EurLex-4K. A label that a document repeats counts once.
    """
    names = sorted({name for of_document in labels for name in of_document})
    column_of_name = {name: column for column, name in enumerate(names)}
    rows = [sorted({column_of_name[name] for name in of_document}) for of_document in labels]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    indices = np.fromiter((column for row in rows for column in row), dtype=np.int32, count=indptr[-1])
    return csr_matrix((np.ones(len(indices), np.float32), indices, indptr), shape=(len(rows), len(names))), names


def to_dataset(corpus: Corpus, is_test: np.ndarray, tfidf_options: Mapping) -> Dataset:
    """The data set of a corpus: TF-IDF features, the labels of both parts together, the texts and the label names.

    is_test : bool (n_documents,), as from `split_by_hash`.  tfidf_options : keyword arguments of `tfidf`.
    """
    texts_train, texts_test = (list(compress(corpus.texts, part)) for part in (~is_test, is_test))
    X_train, X_test, _ = tfidf(texts_train, texts_test, **tfidf_options)
    Y, label_names = label_matrix(corpus.labels)
    return Dataset(X_train, Y[~is_test], X_test, Y[is_test], texts_train, texts_test, label_names)


# Every control character, among them the ETX that ends each Reuters body; white space in any case.
_CONTROLS_TO_BLANKS = dict.fromkeys([*range(32), *range(127, 160)], " ")


def one_line(text: str) -> str:
    """The text on one line, words parted by single blanks, without control characters."""
    return " ".join(text.translate(_CONTROLS_TO_BLANKS).split())


def _read_utf8(path) -> str:
    try:
        content = Path(path).read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise FormatError(path, None, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FormatError(path, line, f"not UTF-8: {error.reason} {error.object[error.start]:#04x}") from error
