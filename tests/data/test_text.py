"""Words and TF-IDF features."""

import math
import re
from collections import Counter

import numpy as np
import pytest

from orchard.data.text import count_words, tfidf, tokenize
from orchard.errors import ConfigError


def test_words_are_what_white_space_separates():
    """OTSeq2Set splits on white space alone: case, punctuation and single letters stay."""
    assert tokenize("A  dose of\t5 mg/kg,\nTwice.") == ["A", "dose", "of", "5", "mg/kg,", "Twice."]
    counts = count_words(["one", "", "one two  three"])
    assert counts.tolist() == [1, 0, 3] and counts.dtype == np.int64
    assert count_words([]).tolist() == []


def test_tfidf_of_a_case_computed_by_hand():
    """n = 2; idf(apple) = 1 + ln 3/2 = 1.405465, idf(pear) = 1; apple twice weighs 1 + ln 2 = 1.693147 times that."""
    X_train, X_test, vocabulary = tfidf(["Apple apple PEAR", "a pear, plum"], ["plum grape", "grape", ""])
    assert vocabulary == ["apple", "pear", "plum"]
    np.testing.assert_allclose(X_train.toarray(), [[0.921906, 0.387412, 0], [0, 0.579739, 0.814802]], atol=1e-6)
    np.testing.assert_array_equal(X_test.toarray(), [[0, 0, 1], [0, 0, 0], [0, 0, 0]])


def random_texts(n_texts: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    words = np.array([f"Word{i}" for i in range(60)] + ["x", "naïve", "β2", "co-enzyme"])
    return [" ".join(rng.choice(words, size=rng.integers(0, 40)).tolist()) for _ in range(n_texts)]


def tfidf_by_definition(train_texts, test_texts, max_features, min_df, ngram_max):
    def terms(text):
        tokens = re.findall(r"\b\w\w+\b", text.lower())
        return [" ".join(tokens[i : i + n]) for n in range(1, ngram_max + 1) for i in range(len(tokens) - n + 1)]

    train, test = ([Counter(terms(text)) for text in texts] for texts in (train_texts, test_texts))
    df, occurrences = Counter(t for counts in train for t in counts), sum(train, Counter())
    vocabulary = sorted(t for t in df if df[t] >= min_df)
    vocabulary = sorted(sorted(vocabulary, key=lambda t: -occurrences[t])[:max_features])
    idf = np.array([1 + math.log((1 + len(train)) / (1 + df[t])) for t in vocabulary])

    def weigh(documents):
        tf = np.array([[1 + math.log(counts[t]) if counts[t] else 0 for t in vocabulary] for counts in documents])
        norms = np.linalg.norm(tf * idf, axis=1, keepdims=True)
        return tf * idf / np.where(norms > 0, norms, 1)

    return weigh(train), weigh(test), vocabulary


@pytest.mark.parametrize(
    ("max_features", "min_df", "ngram_max"), [(None, 1, 1), (None, 3, 1), (20, 1, 1), (100, 2, 2), (50, 1, 3)]
)
def test_tfidf_agrees_with_its_definition(max_features, min_df, ngram_max):
    """A second implementation, straight from the docstring's formula, ties at the limit included."""
    train_texts, test_texts = random_texts(80, seed=1), random_texts(30, seed=2)
    options = {"max_features": max_features, "min_df": min_df, "ngram_max": ngram_max}
    X_train, X_test, vocabulary = tfidf(train_texts, test_texts, **options)
    expected_train, expected_test, expected_vocabulary = tfidf_by_definition(train_texts, test_texts, **options)
    assert vocabulary == expected_vocabulary
    np.testing.assert_allclose(X_train.toarray(), expected_train, atol=1e-7)
    np.testing.assert_allclose(X_test.toarray(), expected_test, atol=1e-7)


def test_tfidf_agrees_with_the_vectorizer_of_scikit_learn():
    """Without a tie to break, choosing the terms ourselves changes nothing."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = random_texts(50, seed=3)
    X, _, vocabulary = tfidf(texts, [], min_df=2)
    reference = TfidfVectorizer(sublinear_tf=True, min_df=2)
    np.testing.assert_allclose(X.toarray(), reference.fit_transform(texts).toarray(), atol=1e-7)
    assert vocabulary == reference.get_feature_names_out().tolist()


def test_equally_frequent_terms_are_chosen_by_the_alphabet():
    """Else the choice, and with it every result, would depend on the processor's sort."""
    words = [f"w{i:03}" for i in range(200)]
    _, _, vocabulary = tfidf([" ".join(reversed(words)), "w199"], [], max_features=100)
    assert vocabulary == [*words[:99], "w199"]


def test_tfidf_matrices_are_canonical_and_the_same_every_time():
    """CSR float32 with sorted indices; the test texts never change the training features."""
    texts = random_texts(60, seed=4)
    X, X_test, _ = tfidf(texts, texts[:10], max_features=30)
    again, _, _ = tfidf(texts, ["something else entirely"], max_features=30)
    for matrix in (X, X_test):
        assert matrix.format == "csr" and matrix.dtype == np.float32 and matrix.has_canonical_format
    assert X.shape == (60, 30) and X_test.shape == (10, 30)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, part), getattr(again, part))


@pytest.mark.parametrize(
    ("texts", "options", "problem"),
    [(["a b", "! ?"], {}, "empty vocabulary"), (["one", "two"], {"min_df": 2}, "no terms remain"), ([], {}, "empty")],
)
def test_texts_without_a_term_are_refused(texts, options, problem):
    """Otherwise a matrix without columns would fail much later."""
    with pytest.raises(ConfigError, match=f"tfidf: .*{problem}"):
        tfidf(texts, [], **options)
