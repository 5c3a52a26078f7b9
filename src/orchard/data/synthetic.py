"""Simulated XMC data of any size: for scale tests, and for smoke runs without a network.

The labels are the leaves of a complete `branching`-ary topic hierarchy, in random order. Their popularity is a power
law: the label of rank r is drawn with weight r^-label_exponent. (The counts fall by about 0.1 less steeply, since a
sample has a label only once.) A sample draws its first label by popularity and the others near it in the hierarchy;
it draws its words from the vocabularies of its labels and their topics and, as often as `difficulty` says, from a Zipf
law over all words, which tells nothing. An ambiguous label has two places in the hierarchy, far apart, and every use
of it takes one of them.

The features are TF-IDF rows of length 1, as scikit-learn's TfidfTransformer makes them, with the idf of the training
rows. The same spec gives the same bytes with any number of threads.
"""

import logging
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import pdtr

from orchard.data import _synthetic_kernels as kernels
from orchard.errors import ConfigError

log = logging.getLogger(__name__)

# What `divided_by` leaves at least, so that a small fraction is still a data set.
_MINIMUM_SIZES = {"n_train": 64, "n_test": 32, "n_features": 64, "n_labels": 16}

# 56 syllables without the letter e: no made-up word is then an English stop word (`become` would be one).
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aiou"]
_SYLLABLES_PER_WORD = 4
_N_WORDS = len(_SYLLABLES) ** _SYLLABLES_PER_WORD


@dataclass(frozen=True)
class SyntheticSpec:
    """The parameters of a simulated data set; `validate` says which one is wrong."""

    n_train: int
    n_test: int
    n_features: int
    n_labels: int
    labels_per_sample: float  # mean (where it is far below n_labels); a sample has 1 + Poisson(mean - 1) labels
    words_per_sample: float  # mean number of words, repetitions included; 1 + Poisson(mean - 1)
    branching: int = 16
    words_per_topic: int = 32
    label_exponent: float = 0.6  # fits Amazon-670K; 0.9 fits AmazonCat-13K
    word_exponent: float = 1.0  # of the background words, and of the words within a topic
    difficulty: float = 0.5  # share of the words that are background
    ambiguity: float = 0.0  # share of the labels that have two unrelated meanings
    divided_by: int = 1  # divides n_train, n_test, n_features and n_labels
    seed: int = 0
    with_text: bool = False

    @classmethod
    def from_config(cls, config: Mapping) -> "SyntheticSpec":
        """The validated spec that the keys of a data set's `reader` (without `kind`) state."""
        defaults = {field.name: field.default for field in fields(cls)}
        for key in config:
            if key not in defaults:
                raise ConfigError(f"{key}: unknown; the keys are {', '.join(defaults)}")
        for key, default in defaults.items():
            if default is MISSING and key not in config:
                raise ConfigError(f"{key}: missing")
        spec = cls(**config)
        spec.validate()
        return spec

    def validate(self) -> None:
        """Raise ConfigError, naming the key, where a value has the wrong type or lies out of range."""
        for field in fields(self):
            value = getattr(self, field.name)
            allowed = (int, float) if field.type is float else field.type
            if not isinstance(value, allowed) or (isinstance(value, bool) and field.type is not bool):
                raise ConfigError(f"{field.name}: {value!r} is not of type {field.type.__name__}")

        def check(key, low, high=np.inf):
            value = getattr(self, key)
            if not low <= value <= high:  # also refuses nan
                raise ConfigError(f"{key}: {value} is not within {low} and {high}")

        for key in ("n_train", "n_test", "n_features", "n_labels", "words_per_topic", "divided_by"):
            check(key, 1, 2**31 - 1)
        check("branching", 2, 2**31 - 1)
        check("labels_per_sample", 1, self.divided().n_labels)
        check("words_per_sample", 1, 1e6)
        for key in ("label_exponent", "word_exponent"):
            check(key, 0, 10)
        for key in ("difficulty", "ambiguity"):
            check(key, 0, 1)
        check("seed", 0, 2**63 - 1)
        size = self.divided()
        for key in ("labels_per_sample", "words_per_sample"):
            if max(size.n_train, size.n_test) * getattr(self, key) > 2e9:
                raise ConfigError(f"{key}: too many entries for a matrix with 32-bit indices; set divided_by")
        if self.with_text and size.n_features + size.n_labels > _N_WORDS:
            raise ConfigError(f"with_text: there are only {_N_WORDS} made-up words; set divided_by")

    def divided(self) -> "SyntheticSpec":
        """The spec with its sizes divided by `divided_by`."""

        def divide(key, minimum):
            size = getattr(self, key)
            return min(size, max(minimum, round(size / self.divided_by)))

        return replace(self, divided_by=1, **{key: divide(key, low) for key, low in _MINIMUM_SIZES.items()})


@dataclass(frozen=True)
class SyntheticData:
    """A simulated data set; the matrices are CSR, float32, int32, with sorted indices."""

    X_train: csr_matrix  # (n_train, n_features)
    Y_train: csr_matrix  # (n_train, n_labels), of ones
    X_test: csr_matrix
    Y_test: csr_matrix
    topics: np.ndarray  # int32 (n_labels, 2): the topic of each meaning of a label, -1 for a second that is not there
    label_names: list[str] | None = None
    texts_train: list[str] | None = None
    texts_test: list[str] | None = None

    @property
    def n_meanings(self) -> np.ndarray:
        """(n_labels,): 2 for an ambiguous label, else 1."""
        return (self.topics >= 0).sum(axis=1)


def generate(spec: SyntheticSpec) -> SyntheticData:
    """Make the data set that `spec` states."""
    spec.validate()
    spec = spec.divided()
    model, topics = _build_model(spec)
    log.info("drawing %d training and %d test rows", spec.n_train, spec.n_test)
    X_train, Y_train, texts_train = _generate_rows(spec, model, 0, spec.n_train)
    X_test, Y_test, texts_test = _generate_rows(spec, model, spec.n_train, spec.n_test)

    log.info("weighing %d words", X_train.nnz + X_test.nnz)
    frequency = kernels.document_frequency(X_train.indices, spec.n_features)
    idf = np.log((1 + spec.n_train) / (1 + frequency)) + 1
    for X in (X_train, X_test):
        kernels.weigh_rows(X.indptr, X.indices, X.data, idf)

    names = make_up_words(spec.n_features, spec.n_labels) if spec.with_text else None
    return SyntheticData(X_train, Y_train, X_test, Y_test, topics, names, texts_train, texts_test)


def make_up_words(first: int, n_words: int) -> list[str]:
    """The pronounceable words number first, first + 1, ...: distinct, and the same in every data set."""
    words = []
    for number in range(first, first + n_words):
        # A multiplier coprime to 56 only permutes the words; neighbours then do not sound alike.
        number = number * 6_700_417 % _N_WORDS
        word = ""
        for _ in range(_SYLLABLES_PER_WORD):
            number, syllable = divmod(number, len(_SYLLABLES))
            word += _SYLLABLES[syllable]
        words.append(word)
    return words


def _build_model(spec):
    """The tables that rows are drawn from, and the topics of every label's meanings."""
    row_key, topic_key, popularity_key, ambiguity_key, place_key, word_key = kernels.derive_many(
        np.uint64(spec.seed), 6
    )

    label_weights = np.arange(1, spec.n_labels + 1, dtype=np.float64) ** -spec.label_exponent
    label_weights = label_weights[_shuffled(spec.n_labels, popularity_key)]
    ambiguous = _shuffled(spec.n_labels, ambiguity_key)[: round(spec.ambiguity * spec.n_labels)]
    label_weights[ambiguous] /= 2
    label_of_meaning = np.concatenate([np.arange(spec.n_labels), ambiguous]).astype(np.int32)

    # The first meaning of an ambiguous label goes into the lower half of the hierarchy, the second into the upper.
    order_keys = kernels.derive_many(place_key, len(label_of_meaning))
    upper_half = np.uint64(1 << 63)
    order_keys[ambiguous] &= ~upper_half
    order_keys[spec.n_labels :] |= upper_half
    meaning_of_place = np.argsort(order_keys, kind="stable")

    topics = np.full((spec.n_labels, 2), -1, np.int32)
    topic_of_meaning = np.empty(len(label_of_meaning), np.int32)
    topic_of_meaning[meaning_of_place] = np.arange(len(label_of_meaning)) // spec.branching
    topics[:, 0] = topic_of_meaning[: spec.n_labels]
    topics[ambiguous, 1] = topic_of_meaning[spec.n_labels :]

    n_topic_levels = 1
    while spec.branching**n_topic_levels < len(label_of_meaning):
        n_topic_levels += 1

    label_of_place = label_of_meaning[meaning_of_place]
    model = kernels.Model(
        row_key=row_key,
        topic_key=topic_key,
        place_cumulative=np.cumsum(label_weights[label_of_place]),
        label_of_place=label_of_place,
        branching=spec.branching,
        n_topic_levels=n_topic_levels,
        label_count_cumulative=_cumulative_poisson(spec.labels_per_sample - 1)[: spec.n_labels],
        word_count_cumulative=_cumulative_poisson(spec.words_per_sample - 1),
        word_exponent=float(spec.word_exponent),
        words_per_topic=spec.words_per_topic,
        background_words=_shuffled(spec.n_features, word_key).astype(np.int32),
        difficulty=float(spec.difficulty),
    )
    return model, topics


def _generate_rows(spec, model, first_row, n_rows):
    """The counts X, the labels Y and the texts of a range of rows."""
    n_labels, n_distinct, n_words = kernels.measure_rows(model, first_row, n_rows)
    label_indptr, word_indptr = _indptr(n_labels), _indptr(n_distinct)
    label_indices = np.empty(label_indptr[-1], np.int32)
    word_indices = np.empty(word_indptr[-1], np.int32)
    word_counts = np.empty(word_indptr[-1], np.float32)
    kernels.write_rows(model, first_row, label_indptr, label_indices, word_indptr, word_indices, word_counts)
    X = csr_matrix((word_counts, word_indices, word_indptr), shape=(n_rows, spec.n_features))
    ones = np.ones(len(label_indices), np.float32)
    Y = csr_matrix((ones, label_indices, label_indptr), shape=(n_rows, spec.n_labels))
    for matrix in (X, Y):
        matrix.has_canonical_format = True
    texts = _texts(spec, model, first_row, _indptr(n_words)) if spec.with_text else None
    return X, Y, texts


def _texts(spec, model, first_row, token_indptr):
    vocabulary = np.array(make_up_words(0, spec.n_features))
    tokens = np.empty(token_indptr[-1], np.int32)
    kernels.write_tokens(model, first_row, token_indptr, tokens)
    return [" ".join(vocabulary[row]) for row in np.split(tokens, token_indptr[1:-1])]


def _indptr(sizes):
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def _shuffled(n, key):
    """A permutation of 0, ..., n - 1."""
    return np.argsort(kernels.derive_many(key, n), kind="stable")


def _cumulative_poisson(mean):
    """P(count <= 0), P(count <= 1), ... to the point where nothing is left to double precision."""
    counts = np.arange(int(mean + 10 * np.sqrt(mean)) + 20)
    return pdtr(counts, mean)
