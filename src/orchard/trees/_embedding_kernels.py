"""Kernels of the label embeddings: sums of sparse rows, one label after the other, never a dense matrix.

Strict floating point (no fastmath), sums in ascending order of the samples: the same bits from any number of threads.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from orchard.jit import njit

ONE, SIX, FIFTY_SIX, SIXTY_THREE = np.uint64(1), np.uint64(6), np.uint64(56), np.uint64(63)
GATHER_BYTES = np.uint64(0x0102040810204080)  # times eight bytes of 0 or 1: byte i becomes bit 56 + i


@intrinsic
def trailing_zeros(typingctx, word):
    """The position of the lowest set bit of a uint64; 64 for zero."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@intrinsic
def set_bits(typingctx, word):
    """The number of set bits of a uint64."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@njit(nogil=True, cache=True)
def row_norms(indptr, data, norms):
    """The L2 norms of all rows, summed in float64; 1 for a row of zeros, which nothing scales."""
    for row in range(norms.size):
        squares = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            squares += np.float64(data[entry]) * np.float64(data[entry])
        norms[row] = np.sqrt(squares) if squares > 0 else 1.0


@njit(nogil=True, cache=True)
def divide_rows(indptr, data, norms):
    """Divide all rows by their norms, in place."""
    for row in range(norms.size):
        for entry in range(indptr[row], indptr[row + 1]):
            data[entry] /= norms[row]


@njit(nogil=True, cache=True)
def append_bits(word, offset, out, n):
    """Append offset + the position of every set bit of `word` to out[:n], ascending; returns the new n.

    Four at a time, needed or not: the exit of a loop over single bits would be guessed wrong for most words. So up to
    three places beyond the new n are spoilt.
    """
    end = n + np.int64(set_bits(word))
    while n < end:
        for k in range(4):
            out[n + k] = offset + np.int64(trailing_zeros(word))
            word &= word - ONE
        n += 4
    return end


@njit(nogil=True, cache=True)
def sum_rows(
    label_indptr,
    samples,
    weights,
    scales,
    indptr,
    indices,
    data,
    n_features,
    out_indices,
    out_data,
    lengths,
    first,
    last,
):
    """Write Σ weight · scale · row over the samples of each label, divided by its norm, with ascending feature ids.

    label_indptr, samples, weights : CSC of Y, samples ascending.  scales : float32 (n,), one factor per row of X.
    indptr, indices, data : CSR of X, canonical.
    out_indices, out_data : the rows of the labels `first` … `last` − 1, one after the other.
    lengths : int64 (L,), receives the number of features of each label.
    """
    sums = np.zeros(n_features, np.float32)
    # A bit says that a feature was met, a byte that its word of 64 bits is not zero: reading them in order sorts the
    # features. Bytes, because a store need not wait for the one before it as setting a bit of the same word must.
    words = np.zeros((n_features >> 6) + 1, np.uint64)
    flags = np.zeros((words.size >> 3) + 1, np.uint64)
    flag_bytes = flags.view(np.uint8)
    filled = np.empty(words.size + 4, np.int64)  # the words that are not zero
    features = np.empty(n_features + 4, np.int32)
    begin = 0  # of the label's row in the output
    for label in range(first, last):
        end = begin
        squares = 0.0
        if label_indptr[label + 1] - label_indptr[label] == 1:
            sample = samples[label_indptr[label]]
            scale = weights[label_indptr[label]] * scales[sample]
            for entry in range(indptr[sample], indptr[sample + 1]):
                value = scale * data[entry]
                squares += np.float64(value) * np.float64(value)
                out_indices[end] = indices[entry]
                out_data[end] = value
                end += 1
        else:
            for position in range(label_indptr[label], label_indptr[label + 1]):
                sample = samples[position]
                scale = weights[position] * scales[sample]
                for entry in range(indptr[sample], indptr[sample + 1]):
                    feature = np.uint64(indices[entry])
                    sums[feature] += scale * data[entry]
                    words[feature >> SIX] |= ONE << (feature & SIXTY_THREE)
                    flag_bytes[feature >> SIX] = 1
            n_filled = 0
            for eight in range(flags.size):
                n_filled = append_bits(flags[eight] * GATHER_BYTES >> FIFTY_SIX, eight * 8, filled, n_filled)
                flags[eight] = 0
            n_met = 0
            for i in range(n_filled):
                n_met = append_bits(words[filled[i]], filled[i] << 6, features, n_met)
                words[filled[i]] = 0
            for i in range(n_met):
                value = sums[features[i]]
                sums[features[i]] = 0.0
                squares += np.float64(value) * np.float64(value)
                out_indices[end] = features[i]
                out_data[end] = value
                end += 1
        if squares > 0:
            norm = np.float32(np.sqrt(squares))
            for entry in range(begin, end):
                out_data[entry] /= norm
        lengths[label] = end - begin
        begin = end
