"""Texts into counts of words and hashed word n-grams, as fastText reads them."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
import scipy.sparse as sp

from orchard.linear.inputs import check_parameter
from orchard.parameters import Parameters
from orchard.softmax._ngram_kernels import hash_words

END_OF_TEXT = b"</s>"
_MULTIPLIER = np.uint64(
    116049371
)  # of fastText: the hash of an n-gram is that of its beginning times this, plus a word's


@dataclass(eq=False, repr=False)
class WordNgrams(Parameters):
    """Counts of words and of the buckets that n-grams of words are hashed into (fastText: Joulin et al. 2017).

    A text is split at white space, nothing else is changed, and the word </s> is added to its end.
    min_count : words that occur less often in the training texts have no column; n-grams are made of all words.
    word_ngrams : n-grams of 2 … word_ngrams words; 1 for none.
    bucket : the number of buckets.  Only those that occur in training have a column.

    Unknown words and n-grams are ignored by `transform`. fastText ignores such words too, but gives such n-grams the
    random vectors that their buckets started with, which counts them in the mean of the text.

    Attributes after `fit`: vocabulary_ ({word as bytes: column}), buckets_ (int64, ascending) and bucket_columns_ (the
    column of each).  Columns are in the order in which the training texts first have them, words before n-grams: texts
    that are read in turn then find the vectors of their n-grams side by side.
    """

    min_count: int = 2
    word_ngrams: int = 2
    bucket: int = 2_000_000

    def fit(self, texts: Iterable[str]) -> "WordNgrams":
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[str]) -> sp.csr_matrix:
        """Learn the columns; returns the counts of the same texts."""
        self._check_parameters()
        words, tokens, indptr = _split(texts)
        kept = np.flatnonzero(np.bincount(tokens, minlength=len(words)) >= self.min_count)
        self.vocabulary_ = {words[number]: column for column, number in enumerate(kept.tolist())}
        buckets, rows = self._hashed(words, tokens, indptr)
        self.buckets_, first_seen = np.unique(buckets, return_index=True)
        self.bucket_columns_ = np.empty(self.buckets_.size, np.int64)
        self.bucket_columns_[np.argsort(first_seen)] = kept.size + np.arange(self.buckets_.size)
        return self._counts(words, tokens, indptr, buckets, rows)

    def transform(self, texts: Iterable[str]) -> sp.csr_matrix:
        """The counts, CSR float32 (n_texts, n_columns)."""
        if not hasattr(self, "vocabulary_"):
            raise RuntimeError("this WordNgrams is not fitted yet: call fit(texts) first")
        words, tokens, indptr = _split(texts)
        return self._counts(words, tokens, indptr, *self._hashed(words, tokens, indptr))

    def _check_parameters(self):
        for name, value in self.get_params().items():
            check_parameter(name, value, int)
            if value < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")

    def _hashed(self, words, tokens, indptr):
        """The bucket of every n-gram, int64, and the text that it is in."""
        hashes = _hashes(words)[tokens]
        text_of = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        buckets, rows = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        values = hashes
        for length in range(2, self.word_ngrams + 1):
            values = values[:-1] * _MULTIPLIER + hashes[length - 1 :]  # of all n-grams, if all texts were one
            in_one_text = text_of[: values.size] == text_of[length - 1 :]
            buckets.append((values[in_one_text] % np.uint64(self.bucket)).astype(np.int64))
            rows.append(text_of[: values.size][in_one_text])
        return np.concatenate(buckets), np.concatenate(rows)

    def _counts(self, words, tokens, indptr, buckets, rows):
        columns = np.fromiter((self.vocabulary_.get(word, -1) for word in words), np.int64, len(words))[tokens]
        n_columns = len(self.vocabulary_) + self.buckets_.size
        if self.buckets_.size:
            place = np.minimum(np.searchsorted(self.buckets_, buckets), self.buckets_.size - 1)
            of_ngrams = np.where(self.buckets_[place] == buckets, self.bucket_columns_[place], -1)
        else:
            of_ngrams = np.full(buckets.size, -1)
        columns = np.concatenate([columns, of_ngrams])
        rows = np.concatenate([np.repeat(np.arange(indptr.size - 1), np.diff(indptr)), rows])
        known = columns >= 0
        ones = np.ones(np.count_nonzero(known), np.float32)
        counts = sp.csr_matrix((ones, (rows[known], columns[known])), shape=(indptr.size - 1, n_columns))
        counts.sum_duplicates()
        return counts


def _split(texts):
    """The different words in the order of their first occurrence, their numbers in all texts, and where texts begin."""
    if isinstance(texts, str | bytes):
        raise ValueError("texts must be several texts, not one string")
    number_of, numbers, indptr = {}, [], [0]
    for text in texts:
        # Bytes are split at ASCII white space only, as fastText does.
        numbers.extend([number_of.setdefault(w, len(number_of)) for w in chain(text.encode().split(), (END_OF_TEXT,))])
        indptr.append(len(numbers))
    return list(number_of), np.array(numbers, np.int64), np.array(indptr)


def _hashes(words):
    """The hashes of the words, uint64, extended by their sign as fastText does."""
    letters = np.frombuffer(b"".join(words), np.uint8)
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    hashes = np.empty(len(words), np.uint32)
    hash_words(letters, ends, hashes)
    return hashes.view(np.int32).astype(np.int64).view(np.uint64)
