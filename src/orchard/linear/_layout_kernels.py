"""How a node's weights lie in memory, made for search: a feature leads in two steps to all the weights it needs.

A table of slots, found by a hash of the feature, holds the place of the feature's row among the node's words of 32
bits. A row is a count, the outputs and their weights, one after the other; or, if most outputs have a weight, a mark
and the weights of all outputs. The outputs are codes of 16 bits, or of 32 where a node has more than 65,534 of them.
"""

import numpy as np
from numba import njit

_EMPTY = np.uint64(0xFFFFFFFF)  # in the upper half of a slot: no feature is there
_SPACIOUS = 2  # slots per feature
# A row with at least a third of the weights is stored whole: it is twice as long at most, and a plain loop.
_DENSE_FROM = 3


@njit(nogil=True, cache=True)
def first_slot(feature, n_slots):
    """Where the search for a feature begins: Fibonacci hashing, scaled to the table."""
    return np.int64(
        ((np.uint64(feature) * np.uint64(2654435769) & np.uint64(0xFFFFFFFF)) * np.uint64(n_slots)) >> np.uint64(32)
    )


@njit(nogil=True, cache=True)
def find_row(feature, slots, begin, end):
    """The word (within its node) at which a feature's row begins, or −1; the node's table is slots[begin:end]."""
    place = begin + first_slot(feature, end - begin)
    while True:
        slot = slots[place]
        found = slot >> np.uint64(32)
        if found == np.uint64(feature):
            return np.int64(slot & np.uint64(0xFFFFFFFF))
        if found == _EMPTY:
            return np.int64(-1)
        place += 1
        if place == end:
            place = begin


@njit(nogil=True, cache=True)
def codes_per_word(codes):
    return 4 // codes.itemsize


@njit(nogil=True, cache=True)
def dense_mark(codes):
    return (np.int64(1) << np.int64(8 * codes.itemsize)) - 1


@njit(nogil=True, cache=True)
def sparse_header(n, per_word):
    """The words of a sparse row before its weights: the count and n outputs."""
    return (n + per_word) // per_word


@njit(nogil=True, cache=True)
def set_bits_ascending(bitmap, found):
    """Write the positions of the bits set in `bitmap` (uint64) to `found`, ascending; clears the bitmap."""
    n_found = 0
    for word in range(bitmap.size):
        bits = bitmap[word]
        bitmap[word] = 0
        base = word * 64
        while bits:
            below = (bits & (~bits + np.uint64(1))) - np.uint64(
                1
            )  # as many ones as there are zeros under the lowest bit
            position = 0
            while below:
                below &= below - np.uint64(1)
                position += 1
            found[n_found] = base + position
            n_found += 1
            bits &= bits - np.uint64(1)
    return n_found


@njit(nogil=True, cache=True)
def pack(row_features, row_begins, row_outputs, row_weights, n_outputs, kind):
    """Lay a node's rows out: (slots uint64, words uint32).

    row_features : int32, ascending.  row_begins : (n_rows + 1,), the entries of every row.
    row_outputs, row_weights : outputs, ascending in a row, and their weights.  kind : empty array of the codes' type.
    """
    per_word, mark = codes_per_word(kind), dense_mark(kind)
    n_rows = row_features.size
    n_words = 0
    for row in range(n_rows):
        n = np.int64(row_begins[row + 1]) - np.int64(row_begins[row])
        n_words += 1 + n_outputs if _DENSE_FROM * n >= n_outputs else sparse_header(n, per_word) + n
    words = np.zeros(n_words, np.uint32)
    codes, weights = words.view(kind.dtype), words.view(np.float32)
    n_slots = _SPACIOUS * n_rows + 1
    slots = np.full(n_slots, _EMPTY << np.uint64(32), np.uint64)
    at = 0
    for row in range(n_rows):
        place = first_slot(row_features[row], n_slots)
        while slots[place] >> np.uint64(32) != _EMPTY:
            place = place + 1 if place + 1 < n_slots else 0
        slots[place] = (np.uint64(row_features[row]) << np.uint64(32)) | np.uint64(at)
        begin, end = np.int64(row_begins[row]), np.int64(row_begins[row + 1])
        n = end - begin
        if _DENSE_FROM * n >= n_outputs:
            codes[per_word * at] = mark
            for entry in range(begin, end):
                weights[at + 1 + row_outputs[entry]] = row_weights[entry]
            at += 1 + n_outputs
        else:
            codes[per_word * at] = n
            header = sparse_header(n, per_word)
            for place in range(n):
                codes[per_word * at + 1 + place] = row_outputs[begin + place]
                weights[at + header + place] = row_weights[begin + place]
            at += header + n
    return slots, words


@njit(nogil=True, cache=True)
def unpack(slots, words, n_outputs, kind):
    """The inverse of `pack`: (row_features, row_begins, row_outputs int32, row_weights); weights of 0 are left out."""
    per_word, mark = codes_per_word(kind), dense_mark(kind)
    codes, weights = words.view(kind.dtype), words.view(np.float32)
    feature_at = np.empty(words.size, np.int32)
    n_rows = 0
    for slot in slots:
        if slot >> np.uint64(32) != _EMPTY:
            feature_at[np.int64(slot & np.uint64(0xFFFFFFFF))] = np.int32(slot >> np.uint64(32))
            n_rows += 1
    row_features = np.empty(n_rows, np.int32)
    row_begins = np.zeros(n_rows + 1, np.int64)
    row_outputs = np.empty(2 * words.size, np.int32)
    row_weights = np.empty(2 * words.size, np.float32)
    at, n_entries = 0, 0
    for row in range(n_rows):
        row_features[row] = feature_at[at]
        n = np.int64(codes[per_word * at])
        if n == mark:
            for output in range(n_outputs):
                row_outputs[n_entries] = output
                row_weights[n_entries] = weights[at + 1 + output]
                n_entries += 1 if weights[at + 1 + output] != 0 else 0
            at += 1 + n_outputs
        else:
            header = sparse_header(n, per_word)
            for place in range(n):
                row_outputs[n_entries] = codes[per_word * at + 1 + place]
                row_weights[n_entries] = weights[at + header + place]
                n_entries += 1
            at += header + n
        row_begins[row + 1] = n_entries
    return row_features, row_begins, row_outputs[:n_entries].copy(), row_weights[:n_entries].copy()
