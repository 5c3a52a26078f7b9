"""The generator must be reproducible to the byte, have the marginals it promises, and make data that can be learnt."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import normalize

from orchard.data import _synthetic_kernels as kernels
from orchard.data.synthetic import SyntheticSpec, generate, make_up_words
from orchard.errors import ConfigError

CONFIG = Path(__file__).parents[2] / "config"
SIMULATED = sorted((CONFIG / "datasets").glob("*-sim*.yaml"))
SMALL = SyntheticSpec(
    n_train=600, n_test=200, n_features=800, n_labels=120, labels_per_sample=4, words_per_sample=36, branching=8
)


def matrices(data):
    return data.X_train, data.Y_train, data.X_test, data.Y_test


def content(data):
    arrays = [array for matrix in matrices(data) for array in (matrix.indptr, matrix.indices, matrix.data)]
    return [array.tobytes() for array in [*arrays, data.topics]]


def centroids(data):
    """PIFA: the normalised sum of a label's training rows."""
    return normalize(data.Y_train.T @ data.X_train)


def nearest_centroid_precision(data):
    best = np.asarray((data.X_test @ centroids(data).T).argmax(axis=1)).ravel()
    return np.asarray(data.Y_test[np.arange(len(best)), best]).mean()


def popularity_precision(data):
    return data.Y_test[:, data.Y_train.sum(axis=0).argmax()].mean()


# Reproducible


def test_same_seed_same_bytes_and_another_seed_other_bytes():
    assert content(generate(SMALL)) == content(generate(SMALL))
    assert content(generate(SMALL)) != content(generate(replace(SMALL, seed=1)))


def test_number_of_threads_does_not_matter():
    threads = numba.get_num_threads()
    results = []
    try:
        for n_threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(n_threads)
            results.append(content(generate(SMALL)))
    finally:
        numba.set_num_threads(threads)
    assert results[0] == results[1]


def test_a_row_does_not_depend_on_the_rows_around_it():
    """Rows are keyed by their index, so a longer training set starts with the shorter one."""
    short, long = generate(SMALL), generate(replace(SMALL, n_train=700))
    assert (long.Y_train[:600] != short.Y_train).nnz == 0
    assert (long.Y_train[600:] != short.Y_test[:100]).nnz == 0


def test_random_numbers_are_splitmix64():
    """The published outputs for the seed 1234567, and ten lines of Python for another."""
    assert list(kernels.derive_many(np.uint64(1234567), 3)) == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]

    def splitmix64(state):
        mask = (1 << 64) - 1
        while True:
            state = (state + 0x9E3779B97F4A7C15) & mask
            z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
            yield z ^ (z >> 31)

    stream = splitmix64(2**64 - 3)
    assert list(kernels.derive_many(np.uint64(2**64 - 3), 100)) == [next(stream) for _ in range(100)]


def test_draws_follow_the_weights_within_a_range():
    weights = np.array([5.0, 1.0, 0.0, 2.0, 1.0, 9.0])
    bits = kernels.derive_many(np.uint64(0), 20_000)
    drawn = [kernels.draw_from(np.cumsum(weights), 1, 5, b) for b in bits]
    shares = np.bincount(drawn, minlength=6) / len(drawn)
    np.testing.assert_allclose(shares, [0, 0.25, 0, 0.5, 0.25, 0], atol=0.01)


@pytest.mark.parametrize("exponent", [0.0, 0.7, 1.0, 1.5])
def test_ranks_follow_the_power_law(exponent):
    bits = kernels.derive_many(np.uint64(0), 20_000)
    shares = np.bincount([kernels.draw_rank(6, exponent, b) for b in bits], minlength=6) / len(bits)
    fine = np.linspace(1, 7, 6 * 1_000, endpoint=False) + 0.0005
    weights = (fine**-exponent).reshape(6, -1).sum(axis=1)
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=0.01)


# The marginals


@settings(max_examples=25, deadline=None)
@given(
    spec=st.builds(
        SyntheticSpec,
        n_train=st.integers(1, 60),
        n_test=st.integers(1, 30),
        n_features=st.integers(1, 90),
        n_labels=st.integers(6, 60),
        labels_per_sample=st.floats(1, 6),
        words_per_sample=st.floats(1, 20),
        branching=st.integers(2, 20),
        words_per_topic=st.integers(1, 9),
        label_exponent=st.floats(0, 2),
        word_exponent=st.floats(0, 2),
        difficulty=st.floats(0, 1),
        ambiguity=st.floats(0, 1),
        seed=st.integers(0, 2**63 - 1),
    )
)
def test_any_spec_gives_well_formed_matrices(spec):
    data = generate(spec)
    X_train, Y_train, X_test, Y_test = matrices(data)
    assert X_train.shape == (spec.n_train, spec.n_features) and X_test.shape == (spec.n_test, spec.n_features)
    assert Y_train.shape == (spec.n_train, spec.n_labels) and Y_test.shape == (spec.n_test, spec.n_labels)
    for matrix in matrices(data):
        assert matrix.dtype == np.float32 and matrix.indices.dtype == matrix.indptr.dtype == np.int32
        assert np.diff(matrix.indptr).min() >= 1
        rebuilt = matrix.copy()
        rebuilt.has_canonical_format = False  # forget the claim, so that scipy checks it
        rebuilt.sum_duplicates()
        assert np.array_equal(rebuilt.indices, matrix.indices)
    for X in (X_train, X_test):
        np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1, rtol=1e-5)
    assert (Y_train.data == 1).all() and (Y_test.data == 1).all()
    assert (data.n_meanings == 2).sum() == round(spec.ambiguity * spec.n_labels)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_labels_per_sample_and_the_exponent_of_the_label_frequencies(seed):
    spec = SyntheticSpec(20_000, 10, 500, 5_000, 5.45, 2, label_exponent=0.6, words_per_topic=4, seed=seed)
    Y = generate(spec).Y_train
    assert Y.nnz / Y.shape[0] == pytest.approx(5.45, rel=0.02)
    counts = np.sort(np.bincount(Y.indices, minlength=5_000))[::-1]
    ranks = np.arange(1, 5_001)
    body = (ranks >= 5) & (ranks <= 1_000)
    slope = np.polyfit(np.log(ranks[body]), np.log(counts[body]), 1)[0]
    assert -0.65 < slope < -0.45


def test_a_row_may_hold_one_label_or_all():
    assert (np.diff(generate(replace(SMALL, labels_per_sample=1)).Y_train.indptr) == 1).all()
    data = generate(replace(SMALL, n_labels=16, labels_per_sample=16, label_exponent=3.0, ambiguity=0.5))
    assert np.diff(data.Y_train.indptr).max() == 16


# TF-IDF and text


def test_features_are_scikit_learns_tfidf_of_the_texts():
    spec = replace(SMALL, with_text=True)
    data = generate(spec)
    vectorizer = CountVectorizer(vocabulary=make_up_words(0, spec.n_features))
    transformer = TfidfTransformer()
    expected_train = transformer.fit_transform(vectorizer.transform(data.texts_train))
    expected_test = transformer.transform(vectorizer.transform(data.texts_test))
    np.testing.assert_allclose(data.X_train.toarray(), expected_train.toarray(), rtol=1e-6)
    np.testing.assert_allclose(data.X_test.toarray(), expected_test.toarray(), rtol=1e-6)


def test_text_changes_no_matrix():
    with_text, without = generate(replace(SMALL, with_text=True)), generate(SMALL)
    assert content(with_text) == content(without)
    assert without.texts_train is without.texts_test is without.label_names is None
    assert len(with_text.texts_train) == 600 and len(with_text.texts_test) == 200
    assert len(set(with_text.label_names)) == 120


def test_made_up_words_are_distinct_and_numbered():
    words = make_up_words(0, 20_000)
    assert len(set(words)) == 20_000
    assert make_up_words(7, 3) == words[7:10]
    assert all(word.isalpha() for word in words)


# Learnable


def test_centroids_beat_popularity_and_difficulty_hurts():
    easy, medium, hard = (generate(replace(SMALL, difficulty=difficulty)) for difficulty in (0.2, 0.6, 0.9))
    precisions = [nearest_centroid_precision(data) for data in (easy, medium, hard)]
    assert precisions[0] > precisions[1] + 0.1 > precisions[2] + 0.2
    assert precisions[1] > 2 * popularity_precision(medium)


def test_siblings_are_more_alike_than_other_labels():
    data = generate(replace(SMALL, n_train=2_000, n_labels=400))
    C = centroids(data)
    similarity = (C @ C.T).toarray()
    siblings = data.topics[:, :1] == data.topics[:, 0]
    np.fill_diagonal(siblings, False)
    others = ~siblings & ~np.eye(400, dtype=bool)
    assert similarity[siblings].mean() > 1.5 * similarity[others].mean()


def test_the_two_meanings_of_a_label_part_its_samples():
    """The samples of an ambiguous label are less alike than those of an unambiguous label as frequent as it is."""
    data = generate(replace(SMALL, n_train=3_000, n_labels=200, n_features=2_000, ambiguity=0.5))
    ambiguous = data.n_meanings == 2
    assert (data.topics[ambiguous, 0] != data.topics[ambiguous, 1]).all()
    n = np.asarray(data.Y_train.sum(axis=0)).ravel()
    sums = data.Y_train.T @ data.X_train
    within = (np.asarray(sums.multiply(sums).sum(axis=1)).ravel() - n) / (n * (n - 1))  # mean over pairs of samples
    of_like_frequency = (n > np.quantile(n, 0.25)) & (n < np.quantile(n, 0.75))
    assert within[ambiguous & of_like_frequency].mean() < 0.8 * within[~ambiguous & of_like_frequency].mean()


# The spec


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("n_train", 0),
        ("n_test", 2.5),
        ("n_features", True),
        ("n_labels", "many"),
        ("labels_per_sample", 0.5),
        ("labels_per_sample", 121),
        ("words_per_sample", float("nan")),
        ("branching", 1),
        ("words_per_topic", 0),
        ("label_exponent", -0.1),
        ("word_exponent", 11),
        ("difficulty", 1.01),
        ("ambiguity", -0.01),
        ("divided_by", 0),
        ("seed", -1),
        ("with_text", 1),
        ("n_words", 3),
    ],
)
def test_a_wrong_value_is_named(key, value):
    with pytest.raises(ConfigError, match=f"^{key}: "):
        SyntheticSpec.from_config({**vars(SMALL), key: value})


def test_a_missing_key_and_a_size_too_large_are_named():
    with pytest.raises(ConfigError, match=r"^n_test: missing"):
        SyntheticSpec.from_config({"n_train": 3})
    with pytest.raises(ConfigError, match=r"^words_per_sample: too many"):
        replace(SMALL, n_train=300_000_000, words_per_sample=7).validate()
    with pytest.raises(ConfigError, match=r"^with_text: "):
        replace(SMALL, n_features=10_000_000, with_text=True).validate()


def test_dividing_rounds_and_keeps_a_usable_rest():
    spec = replace(SMALL, n_train=951_000, n_labels=705_000, n_features=1_000, n_test=20, divided_by=256).divided()
    assert (spec.n_train, spec.n_labels, spec.n_features, spec.n_test) == (3715, 2754, 64, 20)
    assert spec.divided() == spec


# The data sets


@pytest.mark.parametrize("path", SIMULATED, ids=lambda path: path.stem)
def test_a_simulated_data_set_says_so_and_states_its_size(path):
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    schema = yaml.safe_load((CONFIG / "schemas/dataset.schema.yaml").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(config)
    assert config["simulated"] and config["title"].endswith(" (simulated)")
    assert config["reader"].pop("kind") == "synthetic"
    spec = SyntheticSpec.from_config(config["reader"]).divided()
    assert config["statistics"] == {key: getattr(spec, key) for key in config["statistics"]}


@pytest.mark.parametrize("name", ["smoke-sim", "smoke-text-sim", "logs-705k-sim-256th"])
def test_small_data_sets_are_learnable(name):
    reader = yaml.safe_load((CONFIG / f"datasets/{name}.yaml").read_text(encoding="utf-8"))["reader"]
    del reader["kind"]
    data = generate(SyntheticSpec.from_config(reader))
    assert nearest_centroid_precision(data) > 3 * popularity_precision(data)


@pytest.mark.slow
def test_a_set_of_amazons_size_is_made_within_8_gb():
    """490k × 136k with 670k labels, in a process of its own, which alone knows its peak."""
    script = """
import resource, sys
from orchard.config import load_yaml
from orchard.data.synthetic import SyntheticSpec, generate
options = load_yaml(sys.argv[1])["reader"]
options.pop("kind")
data = generate(SyntheticSpec.from_config(options))
print(data.X_train.shape, data.Y_train.shape, data.X_test.shape, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    path = Path(__file__).parents[2] / "config" / "datasets" / "amazon-670k-sim.yaml"
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
    shapes, _, peak_kilobytes = done.stdout.rpartition(" ")
    assert shapes == "(490449, 135909) (490449, 670091) (153025, 135909)"
    assert int(peak_kilobytes) < 8e6
