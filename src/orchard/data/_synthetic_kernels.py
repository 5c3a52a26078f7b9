"""The loops of the synthetic generator: every row is drawn from random streams of its own, so threads cannot matter.

All randomness is splitmix64 (Steele, Lea and Flood, 2014) read by position: `derive(key, i)` is the i-th output of the
stream that starts at `key`, and is itself the key of a further stream. A row can therefore be drawn twice, once to
learn its size and once to write it, and nothing larger than the result is ever allocated.
"""

from typing import NamedTuple

import numpy as np
from numba import prange

from orchard.jit import njit

_STEP = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)

# So often is a label that the row has already drawn anew, before the next free place is taken instead: only rows
# that hold nearly all the popularity get there.
_MAX_DRAWS = 32


class Model(NamedTuple):
    """What a row is drawn from. A `*_cumulative` table ends in the sum of its weights; see `draw_from`."""

    row_key: np.uint64
    topic_key: np.uint64
    place_cumulative: np.ndarray  # popularity of the places: the leaves of the hierarchy, from left to right
    label_of_place: np.ndarray  # two places of one label are its two meanings
    branching: int
    n_topic_levels: int  # the levels below the root: the labels' own and their topics'
    label_count_cumulative: np.ndarray
    word_count_cumulative: np.ndarray
    word_exponent: float
    words_per_topic: int
    background_words: np.ndarray  # all words, the most frequent first
    difficulty: float


@njit(nogil=True, cache=True)
def mix64(z):
    """The output function of splitmix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(nogil=True, cache=True)
def derive(key, position):
    return mix64(key + _STEP * (np.uint64(position) + _ONE))


@njit(nogil=True, cache=True)
def derive_many(key, n):
    """The first `n` outputs of the stream that starts at `key`."""
    outputs = np.empty(n, np.uint64)
    for position in range(n):
        outputs[position] = derive(key, position)
    return outputs


@njit(nogil=True, cache=True)
def unit(bits):
    """A number in [0, 1) from the upper 53 bits."""
    return np.float64(bits >> np.uint64(11)) * 2.0**-53


@njit(nogil=True, cache=True)
def draw_from(cumulative, low, high, bits):
    """Draw from low, ..., high - 1 by weight, where the weight of i is cumulative[i] - cumulative[i - 1]."""
    below = cumulative[low - 1] if low > 0 else 0.0
    target = below + unit(bits) * (cumulative[high - 1] - below)
    # Written out, since np.searchsorted takes seconds to compile. The last entry is never looked at, so that rounding
    # cannot step over the end.
    first, last = low, high - 1
    while first < last:
        middle = (first + last) >> 1
        if cumulative[middle] > target:
            last = middle
        else:
            first = middle + 1
    return first


@njit(nogil=True, cache=True)
def draw_rank(n, exponent, bits):
    """Draw from 0, ..., n - 1, where the weight of i is the integral of x^-exponent from i + 1 to i + 2.

    A Zipf law in all but the first ranks; its inverse in closed form is ten times as fast as a search in a table.
    """
    u, rest = unit(bits), 1.0 - exponent
    x = (n + 1.0) ** u if abs(rest) < 1e-9 else (1.0 + u * ((n + 1.0) ** rest - 1.0)) ** (1.0 / rest)
    return min(np.int64(x) - 1, n - 1)  # rounding may step over the end


@njit(nogil=True, cache=True)
def _draw_labels(model, key, places, labels):
    """Draw a row's distinct labels and the place (the meaning) of each; return their number.

    The first is drawn by popularity. Every other one shares an ancestor with it (its parent with probability 1/2, its
    grandparent with 1/4, ...) and is drawn by popularity below that ancestor, so each draw has the popularity as
    its marginal distribution.
    """
    n_places = len(model.place_cumulative)
    n_labels = 1 + draw_from(model.label_count_cumulative, 0, len(model.label_count_cumulative), derive(key, 0))
    places[0] = draw_from(model.place_cumulative, 0, n_places, derive(key, 1))
    labels[0] = model.label_of_place[places[0]]
    for index in range(1, n_labels):
        label_key = derive(key, index + 1)
        coins = derive(label_key, 0)
        width = model.branching  # how many places the ancestor has below it
        while width < n_places and coins & _ONE:
            width *= model.branching
            coins >>= _ONE
        n_draws, place, repeated = 0, 0, True
        while repeated:
            n_draws += 1
            if n_draws <= _MAX_DRAWS:
                low = places[0] // width * width
                place = draw_from(model.place_cumulative, low, min(low + width, n_places), derive(label_key, n_draws))
                if width < n_places:  # in case that all labels below this ancestor are taken, go on to the next
                    width *= model.branching
            else:
                place = (place + 1) % n_places
            label = model.label_of_place[place]
            repeated = False
            for earlier in range(index):
                repeated |= labels[earlier] == label
        places[index], labels[index] = place, label
    return n_labels


@njit(nogil=True, cache=True)
def _draw_words(model, key, places, n_labels, words):
    """Draw the words of a row that has `n_labels` places; return their number.

    A word is background with probability `difficulty`. Otherwise it is a word of one of the row's labels (probability
    1/2), of that label's topic (1/4), of the topic above (1/8), and so on. A topic's vocabulary is not stored: the
    stream that belongs to the topic lists it.
    """
    n_features = len(model.background_words)
    n_words = 1 + draw_from(model.word_count_cumulative, 0, len(model.word_count_cumulative), derive(key, 0))
    for index in range(n_words):
        position = 4 * index + 1
        rank_bits = derive(key, position)
        if unit(derive(key, position + 1)) < model.difficulty:
            words[index] = model.background_words[draw_rank(n_features, model.word_exponent, rank_bits)]
            continue
        node = places[np.int64(unit(derive(key, position + 2)) * n_labels)]
        coins, level = derive(key, position + 3), 0
        while level + 1 < model.n_topic_levels and coins & _ONE:
            node //= model.branching
            level += 1
            coins >>= _ONE
        vocabulary = derive(derive(model.topic_key, level), node)
        rank = draw_rank(model.words_per_topic, model.word_exponent, rank_bits)
        words[index] = derive(vocabulary, rank) % np.uint64(n_features)
    return n_words


@njit(nogil=True, cache=True)
def _draw_row(model, row):
    """The labels and the words of a row, each in the order drawn."""
    places = np.empty(len(model.label_count_cumulative), np.int64)
    labels = np.empty(len(model.label_count_cumulative), np.int32)
    words = np.empty(len(model.word_count_cumulative), np.int32)
    n_labels = _draw_labels(model, derive(model.row_key, 2 * row), places, labels)
    n_words = _draw_words(model, derive(model.row_key, 2 * row + 1), places, n_labels, words)
    return labels[:n_labels], words[:n_words]


@njit(nogil=True, cache=True, parallel=True)
def measure_rows(model, first_row, n_rows):
    """How many labels, distinct words and words each row has: int32 (3, n_rows)."""
    sizes = np.empty((3, n_rows), np.int32)
    for index in prange(n_rows):
        labels, words = _draw_row(model, first_row + index)
        words.sort()
        n_distinct = 1
        for i in range(1, len(words)):
            n_distinct += words[i] != words[i - 1]
        sizes[0, index], sizes[1, index], sizes[2, index] = len(labels), n_distinct, len(words)
    return sizes


@njit(nogil=True, cache=True, parallel=True)
def write_rows(model, first_row, label_indptr, label_indices, word_indptr, word_indices, word_counts):
    """Fill the label and the word CSR arrays of the rows that `measure_rows` has measured."""
    for index in prange(len(label_indptr) - 1):
        labels, words = _draw_row(model, first_row + index)
        labels.sort()
        for i in range(len(labels)):
            label_indices[label_indptr[index] + i] = labels[i]
        words.sort()
        end = word_indptr[index] - 1
        for i in range(len(words)):
            if i == 0 or words[i] != words[i - 1]:
                end += 1
                word_indices[end] = words[i]
                word_counts[end] = 0
            word_counts[end] += 1


@njit(nogil=True, cache=True)
def write_tokens(model, first_row, token_indptr, tokens):
    """The words of the rows in the order of the text."""
    for index in range(len(token_indptr) - 1):
        _, words = _draw_row(model, first_row + index)
        for i in range(len(words)):
            tokens[token_indptr[index] + i] = words[i]


@njit(nogil=True, cache=True)
def document_frequency(indices, n_features):
    frequency = np.zeros(n_features, np.int64)
    for feature in indices:
        frequency[feature] += 1
    return frequency


@njit(nogil=True, cache=True)
def weigh_rows(indptr, indices, counts, idf):
    """Turn counts into count × idf, each row scaled to length 1, in place."""
    for row in range(len(indptr) - 1):
        squares = 0.0
        for i in range(indptr[row], indptr[row + 1]):
            squares += (counts[i] * idf[indices[i]]) ** 2
        length = np.sqrt(squares)
        for i in range(indptr[row], indptr[row + 1]):
            counts[i] = counts[i] * idf[indices[i]] / length
