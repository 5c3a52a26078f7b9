"""What well-formed files are read as; `test_malformed.py` has the files that must be refused."""

import gzip
import io
import re
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_matrix, csr_matrix, save_npz
from sklearn.datasets import load_svmlight_file

from orchard.data import _kernels
from orchard.data.formats import (
    read_image_labels,
    read_images,
    read_label_names,
    read_pecos,
    read_texts,
    read_xmc,
    write_xmc,
)
from orchard.data.readers import libsvm
from orchard.errors import FormatError

# Every example overwrites the same file, so sharing one temporary folder between examples is safe.
shared_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
LABELS_AND_FEATURES = re.compile(rf"(?:(\d+(?:,\d+)*)(?= |$))?((?:(?:^| +)\d+:{NUMBER})*) *", re.ASCII)


def read_xmc_simply(text):
    """The format as a regular expression: dense X and Y, or None where the text is malformed."""
    header, *rows = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    if not re.fullmatch(r" *\d+ +\d+ +\d+ *", header, re.ASCII):
        return None
    n_rows, n_features, n_labels = map(int, header.split())
    matches = [LABELS_AND_FEATURES.fullmatch(row) for row in rows]
    if len(rows) != n_rows or not all(matches):
        return None
    X, Y = np.zeros((n_rows, n_features), np.float32), np.zeros((n_rows, n_labels), np.float32)
    for row, match in enumerate(matches):
        labels = [int(label) for label in (match[1] or "").split(",") if label]
        features = [int(pair.split(":")[0]) for pair in match[2].split()]
        values = np.array([float(pair.split(":")[1]) for pair in match[2].split()])
        in_range = all(label < n_labels for label in labels) and all(feature < n_features for feature in features)
        distinct = len(set(labels)) == len(labels) and sorted(set(features)) == features
        if not (in_range and distinct and (np.abs(values) <= np.finfo(np.float32).max).all()):
            return None
        X[row, features], Y[row, labels] = values, 1
    return X, Y


def write_bytes(folder, data, name="data.txt"):
    path = folder / name
    path.write_bytes(data)
    return path


def assert_same_matrix(left, right):
    """The same stored entries, bit by bit: -0.0 is not 0.0, a stored zero is not an absent one."""
    assert left.shape == right.shape
    for name in ("data", "indices", "indptr"):
        ours, theirs = getattr(left, name), getattr(right, name)
        assert ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes(), name


def assert_canonical(matrix):
    """What the readers promise of a matrix."""
    assert isinstance(matrix, csr_matrix) and matrix.dtype == np.float32
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
    fresh = csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    assert fresh.has_canonical_format


float32s = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def data_sets(draw):
    """A random X and Y with empty rows, stored zeros and extreme values among the ordinary ones."""
    n_rows, n_features, n_labels = draw(st.tuples(*[st.integers(0, 6)] * 3))

    def matrix(n_columns, values):
        columns = st.integers(0, n_columns - 1) if n_columns else st.nothing()
        rows = [draw(st.dictionaries(columns, values, max_size=n_columns)) for _ in range(n_rows)]
        entries = [entry for row in rows for entry in sorted(row.items())]
        indices, data = np.array(entries, np.float64).reshape(-1, 2).T
        ends = np.cumsum([0, *map(len, rows)])
        return csr_matrix((data.astype(np.float32), indices.astype(int), ends), shape=(n_rows, n_columns))

    return matrix(n_features, float32s), matrix(n_labels, st.just(1.0))


@shared_folder
@given(data_sets(), st.sampled_from(["data.txt", "data.txt.gz"]))
def test_reading_what_was_written_changes_nothing(tmp_path, data_set, name):
    """Not one bit of a float32 and not one empty row may be lost on the way through a file."""
    write_xmc(tmp_path / name, *data_set)
    for matrix, original in zip(read_xmc(tmp_path / name), data_set, strict=True):
        assert_canonical(matrix)
        assert_same_matrix(matrix, original)


def test_the_writer_does_not_trust_the_shortest_decimal(tmp_path):
    """Read by way of float64, the shortest decimal of this float32 is its neighbour."""
    value = np.array([0x15AE43FD], np.uint32).view(np.float32)
    assert np.float32(float(str(value[0]))) != value[0]
    write_xmc(tmp_path / "data.txt", csr_matrix(value), csr_matrix((1, 1)))
    assert read_xmc(tmp_path / "data.txt")[0].data == value


def test_the_writer_accepts_any_matrix_and_leaves_it_alone(tmp_path):
    """Dense, unsorted, with duplicates or zeros in Y: the file holds the same matrix, the arguments do not change."""
    X = csr_matrix(([1.0, 2.0, 3.0], [1, 0, 1], [0, 3]), shape=(1, 2))
    Y = csr_matrix(([2.0, 0.0], [2, 0], [0, 2]), shape=(1, 3))
    write_xmc(tmp_path / "data.txt", X, Y)
    assert (tmp_path / "data.txt").read_text() == "1 2 3\n2 0:2.0 1:4.0\n"
    assert X.nnz == 3 and Y.nnz == 2
    write_xmc(tmp_path / "data.txt", X.toarray(), Y.toarray())
    assert (tmp_path / "data.txt").read_text() == "1 2 3\n2 0:2.0 1:4.0\n"


@pytest.mark.parametrize("X, words", [([[np.nan]], "finite"), ([[np.inf]], "finite"), ([[1.0], [2.0]], "2 rows")])
def test_the_writer_writes_no_file_that_the_reader_would_refuse(tmp_path, X, words):
    """An error comes before the file."""
    with pytest.raises(ValueError, match=words):
        write_xmc(tmp_path / "data.txt", np.array(X), np.ones((1, 1)))
    assert list(tmp_path.iterdir()) == []


signs = st.sampled_from(["", "", "-", "+"])
digits = st.text("0123456789", max_size=25)
exponents = st.one_of(st.just(""), st.builds("{}{}{}".format, st.sampled_from("eE"), signs, st.integers(0, 60)))
spelled = st.builds("{}{}{}{}{}".format, signs, digits, st.sampled_from(["", "."]), digits, exponents)
spelled = spelled.filter(re.compile(NUMBER, re.ASCII).fullmatch)
tokens = st.one_of(spelled, st.floats(-3e38, 3e38).map(repr), float32s.map(lambda value: str(np.float32(value))))


@shared_folder
@given(st.lists(tokens, min_size=1, max_size=20))
@example(["1", "1.", ".5", "-.5", "+1", "1e-3", "-2.5E+10", "1E5", "00012.50", "0", "-0", "0.0e0", "0e999999999999"])
@example(["16777217", "16777219", "8388608.5", "33554434.000000000000000000001", "7.038531e-26", "9007199254740993"])
@example(["1e-45", "7e-46", "7.1e-46", "1.4012984643248170709e-45", "1.17549435e-38", "1e-400", "3.4028235e38"])
@example(
    ["0.10000000149011612", "12345678901234567890123456789e-20", "0." + "0" * 400 + "1e400", "1" + "0" * 30 + "e-30"]
)
@example(["1e-" + "9" * 30, "0." + "0" * 5000 + "1e5001", "1e22", "1e23", "1e37", "-1e-22", "-1e-23", "123e-70"])
def test_a_value_is_the_float32_of_its_float64(tmp_path, tokens):
    """The quick arithmetic of the kernel must never differ from Python's, however a number is spelled."""
    with np.errstate(over="ignore"):
        expected = np.array([float(token) for token in tokens]).astype(np.float32)
    pairs = " ".join(f"{feature}:{token}" for feature, token in enumerate(tokens))
    path = write_bytes(tmp_path, f"1 {len(tokens)} 0\n{pairs}\n".encode())
    if np.isfinite(expected).all():
        assert read_xmc(path)[0].data.tobytes() == expected.tobytes()
    else:
        with pytest.raises(FormatError, match=r"data\.txt:2: the value .* is too large for float32"):
            read_xmc(path)


def test_few_values_need_more_than_the_quick_arithmetic():
    """What is left to Python, token by token, must be next to nothing, or reading would be slow."""
    random = np.random.default_rng(0)
    values = [f"0:{value:.{n}g}" for n in (6, 9, 17) for value in random.lognormal(0, 5, 20_000)]
    text = np.frombuffer("\n".join(values).encode(), np.uint8)
    label_ends, feature_ends = np.zeros((2, len(values) + 1), np.int64)
    labels, features = np.empty((2, len(values)), np.int32)
    parsed = np.empty(len(values), np.float32)
    problem, _ = _kernels.parse_rows(text, 0, 1, 0, label_ends, labels, feature_ends, features, parsed)
    assert problem == _kernels.NOTHING
    assert np.isnan(parsed).sum() <= 1


row_pieces = st.sampled_from(
    ["0", "1", "2", "12", "0:1", "1:.5", "2:-1e1", "3:7", ",", ":", " ", "  ", "\r", "-", "e", "x"]
)
rows = st.one_of(
    st.sampled_from(["", "0", "2,1", "1 0:1", " 1:2.5 2:3", "0:1 2:1e-3", "0,2 0:0 ", "1,0,2  0:1  2:4 \r"]),
    st.lists(row_pieces, max_size=8).map("".join),
)


@settings(shared_folder, max_examples=400)
@given(st.lists(rows, max_size=4), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from([0, 0, 0, 0, 1, -1]))
def test_the_kernel_accepts_what_the_regular_expression_accepts(tmp_path, rows, line_end, final, surplus):
    """The kernel and the readable reader must agree on which files are well formed, and on what they say."""
    header = f"{max(0, len(rows) + surplus)} 3 3"
    text = line_end.join([header, *rows]) + (line_end if final or (rows and not rows[-1]) else "")
    expected = read_xmc_simply(text)
    path = write_bytes(tmp_path, text.encode())
    if expected is None or (rows and not text.endswith("\n")):
        with pytest.raises(FormatError, match=r"data\.txt:\d+: "):
            read_xmc(path)
    else:
        X, Y = read_xmc(path)
        assert_canonical(X)
        assert_canonical(Y)
        np.testing.assert_array_equal(X.toarray(), expected[0])
        np.testing.assert_array_equal(Y.toarray(), expected[1])


@shared_folder
@given(st.binary(max_size=60), st.integers(0, 40))
def test_no_bytes_can_do_worse_than_a_format_error(tmp_path, garbage, position):
    """Whatever bytes stand in a file, every reader returns or raises FormatError."""
    valid = b"2 9 9\n1,2 0:1.5 3:2\n4 1:1e-3 2:7\n"
    path = write_bytes(tmp_path, valid[:position] + garbage + valid[position:])
    for reader in (read_xmc, read_texts, read_images, read_image_labels):
        try:
            reader(path)
        except FormatError as error:
            assert str(error).startswith(f"{path}:")


SMALL = b"4 3 5\n4,1 0:1 2:0.5\n 1:2\n1:3 \n\n"
SMALL_X = [[1, 0, 0.5], [0, 2, 0], [0, 3, 0], [0, 0, 0]]
SMALL_Y = [[0, 1, 0, 0, 1], [0] * 5, [0] * 5, [0] * 5]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(SMALL, id="plain"),
        pytest.param(SMALL.replace(b"\n", b"\r\n"), id="windows-line-ends"),
        pytest.param(SMALL.replace(b" ", b"   "), id="several-spaces"),
        pytest.param(gzip.compress(SMALL), id="gzip-without-the-name"),
        pytest.param(gzip.compress(SMALL[:9]) + gzip.compress(SMALL[9:]), id="gzip-of-two-members"),
        pytest.param(gzip.compress(SMALL) + b"\0" * 512, id="gzip-padded-with-zeros"),
    ],
)
def test_the_same_rows_in_other_clothes(tmp_path, data):
    """Labels come back sorted; the unlabelled and the empty row keep their places."""
    X, Y = read_xmc(write_bytes(tmp_path, data))
    assert_canonical(Y)
    np.testing.assert_array_equal(X.toarray(), SMALL_X)
    np.testing.assert_array_equal(Y.toarray(), SMALL_Y)


@pytest.mark.parametrize("cut", range(1, len("4,1 1:5 2:0.25\n")))
def test_a_file_cut_anywhere_in_its_last_line_is_refused(tmp_path, cut):
    """`4,1 1:5 2:0.2` is well formed, and wrong."""
    data = b"2 3 5\n0 0:1\n4,1 1:5 2:0.25\n"
    with pytest.raises(FormatError, match=r":3: "):
        read_xmc(write_bytes(tmp_path, data[:-cut]))


@pytest.mark.parametrize("data", [b"0 3 5\n", b"0 3 5", b"0 3 5\r\n", b"0 0 0"])
def test_a_file_without_rows(tmp_path, data):
    """Zero rows are what the header says, not a mistake."""
    X, Y = read_xmc(write_bytes(tmp_path, data))
    assert X.shape[0] == Y.shape[0] == 0
    assert X.nnz == Y.nnz == 0


def test_a_written_zero_is_stored(tmp_path):
    """An explicit zero in the file stays an explicit zero of the matrix."""
    X, _ = read_xmc(write_bytes(tmp_path, b"1 3 1\n0 0:0 1:-0 2:1\n"))
    assert X.nnz == 3
    assert np.signbit(X.data).tolist() == [False, True, False]


def test_agreement_with_scikit_learn(tmp_path):
    """The rows of an XMC file are multi-label svmlight, which scikit-learn reads too."""
    random = np.random.default_rng(0)
    X = csr_matrix(random.lognormal(size=(40, 30)) * (random.random((40, 30)) < 0.3), dtype=np.float32)
    Y = csr_matrix(random.random((40, 8)) < 0.3)
    write_xmc(tmp_path / "data.txt", X, Y)
    rows = (tmp_path / "data.txt").read_bytes().partition(b"\n")[2]
    theirs, their_labels = load_svmlight_file(
        io.BytesIO(rows), n_features=30, dtype=np.float32, multilabel=True, zero_based=True
    )
    ours, our_labels = read_xmc(tmp_path / "data.txt")
    assert (ours != theirs).nnz == 0
    assert [tuple(row.indices) for row in our_labels] == [tuple(map(int, labels)) for labels in their_labels]


@pytest.mark.parametrize("kind", [csr_matrix, csc_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, bool])
def test_pecos_matrices(tmp_path, kind, dtype):
    """Either orientation and any real type become canonical CSR float32; Y becomes an indicator."""
    X = np.array([[0, 3, 0], [1, 0, 2]]).astype(dtype)
    Y = np.array([[0, 5], [0, 0]]).astype(dtype)
    save_npz(tmp_path / "X.tst.npz", kind(X))
    save_npz(tmp_path / "Y.tst.npz", kind(Y), compressed=False)
    read_X, read_Y = read_pecos(tmp_path, "tst")
    assert_canonical(read_X)
    assert_canonical(read_Y)
    np.testing.assert_array_equal(read_X.toarray(), X)
    np.testing.assert_array_equal(read_Y.toarray(), [[0, 1], [0, 0]])


def test_pecos_indices_are_sorted(tmp_path):
    """PECOS does not promise sorted indices; we do."""
    unsorted = csr_matrix(([1.0, 2.0], [2, 0], [0, 2]), shape=(1, 3))
    save_npz(tmp_path / "X.trn.npz", unsorted)
    save_npz(tmp_path / "Y.trn.npz", unsorted)
    X, _ = read_pecos(tmp_path, "trn")
    assert_canonical(X)
    np.testing.assert_array_equal(X.toarray(), [[2, 0, 1]])


def test_pecos_knows_two_splits(tmp_path):
    """A wrong split is the caller's mistake, not the file's."""
    with pytest.raises(ValueError, match="'trn' or 'tst', not 'test'"):
        read_pecos(tmp_path, "test")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_images_and_their_labels(tmp_path, pack):
    """The dimensions are big-endian, the last one runs fastest, and the array is the caller's to change."""
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    images = read_images(write_bytes(tmp_path, pack(struct.pack(">4i", 2051, 2, 3, 4) + pixels.tobytes())))
    labels = read_image_labels(write_bytes(tmp_path, pack(struct.pack(">2i", 2049, 2) + b"\x07\x03")))
    np.testing.assert_array_equal(images, pixels)
    np.testing.assert_array_equal(labels, [7, 3])
    assert images.dtype == labels.dtype == np.uint8
    assert images.flags.writeable


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_texts_are_lines_and_nothing_else(tmp_path, pack):
    """Only a newline ends a document, an empty line is one, and neither a BOM nor CR is part of any."""
    data = "\ufeffein Öl\r\n\nform\x0cfeed\u2028here\nlast\n".encode()
    assert read_texts(write_bytes(tmp_path, pack(data))) == ["ein Öl", "", "form\x0cfeed\u2028here", "last"]


def test_texts_cut_in_their_last_line_are_refused(tmp_path):
    """Half of a document looks like a document."""
    with pytest.raises(FormatError, match=r":2: the last line has no line break"):
        read_texts(write_bytes(tmp_path, b"whole\nhal"))


def test_label_names_are_counted_when_asked(tmp_path):
    """The count is a promise only when it is given."""
    path = write_bytes(tmp_path, b"one\ntwo\n")
    assert read_label_names(path) == read_label_names(path, n_labels=2) == ["one", "two"]


def test_libsvm_features_start_at_one(tmp_path):
    """A file that counts from 0 would silently lose its first feature."""
    options = {"train": "a.txt", "test": "a.txt", "n_features": 3, "n_labels": 2}
    (tmp_path / "a.txt").write_text("1 1:5 3:2\n0 2:1\n")
    assert libsvm.read(tmp_path, options).X_train.toarray().tolist() == [[5, 0, 2], [0, 1, 0]]
    for row, message in (("0 0:1", "feature 0"), ("0 0:0", "feature 0"), ("0 4:1", "the last one is 3")):
        (tmp_path / "a.txt").write_text(f"1 1:5 3:2\n{row}\n")
        with pytest.raises(FormatError, match=rf"a\.txt:2: .*{message}"):
            libsvm.read(tmp_path, options)


def test_a_file_without_a_header(tmp_path):
    """LIBSVM's files state no sizes; places in messages still count from the first line of the file."""
    path = tmp_path / "rows.txt"
    path.write_text("1,0 1:0.5\n 2:2\n")
    X, Y = read_xmc(path, sizes=(3, 2))
    assert X.toarray().tolist() == [[0, 0.5, 0], [0, 0, 2]]
    assert Y.toarray().tolist() == [[1, 1], [0, 0]]
    for row, message in (("0 3:1", "rows.txt:3: "), ("1,1 2:1", "rows.txt:3: label 1 occurs twice")):
        path.write_text(f"1,0 1:0.5\n 2:2\n{row}\n")
        with pytest.raises(FormatError, match=message):
            read_xmc(path, sizes=(3, 2))
