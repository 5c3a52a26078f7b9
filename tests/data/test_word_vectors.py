"""Word vectors: what the readers take and refuse, the canonical form, and the matrices made for words and labels."""

import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchard.data import word_vectors
from orchard.data.sources import fetch
from orchard.data.word_vectors import (
    WordVectors,
    load_word_vectors,
    prepare_word_vectors,
    read_package_vectors,
    read_text_vectors,
    save_word_vectors,
)
from orchard.errors import ConfigError, FetchError, FormatError, OrchardError

# Every example overwrites the same files, so sharing one temporary folder between examples is safe.
shared_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

WORDS = ["the", ",", "co2", ". . .", "at name@domain.com", "über", "\x85", "a\u00a0b"]
VECTORS = np.arange(24, dtype=np.float32).reshape(8, 3) / 8 - 1


def text_of(words, vectors):
    """The format as anybody would write it; repr keeps every bit of a float32."""
    return "".join(f"{word} {' '.join(map(repr, row))}\n" for word, row in zip(words, vectors.tolist(), strict=True))


def write(folder, text, name="vectors.txt"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def write_package(folder, words, vectors):
    """The two files of a package, as pyarrow and numpy write them."""
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow (requirements-neural.txt) is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = words if isinstance(words, dict) else {"index": words}
    parquet.write_table(pyarrow.table(columns), folder / "words.parquet")
    np.save(folder / "rows.npy", vectors)
    return folder / "rows.npy", folder / "words.parquet"


def assert_same(vectors, words, rows):
    assert vectors.words == words
    assert vectors.vectors.dtype == np.float32 and vectors.vectors.tobytes() == rows.tobytes()


# --- readers ---------------------------------------------------------------------------------------------------------


def test_the_text_format_is_read(tmp_path):
    """Words may have blanks in them, and whatever Python takes for blanks or line breaks."""
    assert_same(read_text_vectors(write(tmp_path, text_of(WORDS, VECTORS))), WORDS, VECTORS)


def test_both_readers_read_the_same(tmp_path):
    from_package = read_package_vectors(*write_package(tmp_path, WORDS, VECTORS))
    from_text = read_text_vectors(write(tmp_path, text_of(WORDS, VECTORS)))
    assert_same(from_package, from_text.words, from_text.vectors)


def test_lines_may_end_as_on_windows(tmp_path):
    text = text_of(WORDS, VECTORS).replace("\n", "\r\n")
    assert_same(read_text_vectors(write(tmp_path, text)), WORDS, VECTORS)


@pytest.mark.parametrize("block", [1, 2, 3, 8])
def test_nothing_depends_on_where_blocks_end(tmp_path, monkeypatch, block):
    monkeypatch.setattr(word_vectors, "_LINES", block)
    path = write(tmp_path, text_of([*WORDS, "the"], np.vstack([VECTORS, VECTORS[:1] + 1])))
    assert_same(read_text_vectors(path, keep_first=True), WORDS, VECTORS)
    assert_same(read_text_vectors(path, limit=5), WORDS[:5], VECTORS[:5])
    with pytest.raises(FormatError, match=r"vectors\.txt:9: the word 'the' stands in line 1 too"):
        read_text_vectors(path)


def test_a_limit_leaves_the_rest_unread(tmp_path):
    path = write(tmp_path, "a 1 2\nb 3 4\nc broken\n")
    assert read_text_vectors(path, limit=2).words == ["a", "b"]
    assert read_text_vectors(write(tmp_path, "a 1 2\n"), limit=7).words == ["a"]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", None, "the file is empty"),
        ("2 3\na 1 2 3\nb 1 2 3\n", 1, "a header as word2vec and fastText write it; remove this line"),
        ("a\n", 1, "no blank"),
        ("\n", 1, "no blank"),
        ("a 1 2\nb 1\n", 2, "1 numbers, where the first line has 2"),
        ("a 1 2\n\n", 2, "0 numbers, where the first line has 2"),
        ("a 1 2\nb 1 2 3\n", 2, "more numbers than the 2 of the first line"),
        ("a 1 2\nb 1 x\n", 2, "'x' is not a finite number"),
        ("a 1 2\nb 1,5 2\n", 2, "'1,5' is not a finite number"),
        ("a 1 2\nb 1 2 \n", 2, "more numbers"),
        ("a 1 2\nb 1  2\n", 2, "more numbers"),
        ("a 1 2 3\nb 1  2\n", 2, "'' is not a finite number"),
        ("a 1 2\nb  1 2\n", 2, "a word, one blank and 2 numbers are wanted"),
        ("a 1 2\n 1 2\n", 2, "a word, one blank and 2 numbers are wanted"),
        ("a 1\nb \n", 2, "a word, one blank and 1 numbers are wanted"),
        ("a 1 2\nb 1_0 2\n", 2, "'1_0' is not a finite number"),
        ("a 1 2\nb 1 nan\n", 2, "'nan' is not a finite number"),
        ("a 1 2\nb -inf 2\n", 2, "'-inf' is not a finite number"),
        ("a 1 2\nb 1 1e39\n", 2, "'1e39' is not a finite number"),
        ("a 1 2\nb 1 2\na 1 2\n", 3, "the word 'a' stands in line 1 too"),
        ("a 1 2\nb 1 2", 2, "the last line has no line break"),
        (b"a 1 2\n\xff 1 2\n", 2, "not UTF-8: invalid start byte 0xff"),
    ],
)
def test_a_malformed_text_file_is_refused(tmp_path, text, line, problem):
    path = write(tmp_path, text)
    with pytest.raises(FormatError) as caught:
        read_text_vectors(path)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{path}:{line}: {problem}" if line else f"{path}: {problem}")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FormatError, match="there is no such file"):
        read_text_vectors(tmp_path / "nowhere.txt")


@pytest.mark.parametrize(
    ("words", "vectors", "problem"),
    [
        (["a", "b"], np.zeros((3, 2), np.float32), r"rows\.npy: 3 rows, but .*words\.parquet has 2 words"),
        (["a", "b"], np.zeros(2, np.float32), r"rows\.npy: not one array of floating-point numbers"),
        (["a", "b"], np.zeros((2, 2), np.int64), r"rows\.npy: not one array of floating-point numbers"),
        (["a", "b"], np.array([[0, 1], [np.nan, 1]], np.float32), r"rows\.npy: row 1 \('b'\) has a number"),
        (["a", "b"], np.array([[0, 1e39], [0, 1]]), r"rows\.npy: row 0 \('a'\) has a number"),
        (["a", "a"], np.zeros((2, 2), np.float32), r"words\.parquet: row 1: the word 'a' stands in row 0 too"),
        (["a", None], np.zeros((2, 2), np.float32), r"words\.parquet: row 1: None is not a word"),
        (["a", ""], np.zeros((2, 2), np.float32), r"words\.parquet: row 1: '' is not a word"),
        ([1, 2], np.zeros((2, 2), np.float32), r"words\.parquet: row 0: 1 is not a word"),
        ({"w": ["a"], "n": [1]}, np.zeros((1, 2), np.float32), r"words\.parquet: one column.*\['w', 'n'\]"),
    ],
)
def test_a_malformed_package_is_refused(tmp_path, words, vectors, problem):
    with pytest.raises(FormatError, match=problem):
        read_package_vectors(*write_package(tmp_path, words, vectors))


def test_files_of_another_kind_are_refused(tmp_path):
    """Pickled objects too: nobody knows what they do when they are loaded."""
    rows, words = write_package(tmp_path, ["a"], np.zeros((1, 2), np.float32))
    with pytest.raises(FormatError, match=r"text\.parquet: no parquet file that can be read"):
        read_package_vectors(rows, write(tmp_path, "a\n", "text.parquet"))
    for content in (b"", b"a 1 2\n"):
        with pytest.raises(FormatError, match=r"text\.npy: no npy file that can be read"):
            read_package_vectors(write(tmp_path, content, "text.npy"), words)
    np.save(tmp_path / "objects.npy", np.array([[{}]], object), allow_pickle=True)
    with pytest.raises(FormatError, match=r"objects\.npy: no npy file that can be read"):
        read_package_vectors(tmp_path / "objects.npy", words)


def test_a_missing_library_is_told_in_one_sentence():
    """In a process of its own, where importing the library fails."""
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from orchard.errors import OrchardError\n"
        "from orchard.data.word_vectors import read_package_vectors\n"
        "try: read_package_vectors('nowhere', 'nowhere')\n"
        "except OrchardError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == (
        "word vectors from a package need the library pyarrow, which is not installed: "
        "pip install -r requirements-neural.txt\n"
    )


# --- the canonical form ----------------------------------------------------------------------------------------------

float32s = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def some_vectors(draw, characters):
    dimensions = draw(st.integers(1, 4))
    words = draw(st.lists(st.text(characters, min_size=1), min_size=1, max_size=6, unique=True))
    rows = draw(
        st.lists(st.lists(float32s, min_size=dimensions, max_size=dimensions), min_size=len(words), max_size=len(words))
    )
    return words, np.array(rows, np.float32)


@shared_folder
@given(some_vectors(st.characters(exclude_characters="\n", exclude_categories=["Cs"])))
def test_what_is_saved_is_loaded(tmp_path, content):
    """Bit by bit, with whatever characters the words have."""
    save_word_vectors(tmp_path / "saved", WordVectors(*content))
    assert_same(load_word_vectors(tmp_path / "saved"), *content)


@shared_folder
@given(some_vectors(st.characters(exclude_characters="\n ", exclude_categories=["Cs"])))
def test_what_is_written_as_text_is_read(tmp_path, content):
    """Every float32, and every character but the blank, which a word must not start or end with."""
    assert_same(read_text_vectors(write(tmp_path, text_of(*content))), *content)


def test_the_vectors_stay_on_the_disk(tmp_path):
    save_word_vectors(tmp_path / "saved", WordVectors(WORDS, VECTORS))
    assert isinstance(load_word_vectors(tmp_path / "saved").vectors, np.memmap)
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == ["vectors.npy", "words.txt"]


def test_a_word_with_a_line_break_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(OrchardError, match=r"word 1, 'a\\nb', has a line break"):
        save_word_vectors(tmp_path / "saved", WordVectors(["a", "a\nb"], VECTORS[:2]))
    assert not (tmp_path / "saved").exists()


def test_a_folder_without_vectors_or_with_damaged_ones_is_told(tmp_path):
    with pytest.raises(
        OrchardError, match="saved: not a folder of prepared word vectors; `snakemake results/word-vectors/NAME`"
    ):
        load_word_vectors(tmp_path / "saved")
    save_word_vectors(tmp_path / "saved", WordVectors(WORDS, VECTORS))
    write(tmp_path / "saved", "the\n", "words.txt")
    with pytest.raises(OrchardError, match=r"saved: damaged \(1 words need vectors of float32 \(1, d\)"):
        load_word_vectors(tmp_path / "saved")
    write(tmp_path / "saved", "a 1 2\n", "vectors.npy")
    with pytest.raises(OrchardError, match="saved: damaged"):
        load_word_vectors(tmp_path / "saved")


def config_of(words, dimensions, **reader):
    return {
        "files": {"vectors.txt": {}},
        "reader": {"kind": "text", "file": "vectors.txt"} | reader,
        "statistics": {"n_words": words, "dimensions": dimensions},
    }


def test_raw_files_become_the_canonical_form(tmp_path):
    write(tmp_path, text_of(WORDS, VECTORS))
    prepare_word_vectors("tiny", config_of(4, 3, limit=4), tmp_path, tmp_path / "saved")
    assert_same(load_word_vectors(tmp_path / "saved"), WORDS[:4], VECTORS[:4])
    rows, words = write_package(tmp_path, WORDS, VECTORS)
    config = config_of(8, 3) | {"reader": {"kind": "package", "vectors": rows.name, "vocabulary": words.name}}
    prepare_word_vectors("tiny", config, tmp_path, tmp_path / "saved")
    assert_same(load_word_vectors(tmp_path / "saved"), WORDS, VECTORS)


def test_other_vectors_than_the_registered_ones_are_refused(tmp_path):
    write(tmp_path, text_of(WORDS, VECTORS))
    with pytest.raises(OrchardError, match=r"n_words: expected 9, got 8; dim.* 2, got 3.*word_vectors/tiny\.yaml"):
        prepare_word_vectors("tiny", config_of(9, 2), tmp_path, tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


# --- fetching --------------------------------------------------------------------------------------------------------


def test_word_vectors_are_unpacked_from_a_zip(tmp_path, monkeypatch):
    """Stanford's archives are zip files; the download itself is tested with data sets."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("glove.txt", text_of(WORDS, VECTORS))
    monkeypatch.setattr(
        "orchard.data.sources.download", lambda url, target, log, **checks: write_new(target, archive.getvalue())
    )
    source = {"kind": "http", "url": "https://example.org/glove.zip", "members": {"vectors.txt": "glove.txt"}}
    folder = fetch("tiny", config_of(8, 3) | {"sources": [source]}, tmp_path / "tiny", log=lambda line: None)
    assert_same(read_text_vectors(folder / "vectors.txt"), WORDS, VECTORS)


def write_new(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_messages_of_a_fetch_say_what_is_fetched(tmp_path):
    with pytest.raises(FetchError, match="tiny: no source could deliver these word vectors"):
        fetch("tiny", config_of(8, 3), tmp_path / "tiny")
    with pytest.raises(ConfigError, match=r"config/word_vectors/tiny\.yaml: files: 'a/b' is not a plain file name"):
        fetch("tiny", config_of(8, 3) | {"files": {"a/b": {}}}, tmp_path / "tiny")


# --- matrices --------------------------------------------------------------------------------------------------------

KNOWN = WordVectors(
    ["apple", "Apple", "pie", "us", "café", "2"],
    np.array([[1, 2], [3, 4], [5, 6], [-1, 0], [8, 0], [0, 9]], np.float32),
)


def test_words_are_found_as_they_are_before_their_lower_case():
    matrix, n_found = KNOWN.matrix_for(["Apple", "apple", "PIE", "US", "CAFÉ"], np.random.default_rng(0))
    assert matrix.dtype == np.float32 and n_found == 5
    assert matrix.tolist() == [[3, 4], [1, 2], [5, 6], [-1, 0], [8, 0]]


def test_unknown_words_get_small_noise():
    """The same for the same seed, and different for every word."""
    matrix, n_found = KNOWN.matrix_for(["plum", "pie", "pear", *"vwxyz"], np.random.default_rng(3))
    again, _ = KNOWN.matrix_for(["plum", "pie", "pear", *"vwxyz"], np.random.default_rng(3))
    assert n_found == 1 and matrix.tobytes() == again.tobytes()
    assert matrix[1].tolist() == [5, 6]
    noise = np.delete(matrix, 1, axis=0)
    assert (np.abs(noise) <= np.float32(0.1)).all() and np.abs(noise).max() > 0.05
    assert np.unique(noise).size == noise.size
    assert noise.min() < 0 < noise.max()


def test_no_words_give_no_rows():
    random = np.random.default_rng(0)
    for matrix, n_found in (KNOWN.matrix_for([], random), KNOWN.label_matrix([], random)):
        assert matrix.shape == (0, 2) and matrix.dtype == np.float32 and n_found == 0


@pytest.mark.parametrize(
    ("name", "mean"),
    [
        ("apple", [1, 2]),
        ("apple_pie", [3, 4]),
        ("apple, pie", [3, 4]),
        ("Pie/us-pie", [3, 4]),
        ("apple pie us", [5 / 3, 8 / 3]),
        ("  (Apple)!", [3, 4]),
        ("café 2", [4, 4.5]),
        ("plum_pie", [5, 6]),  # an unknown word does not count beside a known one
        ("apple2", None),
        ("plum", None),
        ("_-/", None),
        ("", None),
    ],
)
def test_a_label_is_the_mean_of_the_known_words_in_its_name(name, mean):
    matrix, n_found = KNOWN.label_matrix([name], np.random.default_rng(0))
    assert matrix.dtype == np.float32 and matrix.shape == (1, 2) and n_found == (mean is not None)
    if mean is None:
        assert (np.abs(matrix) <= np.float32(0.1)).all() and matrix.any()
    else:
        np.testing.assert_allclose(matrix[0], mean, rtol=1e-6)


def test_known_labels_keep_their_places_among_unknown_ones():
    matrix, n_found = KNOWN.label_matrix(["x", "pie", "y", "apple us"], np.random.default_rng(0))
    assert n_found == 2 and matrix[[1, 3]].tolist() == [[5, 6], [0, 1]]
    assert (np.abs(matrix[[0, 2]]) <= np.float32(0.1)).all()


def test_vectors_must_fit_the_words():
    for vectors in (VECTORS[:1], VECTORS[:2].astype(np.float64), VECTORS[:2].ravel()):
        with pytest.raises(ValueError, match=r"2 words need vectors of float32 \(2, d\)"):
            WordVectors(["a", "b"], vectors)
