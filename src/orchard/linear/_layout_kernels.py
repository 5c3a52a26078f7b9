"""How a bundle's weights lie in memory, made for search: a feature leads in two steps to all the weights it needs.

A bundle's table says where a feature's row begins among its words of 32 bits. If a third of the features up to the
last one have a row, the table is direct: a word per feature. Otherwise it is hashed: pairs of a feature and the place
of its row. A head of four words stands before either: the kind, for how many features or pairs there is room, how many
rows there are, and how many words of bits a row has, or 0.
Rows come in two ways. With bits: for every 32 outputs a word with a bit for each that has a weight, and these weights.
With codes: a count, the outputs and their weights, one after the other; or, if many outputs have a weight, a mark and
the weights of all outputs. The outputs are codes of 16 bits, or of 32 where a bundle has more than 65,534 of them.
A bundle with up to 16 outputs has bits, any other what takes fewer words.
"""

import numpy as np

from orchard.jit import njit
from orchard.linear._lanes import count_ones, lowest_one

HASHED, DIRECT = 0, 1
NOTHING = np.uint32(0xFFFFFFFF)  # no feature, no row
HEAD = 4  # words before a table; an even number, so that a pair never crosses cache lines
KIND, SIZE, N_ROWS, BIT_WORDS = range(4)  # the words of the head
# A direct table is no larger than a hashed one as long as every third of its features is there.
_DIRECT_UP_TO = 3
MOST_BITS = 16  # outputs of a bundle whose rows have bits whatever they take
BLOCK = 32  # outputs that share a word of bits
# A row with at least a third of the weights is stored whole: it is twice as long at most, and a plain loop.
_DENSE_FROM = 3


@njit(nogil=True, cache=True)
def first_slot(feature, n_slots):
    """Where the search for a feature begins in a hashed table: Fibonacci hashing, scaled to the table."""
    scattered = np.uint64(feature) * np.uint64(2654435769) & np.uint64(0xFFFFFFFF)
    return np.int64((scattered * np.uint64(n_slots)) >> np.uint64(32))


@njit(nogil=True, cache=True)
def find_hashed(feature, table, n_slots):
    """The word at which a feature's row begins, or NOTHING; `table` without its head."""
    slot = first_slot(feature, n_slots)
    while True:
        found = table[2 * slot]
        if found == np.uint32(feature):
            return table[2 * slot + 1]
        if found == NOTHING:
            return NOTHING
        slot += 1
        if slot == n_slots:
            slot = 0


@njit(nogil=True, cache=True)
def find_direct(feature, table, n_features):
    """The word at which a feature's row begins, or NOTHING; `table` without its head."""
    return table[feature] if feature < n_features else NOTHING


@njit(nogil=True, cache=True)
def new_table(row_features):
    """An empty table with room for these features, ascending; uint32, of even length."""
    n_rows = row_features.size
    n_direct = np.int64(row_features[-1]) + 1 if n_rows else 0
    if n_direct <= _DIRECT_UP_TO * n_rows:
        table = np.full(HEAD + n_direct + n_direct % 2, NOTHING, np.uint32)
        table[KIND], table[SIZE] = DIRECT, n_direct
    else:
        n_slots = n_rows + n_rows // 2 + 1
        table = np.full(HEAD + 2 * n_slots, NOTHING, np.uint32)
        table[KIND], table[SIZE] = HASHED, n_slots
    table[N_ROWS] = n_rows
    return table


@njit(nogil=True, cache=True)
def enter(feature, row, table):
    """Let a table say that a feature's row begins at the word `row`."""
    if table[KIND] == DIRECT:
        table[HEAD + feature] = row
        return
    n_slots = np.int64(table[SIZE])
    slot = first_slot(feature, n_slots)
    while table[HEAD + 2 * slot] != NOTHING:
        slot = slot + 1 if slot + 1 < n_slots else 0
    table[HEAD + 2 * slot], table[HEAD + 2 * slot + 1] = feature, row


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
def new_row_size(n, n_outputs, per_word, bit_words):
    """The words of a row that has n weights."""
    if bit_words:
        return bit_words + n
    return 1 + n_outputs if _DENSE_FROM * n >= n_outputs else sparse_header(n, per_word) + n


@njit(nogil=True, cache=True)
def new_bit_words(row_counts, n_outputs, per_word):
    """How many words of bits the rows of a bundle have, 0 if they have codes; row_counts : the weights of every row."""
    bit_words = -(-n_outputs // BLOCK)
    if n_outputs <= MOST_BITS:
        return bit_words
    saved = 0
    for n in row_counts:
        n = np.int64(n)
        saved += new_row_size(n, n_outputs, per_word, 0) - new_row_size(n, n_outputs, per_word, bit_words)
    return bit_words if saved >= 0 else 0


@njit(nogil=True, cache=True)
def bits_at(codes, at):
    """The word `at` of the words that `codes` is a view of."""
    if codes_per_word(codes) == 1:
        return np.int64(codes[at])
    return np.int64(codes[2 * at]) | np.int64(codes[2 * at + 1]) << 16


@njit(nogil=True, cache=True)
def row_size(codes, at, n_outputs, bit_words):
    """The words of the row that begins at word `at`."""
    begin, per_word = at, codes_per_word(codes)
    if bit_words:
        for _ in range(bit_words):
            at += 1 + count_ones(bits_at(codes, at))
        return at - begin
    n = np.int64(codes[per_word * at])
    return 1 + n_outputs if n == dense_mark(codes) else sparse_header(n, per_word) + n


@njit(nogil=True, cache=True)
def set_bits_ascending(bitmap, found):
    """Write the positions of the bits set in `bitmap` (uint64) to `found`, ascending; clears the bitmap."""
    n_found = 0
    for word in range(bitmap.size):
        bits = bitmap[word]
        bitmap[word] = 0
        base = word * 64
        while bits:
            found[n_found] = base + np.int64(lowest_one(bits))
            n_found += 1
            bits &= bits - np.uint64(1)
    return n_found


@njit(nogil=True, cache=True)
def pack(row_features, row_begins, row_outputs, row_weights, n_outputs, kind):
    """Lay a bundle's rows out: (table uint32, words uint32).

    row_features : int32, ascending.  row_begins : (n_rows + 1,), the entries of every row.
    row_outputs, row_weights : outputs, ascending in a row, and their weights.  kind : empty array of the codes' type.
    """
    per_word, mark = codes_per_word(kind), dense_mark(kind)
    n_rows = row_features.size
    bit_words = new_bit_words(np.diff(row_begins), n_outputs, per_word)
    n_words = 0
    for row in range(n_rows):
        n = np.int64(row_begins[row + 1]) - np.int64(row_begins[row])
        n_words += new_row_size(n, n_outputs, per_word, bit_words)
    words = np.zeros(n_words, np.uint32)
    codes, weights = words.view(kind.dtype), words.view(np.float32)
    table = new_table(row_features)
    table[BIT_WORDS] = bit_words
    at = 0
    for row in range(n_rows):
        enter(row_features[row], at, table)
        begin, end = np.int64(row_begins[row]), np.int64(row_begins[row + 1])
        n = end - begin
        if bit_words:
            entry, place = begin, at
            for block in range(bit_words):
                bits = place
                place += 1
                while entry < end and row_outputs[entry] < BLOCK * (block + 1):
                    words[bits] |= np.uint32(1) << np.uint32(row_outputs[entry] - BLOCK * block)
                    weights[place] = row_weights[entry]
                    place += 1
                    entry += 1
        elif _DENSE_FROM * n >= n_outputs:
            codes[per_word * at] = mark
            for entry in range(begin, end):
                weights[at + 1 + row_outputs[entry]] = row_weights[entry]
        else:
            codes[per_word * at] = n
            header = sparse_header(n, per_word)
            for place in range(n):
                codes[per_word * at + 1 + place] = row_outputs[begin + place]
                weights[at + header + place] = row_weights[begin + place]
        at += new_row_size(n, n_outputs, per_word, bit_words)
    return table, words


@njit(nogil=True, cache=True)
def packed_size(row_features, row_counts, n_outputs, kind):
    """The words, those of the table included, that `pack` makes of rows with so many weights.

    More rows or more weights never take fewer words: what a part of a bundle takes, the whole one takes at least.
    """
    n_words = new_table(row_features).size
    bit_words = new_bit_words(row_counts, n_outputs, codes_per_word(kind))
    for n in row_counts:
        n_words += new_row_size(np.int64(n), n_outputs, codes_per_word(kind), bit_words)
    return n_words


@njit(nogil=True, cache=True)
def unpack(table, words, n_outputs, kind):
    """The inverse of `pack`: (row_features, row_begins, row_outputs int32, row_weights), dense rows without zeros."""
    per_word, mark = codes_per_word(kind), dense_mark(kind)
    codes, weights = words.view(kind.dtype), words.view(np.float32)
    feature_at = np.empty(words.size, np.int32)
    n_rows = 0
    for place in range(np.int64(table[SIZE]) if table.size else 0):
        is_direct = table[KIND] == DIRECT
        feature = np.uint32(place) if is_direct else table[HEAD + 2 * place]
        row = table[HEAD + place] if is_direct else table[HEAD + 2 * place + 1]
        if feature != NOTHING and row != NOTHING:
            feature_at[row] = feature
            n_rows += 1
    row_features = np.empty(n_rows, np.int32)
    row_begins = np.zeros(n_rows + 1, np.int64)
    row_outputs = np.empty(2 * words.size, np.int32)
    row_weights = np.empty(2 * words.size, np.float32)
    bit_words = np.int64(table[BIT_WORDS]) if table.size else 0
    at, n_entries = 0, 0
    for row in range(n_rows):
        row_features[row] = feature_at[at]
        n = np.int64(codes[per_word * at])
        if bit_words:
            place = at
            for block in range(bit_words):
                bits = bits_at(codes, place)
                place += 1
                while bits:
                    row_outputs[n_entries] = BLOCK * block + lowest_one(bits)
                    row_weights[n_entries] = weights[place]
                    n_entries += 1
                    place += 1
                    bits &= bits - 1
        elif n == mark:
            for output in range(n_outputs):
                row_outputs[n_entries] = output
                row_weights[n_entries] = weights[at + 1 + output]
                n_entries += 1 if weights[at + 1 + output] != 0 else 0
        else:
            header = sparse_header(n, per_word)
            for place in range(n):
                row_outputs[n_entries] = codes[per_word * at + 1 + place]
                row_weights[n_entries] = weights[at + header + place]
                n_entries += 1
        at += row_size(codes, at, n_outputs, bit_words)
        row_begins[row + 1] = n_entries
    return row_features, row_begins, row_outputs[:n_entries].copy(), row_weights[:n_entries].copy()
