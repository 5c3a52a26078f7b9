"""Documents as bags of sentences (eagle 7.3): how a text is split, and the data set that its sentences make."""

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from orchard.data.corpora import label_matrix, one_line
from orchard.data.store import Dataset
from orchard.errors import ConfigError

_PROJECTION_SEED = 0

# A blank line, or a line that is indented: newswire begins its paragraphs with four blanks.
_PARAGRAPH = re.compile(r"\n[ \t]*\n|\n[ \t]{2,}")
_END = re.compile(r"""[.!?]+["')\]]*(?=\s|$)""")
# What a dot does not end: initials and dotted names (U.S., J.P., but not the pronoun I), titles, No. before a number.
_ABBREVIATION = re.compile(
    r"(?:^|[^\w.])(?:(?!I\.)(?:[A-Za-z]\.)+|(?:Mr|Mrs|Ms|Dr|Prof|Rep|Reps|Sen|Sens|Gov|Gen|Lt|Col|St|vs)\.)[)\]]*$"
)
_NUMBER = re.compile(r"(?:^|\W)No\.$")
_LONGEST_ABBREVIATION = 24  # characters before a dot that are looked at


class Encoder(Protocol):
    """What turns sentences into vectors; see orchard.neural.encoders."""

    def encode(self, sentences: Sequence[str]) -> np.ndarray: ...


class Document(NamedTuple):
    """The sentences of a document, and the labels of the whole."""

    sentences: list[str]
    labels: list[str]


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line with its end mark.

    A sentence ends with `.`, `!` or `?` (and closing quotes or brackets) before white space, with its paragraph, or
    with the text. The dot of an abbreviation and of a number (3.5) ends nothing; so a sentence that ends in `U.S.`
    and stands amid a paragraph runs on into the next. A piece without a letter is none.
    """
    sentences = []
    for paragraph in _PARAGRAPH.split(text):
        start = 0
        for mark in _END.finditer(paragraph):
            if not _is_abbreviation(paragraph, mark.end()):
                sentences.append(paragraph[start : mark.end()])
                start = mark.end()
        sentences.append(paragraph[start:])
    lines = map(one_line, sentences)
    return [line for line in lines if any(character.isalpha() for character in line)]


def _is_abbreviation(paragraph: str, end: int) -> bool:
    before = paragraph[max(0, end - _LONGEST_ABBREVIATION) : end]
    if _NUMBER.search(before):
        return paragraph[end:].lstrip()[:1].isdigit()
    return bool(_ABBREVIATION.search(before)) and bool(paragraph[end:].strip())


def to_sentence_dataset(
    train: Sequence[Document],
    valid: Sequence[Document],
    test: Sequence[Document],
    encoder: Encoder,
    dimensions: int | None = None,
) -> Dataset:
    """The data set whose training samples are sentences: their documents are the groups, and have the labels.

    valid, test : documents of a single sentence.
    dimensions : longer embeddings are projected to so many at random (B.3); shorter ones are left as they are, since
        a projection to more dimensions would only add noise.
    """
    for name, documents in (("training", train), ("validation", valid), ("test", test)):
        if not documents:
            raise ConfigError(
                f"there is no document for the {name} set: too few have the sentences and labels asked for"
            )
    documents = [*train, *valid, *test]
    lines = [line for document in documents for line in document.sentences]
    E = encoder.encode(lines)
    if dimensions is not None and dimensions < E.shape[1]:
        E = random_projection(E, dimensions, _PROJECTION_SEED)
    Y, label_names = label_matrix([document.labels for document in documents])
    document_of_line = np.repeat(np.arange(len(documents), dtype=np.int32), [len(one.sentences) for one in documents])

    fields, end = {}, 0
    for split, part in (("train", train), ("valid", valid), ("test", test)):
        start, end = end, end + sum(len(document.sentences) for document in part)
        fields[f"X_{split}"] = sp.csr_matrix(E[start:end])
        fields[f"Y_{split}"] = Y[document_of_line[start:end]]
        fields[f"texts_{split}"] = lines[start:end]
    groups = document_of_line[: len(fields["texts_train"])]
    return Dataset(**fields, groups_train=groups, label_names=label_names)


def random_projection(E: np.ndarray, dimensions: int, seed: int) -> np.ndarray:
    """E R, float32 (n, dimensions), where R (d, dimensions) is Gaussian with variance 1 / dimensions (eagle B.3).

    In expectation all inner products stay as they are (Johnson and Lindenstrauss). Summed in float64: another order
    of the sum, as of another machine, seldom shows once that is rounded, and then in the last digit of a float32.
    """
    R = np.random.default_rng(seed).standard_normal((E.shape[1], dimensions)) / np.sqrt(dimensions)
    return (E.astype(np.float64) @ R).astype(np.float32)
