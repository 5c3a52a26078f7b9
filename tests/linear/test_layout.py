"""How weights lie in memory and in files: what goes in comes out, whatever the sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from plain_engine import packed

from orchard.linear import _layout_kernels as layout
from orchard.linear import _scoring_kernels as scoring
from orchard.linear import _storage_kernels as storage
from orchard.linear._lanes import lanes_dot_block, lanes_dot_packed
from orchard.linear._layout_kernels import BIT_WORDS, BLOCK, MOST_BITS
from orchard.linear.model import code_type

CODES = [np.uint16, np.uint32]


@st.composite
def weight_matrices(draw, most_outputs=40):
    """Dense (features, outputs) with empty, sparse and full rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_features, n_outputs = draw(st.integers(0, 60)), draw(st.integers(1, most_outputs))
    density = rng.choice([0.0, 0.03, 0.3, 1.0], size=(n_features, 1))
    return rng.normal(size=(n_features, n_outputs)) * (rng.random((n_features, n_outputs)) < density)


def dense(rows, shape):
    features, begins, outputs, weights = rows
    W = np.zeros(shape, np.float32)
    W[np.repeat(features, np.diff(begins)), outputs] = weights
    return W


@pytest.mark.parametrize("code", CODES)
@given(weight_matrices())
def test_packed_weights_come_out_as_they_went_in(code, W):
    """Sparse rows and full rows, none at all, codes of either width; features and outputs ascend."""
    kind = np.empty(0, code)
    rows = layout.unpack(*packed(W, kind), W.shape[1], kind)
    np.testing.assert_array_equal(dense(rows, W.shape), W.astype(np.float32))
    features, begins, outputs, weights = rows
    assert (np.diff(features) > 0).all() and (weights != 0).all()
    assert storage.outputs_ascend(begins, outputs, W.shape[1])


def find(feature, table):
    """The word at which a feature's row begins, or −1, as the search looks for it."""
    kernel = layout.find_direct if table[layout.KIND] == layout.DIRECT else layout.find_hashed
    found = kernel(np.int32(feature), table[layout.HEAD :], np.int64(table[layout.SIZE]))
    return -1 if found == layout.NOTHING else int(found)


@pytest.mark.parametrize("spread", [1, 7])
@pytest.mark.parametrize("code", CODES)
@given(weight_matrices())
def test_every_feature_is_found_and_no_other(code, spread, W):
    """Neighbours (a direct table) and distant features (a hashed one): the word of the row, or −1 if there is none."""
    wide = np.zeros((W.shape[0] * spread, W.shape[1]), np.float32)
    wide[::spread] = W
    table, words = packed(wide, np.empty(0, code))
    codes = words.view(code)
    per_word, mark = 4 // codes.itemsize, np.iinfo(code).max
    for feature in range(wide.shape[0] + 5):
        at = find(feature, table)
        held = np.flatnonzero(wide[feature]) if feature < wide.shape[0] else np.empty(0)
        assert (at >= 0) == (held.size > 0)
        if at >= 0 and table[BIT_WORDS]:
            for block in range(table[BIT_WORDS]):
                here = held[held // BLOCK == block]
                assert words[at] == sum(1 << (output - BLOCK * block) for output in here.tolist())
                np.testing.assert_array_equal(words.view(np.float32)[at + 1 :][: here.size], wide[feature, here])
                at += 1 + here.size
        elif at >= 0 and codes[per_word * at] == mark:
            np.testing.assert_array_equal(words.view(np.float32)[at + 1 :][: W.shape[1]], wide[feature])
        elif at >= 0:
            assert codes[per_word * at] == held.size
            np.testing.assert_array_equal(codes[per_word * at + 1 :][: held.size], held)


@pytest.mark.parametrize("code", CODES)
@given(weight_matrices(most_outputs=100))
def test_a_bundle_has_bits_where_they_take_no_more_words(code, W):
    """Up to 16 outputs always; what is laid out is as long as was foretold, either way."""
    kind, n_outputs, counts = np.empty(0, code), W.shape[1], np.count_nonzero(W, axis=1)
    counts = counts[counts > 0]
    per_word, bit_words = 4 // kind.itemsize, -(-n_outputs // BLOCK)
    table, words = packed(W, kind)
    with_bits = sum(bit_words + n for n in counts)
    with_codes = sum(1 + n_outputs if 3 * n >= n_outputs else (n + per_word) // per_word + n for n in counts)
    has_bits = n_outputs <= MOST_BITS or with_bits <= with_codes
    assert (table[BIT_WORDS], words.size) == ((bit_words, with_bits) if has_bits else (0, with_codes))
    features = np.flatnonzero(W.any(axis=1)).astype(np.int32)
    assert layout.packed_size(features, counts, n_outputs, kind) == table.size + words.size


@pytest.mark.parametrize("code", CODES)
@given(weight_matrices(most_outputs=100))
def test_rows_with_bits_are_multiplied_alike_with_and_without_the_instruction(code, W):
    """To the bit, and close to numpy; one word of bits or several."""
    W[::2] = 1  # so many weights that the rows have bits
    table, words = packed(W, np.empty(0, code))
    features = np.array([feature for feature in range(W.shape[0]) if find(feature, table) >= 0], np.int64)
    rows = np.array([find(feature, table) for feature in features], np.uint32)
    values = np.linspace(-2, 2, rows.size).astype(np.float32)
    n_outputs, n_blocks = W.shape[1], int(table[BIT_WORDS])
    if n_blocks == 0:
        return
    dots, lanes = np.empty(n_outputs, np.float32), np.empty(n_blocks * BLOCK, np.float32)
    scoring.dot_of_bits(rows.size, rows, values, n_outputs, n_blocks, words.view(code), words.view(np.float32), dots)
    if n_outputs <= MOST_BITS:
        dot_packed(words.view(np.float32), rows, values, lanes)
        np.testing.assert_array_equal(dots, lanes[:n_outputs])
    for block in range(n_blocks):
        dot_block(words.view(np.float32), rows, values, lanes[BLOCK * block :])
    np.testing.assert_array_equal(dots, lanes[:n_outputs])
    np.testing.assert_allclose(dots, values @ W[features], rtol=1e-4, atol=1e-4)


@njit
def dot_packed(words, rows, values, lanes):
    lanes_dot_packed(MOST_BITS, words, rows, values, rows.size, lanes)


@njit
def dot_block(words, rows, values, lanes):
    lanes_dot_block(BLOCK, words, rows, values, rows.size, lanes)


def test_features_that_fall_on_the_same_slot_are_kept_apart():
    """All of them begin their search in one place, the last of the table, and go on from its beginning."""
    n_slots = int(layout.new_table(np.arange(0, 8000, 1000, dtype=np.int32))[layout.SIZE])
    same = [f for f in range(5000) if layout.first_slot(np.int32(f), n_slots) == n_slots - 1]
    held, absent = np.array(same[:8], np.int32), same[8:40]
    kind, weights = np.empty(0, np.uint16), np.arange(1, 9, dtype=np.float32)
    table, words = layout.pack(held, np.arange(9), np.arange(8, dtype=np.int32), weights, 100, kind)
    assert (table[layout.KIND], table[layout.SIZE]) == (layout.HASHED, n_slots)
    rows = layout.unpack(table, words, 100, kind)
    np.testing.assert_array_equal(rows[0], held)
    np.testing.assert_array_equal(rows[3], weights)
    found = [find(feature, table) for feature in held]
    assert sorted(set(found)) == found and found[0] == 0
    assert {find(feature, table) for feature in absent} == {-1}


@given(st.integers(1, 2**31 - 1), st.integers(1, 2**31 - 1))
def test_a_search_begins_inside_the_table(feature, n_slots):
    """The largest feature ids and tables overflow nothing."""
    assert 0 <= layout.first_slot(np.int32(feature), n_slots) < n_slots


@pytest.mark.parametrize(("n_outputs", "code"), [(1, np.uint16), (65_534, np.uint16), (65_535, np.uint32)])
def test_codes_are_as_narrow_as_their_mark_allows(n_outputs, code):
    """65,534 outputs are numbered from 0 to 65,533, and 65,535 is the mark; one more takes 32 bits."""
    assert code_type(n_outputs) == code
    kind = np.empty(0, code)
    full, last = np.arange(n_outputs, dtype=np.int32), np.array([n_outputs - 1], np.int32)
    outputs = np.concatenate([full, last])
    weights = np.arange(1, outputs.size + 1, dtype=np.float32)
    features, begins = np.array([2, 9], np.int32), np.array([0, n_outputs, n_outputs + 1])
    rows = layout.unpack(*layout.pack(features, begins, outputs, weights, n_outputs, kind), n_outputs, kind)
    for found, expected in zip(rows, (features, begins, outputs, weights), strict=True):
        np.testing.assert_array_equal(found, expected)


@given(st.sets(st.integers(0, 640)))
def test_bits_are_listed_in_ascending_order(positions):
    """Every bit of every word, the highest too; the bitmap is clean afterwards."""
    bitmap = np.zeros(11, np.uint64)
    for position in positions:
        bitmap[position // 64] |= np.uint64(1) << np.uint64(position % 64)
    found = np.empty(len(positions), np.int32)
    assert layout.set_bits_ascending(bitmap, found) == len(positions)
    assert found.tolist() == sorted(positions) and not bitmap.any()


# ---- rows as bytes

rows_of_a_node = st.lists(
    st.tuples(st.one_of(st.integers(0, 300), st.integers(0, 2**24)), st.one_of(st.integers(1, 300), st.just(2**21))),
    max_size=30,
)


def encoded_rows(gaps_and_lengths):
    gaps, lengths = np.array(gaps_and_lengths, np.int64).reshape(-1, 2).T
    features, begins = (np.cumsum(gaps + 1) - 1).astype(np.int32), np.append(0, np.cumsum(lengths))
    room = np.empty(10 * features.size, np.uint8)
    return features, begins, room[: storage.encode_rows(features, begins, room)].copy()


def decoded(encoded, at, n_rows, n_entries, n_features):
    features, begins = np.empty(n_rows, np.int32), np.empty(n_rows + 1, np.int64)
    return storage.decode_rows(encoded, at, n_rows, n_entries, n_features, features, begins), features, begins


@given(rows_of_a_node)
def test_encoded_rows_come_out_as_they_went_in(gaps_and_lengths):
    """Gaps and lengths of one byte and of four, after other nodes' bytes and before them."""
    features, begins, encoded = encoded_rows(gaps_and_lengths)
    around = np.concatenate([np.full(3, 200, np.uint8), encoded, np.full(2, 200, np.uint8)])
    n_features = int(features.max(initial=-1)) + 1
    end, found, found_begins = decoded(around, 3, features.size, begins[-1], n_features)
    assert end == 3 + encoded.size
    np.testing.assert_array_equal(found, features)
    np.testing.assert_array_equal(found_begins, begins)


def test_a_row_with_one_entry_takes_one_byte():
    """Up to a gap of 63 features; any other row takes one more for its length, and a larger gap one more."""
    sizes = [encoded_rows([row])[2].size for row in ((0, 1), (63, 1), (64, 1), (63, 2), (64, 129), (64, 130))]
    assert sizes == [1, 1, 2, 2, 3, 4]


@given(rows_of_a_node.filter(len), st.data())
def test_bytes_that_make_no_sense_are_refused(gaps_and_lengths, data):
    """Cut short, a feature too many, an entry more or less than there are: −1, never a read beyond the end."""
    features, begins, encoded = encoded_rows(gaps_and_lengths)
    n_features, n_entries = int(features[-1]) + 1, int(begins[-1])
    cut = data.draw(st.integers(0, encoded.size - 1))
    assert decoded(encoded[:cut].copy(), 0, features.size, n_entries, n_features)[0] == -1
    assert decoded(encoded, 0, features.size, n_entries, n_features - 1)[0] == -1
    for wrong in (n_entries - 1, n_entries + 1):
        assert decoded(encoded, 0, features.size, wrong, n_features)[0] == -1
    assert decoded(np.full(50, 255, np.uint8), 0, 3, n_entries, n_features)[0] == -1


@given(st.binary(max_size=60), st.integers(0, 10), st.integers(0, 100), st.integers(1, 2**31 - 1))
def test_any_bytes_are_either_rows_or_refused(content, n_rows, n_entries, n_features):
    """What is accepted has ascending features within range and exactly the entries that were announced."""
    encoded = np.frombuffer(content, np.uint8).copy()
    end, features, begins = decoded(encoded, 0, n_rows, n_entries, n_features)
    if end >= 0:
        assert end <= encoded.size and begins[-1] == n_entries
        assert (np.diff(features.astype(np.int64)) > 0).all() and (np.diff(begins) > 0).all()
        assert n_rows == 0 or 0 <= features[0] <= features[-1] < n_features


@pytest.mark.parametrize(("outputs", "ascend"), [([0, 2, 0, 1], True), ([2, 0, 0, 1], False), ([0, 0, 0, 1], False)])
def test_outputs_must_ascend_within_a_row(outputs, ascend):
    """A wrong order, an output that stands twice or one too large would make the search write where it should not."""
    outputs = np.array(outputs, np.uint8)
    begins = np.array([0, 2, 4])
    assert storage.outputs_ascend(begins, outputs, 3) is ascend
    assert not storage.outputs_ascend(begins, outputs, 2)
