"""Texts into counts of words and hashed word n-grams, as fastText reads them."""

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

import numpy as np
import scipy.sparse as sp

from orchard.linear.inputs import check_parameter
from orchard.parameters import Parameters
from orchard.softmax._ngram_kernels import hash_words

END_OF_TEXT = b"</s>"
# Of fastText: the hash of an n-gram is that of its beginning times this, plus a word's.
_MULTIPLIER = np.uint64(116049371)


@dataclass(eq=False, repr=False)
class WordNgrams(Parameters):
    """Counts of words and of the buckets that n-grams of words are hashed into (fastText: Joulin et al. 2017).

    A text is split at white space, nothing else is changed, and the word </s> is added to its end.
    min_count : words that occur less often in the training texts have no column; n-grams are made of all words.
    word_ngrams : n-grams of 2 … word_ngrams words; 1 for none.
    bucket : the number of buckets.  Only those that occur in training have a column.

    `transform` ignores unknown words, and counts unknown n-grams in one last column, which no training text has: to
    fastText they are buckets with the small random vectors they started with, and count in the mean of the text.

    Attributes after `fit`: vocabulary_ ({word as bytes: column}), bucket_columns_ (int32 (bucket,), the column of every
    bucket), n_columns_.  Columns are in the order in which the training texts first have them, all words
    before all n-grams: a model that reads the texts in turn then finds the vectors of rare n-grams side by side.
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
        ngrams = list(self._ngrams(words, tokens, indptr))
        buckets = np.concatenate([np.empty(0, np.int64), *(buckets for buckets, _ in ngrams)])
        first_seen = np.full(self.bucket, buckets.size)
        first_seen[buckets[::-1]] = np.arange(buckets.size)[::-1]  # of equal ones the last that is written counts
        seen = np.flatnonzero(first_seen < buckets.size)
        self.n_columns_ = kept.size + seen.size + 1
        self.bucket_columns_ = np.full(self.bucket, self.n_columns_ - 1, np.int32)
        self.bucket_columns_[seen[np.argsort(first_seen[seen])]] = np.arange(kept.size, self.n_columns_ - 1)
        return self._counts(words, tokens, indptr, ngrams)

    def transform(self, texts: Iterable[str]) -> sp.csr_matrix:
        """The counts, CSR float32 (n_texts, n_columns_)."""
        if not hasattr(self, "vocabulary_"):
            raise RuntimeError("this WordNgrams is not fitted yet: call fit(texts) first")
        words, tokens, indptr = _split(texts)
        return self._counts(words, tokens, indptr, self._ngrams(words, tokens, indptr))

    def _check_parameters(self):
        for name, value in self.get_params().items():
            check_parameter(name, value, int)
            if value < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")

    def _ngrams(self, words, tokens, indptr):
        """For 2, 3, … words: the buckets of all n-grams, int64, text after text, and how many each text has."""
        hashes, n_tokens = _hashes(words)[tokens], np.diff(indptr)
        text_of, values = np.repeat(np.arange(n_tokens.size), n_tokens), hashes
        for length in range(2, self.word_ngrams + 1):
            values = values[:-1] * _MULTIPLIER + hashes[length - 1 :]  # of all n-grams, if all texts were one
            in_one_text = text_of[: values.size] == text_of[length - 1 :]
            buckets = (values[in_one_text] % np.uint64(self.bucket)).astype(np.int64)
            yield buckets, np.maximum(n_tokens - (length - 1), 0)

    def _counts(self, words, tokens, indptr, ngrams):
        columns = np.fromiter((self.vocabulary_.get(word, -1) for word in words), np.int32, len(words))
        counts = self._counted(columns[tokens], np.diff(indptr))
        for buckets, sizes in ngrams:
            counts = counts + self._counted(self.bucket_columns_[buckets], sizes)
        return counts

    def _counted(self, columns, sizes):
        """How often each text has each column; columns : int32, −1 is left out; sizes : of the texts, before that."""
        is_known = columns >= 0
        indptr = np.append(0, np.cumsum(is_known))[np.append(0, np.cumsum(sizes))]
        ones = np.ones(indptr[-1], np.float32)
        counts = sp.csr_matrix((ones, columns[is_known], indptr), shape=(sizes.size, self.n_columns_))
        counts.sum_duplicates()
        return counts


def _split(texts):
    """The different words in the order of their first occurrence, their numbers in all texts, and where texts begin."""
    if isinstance(texts, str | bytes):
        raise ValueError("texts must be several texts, not one string")
    number_of = defaultdict(count().__next__)
    numbers, indptr = array("q"), [0]
    for text in texts:
        numbers.extend(map(number_of.__getitem__, text.encode().split()))  # bytes: at ASCII white space, as fastText
        numbers.append(number_of[END_OF_TEXT])
        indptr.append(len(numbers))
    return list(number_of), np.array(numbers, np.int64), np.array(indptr)


def _hashes(words):
    """The hashes of the words, uint64, extended by their sign as fastText does."""
    letters = np.frombuffer(b"".join(words), np.uint8)
    ends = np.cumsum([len(word) for word in words], dtype=np.int64)
    hashes = np.empty(len(words), np.uint32)
    hash_words(letters, ends, hashes)
    return hashes.view(np.int32).astype(np.int64).view(np.uint64)
