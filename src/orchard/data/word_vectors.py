"""Pretrained word vectors such as GloVe's: strict readers, their canonical form, and matrices made from them.

The canonical form is a folder with `words.txt` (UTF-8, a word a line) and `vectors.npy` (float32, a row a word).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import islice
from pathlib import Path

import numpy as np

from orchard.errors import FormatError, OrchardError
from orchard.files import atomic_folder

WORDS, VECTORS = "words.txt", "vectors.npy"
_NOISE = 0.1  # OTSeq2Set's authors give words that GloVe lacks uniform numbers between -0.1 and 0.1
_LINES = 4096  # parsed at once: enough to keep numpy busy, and a few megabytes
_CHUNK = 1 << 24
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WORD2VEC_HEADER = re.compile(rb"\d+ \d+\s*")
_WORD_OF_NAME = re.compile(r"[^\W_]+")


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words, each once, and their vectors: float32 (n_words, d)."""

    words: list[str]
    vectors: np.ndarray

    def __post_init__(self):
        if self.vectors.dtype != np.float32 or self.vectors.ndim != 2 or len(self.vectors) != len(self.words):
            raise ValueError(
                f"{len(self.words)} words need vectors of float32 ({len(self.words)}, d), "
                f"not {self.vectors.dtype} {self.vectors.shape}"
            )

    @property
    def dimensions(self) -> int:
        return self.vectors.shape[1]

    def matrix_for(self, words: Sequence[str], random: np.random.Generator) -> tuple[np.ndarray, int]:
        """The vector of every word, float32 (len(words), d), and how many of the words are known.

        A word is looked up as it is, then in lower case: GloVe 6B has no capitals. One that is in neither way there
        gets uniform numbers between -0.1 and 0.1.
        """
        rows = np.array([self._row_of(word) for word in words], np.int64)
        known = rows >= 0
        matrix = np.empty((len(words), self.dimensions), np.float32)
        matrix[known] = self.vectors[rows[known]]
        matrix[~known] = self._noise(random, np.count_nonzero(~known))
        return matrix, int(np.count_nonzero(known))

    def label_matrix(self, label_names: Sequence[str], random: np.random.Generator) -> tuple[np.ndarray, int]:
        """The mean over the words in the name of every label (OTSeq2Set, section 3.4), and how many names are known.

        The matrix is float32 (len(label_names), d). A name is split at everything that is neither letter nor digit.
        Unknown words do not count if another word of the name is known: noise would only blur it. A name without any
        known word gets uniform numbers between -0.1 and 0.1, like an unknown word of `matrix_for`.
        """
        matrix = np.empty((len(label_names), self.dimensions), np.float32)
        unknown = []
        for label, name in enumerate(label_names):
            rows = [row for word in _WORD_OF_NAME.findall(name) if (row := self._row_of(word)) >= 0]
            if rows:
                matrix[label] = self.vectors[rows].mean(axis=0, dtype=np.float64)
            else:
                unknown.append(label)
        matrix[unknown] = self._noise(random, len(unknown))
        return matrix, len(label_names) - len(unknown)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def _row_of(self, word: str) -> int:
        """The row of a word, of its lower case, or -1."""
        row = self._rows.get(word)
        return self._rows.get(word.lower(), -1) if row is None else row

    def _noise(self, random: np.random.Generator, n_rows: int) -> np.ndarray:
        return random.uniform(-_NOISE, _NOISE, (n_rows, self.dimensions))


# --- the canonical form ----------------------------------------------------------------------------------------------


def prepare_word_vectors(name: str, config: dict, raw_folder, folder) -> WordVectors:
    """Turn the raw files of config/word_vectors/<name>.yaml, whose content is `config`, into the canonical folder."""
    options, raw_folder = dict(config["reader"]), Path(raw_folder)
    if options.pop("kind") == "text":
        vectors = read_text_vectors(raw_folder / options.pop("file"), **options)
    else:
        vectors = read_package_vectors(raw_folder / options["vectors"], raw_folder / options["vocabulary"])
    measured = {"n_words": len(vectors.words), "dimensions": vectors.dimensions}
    differences = [
        f"{key}: expected {value}, got {measured[key]}"
        for key, value in config["statistics"].items()
        if measured[key] != value
    ]
    if differences:
        raise OrchardError(
            f"{name}: these are not the registered word vectors: {'; '.join(differences)}. "
            f"Delete results/raw/{name} to fetch them again; if they are meant to differ, correct `statistics` in "
            f"config/word_vectors/{name}.yaml."
        )
    save_word_vectors(folder, vectors)
    return vectors


def save_word_vectors(folder, vectors: WordVectors) -> None:
    """Write the canonical form; the folder appears whole or not at all, and replaces one that was there."""
    for row, word in enumerate(vectors.words):
        if "\n" in word:
            raise OrchardError(f"word {row}, {word!r}, has a line break in it, and {WORDS} has a word a line")
    with atomic_folder(folder) as temporary:
        (temporary / WORDS).write_bytes("".join(word + "\n" for word in vectors.words).encode("utf-8"))
        np.save(temporary / VECTORS, vectors.vectors, allow_pickle=False)


def load_word_vectors(folder) -> WordVectors:
    """Load the canonical form; the vectors stay on the disk until they are asked for."""
    folder = Path(folder)
    if not (folder / WORDS).is_file() or not (folder / VECTORS).is_file():
        raise OrchardError(
            f"{folder}: not a folder of prepared word vectors; `snakemake results/word-vectors/NAME` makes the folder "
            "of that name, for every NAME.yaml of config/word_vectors"
        )
    # Not read_text, which takes a carriage return within a word for a line break.
    words = (folder / WORDS).read_bytes().decode("utf-8").split("\n")[:-1]
    try:
        return WordVectors(words, np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False))
    except ValueError as error:
        raise OrchardError(f"{folder}: damaged ({error}); delete it, and the workflow makes it again") from error


# --- readers ---------------------------------------------------------------------------------------------------------


def read_text_vectors(path, limit: int | None = None, keep_first: bool = False) -> WordVectors:
    """Read GloVe's text format: a line has a word, a blank, and d numbers with blanks between.

    The first line tells d. A word may have blanks in it; what stands before the last d fields is the word.

    limit : read so many lines only; GloVe has frequent words first.
    keep_first : of a word that occurs twice the first line counts (GloVe 840B has one such); otherwise it is refused.
    """
    n_lines, dimensions = _survey(path)
    vectors = np.empty((n_lines if limit is None else min(limit, n_lines), dimensions), np.float32)
    line_of_word: dict[str, int] = {}
    for number, lines in _blocks(path, limit):
        words, numbers = zip(*(_split(path, number + i, line, dimensions) for i, line in enumerate(lines)), strict=True)
        values = _parse(path, number, numbers, dimensions)
        kept = []
        for i, word in enumerate(words):
            if word not in line_of_word:
                line_of_word[word] = number + i
                kept.append(i)
            elif not keep_first:
                raise FormatError(path, number + i, f"the word {word!r} stands in line {line_of_word[word]} too")
        vectors[len(line_of_word) - len(kept) : len(line_of_word)] = values[kept]
    return WordVectors(list(line_of_word), vectors[: len(line_of_word)])


def _survey(path) -> tuple[int, int]:
    """How many lines a file has, and how many numbers its first line."""
    if not Path(path).is_file():
        raise FormatError(path, None, "there is no such file")
    with Path(path).open("rb") as file:
        first = file.readline()
        n_lines = 1 + sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(_CHUNK), b""))
    if not first:
        raise FormatError(path, None, "the file is empty")
    if _WORD2VEC_HEADER.fullmatch(first):
        raise FormatError(path, 1, "a header as word2vec and fastText write it; remove this line")
    if b" " not in first:
        raise FormatError(path, 1, "no blank: a line has a word, a blank, and numbers with blanks between")
    return n_lines, first.count(b" ")


def _blocks(path, limit: int | None) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the lines in blocks, each with the number of its first line."""
    number = 1
    with Path(path).open("rb") as file:
        lines = islice(file, limit)
        while block := list(islice(lines, _LINES)):
            yield number, block
            number += len(block)


def _split(path, number: int, line: bytes, dimensions: int) -> tuple[str, str]:
    """The word of a line, and its numbers, which are still text."""
    if not line.endswith(b"\n"):
        raise FormatError(path, number, "the last line has no line break, so it may be cut short (add one if not)")
    try:
        text = line[:-1].decode("utf-8").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise FormatError(path, number, f"not UTF-8: {error.reason} {error.object[error.start]:#04x}") from None
    n_blanks = text.count(" ")
    if n_blanks < dimensions:
        raise FormatError(path, number, f"{n_blanks} numbers, where the first line has {dimensions}")
    if n_blanks == dimensions:
        word, numbers = text.split(" ", 1)
    else:
        word, *fields = text.rsplit(" ", dimensions)
        numbers = " ".join(fields)
        # A word may have blanks, but a number at its end is one number too many.
        if _NUMBER.fullmatch(word.rpartition(" ")[2]):
            raise FormatError(path, number, f"more numbers than the {dimensions} of the first line")
    if not word or word != word.strip(" ") or not numbers:
        raise FormatError(
            path, number, f"a word, one blank and {dimensions} numbers are wanted; one of them is missing"
        )
    return word, numbers


def _parse(path, number: int, numbers: Sequence[str], dimensions: int) -> np.ndarray:
    """The numbers of a block of lines: float32 (lines, d)."""
    try:
        values = np.loadtxt(numbers, np.float32, comments=None, delimiter=" ", ndmin=2)
    except ValueError:
        values = None
    if values is None or values.shape != (len(numbers), dimensions) or not np.isfinite(values).all():
        i, field = next(
            (i, field) for i, line in enumerate(numbers) for field in line.split(" ") if not _is_finite(field)
        )
        raise FormatError(path, number + i, f"{field!r} is not a finite number")
    return values


def _is_finite(field: str) -> bool:
    with np.errstate(over="ignore"):
        return bool(_NUMBER.fullmatch(field)) and bool(np.isfinite(np.float32(float(field))))


def read_package_vectors(vectors_npy, vocabulary_parquet) -> WordVectors:
    """Read vectors as packages bring them: an npy file (n, d), and a parquet file whose one column has the n words."""
    words = _read_vocabulary(vocabulary_parquet)
    try:
        vectors = np.load(vectors_npy, allow_pickle=False)
    except (OSError, EOFError, ValueError) as error:
        raise FormatError(vectors_npy, None, f"no npy file that can be read: {error}") from error
    if not isinstance(vectors, np.ndarray) or vectors.ndim != 2 or vectors.dtype.kind != "f":
        raise FormatError(vectors_npy, None, "not one array of floating-point numbers with a row for every word")
    if len(vectors) != len(words):
        raise FormatError(vectors_npy, None, f"{len(vectors)} rows, but {vocabulary_parquet} has {len(words)} words")
    with np.errstate(over="ignore"):
        vectors = vectors.astype(np.float32, copy=False)
    if not np.isfinite(vectors).all():
        row = int(np.argmin(np.isfinite(vectors).all(axis=1)))
        raise FormatError(vectors_npy, None, f"row {row} ({words[row]!r}) has a number that is not finite")
    return WordVectors(words, vectors)


def _read_vocabulary(path) -> list[str]:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise OrchardError(
            "word vectors from a package need the library pyarrow, which is not installed: "
            "pip install -r requirements-neural.txt"
        ) from None
    try:
        table = parquet.read_table(path, use_threads=False)
    except (OSError, ValueError) as error:  # pyarrow's own errors are among these
        raise FormatError(path, None, f"no parquet file that can be read: {error}") from error
    if table.num_columns != 1:
        raise FormatError(path, None, f"one column, that of the words, is wanted; it has {table.column_names}")
    words = table.column(0).to_pylist()
    row_of_word: dict[str, int] = {}
    for row, word in enumerate(words):
        if not isinstance(word, str) or not word:
            raise FormatError(path, None, f"row {row}: {word!r} is not a word")
        if row_of_word.setdefault(word, row) != row:
            raise FormatError(path, None, f"row {row}: the word {word!r} stands in row {row_of_word[word]} too")
    return words
