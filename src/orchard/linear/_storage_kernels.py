"""Weights as bytes for a file: gaps between features and row lengths take one byte where they are small."""

import numpy as np

from orchard.jit import njit

_MORE = 0x80  # a byte with this bit is followed by another: seven bits each, the lowest first
_LAST_SHIFT = 28  # no number has more than 35 bits


@njit(nogil=True, cache=True)
def put_number(number, encoded, at):
    """Write a number from byte `at` on; returns the byte after it."""
    while number >= _MORE:
        encoded[at] = (number & (_MORE - 1)) | _MORE
        number >>= 7
        at += 1
    encoded[at] = number
    return at + 1


@njit(nogil=True, cache=True)
def get_number(encoded, at):
    """The number at byte `at` and the byte after it, or (0, −1) if it has no end."""
    number, shift = np.int64(0), 0
    while at < encoded.size and shift <= _LAST_SHIFT:
        byte = np.int64(encoded[at])
        at += 1
        number |= (byte & (_MORE - 1)) << shift
        shift += 7
        if byte < _MORE:
            return number, at
    return np.int64(0), -1


@njit(nogil=True, cache=True)
def encode_rows(row_features, row_begins, encoded):
    """Write every row's gap to the feature before and its length; returns the number of bytes (10 per row suffice).

    Half of the rows have one entry, so a bit of the gap's number says that, and a length follows only for the others.
    """
    at, last = 0, -1
    for row in range(row_features.size):
        gap, length = np.int64(row_features[row] - last - 1), np.int64(row_begins[row + 1] - row_begins[row])
        last = row_features[row]
        at = put_number(2 * gap + (length > 1), encoded, at)
        if length > 1:
            at = put_number(length - 2, encoded, at)
    return at


@njit(nogil=True, cache=True)
def decode_rows(encoded, at, n_rows, n_entries, n_features, row_features, row_begins):
    """The inverse of `encode_rows` from byte `at` on; returns the byte after the last, or −1 if they make no sense."""
    last, total = np.int64(-1), np.int64(0)
    row_begins[0] = 0
    for row in range(n_rows):
        number, at = get_number(encoded, at)
        last += (number >> 1) + 1
        total += 1
        if at >= 0 and number & 1:
            number, at = get_number(encoded, at)
            total += number + 1
        if at < 0 or last >= n_features or total > n_entries:
            return -1
        row_features[row], row_begins[row + 1] = last, total
    return at if total == n_entries else -1


@njit(nogil=True, cache=True)
def outputs_ascend(row_begins, outputs, n_outputs):
    """Whether every row's outputs ascend and are below n_outputs: the kernels of the search rely on it."""
    for row in range(row_begins.size - 1):
        last = np.int64(-1)
        for entry in range(row_begins[row], row_begins[row + 1]):
            if np.int64(outputs[entry]) <= last or np.int64(outputs[entry]) >= n_outputs:
                return False
            last = np.int64(outputs[entry])
    return True
