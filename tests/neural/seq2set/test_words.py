"""Texts as word numbers: vocabularies, and documents of any lengths. None of it needs PyTorch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchard.neural.seq2set.ragged import Ragged
from orchard.neural.seq2set.words import N_SPECIAL, PADDING, UNKNOWN, Vocabulary, plain_words


def test_the_most_frequent_words_come_first_and_ties_go_to_the_one_that_sorts_first():
    vocabulary = Vocabulary(["pear fig", "fig apple", "fig pear kiwi"])
    assert vocabulary.words == ["fig", "pear", "apple", "kiwi"]
    assert vocabulary.number_of_word == {"fig": 2, "pear": 3, "apple": 4, "kiwi": 5}
    assert len(vocabulary) == 4 + N_SPECIAL


def test_words_beyond_the_limit_are_unknown():
    vocabulary = Vocabulary(["pear fig", "fig apple", "fig pear kiwi"], max_words=3)
    assert vocabulary.words == ["fig", "pear", "apple"]
    found = vocabulary.documents(["kiwi fig", "", "fig " * 9], max_tokens=4)
    assert [found.values[start:end].tolist() for start, end in zip(found.starts, found.starts[1:], strict=False)] == [
        [UNKNOWN, 2],
        [UNKNOWN],  # no text is empty
        [2, 2, 2, 2],
    ]


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        ("white space", ["E.", "coli's", "H2O,", "3.5", "(up)", "snake_case"]),
        ("plain words", ["e", "coli's", "h2o", "3.5", "up", "snake", "case"]),
    ],
)
def test_texts_are_cut_in_two_ways(tokens, words):
    """As the authors' clean texts want it, or into what vocabularies of word vectors have."""
    assert sorted(Vocabulary(["E. coli's H2O,\t3.5\n(up) snake_case"], tokens).words) == sorted(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ärzte, naïve", ["ärzte", "naïve"]),
        ("it's 'quoted'", ["it's", "quoted"]),
        ("1.5 3. .7", ["1.5", "3", "7"]),
        ("—!?", []),
    ],
)
def test_plain_words(text, words):
    assert plain_words(text) == words


rows_of_words = st.lists(st.lists(st.integers(UNKNOWN, 9), min_size=1, max_size=6), min_size=1, max_size=8)


@st.composite
def documents_and_rows(draw):
    """Texts as lists of numbers, and rows of them in any order, some several times, or none."""
    texts = draw(rows_of_words)
    rows = draw(st.lists(st.integers(0, len(texts) - 1), max_size=10))
    return texts, np.array(rows, np.int64)


def as_documents(texts) -> Ragged:
    starts = np.cumsum([0, *(len(text) for text in texts)])
    return Ragged(np.concatenate(texts).astype(np.int32), starts)


@given(documents_and_rows())
def test_some_documents_are_those_that_were_asked_for(drawn):
    texts, rows = drawn
    some = as_documents(texts).some(rows)
    assert len(some) == len(rows)
    assert some.lengths.tolist() == [len(texts[row]) for row in rows]
    assert some.values.tolist() == [word for row in rows for word in texts[row]]


@given(documents_and_rows())
def test_padded_documents_are_the_same_and_padding(drawn):
    texts, rows = drawn
    padded, lengths = as_documents(texts).padded(rows, PADDING)
    longest = max((len(texts[row]) for row in rows), default=0)
    assert padded.tolist() == [texts[row] + [PADDING] * (longest - len(texts[row])) for row in rows]
    assert padded.dtype == np.int64
    assert lengths.tolist() == [len(texts[row]) for row in rows]


@given(st.lists(st.text("ab ", max_size=8), min_size=1, max_size=6), st.integers(1, 4), st.integers(1, 5))
def test_documents_are_their_words_looked_up_one_by_one(texts, max_words, max_tokens):
    vocabulary = Vocabulary(texts, max_words=max_words)
    documents = vocabulary.documents(texts, max_tokens)
    for row, text in enumerate(texts):
        expected = [vocabulary.number_of_word.get(word, UNKNOWN) for word in text.split()[:max_tokens]] or [UNKNOWN]
        assert documents.values[documents.starts[row] : documents.starts[row + 1]].tolist() == expected
