"""Strict readers of the files that XMC data comes in: XMC text, PECOS matrices, IDX images, plain texts.

A reader returns everything or raises `FormatError`, which names the file, the line where there are lines, and what is
wrong.  Every file may be compressed with gzip, whatever its name; lines are counted in the uncompressed text.
"""

import gzip
import io
import math
import re
import zlib
from pathlib import Path

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

from orchard.data import _kernels
from orchard.errors import FormatError
from orchard.files import atomic_file

_GZIP_MAGIC = b"\x1f\x8b"
_INT32_MAX = np.iinfo(np.int32).max
_LINE = re.compile(rb"[^\n]*")
_HEADER = re.compile(rb" *(\d+) +(\d+) +(\d+) *")
_TOKEN = re.compile(rb"[^ \n]*")
_ZIP_MAGIC = b"PK"
_NPZ_MEMBERS = ("format", "shape", "data", "indices", "indptr")
_NO_LINE_BREAK = "the last line has no line break, so it may be cut short (add one if not)"
_IDX_KINDS = {2051: "images", 2049: "labels"}


def read_xmc(path, sizes: tuple[int, int] | None = None) -> tuple[csr_matrix, csr_matrix]:
    """Read a file of the XMC repository: `n d L`, then n lines `label,label,… feature:value feature:value …`.

    Indices start at 0.  A row without labels starts with a space or with its first feature, a row may lack features,
    and an empty line is a row that lacks both.  Labels may come in any order, features only in increasing order.
    `sizes` is (d, L) of a file that lacks the header, as LIBSVM's do; its number of lines is then n.

    Returns X (n, d), where every value is `np.float32(float(token))` and a zero that is written is a zero that is
    stored, and Y (n, L) of ones; both CSR float32 with sorted indices.
    """
    data = _read_bytes(path)
    start, header = (0, None) if sizes else _read_header(path, data)
    text = np.frombuffer(data, np.uint8)
    n_lines, n_commas, n_colons = _kernels.count_marks(text, start)
    n_lines += start < len(data) and not data.endswith(b"\n")
    n_rows, n_features, n_labels = header or (n_lines, *sizes)
    if n_lines < n_rows:
        raise FormatError(path, n_lines + 1, f"the file ends after {n_lines} of the {n_rows} rows its header announces")
    if n_lines > n_rows:
        raise FormatError(path, n_rows + 2, f"a row beyond the {n_rows} that the header announces")

    label_ends, feature_ends = np.zeros((2, n_rows + 1), np.int64)
    labels = np.empty(n_commas + n_rows, np.int32)
    features, values = np.empty(n_colons, np.int32), np.empty(n_colons, np.float32)
    problem, position = _kernels.parse_rows(
        text, start, n_features, n_labels, label_ends, labels, feature_ends, features, values
    )
    if problem:
        raise FormatError(path, _line_at(data, position), _explain(problem, data, position, n_features, n_labels))
    if start < len(data) and not data.endswith(b"\n"):
        # `2:0.123` may be the first half of `2:0.123456`: nothing but the missing line break tells.
        raise FormatError(path, _line_at(data, len(data)), _NO_LINE_BREAK)
    unsure = np.flatnonzero(np.isnan(values))
    if unsure.size:
        colons = np.empty_like(unsure)
        _kernels.find_colons(text, start, unsure, colons)
        values[unsure] = [_exact_value(path, data, colon + 1) for colon in colons]

    X = csr_matrix((values, features, feature_ends), shape=(n_rows, n_features))
    labels = labels[: label_ends[-1]].copy()
    Y = csr_matrix((np.ones(labels.size, np.float32), labels, label_ends), shape=(n_rows, n_labels))
    Y.sort_indices()
    if duplicate := _first_duplicate(Y):
        row, label = duplicate
        raise FormatError(path, row + (2 if header else 1), f"label {label} occurs twice")
    return X, Y


def write_xmc(path, X, Y) -> None:
    """Write the file from which `read_xmc` reads X, rounded to float32, and the non-zeros of Y; gzip if named `.gz`."""
    X, Y = csr_matrix(X, dtype=np.float32, copy=True), csr_matrix(Y, copy=True)
    if X.shape[0] != Y.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, Y has {Y.shape[0]}")
    X.sum_duplicates()
    Y.sum_duplicates()
    Y.eliminate_zeros()
    if not np.isfinite(X.data).all():
        raise ValueError("X has a value that is not a finite float32")

    values = X.data.astype("U")
    # The shortest decimal of a float32 may sit so close to the border of its neighbour that reading it by way of
    # float64 misses it (7.038531e-26 does); nine digits never do.
    missed = np.flatnonzero(values.astype(np.float64).astype(np.float32) != X.data)
    values[missed] = [f"{value:.9g}" for value in X.data[missed]]
    labels, features = Y.indices.astype("U"), X.indices.astype("U")
    lines = [f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}"]
    for row in range(X.shape[0]):
        own_labels = slice(*Y.indptr[row : row + 2])
        own_features = slice(*X.indptr[row : row + 2])
        pairs = map(":".join, zip(features[own_features], values[own_features], strict=True))
        lines.append(" ".join([",".join(labels[own_labels]), *pairs]))
    data = "".join(line + "\n" for line in lines).encode("ascii")
    with atomic_file(path) as temporary:
        temporary.write_bytes(gzip.compress(data, mtime=0) if Path(path).suffix == ".gz" else data)


def read_pecos(folder, split: str) -> tuple[csr_matrix, csr_matrix]:
    """Read `X.{split}.npz` and `Y.{split}.npz` of a PECOS data set, split being `trn` or `tst`.

    Returns X (n, d) and Y (n, L), both CSR float32 with sorted indices; the positive values of Y become ones.
    """
    if split not in ("trn", "tst"):
        raise ValueError(f"split is 'trn' or 'tst', not {split!r}")
    X_path, Y_path = Path(folder, f"X.{split}.npz"), Path(folder, f"Y.{split}.npz")
    X, Y = _read_npz(X_path), _read_npz(Y_path)
    if X.shape[0] != Y.shape[0]:
        raise FormatError(Y_path, None, f"{Y.shape[0]} rows, but {X_path.name} has {X.shape[0]}")
    if (Y.data <= 0).any():
        row, label = _place_of_entry(Y, np.argmax(Y.data <= 0))
        raise FormatError(Y_path, None, f"row {row}: label {label} has a value that is not positive")
    Y.data[:] = 1
    return X, Y


def read_images(path) -> np.ndarray:
    """Read an IDX file of images: uint8 (n, rows, columns)."""
    return _read_idx(path, 2051, 3)


def read_image_labels(path) -> np.ndarray:
    """Read an IDX file of labels: uint8 (n,)."""
    return _read_idx(path, 2049, 1)


def read_texts(path) -> list[str]:
    """Read documents in UTF-8, one per line; an empty line is an empty document."""
    data = _read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = _line_at(error.object, error.start)
        raise FormatError(path, line, f"not UTF-8: {error.reason} {error.object[error.start]:#04x}") from None
    if "\0" in text:
        raise FormatError(path, _line_at(data, data.index(b"\0")), "a NUL character; this is not a text file")
    if not text.endswith("\n"):
        raise FormatError(path, _line_at(data, len(data)), _NO_LINE_BREAK)
    # Not splitlines: a form feed or a Unicode line separator within a document does not end it.
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def read_label_names(path, n_labels: int | None = None) -> list[str]:
    """Read the names of labels 0, 1, … in UTF-8, one per line; there must be `n_labels` if that is given."""
    names = read_texts(path)
    if n_labels is not None and len(names) != n_labels:
        raise FormatError(path, min(len(names), n_labels + 1), f"{len(names)} label names for {n_labels} labels")
    return names


def _read_bytes(path) -> bytes:
    """Read a whole file that must not be empty, and unpack it if it is gzip by its content."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise FormatError(path, None, "there is no such file") from None
    except IsADirectoryError:
        raise FormatError(path, None, "this is a folder, not a file") from None
    except OSError as error:
        raise FormatError(path, None, f"cannot be read: {error.strerror}") from None
    if data.startswith(_GZIP_MAGIC):
        data = _unpack_gzip(path, data)
    if not data:
        raise FormatError(path, None, "the file is empty")
    return data


def _unpack_gzip(path, data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except EOFError:
        raise FormatError(path, None, "truncated gzip data") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        # The data starts with the magic number, so only what follows a complete stream can lack it.
        if str(error).startswith("Not a gzipped file"):
            raise FormatError(path, None, "trailing bytes after the gzip data") from None
        raise FormatError(path, None, f"damaged gzip data: {error}") from None


def _line_at(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1


def _show(token: bytes) -> str:
    """Show what stands in the file, with every byte that is not printable ASCII escaped."""
    return repr(token[:60])[1:] + ("…" if len(token) > 60 else "")


def _read_header(path, data: bytes) -> tuple[int, list[int]]:
    """Return the position of the first row and the sizes n, d, L."""
    line = _LINE.match(data)[0]
    header = line.removesuffix(b"\r")
    match = _HEADER.fullmatch(header)
    if not match:
        raise FormatError(path, 1, f"the header must be three non-negative integers `n d L`, not {_show(header)}")
    for field in match.groups():
        if len(field) > 10 or int(field) > _INT32_MAX:
            raise FormatError(path, 1, f"the size {_show(field)} in the header is too large, {_INT32_MAX} at most")
    return len(line) + 1, [int(field) for field in match.groups()]


def _token_at(data: bytes, position: int) -> bytes:
    return _TOKEN.match(data, position)[0].removesuffix(b"\r")


def _explain(problem: int, data: bytes, position: int, n_features: int, n_labels: int) -> str:
    """Put a problem that `parse_rows` found at the start of a label or of a feature into words."""
    token = _token_at(data, position)
    label = token.partition(b",")[0]
    feature, colon, value = token.partition(b":")
    match problem:
        case _kernels.LABEL if not label:
            return "a label is missing beside a comma"
        case _kernels.LABEL if re.fullmatch(rb"-\d+", label):
            return f"label {_show(label)} is negative"
        case _kernels.LABEL:
            return f"{_show(label)} is not a label"
        case _kernels.LABEL_RANGE:
            return f"label {_show(label)} is out of range, the last one is {n_labels - 1}"
        case _kernels.FEATURE_RANGE:
            return f"feature {_show(feature)} is out of range, the last one is {n_features - 1}"
        case _kernels.FEATURE_ORDER:
            return f"feature {_show(feature)} comes twice or out of order, features must increase"
        case _kernels.FEATURE if feature.isdigit() and not colon:
            return f"feature {_show(feature)} has no value"
        case _kernels.FEATURE:
            return f"{_show(token)} is not `feature:value`"
        case _kernels.VALUE if not value:
            return f"feature {_show(feature)} has no value"
        case _kernels.VALUE if re.fullmatch(rb"[+-]?(nan|inf|infinity)", value, re.IGNORECASE):
            return f"the value {_show(value)} is not finite"
    return f"the value {_show(value)} is not a number"


def _exact_value(path, data: bytes, position: int) -> np.float32:
    """Convert a value that is well formed but beyond the quick arithmetic of the kernel."""
    value = _token_at(data, position)
    with np.errstate(over="ignore"):
        number = np.float32(float(value))
    if not np.isfinite(number):
        raise FormatError(path, _line_at(data, position), f"the value {_show(value)} is too large for float32")
    return number


def _place_of_entry(matrix: csr_matrix, entry: int) -> tuple[int, int]:
    """Return the row and the column of a stored entry."""
    return int(np.searchsorted(matrix.indptr, entry, side="right")) - 1, int(matrix.indices[entry])


def _first_duplicate(matrix: csr_matrix) -> tuple[int, int] | None:
    """Return the place of the first entry, in a matrix with sorted indices, that is stored twice."""
    repeated = matrix.indices[1:] == matrix.indices[:-1]
    row_starts = matrix.indptr[1:-1]
    repeated[row_starts[(row_starts > 0) & (row_starts < matrix.nnz)] - 1] = False
    return _place_of_entry(matrix, np.argmax(repeated)) if repeated.any() else None


def _read_npz(path) -> csr_matrix:
    """Read a matrix that `scipy.sparse.save_npz` wrote, and trust nothing in it."""
    data = _read_bytes(path)
    if not data.startswith(_ZIP_MAGIC):
        raise FormatError(path, None, "not an npz archive")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            members = {name: archive[name] for name in _NPZ_MEMBERS if name in archive}
    except Exception as error:  # zipfile, zlib and numpy raise a dozen kinds for damaged bytes
        raise FormatError(path, None, f"the npz archive cannot be read: {error}") from None
    for name in _NPZ_MEMBERS:
        if not isinstance(members.get(name), np.ndarray):
            raise FormatError(path, None, f"the archive has no array `{name}`, so it is not a CSR or CSC matrix")
    kind, shape = members["format"], members["shape"]
    if kind.shape != () or kind.item() not in (b"csr", b"csc", "csr", "csc"):
        raise FormatError(path, None, f"the matrix must be in format csr or csc, not {kind.tolist()!r}")
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or not ((shape >= 0) & (shape <= _INT32_MAX)).all():
        problem = f"the shape must be two integers from 0 to {_INT32_MAX}, not {shape.tolist()!r}"
        raise FormatError(path, None, problem)
    is_csr = kind.item() in (b"csr", "csr")
    n_major, n_minor = map(int, shape if is_csr else shape[::-1])
    values, indices, ends = members["data"], members["indices"], members["indptr"]
    _check_structure(path, n_major, n_minor, values, indices, ends)

    with np.errstate(over="ignore"):
        values = values.astype(np.float32)
    matrix = csr_matrix if is_csr else csc_matrix
    matrix = matrix((values, indices, ends), shape=tuple(map(int, shape))).tocsr()
    matrix.sort_indices()
    if not np.isfinite(matrix.data).all():
        row, column = _place_of_entry(matrix, np.argmin(np.isfinite(matrix.data)))
        raise FormatError(path, None, f"row {row}: column {column} has a value that is not a finite float32")
    if duplicate := _first_duplicate(matrix):
        row, column = duplicate
        raise FormatError(path, None, f"row {row}: column {column} occurs twice")
    return matrix


def _check_structure(path, n_major: int, n_minor: int, values, indices, ends) -> None:
    """Check that three arrays are a compressed matrix, before compiled code that trusts them sees them."""
    if values.ndim != 1 or values.dtype.kind not in "fiub":
        raise FormatError(path, None, f"`data` must be one-dimensional and real, not {values.dtype} {values.shape}")
    for name, array in (("indices", indices), ("indptr", ends)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise FormatError(path, None, f"`{name}` must be one-dimensional integers, not {array.dtype} {array.shape}")
    if indices.size != values.size:
        raise FormatError(path, None, f"{indices.size} indices for {values.size} values")
    if ends.size != n_major + 1:
        raise FormatError(path, None, f"`indptr` has {ends.size} entries, the shape asks for {n_major + 1}")
    if ends[0] != 0 or ends[-1] != values.size or (ends[1:] < ends[:-1]).any():
        raise FormatError(path, None, f"`indptr` must rise from 0 to the number of values, {values.size}")
    if indices.size and not 0 <= indices.min() <= indices.max() < n_minor:
        raise FormatError(path, None, f"an index is out of range: they go from 0 to {n_minor - 1}")


def _read_idx(path, magic: int, n_dimensions: int) -> np.ndarray:
    """Read an IDX file of unsigned bytes: the magic number, the dimensions (big-endian int32), the bytes."""
    data = _read_bytes(path)
    header_size = 4 * (1 + n_dimensions)
    if len(data) < header_size:
        raise FormatError(path, None, f"truncated: {len(data)} bytes cannot hold the header of {header_size}")
    found, *shape = np.frombuffer(data, ">u4", 1 + n_dimensions).tolist()
    if found != magic:
        what = f"that of {_IDX_KINDS[found]}" if found in _IDX_KINDS else "no known one"
        raise FormatError(path, None, f"the magic number of {_IDX_KINDS[magic]} is {magic}, found {found}, {what}")
    expected, size = math.prod(shape), len(data) - header_size
    if size != expected:
        problem = "truncated" if size < expected else "trailing bytes"
        dimensions = " × ".join(map(str, shape))
        raise FormatError(
            path, None, f"{problem}: {dimensions} {_IDX_KINDS[magic]} take {expected} bytes, found {size}"
        )
    return np.frombuffer(data, np.uint8, offset=header_size).reshape(shape).copy()
