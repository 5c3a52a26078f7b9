"""Models as files: what was saved comes back to the bit, and anything else is refused with a sentence."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_engine import random_model, random_tree, random_X, random_Y

from orchard.archives import read_archive, write_archive
from orchard.errors import FormatError
from orchard.linear.estimators import Bonsai, DiSMEC, Parabel, TreeEstimator, XRLinear
from orchard.linear.storage import KIND, VERSION, load_models, save_models
from orchard.trees.label_tree import LabelTree

N_FEATURES = 30


@pytest.fixture(scope="module")
def X():
    return random_X(np.random.default_rng(1), 40, N_FEATURES)


@pytest.fixture(scope="module")
def fitted(X):
    Y = random_Y(np.random.default_rng(2), 40, 12)
    return XRLinear(max_leaf=3, n_splits=2, threshold=0.05).fit(X, Y)


@pytest.fixture
def saved(fitted, tmp_path):
    fitted.save(tmp_path / "model.npz")
    return tmp_path / "model.npz"


def assert_same_models(one, other):
    assert one.tree.same_as(other.tree) and one.n_features == other.n_features
    for name in ("bundle_outputs", "biases"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for bundle in range(len(one.bundles)):
        for mine, theirs in zip(one.rows_of(bundle), other.rows_of(bundle), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(0, 1))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_model_comes_back_as_it_was(tmp_path, seed, n_trees, copies):
    """Trees of any shape, copies, single labels, nodes without weights."""
    rng = np.random.default_rng(seed)
    models = [
        random_model(rng, random_tree(rng, 20, copies=copies), N_FEATURES, rng.choice([0, 0.1, 1.0]))
        for _ in range(n_trees)
    ]
    save_models(tmp_path / "m.npz", {"n_features": N_FEATURES}, models)
    header, loaded = load_models(tmp_path / "m.npz")
    assert header["n_trees"] == n_trees == len(loaded)
    for one, other in zip(models, loaded, strict=True):
        assert_same_models(one, other)


def test_wide_leaves_come_back(tmp_path):
    """Outputs and labels that need more than 8 and more than 16 bits in the file."""
    rng = np.random.default_rng(0)
    for n_labels in (300, 66_000):
        model = random_model(rng, LabelTree.from_groups(range(n_labels)), 4, 0.01)
        save_models(tmp_path / "m.npz", {"n_features": 4}, [model])
        assert_same_models(load_models(tmp_path / "m.npz")[1][0], model)


@pytest.mark.parametrize("kind", [Parabel, Bonsai, XRLinear, DiSMEC])
def test_a_loaded_estimator_predicts_to_the_bit(tmp_path, X, kind):
    """Parameters, trees and weights; also through the class that all share, and with n_jobs of one's own."""
    Y = random_Y(np.random.default_rng(3), 40, 12)
    estimator = kind(max_leaf=4, threshold=0.02, beam=7, random_state=3).fit(X, Y)
    estimator.save(tmp_path / "model")
    for loader in (kind, TreeEstimator):
        loaded = loader.load(tmp_path / "model", n_jobs=1)
        assert type(loaded) is kind and loaded.get_params() == {**estimator.get_params(), "n_jobs": 1}
        assert (loaded.n_labels_, loaded.n_features_in_) == (12, N_FEATURES)
        for found, expected in zip(
            loaded.predict_topk(X, 6, return_depths=True), estimator.predict_topk(X, 6, return_depths=True), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
        assert (loaded.match(X) != estimator.match(X)).nnz == 0


def test_the_same_model_is_the_same_bytes(fitted, saved, tmp_path):
    """Saved again, and saved after loading, with another number of threads."""
    fitted.save(tmp_path / "again")
    XRLinear.load(saved, n_jobs=2).save(tmp_path / "loaded")
    assert saved.read_bytes() == (tmp_path / "again").read_bytes() == (tmp_path / "loaded").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "loaded", "model.npz"]


def test_a_flipped_byte_is_refused_or_means_nothing(fitted, saved, tmp_path, X):
    """Everywhere in the file: a FormatError, or, where the byte means nothing, the same predictions; never a crash."""
    content, expected = saved.read_bytes(), fitted.predict_topk(X, 5)
    rng, n_refused = np.random.default_rng(4), 0
    places = {*rng.integers(len(content), size=120).tolist(), *range(40), *range(len(content) - 200, len(content), 3)}
    for place in sorted(places):
        damaged = bytearray(content)
        damaged[place] ^= int(rng.integers(1, 256))
        (tmp_path / "damaged").write_bytes(damaged)
        try:
            found = XRLinear.load(tmp_path / "damaged").predict_topk(X, 5)
        except FormatError as error:
            assert str(tmp_path / "damaged") in str(error)
            n_refused += 1
            continue
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
    assert n_refused > 0.5 * len(places)


def test_a_file_cut_short_is_refused(saved, tmp_path):
    """A download that broke off, at any point."""
    content = saved.read_bytes()
    for n in [0, 1, 3, 21, *np.linspace(22, len(content) - 1, 30, dtype=int)]:
        (tmp_path / "cut").write_bytes(content[:n])
        with pytest.raises(FormatError, match="cut"):
            XRLinear.load(tmp_path / "cut")


def test_what_is_no_model_is_refused(fitted, tmp_path):
    """A text, nothing, a folder, somebody else's npz, pickled objects, a label tree."""
    path = tmp_path / "file"
    with pytest.raises(FormatError, match="cannot be read"):
        Parabel.load(path)
    with pytest.raises(FormatError, match="cannot be read"):
        Parabel.load(tmp_path)
    path.write_text("1 2:3.0 5:1.0\n")
    with pytest.raises(FormatError, match="not a"):
        Parabel.load(path)
    for arrays in ({"a": np.arange(3)}, {"format": np.array("pecos"), "version": 1}, {"format": np.array({1: 2})}):
        with path.open("wb") as file:
            np.savez(file, **arrays)
        with pytest.raises(FormatError, match="not a"):
            Parabel.load(path)
    fitted.models_[0].tree.save(path)
    with pytest.raises(FormatError, match="not a"):
        Parabel.load(path)


def test_an_older_program_says_that_it_is_older(saved):
    """A later version may mean anything: it is not guessed at."""
    write_archive(saved, KIND, VERSION + 1, read_archive(saved, KIND, VERSION))
    with pytest.raises(FormatError, match="newer Orchard"):
        XRLinear.load(saved)


def test_another_estimators_file_is_refused(saved):
    """The message says what the file holds."""
    with pytest.raises(FormatError, match="holds a XRLinear, not a Parabel"):
        Parabel.load(saved)


def rewritten(path, change):
    """The file with other contents but right checksums: what a faulty program might write."""
    arrays = read_archive(path, KIND, VERSION)
    change(arrays)
    write_archive(path, KIND, VERSION, arrays)


def with_header(**values):
    def change(arrays):
        arrays["header"] = np.array(json.dumps({**json.loads(arrays["header"].item()), **values}))

    return change


def with_array(name, change):
    def do(arrays):
        arrays[f"tree0.{name}"] = change(arrays[f"tree0.{name}"])

    return do


def _cancelling(counts):
    """The same sum, with a negative number."""
    counts = counts.astype(np.int64)
    counts[:2] += [1000, -1000]
    return counts


NONSENSE = {
    "no header": lambda arrays: arrays.pop("header"),
    "a header that is no JSON": lambda arrays: arrays.update(header=np.array("{")),
    "a header that is a list": lambda arrays: arrays.update(header=np.array("[1]")),
    "a header of bytes": lambda arrays: arrays.update(header=np.arange(3)),
    "no trees": with_header(n_trees=0),
    "more trees than there are": with_header(n_trees=2),
    "trees that are not counted": with_header(n_trees="many"),
    "an unknown estimator": with_header(estimator="Forest"),
    "an unknown parameter": with_header(parameters={"depth": 3}),
    "a parameter out of range": with_header(parameters={"beam": 0}),
    "a parameter of another kind": with_header(parameters={"beam": "ten"}),
    "parameters that are a list": with_header(parameters=[1]),
    "fewer features than are used": with_header(n_features=3),
    "more features than can be": with_header(n_features=10**30),
    "infinitely many features": with_header(n_features=float("inf")),
    "half a feature": with_header(n_features=30.5),
    "an estimator that is a list": with_header(estimator=["a"]),
    "a parameter that is half": with_header(parameters={"beam": 2.5}),
    "labels beyond 32 bits": with_array("label_indices", lambda a: a.astype(np.int64) + 2**40),
    "entry counts that cancel": with_array("bundle_entries", lambda a: _cancelling(a)),
    "more row counts than memory": with_array("bundle_rows", lambda a: np.full(a.size, 2**40)),
    "a byte too many": with_array("rows", lambda a: np.append(a, a[-1:])),
    "an array is missing": lambda arrays: arrays.pop("tree0.weights"),
    "weights that are integers": with_array("weights", lambda a: a.astype(int)),
    "weights in a matrix": with_array("weights", lambda a: a[None]),
    "a weight that is NaN": with_array("weights", lambda a: np.append(a[:-1], np.float32(np.nan))),
    "a bias that is infinite": with_array("biases", lambda a: np.append(a[:-1], np.float32(np.inf))),
    "a weight too few": with_array("weights", lambda a: a[:-1]),
    "a bias too many": with_array("biases", lambda a: np.append(a, a[:1])),
    "outputs out of range": with_array("outputs", lambda a: a + 100),
    "outputs in reverse": with_array("outputs", lambda a: a[::-1].copy()),
    "rows of other bundles": with_array("bundle_rows", lambda a: np.array([a[0] - 1, a[1] + 1, *a[2:]])),
    "rows cut short": with_array("rows", lambda a: a[:-1]),
    "rows without end": with_array("rows", lambda a: np.full_like(a, 255)),
    "huge row counts": with_array("bundle_rows", lambda a: np.full(a.size, 2**63, np.uint64)),
    "huge entry counts": with_array("bundle_entries", lambda a: np.full(a.size, 2**63, np.uint64)),
    "negative row counts": with_array("bundle_rows", lambda a: -a.astype(np.int64)),
    "a tree that is none": with_array("children", lambda a: a[::-1].copy()),
    "negative labels": with_array("label_indices", lambda a: a.astype(np.int64) - 5),
}


@pytest.mark.parametrize("problem", NONSENSE)
def test_contents_that_make_no_sense_are_refused(saved, problem):
    """Kernels trust what they are given: all of it is checked before."""
    rewritten(saved, NONSENSE[problem])
    with pytest.raises(FormatError, match=r"model\.npz"):
        XRLinear.load(saved)


def test_random_contents_are_refused_or_can_be_searched(saved, X):
    """Any numbers in any array, with right checksums: never a crash, neither of the reader nor of the search."""
    original, rng = read_archive(saved, KIND, VERSION), np.random.default_rng(5)
    names = [name for name in original if name.startswith("tree0.")]
    n_refused = 0
    for _ in range(150):
        arrays = {name: array.copy() for name, array in original.items()}
        array = arrays[names[rng.integers(len(names))]]
        array.view(np.uint8)[rng.integers(array.nbytes)] ^= np.uint8(rng.integers(1, 256))
        write_archive(saved, KIND, VERSION, arrays)
        try:
            ids, _ = XRLinear.load(saved).predict_topk(X, 5)
        except FormatError:
            n_refused += 1
            continue
        assert ids.min() >= -1 and ids.max() < 12
    assert n_refused > 30
