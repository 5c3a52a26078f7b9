"""From texts to numbers: words as OTSeq2Set counts them, and the TF-IDF features of the text corpora."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix, vstack

from orchard.errors import ConfigError

# Two or more letters, digits or underscores: scikit-learn's own rule, written out so that it cannot change under us.
TOKEN_PATTERN = r"(?u)\b\w\w+\b"


def tokenize(text: str) -> list[str]:
    """The words of a text as OTSeq2Set takes them: whatever white space separates, case and punctuation kept."""
    return text.split()


def count_words(texts: Sequence[str]) -> np.ndarray:
    """The number of words of every text, int64 (n_texts,); its mean is the papers' words per sample."""
    return np.fromiter((len(tokenize(text)) for text in texts), dtype=np.int64, count=len(texts))


def tfidf(
    train_texts: Sequence[str],
    test_texts: Sequence[str],
    *,
    max_features: int | None = None,
    min_df: int = 1,
    ngram_max: int = 1,
) -> tuple[csr_matrix, csr_matrix, list[str]]:
    """TF-IDF features, with vocabulary and document frequencies taken from the training texts alone.

    A term t that a text holds c > 0 times weighs (1 + ln c) · (1 + ln((1 + n) / (1 + df_t))), where n texts were
    trained on and df_t of them hold t; rows then get unit length. Terms are runs of 1 … `ngram_max` lower-case tokens
    of `TOKEN_PATTERN`; no stop words are removed.

    max_features : keep only the terms that occur most often in the training texts; ties go to the earlier term.
    min_df : leave out terms that fewer training texts hold.

    Returns X_train (n_train, n_terms), X_test (n_test, n_terms), both CSR float32 with sorted indices, and the terms in
    column order (by code point). A text without any known term keeps an empty row.
    """
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    # float64 until the end: the last bits of log differ between processors, the rounded float32 hardly ever does.
    vectorizer = CountVectorizer(
        lowercase=True, token_pattern=TOKEN_PATTERN, ngram_range=(1, ngram_max), min_df=min_df, dtype=np.float64
    )
    try:
        train_counts = vectorizer.fit_transform(train_texts)
    except ValueError as error:
        raise ConfigError(f"tfidf: {error}") from error
    test_counts = vectorizer.transform(test_texts)
    terms = vectorizer.get_feature_names_out()

    # Chosen here and not by scikit-learn, whose unstable sort lets the processor decide between equally frequent terms.
    if max_features is not None and max_features < len(terms):
        occurrences = np.asarray(train_counts.sum(axis=0)).ravel()
        kept = np.sort(np.argsort(-occurrences, kind="stable")[:max_features])
        train_counts, test_counts, terms = train_counts[:, kept], test_counts[:, kept], terms[kept]

    weights = TfidfTransformer(norm="l2", sublinear_tf=True).fit(train_counts)
    # Both parts at once: scikit-learn refuses a matrix without rows, and there may be no test texts.
    X = csr_matrix(weights.transform(vstack([train_counts, test_counts])), dtype=np.float32)
    X.sort_indices()
    return X[: len(train_texts)], X[len(train_texts) :], terms.tolist()
