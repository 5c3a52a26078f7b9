"""Every kind of malformed input we could think of, and the words it is refused with."""

import gzip
import io
import re
import struct
import zipfile

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csr_matrix, save_npz

from orchard.data.formats import (
    read_image_labels,
    read_images,
    read_label_names,
    read_pecos,
    read_texts,
    read_xmc,
)
from orchard.errors import FormatError


def refused(identity, data, line, words):
    return pytest.param(data, line, words, id=identity)


def check(reader, path, line, words):
    """The message must be exactly `path:line: words`, and nothing may have been written beside the file."""
    before = sorted(path.parent.iterdir())
    with pytest.raises(FormatError) as caught:
        reader(path)
    place = f"{path}:{line}: " if line else f"{path}: "
    assert str(caught.value).startswith(place)
    assert re.search(words, caught.value.problem), caught.value.problem
    assert sorted(path.parent.iterdir()) == before


def with_wrong_checksum(data):
    """Gzip whose checksum does not fit its content."""
    packed = bytearray(gzip.compress(data))
    packed[-8] ^= 0xFF
    return bytes(packed)


def damaged_stream(data):
    """Gzip whose deflate stream uses a block type that does not exist."""
    packed = bytearray(gzip.compress(data))
    packed[10] |= 0b110
    return bytes(packed)


XMC = b"2 9 5\n1,0 0:1 3:2\n4 1:1 2:1\n"


def xmc_row(row):
    """A file whose second row, on line 3, is the given one."""
    return b"3 9 5\n1,0 0:1 3:2\n" + row + b"\n4 1:1\n"


@pytest.mark.parametrize(
    "data, line, words",
    [
        refused("empty file", b"", None, "the file is empty"),
        refused("empty gzip", gzip.compress(b""), None, "the file is empty"),
        refused("gzip truncated", gzip.compress(XMC)[:-10], None, "truncated gzip data"),
        refused("gzip of magic only", b"\x1f\x8b", None, "truncated gzip data"),
        refused("gzip with wrong checksum", with_wrong_checksum(XMC), None, "damaged gzip data: CRC check failed"),
        refused("gzip with damaged stream", damaged_stream(XMC), None, "damaged gzip data: .*invalid block type"),
        refused("gzip with unknown method", b"\x1f\x8b\x09" + bytes(20), None, "damaged gzip data: .*method"),
        refused("gzip with trailing bytes", gzip.compress(XMC) + b"junk", None, "trailing bytes after the gzip data"),
        refused("header blank", b"\n0 0:1\n", 1, "three non-negative integers `n d L`, not ''"),
        refused("header missing", b"1,0 0:1 3:2\n", 1, "three non-negative integers .* not '1,0 0:1 3:2'"),
        refused("header of two numbers", b"2 9\n0 0:1\n", 1, "three non-negative integers .* not '2 9'"),
        refused("header of four numbers", b"2 9 5 1\n0 0:1\n", 1, "three non-negative integers .* not '2 9 5 1'"),
        refused("header negative", b"-2 9 5\n", 1, "three non-negative integers .* not '-2 9 5'"),
        refused("header with a fraction", b"2 9.0 5\n", 1, "three non-negative integers .* not '2 9.0 5'"),
        refused("header with tabs", b"2\t9\t5\n", 1, r"three non-negative integers .* not '2\\t9\\t5'"),
        refused("header after a byte order mark", b"\xef\xbb\xbf" + XMC, 1, r"not '\\xef\\xbb\\xbf2 9 5'"),
        refused("header beyond int32", b"1 2147483648 5\n", 1, "size '2147483648' .* too large, 2147483647 at most"),
        refused("header beyond every integer", b"1 9 " + b"9" * 5000, 1, "size '9{60}'… .* too large"),
        refused("header asks for more memory than there is", b"2147483647 9 5\n", 1, "ends after 0 of the 2147483647"),
        refused("binary file", bytes(range(128, 256)) * 9, 1, r"three non-negative integers .* not '\\x80\\x81.*…"),
        refused("UTF-16", XMC.decode().encode("utf-16"), 1, r"three non-negative integers .* not '\\xff\\xfe"),
        refused("rows missing", b"3 9 5\n0 0:1\n1 0:1\n", 3, "ends after 2 of the 3 rows"),
        refused("rows missing and last line open", b"3 9 5\n0 0:1\n1 0:", 3, "ends after 2 of the 3 rows"),
        refused("row too many", b"1 9 5\n0 0:1\n1 0:1\n2 0:1\n", 3, "a row beyond the 1 that the header announces"),
        refused("blank line too many", XMC + b"\n", 4, "a row beyond the 2 that the header announces"),
        refused("cut within a pair", b"1 9 5\n0 0:1 2:", 2, "feature '2' has no value"),
        refused("cut before a colon", b"1 9 5\n0 0:1 2", 2, "feature '2' has no value"),
        refused("cut within a sign", b"1 9 5\n0 0:1 2:-", 2, "the value '-' is not a number"),
        refused("cut within an exponent", b"1 9 5\n0 0:1 2:1e", 2, "the value '1e' is not a number"),
        refused("cut within an exponent's sign", b"1 9 5\n0 0:1 2:1e-", 2, "the value '1e-' is not a number"),
        refused("cut after a comma", b"1 9 5\n0,", 2, "a label is missing beside a comma"),
        refused("label negative", xmc_row(b"-1 0:1"), 3, "label '-1' is negative"),
        refused("label negative among others", xmc_row(b"0,-3,1 0:1"), 3, "label '-3' is negative"),
        refused("label out of range", xmc_row(b"0,5 0:1"), 3, "label '5' is out of range, the last one is 4"),
        refused("label beyond int64", xmc_row(b"99999999999999999999 0:1"), 3, "label '9{20}' is out of range"),
        refused("label that wraps to int32", xmc_row(b"4294967296 0:1"), 3, "label '4294967296' is out of range"),
        refused("label twice", xmc_row(b"3,1,3 0:1"), 3, "label 3 occurs twice"),
        refused("label a word", xmc_row(b"sport 0:1"), 3, "'sport' is not a label"),
        refused("label a fraction", xmc_row(b"1.0 0:1"), 3, "'1.0' is not a label"),
        refused("label missing before a comma", xmc_row(b",1 0:1"), 3, "a label is missing beside a comma"),
        refused("label missing between commas", xmc_row(b"0,,1 0:1"), 3, "a label is missing beside a comma"),
        refused("label missing after a comma", xmc_row(b"0, 0:1"), 3, "a label is missing beside a comma"),
        refused("labels split by semicolons", xmc_row(b"0;1 0:1"), 3, "'0;1' is not a label"),
        refused("labels split by spaces", xmc_row(b"0 1 0:1"), 3, "feature '1' has no value"),
        refused("labels after a space", xmc_row(b" 0,1 0:1"), 3, "'0,1' is not `feature:value`"),
        refused("labels joined to features", xmc_row(b"0,1:2 0:1"), 3, "'1:2' is not a label"),
        refused("feature without index", xmc_row(b"0 :1"), 3, "':1' is not `feature:value`"),
        refused("feature without value", xmc_row(b"0 2: 3:1"), 3, "feature '2' has no value"),
        refused("feature without value or colon", xmc_row(b"0 2 3:1"), 3, "feature '2' has no value"),
        refused("feature negative", xmc_row(b"0 -2:1"), 3, "'-2:1' is not `feature:value`"),
        refused("feature a word", xmc_row(b"0 qid:1"), 3, "'qid:1' is not `feature:value`"),
        refused("feature out of range", xmc_row(b"0 9:1"), 3, "feature '9' is out of range, the last one is 8"),
        refused("feature that wraps to int32", xmc_row(b"0 4294967297:1"), 3, "feature '4294967297' is out of range"),
        refused("feature twice", xmc_row(b"0 2:1 2:1"), 3, "feature '2' comes twice or out of order"),
        refused("features out of order", xmc_row(b"0 3:1 2:1"), 3, "feature '2' comes twice or out of order"),
        refused("features split by commas", xmc_row(b"0 2:1,3:1"), 3, "the value '1,3:1' is not a number"),
        refused("features split by tabs", xmc_row(b"0 2:1\t3:1"), 3, r"the value '1\\t3:1' is not a number"),
        refused("space before the colon", xmc_row(b"0 2 :1"), 3, "feature '2' has no value"),
        refused("value nan", xmc_row(b"0 2:nan"), 3, "the value 'nan' is not finite"),
        refused("value infinite", xmc_row(b"0 2:-Inf"), 3, "the value '-Inf' is not finite"),
        refused("value beyond float32", xmc_row(b"0 2:-1e39"), 3, "the value '-1e39' is too large for float32"),
        refused("value beyond float64", xmc_row(b"0 2:1e999"), 3, "the value '1e999' is too large for float32"),
        refused("value a word", xmc_row(b"0 2:one"), 3, "the value 'one' is not a number"),
        refused("value a lone point", xmc_row(b"0 2:. 3:1"), 3, "the value '.' is not a number"),
        refused("value hexadecimal", xmc_row(b"0 2:0x1p3"), 3, "the value '0x1p3' is not a number"),
        refused("value with underscore", xmc_row(b"0 2:1_000"), 3, "the value '1_000' is not a number"),
        refused("value with two points", xmc_row(b"0 2:1.2.3"), 3, "the value '1.2.3' is not a number"),
        refused("value with two colons", xmc_row(b"0 2:1:3"), 3, "the value '1:3' is not a number"),
        refused("comment", xmc_row(b"0 2:1 # note"), 3, "'#' is not `feature:value`"),
        refused("carriage return within a line", xmc_row(b"0 2:1\r3:1"), 3, r"the value '1\\r3:1' is not a number"),
        refused("NUL within a row", xmc_row(b"0 2:1 \x003:1"), 3, r"'\\x003:1' is not `feature:value`"),
        refused("not UTF-8 within a row", xmc_row(b"0\xff 2:1"), 3, r"'0\\xff' is not a label"),
        refused("non-ASCII digits", xmc_row("٣ 2:1".encode()), 3, r"'\\xd9\\xa3' is not a label"),
        refused("malformed row within gzip", gzip.compress(xmc_row(b"0 2:x")), 3, "the value 'x' is not a number"),
        refused("malformed row with CR LF", b"1 9 5\r\n0 2:\r\n", 2, "feature '2' has no value$"),
    ],
)
def test_xmc(tmp_path, data, line, words):
    """A malformed XMC file is refused by file and line, and in words that show what stands there."""
    path = tmp_path / "data.txt"
    path.write_bytes(data)
    check(read_xmc, path, line, words)


@pytest.mark.parametrize("reader", [read_xmc, read_images, read_image_labels, read_texts, read_label_names])
@pytest.mark.parametrize(
    "name, words",
    [
        pytest.param("absent.txt", "there is no such file", id="missing file"),
        pytest.param("folder", "this is a folder, not a file", id="folder"),
        pytest.param("text.txt/data.txt", "cannot be read: Not a directory", id="path through a file"),
    ],
)
def test_nothing_to_read(tmp_path, reader, name, words):
    """Every reader tells a missing file and a folder in the same words."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.txt").write_text("a text")
    path = tmp_path / name
    with pytest.raises(FormatError) as caught:
        reader(path)
    assert str(caught.value) == f"{path}: {words}"


def npz(**members):
    """The bytes of an npz archive: by default a well-formed CSR matrix of two rows; None leaves a member out."""
    well_formed = {
        "format": np.array(b"csr"),
        "shape": np.array([2, 3]),
        "data": np.array([1.0, 2.0, 3.0]),
        "indices": np.array([0, 2, 1]),
        "indptr": np.array([0, 2, 3]),
    }
    file = io.BytesIO()
    np.savez(file, **{name: value for name, value in (well_formed | members).items() if value is not None})
    return file.getvalue()


def saved(save, *arguments):
    file = io.BytesIO()
    save(file, *arguments)
    return file.getvalue()


def with_damaged_member(archive):
    """An archive of which one byte changed within the stored data, so that its checksum no longer fits."""
    position = archive.index(np.array([1.0, 2.0, 3.0]).tobytes())
    return archive[:position] + b"\xff" + archive[position + 1 :]


def with_raw_data(content):
    """An archive like `npz()` with `content` in place of the array `data`."""
    file = io.BytesIO(npz(data=None))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("data.npy", content)
    return file.getvalue()


# The header of an array that takes a terabyte.
GIGANTIC = saved(np.lib.format.write_array_header_1_0, {"descr": "<f8", "fortran_order": False, "shape": (2**37,)})


@pytest.mark.parametrize("name", ["X.trn.npz", "Y.trn.npz"])
@pytest.mark.parametrize(
    "data, line, words",
    [
        refused("empty file", b"", None, "the file is empty"),
        refused("not an archive", b"0 0:1\n", None, "not an npz archive"),
        refused("array in place of an archive", saved(np.save, np.eye(2)), None, "not an npz archive"),
        refused("pickle", b"\x80\x04N.", None, "not an npz archive"),
        refused("archive truncated", npz()[:-30], None, "the npz archive cannot be read: .*zip"),
        refused("archive damaged", with_damaged_member(npz()), None, "the npz archive cannot be read: Bad CRC-32"),
        refused("pickled object", npz(data=np.array([{}] * 3)), None, "cannot be read: Object arrays"),
        refused("member not an array", with_raw_data(b"text"), None, "the archive has no array `data`"),
        refused("member larger than memory", with_raw_data(GIGANTIC + bytes(8)), None, "cannot be read: "),
        refused("format missing", npz(format=None), None, "the archive has no array `format`"),
        refused("data missing", npz(data=None), None, "the archive has no array `data`"),
        refused("indptr missing", npz(indptr=None), None, "the archive has no array `indptr`"),
        refused("COO matrix", saved(save_npz, coo_matrix(np.eye(2))), None, "the archive has no array `indices`"),
        refused("BSR matrix", npz(format=np.array(b"bsr")), None, "in format csr or csc, not b'bsr'"),
        refused("format not a word", npz(format=np.array([1])), None, r"in format csr or csc, not \[1\]"),
        refused("one dimension", npz(shape=np.array([2])), None, r"shape must be two .* not \[2\]"),
        refused("negative shape", npz(shape=np.array([2, -3])), None, r"shape must be two .* not \[2, -3\]"),
        refused("gigantic shape", npz(shape=np.array([2**40, 3])), None, r"shape must be two integers .* not \[1099"),
        refused("fractional shape", npz(shape=np.array([2.0, 3.0])), None, "shape must be two integers from 0"),
        refused("complex values", npz(data=np.array([1j] * 3)), None, "`data` must be .* real, not complex128"),
        refused("text values", npz(data=np.array(["a"] * 3)), None, "`data` must be .* real, not <U1"),
        refused("values in two dimensions", npz(data=np.ones((3, 1))), None, r"`data` must be .* \(3, 1\)"),
        refused("fractional indices", npz(indices=np.array([0.0, 2.0, 1.0])), None, "`indices` must be .* float64"),
        refused("fractional indptr", npz(indptr=np.array([0.0, 2.0, 3.0])), None, "`indptr` must be .* float64"),
        refused("values missing", npz(data=np.ones(2)), None, "3 indices for 2 values"),
        refused("row ends missing", npz(indptr=np.array([0, 3])), None, "`indptr` has 2 entries, the shape asks for 3"),
        refused("rows overlap", npz(indptr=np.array([0, 4, 3])), None, "`indptr` must rise from 0 to .* 3"),
        refused("rows start late", npz(indptr=np.array([1, 2, 3])), None, "`indptr` must rise from 0 to .* 3"),
        refused("rows end early", npz(indptr=np.array([0, 1, 2])), None, "`indptr` must rise from 0 to .* 3"),
        refused("rows end late", npz(indptr=np.array([0, 2, 9])), None, "`indptr` must rise from 0 to .* 3"),
        refused("index out of range", npz(indices=np.array([0, 3, 1])), None, "out of range: they go from 0 to 2"),
        refused("index negative", npz(indices=np.array([0, -1, 1])), None, "out of range: they go from 0 to 2"),
        refused("column twice", npz(indices=np.array([2, 2, 1])), None, "row 0: column 2 occurs twice"),
        refused("value nan", npz(data=np.array([1, np.nan, 1])), None, "row 0: column 2 .* not a finite float32"),
        refused("value infinite", npz(data=np.array([1, 1, np.inf])), None, "row 1: column 1 .* not a finite float32"),
        refused("value beyond float32", npz(data=np.array([1e39, 1, 1])), None, "row 0: column 0 .* finite float32"),
    ],
)
def test_pecos(tmp_path, name, data, line, words):
    """A malformed matrix is refused by file, whether it holds features or labels."""
    for well_formed in ("X.trn.npz", "Y.trn.npz"):
        (tmp_path / well_formed).write_bytes(npz())
    (tmp_path / name).write_bytes(data)
    check(lambda path: read_pecos(path.parent, "trn"), tmp_path / name, line, words)


@pytest.mark.parametrize(
    "data, line, words",
    [
        refused("label value negative", npz(data=np.array([1, 1, -1])), None, "row 1: label 1 .* not positive"),
        refused("label value zero", npz(data=np.array([1, 0, 1])), None, "row 0: label 2 .* not positive"),
        refused("other row count", saved(save_npz, csr_matrix(np.eye(3))), None, "3 rows, but X.trn.npz has 2"),
        refused("missing file", None, None, "there is no such file"),
    ],
)
def test_pecos_labels(tmp_path, data, line, words):
    """What only the labels of a PECOS data set can have wrong."""
    (tmp_path / "X.trn.npz").write_bytes(npz())
    if data is not None:
        (tmp_path / "Y.trn.npz").write_bytes(data)
    check(lambda path: read_pecos(path.parent, "trn"), tmp_path / "Y.trn.npz", line, words)


IMAGES = struct.pack(">4i", 2051, 2, 1, 2) + b"abcd"
IMAGE_LABELS = struct.pack(">2i", 2049, 2) + b"ab"


@pytest.mark.parametrize(
    "data, line, words",
    [
        refused("empty file", b"", None, "the file is empty"),
        refused("cut within the header", IMAGES[:15], None, "truncated: 15 bytes cannot hold the header of 16"),
        refused("cut within the images", IMAGES[:-1], None, "truncated: 2 × 1 × 2 images take 4 bytes, found 3"),
        refused("trailing bytes", IMAGES + b"e", None, "trailing bytes: 2 × 1 × 2 images take 4 bytes, found 5"),
        refused("labels", IMAGE_LABELS + bytes(9), None, "images is 2051, found 2049, that of labels"),
        refused(
            "other magic number", b"PK\x03\x04" + bytes(20), None, "images is 2051, found 1347093252, no known one"
        ),
        refused("little-endian", struct.pack("<4i", 2051, 1, 1, 1) + b"a", None, "2051, found 50855936, no known one"),
        refused("dimensions beyond memory", IMAGES[:4] + b"\xff" * 12, None, r"truncated: 4294967295 × .* found 0"),
        refused("gzip truncated", gzip.compress(IMAGES)[:-9], None, "truncated gzip data"),
        refused("gzip with wrong checksum", with_wrong_checksum(IMAGES), None, "damaged gzip data: CRC check failed"),
        refused("gzip with trailing bytes", gzip.compress(IMAGES) + b"e", None, "trailing bytes after the gzip data"),
    ],
)
def test_images(tmp_path, data, line, words):
    """The dimensions that an image file announces must fit its length to the byte."""
    path = tmp_path / "images.gz"
    path.write_bytes(data)
    check(read_images, path, line, words)


@pytest.mark.parametrize(
    "data, line, words",
    [
        refused("cut within the header", IMAGE_LABELS[:7], None, "truncated: 7 bytes cannot hold the header of 8"),
        refused("cut within the labels", IMAGE_LABELS[:-1], None, "truncated: 2 labels take 2 bytes, found 1"),
        refused("trailing bytes", IMAGE_LABELS + b"c", None, "trailing bytes: 2 labels take 2 bytes, found 3"),
        refused("images", IMAGES, None, "labels is 2049, found 2051, that of images"),
    ],
)
def test_image_labels(tmp_path, data, line, words):
    """The same for the labels of images."""
    path = tmp_path / "labels.gz"
    path.write_bytes(data)
    check(read_image_labels, path, line, words)


@pytest.mark.parametrize("reader", [read_texts, read_label_names])
@pytest.mark.parametrize(
    "data, line, words",
    [
        refused("empty file", b"", None, "the file is empty"),
        refused("Latin-1", "eins\nzwölf\n".encode("latin-1"), 2, "not UTF-8: .* 0xf6"),
        refused("cut within a character", "one\nÖ".encode()[:-1], 2, "not UTF-8: unexpected end of data 0xc3"),
        refused("surrogate", b"one\ntwo\n\xed\xa0\x80\n", 3, "not UTF-8: .* 0xed"),
        refused("UTF-16", "eins\nzwei\n".encode("utf-16"), 1, "not UTF-8: invalid start byte 0xff"),
        refused("not UTF-8 after a byte order mark", b"\xef\xbb\xbfone\n\xff", 2, "not UTF-8: .* 0xff"),
        refused("NUL", b"one\ntwo\nth\0ree\n", 3, "a NUL character"),
        refused("gzip truncated", gzip.compress(b"one\n")[:-1], None, "truncated gzip data"),
        refused("not UTF-8 within gzip", gzip.compress(b"one\n\xff\n"), 2, "not UTF-8: .* 0xff"),
    ],
)
def test_texts(tmp_path, reader, data, line, words):
    """What is not text is refused at the line where that shows."""
    path = tmp_path / "texts.txt"
    path.write_bytes(data)
    check(reader, path, line, words)


@pytest.mark.parametrize(
    "data, line, words",
    [
        refused("names missing", b"one\ntwo\n", 2, "2 label names for 3 labels"),
        refused("names too many", b"one\ntwo\nthree\nfour\nfive\n", 4, "5 label names for 3 labels"),
        refused("blank name too many", b"one\ntwo\nthree\n\n", 4, "4 label names for 3 labels"),
    ],
)
def test_label_names(tmp_path, data, line, words):
    """A count that does not fit is told at the last name, or at the first one too many."""
    path = tmp_path / "labels.txt"
    path.write_bytes(data)
    check(lambda path: read_label_names(path, n_labels=3), path, line, words)
