"""A query's result is its own: alone or among thousands, in any chunk, on any thread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from plain_engine import binary_tree, random_model, random_tree, random_X

from orchard.linear import _scoring_kernels as scoring
from orchard.linear import search
from orchard.linear.inputs import csr_arrays
from orchard.linear.search import SearchSettings
from orchard.trees.label_tree import LabelTree

N_FEATURES = 60


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def one_by_one(models, X, k, how):
    parts = [search.topk(models, X[row], k, how, n_jobs=1) for row in range(X.shape[0])]
    return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]


MODELS = {
    "narrow nodes, few weights": (lambda rng: random_tree(rng, 60, depth=3), 0.1),
    "wide nodes, few weights": (lambda rng: LabelTree.from_groups(np.array_split(np.arange(400), 5)), 0.02),
    "wide nodes, many weights": (lambda rng: LabelTree.from_groups(np.array_split(np.arange(400), 5)), 0.6),
    "one versus all": (lambda rng: LabelTree.from_groups(range(100)), 0.3),
    "copies": (lambda rng: random_tree(rng, 60, depth=3, copies=2), 0.3),
    "three trees": (lambda rng: random_tree(rng, 60, depth=3), 0.3),
    "three trees, many leaves": (lambda rng: binary_tree(6), 0.2),
}


@pytest.fixture(params=MODELS, scope="module")
def case(request):
    """(models, X); X has rows of all lengths, empty ones too, and some that all are the same."""
    rng = np.random.default_rng(7)
    make_tree, density = MODELS[request.param]
    n_trees = 3 if request.param.startswith("three") else 1
    models = [random_model(rng, make_tree(rng), N_FEATURES, density) for _ in range(n_trees)]
    parts = [random_X(rng, 60, N_FEATURES, density) for density in (0.02, 0.2, 1.0)]
    return models, sp.vstack([*parts, parts[0] * 0, *[parts[1][:1]] * 30], format="csr").astype(np.float32)


@pytest.mark.parametrize(("k", "discount"), [(10, 1.0), (2, 0.9), (1, 1.0)])
@pytest.mark.parametrize("combiner", ["l2-hinge", "sigmoid"])
def test_a_batch_gives_what_each_query_gets_alone_to_the_bit(case, combiner, k, discount):
    """Queries that share a node are multiplied with dense rows, one alone with sparse ones: the sums are the same.

    One alone leaves out the leaves that cannot hold one of its best k labels: nothing is lost by that.
    """
    models, X = case
    how = SearchSettings(beam=4, combiner=combiner, discount=discount)
    assert_same(search.topk(models, X, k, how, n_jobs=1), one_by_one(models, X, k, how))


@pytest.mark.parametrize("n", [2, 9, 16, 17, 40])
@pytest.mark.parametrize("density", [0.1, 0.8])
def test_queries_together_have_the_margins_of_each_alone_to_the_bit(n, density):
    """Whatever the rule chooses on this processor: rows with bits, with codes and dense ones."""
    rng = np.random.default_rng([12, n])
    model = random_model(rng, LabelTree.from_groups(range(n)), N_FEATURES, density)
    X, weights, scales = random_X(rng, 30, N_FEATURES), model.for_search[2], rng.random(30).astype(np.float32)
    arrays = csr_arrays(X)
    pairs = np.zeros(30, np.int64), np.arange(30), n * np.arange(30)
    together, alone = np.empty((30, n), np.float32), np.empty((30, n), np.float32)
    room = scoring.scoring_room(arrays, 0, 30, weights)
    scoring.margins_together(arrays, 0, pairs, np.arange(30), scales, 0, weights, room, together.ravel())
    for row in range(30):
        n_hits = scoring.hits_of(X[row].indices, X[row].data, 0, weights, *room[:2], 0)
        scoring.margins_alone(n_hits, *room[:2], scales[row], 0, weights, room[7], alone[row])
    np.testing.assert_array_equal(together, alone)
    W, biases = model.weights_of(0)
    np.testing.assert_allclose(alone, scales[:, None] * (X @ W).toarray() + biases, rtol=1e-4, atol=1e-5)


def test_the_order_of_the_queries_does_not_matter(case):
    """Shuffled queries have shuffled results."""
    models, X = case
    how = SearchSettings(beam=3)
    order = np.random.default_rng(0).permutation(X.shape[0])
    expected = search.topk(models, X, 5, how)
    assert_same(search.topk(models, X[order], 5, how), [array[order] for array in expected])


@pytest.mark.parametrize("chunk", [1, 7, 64, 100_000])
@pytest.mark.parametrize("n_jobs", [1, 2, 3, None])
def test_neither_threads_nor_chunks_change_a_bit(case, monkeypatch, chunk, n_jobs):
    """topk, beams and match cut the queries into chunks; nobody sees where."""
    models, X = case
    how = SearchSettings(beam=3)
    expected = search.topk(models, X, 5, how, n_jobs=1)
    nodes, scores, sizes = search.beams(models[0], X, how, n_jobs=1)
    M = search.match(models[0], X, how, n_jobs=1)
    monkeypatch.setattr(search, "_chunk", lambda *_: chunk)
    assert_same(search.topk(models, X, 5, how, n_jobs=n_jobs), expected)
    found = search.beams(models[0], X, how, n_jobs=n_jobs)
    np.testing.assert_array_equal(found[2], sizes)
    kept = np.arange(how.beam) < sizes[:, None]
    assert_same((found[0][kept], found[1][kept]), (nodes[kept], scores[kept]))
    assert (search.match(models[0], X, how, n_jobs=n_jobs) != M).nnz == 0


def test_several_trees_in_chunks(monkeypatch):
    """The arrays in which labels are added up are clean again after every query and chunk."""
    rng = np.random.default_rng(8)
    models = [random_model(rng, random_tree(rng, 50, copies=1), N_FEATURES) for _ in range(3)]
    X, how = random_X(rng, 100, N_FEATURES), SearchSettings(beam=3)
    expected = search.topk(models, X, 8, how, n_jobs=1)
    assert_same(one_by_one(models, X, 8, how), expected)
    monkeypatch.setattr(search, "_chunk", lambda *_: 9)
    assert_same(search.topk(models, X, 8, how, n_jobs=3), expected)


def test_threads_of_the_caller_do_not_disturb_each_other(case):
    """A server asks from several threads at once; every answer is the one it gets alone."""
    models, X = case
    how = SearchSettings(beam=4)
    expected = search.topk(models, X, 5, how, n_jobs=1)

    def ask(turn):
        rows = np.arange(turn, X.shape[0], 1 + turn % 5)
        return rows, search.topk(models, X[rows], 5, how, n_jobs=1 + turn % 2)

    with ThreadPoolExecutor(8) as pool:
        for rows, found in pool.map(ask, range(40)):
            assert_same(found, [array[rows] for array in expected])


def test_a_model_with_wide_nodes_numbers_its_outputs_with_32_bits():
    """More than 65,534 labels in one leaf: the other width of the codes, in the batch and alone."""
    rng = np.random.default_rng(9)
    n_labels, d = 66_000, 5
    model = random_model(rng, LabelTree.from_groups(range(n_labels)), d, density=0.2)
    assert model.code_type == np.uint32
    X, how = random_X(rng, 20, d, density=0.8), SearchSettings(combiner="sigmoid", normalise=False)
    found = search.topk([model], X, 5, how, n_jobs=2)
    assert_same(found, one_by_one([model], X, 5, how))
    W, biases = model.weights_of(0)
    margins = X @ W + biases
    best = np.sort(margins, axis=1)[:, ::-1][:, :5]
    np.testing.assert_allclose(np.take_along_axis(margins, found[0], axis=1), best, rtol=1e-5)
    narrow = random_model(rng, LabelTree.from_groups(np.array_split(np.arange(n_labels), 30)), d, density=0.2)
    assert narrow.code_type == np.uint16
    assert_same(search.topk([model, narrow], X, 5, how), one_by_one([model, narrow], X, 5, how))


def test_no_queries_have_no_results():
    """An empty batch is a batch."""
    rng = np.random.default_rng(10)
    model, X, how = random_model(rng, random_tree(rng, 20), N_FEATURES), random_X(rng, 0, N_FEATURES), SearchSettings()
    assert [array.shape for array in search.topk([model], X, 3, how)] == [(0, 3)] * 3
    assert [array.shape for array in search.topk([model, model], X, 3, how)] == [(0, 3)] * 3
    assert search.match(model, X, how).shape == (0, model.tree.n_leaves)


@pytest.mark.parametrize("n_trees", [1, 2])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_refused_by_its_row(bad, n_trees):
    """NaN compares with nothing: the ranking would be arbitrary. The row is named wherever its chunk begins."""
    rng = np.random.default_rng(11)
    model, X = random_model(rng, random_tree(rng, 20), N_FEATURES), random_X(rng, 3000, N_FEATURES, 0.05)
    X.data[X.indptr[2500]] = bad
    for do in (
        lambda: search.topk([model] * n_trees, X, 3, SearchSettings()),
        lambda: search.match(model, X, SearchSettings()),
    ):
        with pytest.raises(ValueError, match="row 2500 of X has a value that is not finite"):
            do()
    with pytest.raises(ValueError, match="row 0 of X has a value that is not finite"):
        search.topk([model] * n_trees, X[2500], 3, SearchSettings())
