"""Weights as bytes for a file: gaps between features and row lengths take one byte where they are small."""

import numpy as np
from numba import njit

_MORE = 0x80  # a byte with this bit is followed by another: seven bits each, the lowest first


@njit(nogil=True, cache=True)
def encode_rows(row_features, row_begins, encoded):
    """Write (gap to the feature before, entries − 1) of every row; returns the number of bytes (10 per row suffice)."""
    at, last = 0, -1
    for row in range(row_features.size):
        gap, length = row_features[row] - last - 1, row_begins[row + 1] - row_begins[row] - 1
        last = row_features[row]
        for number in (gap, length):
            while number >= _MORE:
                encoded[at] = (number & (_MORE - 1)) | _MORE
                number >>= 7
                at += 1
            encoded[at] = number
            at += 1
    return at


@njit(nogil=True, cache=True)
def decode_rows(encoded, at, n_rows, n_entries, n_features, row_features, row_begins):
    """The inverse of `encode_rows` from byte `at` on; returns the byte after the last, or −1 if they make no sense."""
    last, total = np.int64(-1), np.int64(0)
    row_begins[0] = 0
    for row in range(n_rows):
        for part in range(2):
            number, shift = np.int64(0), 0
            while True:
                if at >= encoded.size or shift > 28:
                    return -1
                byte = np.int64(encoded[at])
                at += 1
                number |= (byte & (_MORE - 1)) << shift
                shift += 7
                if byte < _MORE:
                    break
            if part == 0:
                last += number + 1
            else:
                total += number + 1
        if last >= n_features or total > n_entries:
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
