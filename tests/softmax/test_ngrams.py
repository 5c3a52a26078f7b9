"""Texts into counts of words and hashed n-grams."""

import numpy as np
import pytest
import scipy.sparse as sp

from orchard.softmax import WordNgrams

TEXTS = ["a b a", "b c", "a b"]


def plain_hash(word):
    """FNV-1a of 32 bits over signed bytes, as a signed number: what fastText makes of a word."""
    value = 2166136261
    for byte in word.encode():
        value = ((value ^ (byte - 256 if byte > 127 else byte) % 2**32) * 16777619) % 2**32
    return value - 2**32 if value >= 2**31 else value


def plain_bucket(words, bucket):
    value = plain_hash(words[0])
    for word in words[1:]:
        value = (value * 116049371 + plain_hash(word)) % 2**64
    return value % 2**64 % bucket


def dense(ngrams, texts):
    return ngrams.transform(texts).toarray().tolist()


def column_of(ngrams, *words):
    return int(ngrams.bucket_columns_[plain_bucket(words, ngrams.bucket)])


def test_words_are_counted_in_the_order_of_their_first_occurrence():
    ngrams = WordNgrams(min_count=2, word_ngrams=1).fit(TEXTS)
    assert ngrams.vocabulary_ == {b"a": 0, b"b": 1, b"</s>": 2}  # c occurs once
    assert dense(ngrams, TEXTS) == [[2, 1, 1, 0], [0, 1, 1, 0], [1, 1, 1, 0]]  # the last is for unknown n-grams


def test_bigrams_are_made_of_rare_words_and_of_the_end_too():
    """a b, b a, a </s>; b c, c </s>; a b, b </s>: columns 3 to 8."""
    ngrams = WordNgrams(min_count=2, word_ngrams=2).fit(TEXTS)
    assert dense(ngrams, TEXTS) == [
        [2, 1, 1, 1, 1, 1, 0, 0, 0, 0],
        [0, 1, 1, 0, 0, 0, 1, 1, 0, 0],
        [1, 1, 1, 1, 0, 0, 0, 0, 1, 0],
    ]
    assert [column_of(ngrams, *pair) for pair in ("ab", "ba", "bc")] == [3, 4, 6]


def test_the_hash_is_that_of_fasttext():
    """FNV-1a's published values; trigrams and letters beyond ASCII by the plain hash."""
    assert plain_hash("a") % 2**32 == 0xE40C292C
    assert plain_hash("foobar") % 2**32 == 0xBF9CF968
    text = ["naïve", "Bäume", "wachsen", "</s>"]
    ngrams = WordNgrams(min_count=1, word_ngrams=3, bucket=1000).fit([" ".join(text[:-1])])
    pairs_and_triples = [text[i : i + n] for n in (2, 3) for i in range(len(text) - n + 1)]
    columns = [ngrams.bucket_columns_[plain_bucket(words, 1000)] for words in pairs_and_triples]
    assert columns == [4, 5, 6, 7, 8]  # after the words, in their order


def test_unknown_words_are_ignored_and_unknown_n_grams_have_one_column():
    """Known are a b, b </s>; unknown b a, a </s>; x </s>; b b; none of the empty text's."""
    ngrams = WordNgrams(min_count=1).fit(["a b"])
    counts = ngrams.transform(["b a", "x", "a b b", ""])
    assert counts.shape == (4, 6)
    known = {word.decode(): column for word, column in ngrams.vocabulary_.items()}
    assert counts[0].nonzero()[1].tolist() == sorted([known["a"], known["b"], known["</s>"], 5])
    assert counts[1].nonzero()[1].tolist() == [known["</s>"], 5]
    assert counts[2, known["b"]] == 2
    assert counts[3].nonzero()[1].tolist() == [known["</s>"]]
    assert counts[:, 5].toarray().ravel().tolist() == [2, 1, 1, 0]


def test_n_grams_that_share_a_bucket_share_a_column():
    counts = WordNgrams(min_count=1, bucket=1).fit_transform(["a b c", "d"])
    assert counts.toarray().tolist() == [[1, 1, 1, 1, 0, 3, 0], [0, 0, 0, 1, 1, 1, 0]]


def test_fit_transform_is_fit_and_transform():
    texts = [" ".join(map(str, np.random.default_rng(seed).integers(9, size=20))) for seed in range(30)]
    counts = WordNgrams().fit_transform(texts)
    assert (counts != WordNgrams().fit(texts).transform(texts)).nnz == 0
    assert isinstance(counts, sp.csr_matrix)
    assert counts.dtype == np.float32
    assert counts.has_canonical_format
    assert counts.sum() == 30 * 41  # twenty words, the end, and the bigrams between them


def test_only_ascii_white_space_separates_words():
    """A no-break space is part of a word, as fastText has it."""
    ngrams = WordNgrams(min_count=1, word_ngrams=1).fit(["a\u00a0b\tc\n\nd"])
    assert list(ngrams.vocabulary_) == ["a\u00a0b".encode(), b"c", b"d", b"</s>"]


def test_no_texts_have_no_columns():
    """But for that of unknown n-grams."""
    assert WordNgrams().fit_transform([]).shape == (0, 1)
    assert WordNgrams().fit(["a"]).transform(["a b"]).shape == (1, 2)  # the bigram of a and the end


@pytest.mark.parametrize("wrong", [{"min_count": 0}, {"word_ngrams": 1.5}, {"bucket": True}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        WordNgrams(**wrong).fit(TEXTS)


def test_wrong_use_is_refused():
    with pytest.raises(RuntimeError, match="not fitted"):
        WordNgrams().transform(TEXTS)
    with pytest.raises(ValueError, match="not one string"):
        WordNgrams().fit("a b c")
