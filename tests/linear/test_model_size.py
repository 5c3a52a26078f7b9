"""A model that outgrows its limit is given up while it is trained: whenever it is too large, and never otherwise."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_engine import packed, random_tree, random_X, random_Y

from orchard.errors import OrchardError, OversizedModel
from orchard.linear import training
from orchard.linear._layout_kernels import packed_size
from orchard.linear.estimators import DiSMEC, Parabel, XRLinear
from orchard.linear.training import ModelSize, SolverSettings, TreeTrainer, train_tree
from orchard.trees.label_tree import LabelTree

HOW = SolverSettings(threshold=0.05)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    return random_X(rng, 100, 40), random_Y(rng, 100, 60, 0.1)


@pytest.fixture
def small_jobs(monkeypatch):
    """Leaves, and some bundles, are trained in several pieces."""
    monkeypatch.setattr(training, "LABELS_OF_A_JOB", 5)


def gb(n_bytes):
    return n_bytes / 1e9


def same_models(one, other):
    parts = ("bundle_outputs", "biases", "bundle_tables", "tables", "bundle_words", "words")
    pairs = [(getattr(a, part), getattr(b, part)) for a, b in zip(one, other, strict=True) for part in parts]
    return all(a.tobytes() == b.tobytes() for a, b in pairs)


# ---- counting


@given(st.integers(0, 10_000), st.sampled_from([3, 16, 17, 60]), st.floats(0, 1), st.sampled_from([1, 3, 7]))
@settings(max_examples=100)
def test_the_size_of_what_is_not_packed_yet(seed, n_outputs, density, spread):
    """As many words as it has when it is packed; every piece may only add to them, or training ends by mistake."""
    rng = np.random.default_rng(seed)
    dense = np.zeros((spread * int(rng.integers(1, 60)), n_outputs))  # direct tables, and hashed ones
    some = dense[::spread]
    some[:] = (rng.random(n_outputs) < density) & (rng.random(some.shape) < rng.random((some.shape[0], 1)))
    kind, sizes = np.empty(0, np.uint16), [0]
    for end in range(1, n_outputs + 1):
        part = np.where(np.arange(n_outputs) < end, dense, 0)
        n_weights = (part != 0).sum(axis=1).astype(np.int32)
        rows = np.flatnonzero(n_weights).astype(np.int32)
        sizes.append(packed_size(rows, n_weights[rows], n_outputs, kind))
        assert sizes[-1] == sum(array.size for array in packed(part, kind))
    assert (np.diff(sizes) >= 0).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("negatives", ["tfn", "man", "tfn+man"])
def test_what_is_counted_is_the_model(data, small_jobs, negatives, n_jobs):
    """To the byte, whole bundles and those that come node by node or in blocks of labels."""
    X, Y = data
    rng = np.random.default_rng(0)
    for tree in (random_tree(rng, 60), random_tree(rng, 60, depth=6, n_splits=2), LabelTree.from_groups(range(60))):
        size = ModelSize(1, [tree])
        model = train_tree(X, Y, tree, HOW, 0, negatives, n_jobs=n_jobs, size=size)
        assert size.n_bytes == model.nbytes
        assert size.n_trained == size.n_classifiers >= 60


# ---- whether it ends


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_trees", [1, 3])
def test_a_model_is_given_up_exactly_when_it_is_too_large(data, n_trees, n_jobs):
    """One byte decides; within the limit the model is the one that has none."""
    free = Parabel(n_trees=n_trees, max_leaf=5, n_jobs=n_jobs).fit(*data)
    n_bytes = free.model_bytes_
    for allowed in (n_bytes, n_bytes + 1, 2 * n_bytes):
        limited = Parabel(n_trees=n_trees, max_leaf=5, n_jobs=n_jobs, max_model_gb=gb(allowed)).fit(*data)
        assert same_models(limited.models_, free.models_)
    for allowed in (1, n_bytes // 2, n_bytes - 4, n_bytes - 1):
        limited = Parabel(n_trees=n_trees, max_leaf=5, n_jobs=n_jobs, max_model_gb=gb(allowed))
        with pytest.raises(OversizedModel):
            limited.fit(*data)
        assert not hasattr(limited, "models_")


@pytest.mark.parametrize(
    "make",
    [
        lambda **options: DiSMEC(**options),
        lambda **options: XRLinear(n_splits=2, max_leaf=12, negatives="man", **options),
        lambda **options: XRLinear(n_splits=2, max_leaf=12, negatives="tfn+man", **options),
    ],
)
def test_the_limit_holds_for_models_that_come_in_pieces(data, small_jobs, make):
    free = make().fit(*data)
    n_bytes = free.model_bytes_
    for n_jobs in (1, 2):
        assert same_models(make(n_jobs=n_jobs, max_model_gb=gb(n_bytes)).fit(*data).models_, free.models_)
        for allowed in (n_bytes // 3, n_bytes - 1):
            with pytest.raises(OversizedModel):
                make(n_jobs=n_jobs, max_model_gb=gb(allowed)).fit(*data)


def test_the_message_says_what_to_do(data):
    """The limit, how far it came, the parameter."""
    with pytest.raises(OrchardError, match=r"larger than 1e-06 GB with \d+ of its \d+ classifiers: raise `max_model"):
        Parabel(max_model_gb=1e-6).fit(*data)


# ---- when it ends


def pieces_of(monkeypatch):
    """The bytes of every piece that was trained to the end, as they become known."""
    known, add = [], ModelSize.add

    def watched(self, n_bytes, n_trained):
        known.append(n_bytes)
        add(self, n_bytes, n_trained)

    monkeypatch.setattr(ModelSize, "add", watched)
    return known


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("one_vs_all", [False, True])
def test_training_ends_at_once(data, small_jobs, monkeypatch, one_vs_all, n_jobs):
    """Beyond the limit there is a piece per thread at most; jobs that have not begun are dropped."""
    X, Y = data
    tree = LabelTree.from_groups(range(60)) if one_vs_all else random_tree(np.random.default_rng(0), 60, depth=5)
    pieces = pieces_of(monkeypatch)
    whole = train_tree(X, Y, tree, HOW, n_jobs=1, size=ModelSize(1, [tree]))
    n_pieces, largest = len(pieces), max(pieces)
    pieces.clear()
    size = ModelSize(gb(whole.nbytes // 3), [tree])
    with pytest.raises(OversizedModel):
        train_tree(X, Y, tree, HOW, n_jobs=n_jobs, size=size)
    assert whole.nbytes // 3 < size.n_bytes == sum(pieces) <= whole.nbytes // 3 + n_jobs * largest
    assert len(pieces) < n_pieces * 3 // 4


def test_pieces_that_wait_for_a_slow_one_are_counted(data, monkeypatch):
    """The root can take as long as all others together, whose weights nobody has collected then."""
    X, Y = data
    tree = random_tree(np.random.default_rng(0), 60, depth=5)
    n_bytes = train_tree(X, Y, tree, HOW).nbytes
    size = ModelSize(gb(n_bytes // 3), [tree])
    train_piece, seen_by_root = TreeTrainer._train_piece, []

    def slow_at_the_root(self, nodes, *arguments, **options):
        deadline = time.monotonic() + 20
        while nodes[0] == 0 and size.n_bytes <= n_bytes // 3 and time.monotonic() < deadline:
            time.sleep(0.001)
        if nodes[0] == 0:
            seen_by_root.append(size.n_bytes)
        return train_piece(self, nodes, *arguments, **options)

    monkeypatch.setattr(TreeTrainer, "_train_piece", slow_at_the_root)
    with pytest.raises(OversizedModel):
        train_tree(X, Y, tree, HOW, n_jobs=2, size=size)
    assert seen_by_root and min(seen_by_root) > n_bytes // 3  # its thread saw the others grow too large
    assert size.n_bytes < n_bytes // 2


def test_earlier_trees_count(data):
    """The second tree is not begun when the first one is too large by itself, and has what the first one left."""
    X, Y = data
    tree = LabelTree.from_groups([[*range(30)], [*range(30, 60)]])
    n_bytes = train_tree(X, Y, tree, HOW).nbytes
    size = ModelSize(gb(n_bytes * 3 // 2), [tree, tree])
    train_tree(X, Y, tree, HOW, size=size)
    with pytest.raises(OversizedModel, match=r"with (6[2-9]|[7-9]\d|1\d\d) of its 124 classifiers"):
        train_tree(X, Y, tree, HOW, size=size)
