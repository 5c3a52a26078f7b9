"""Which samples a node sees, and that its classifiers depend on nothing else."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_engine import binary_tree, minimum, one_vs_all, plain_beam, random_tree, random_X, random_Y

from orchard.linear import _training_kernels, training
from orchard.linear.bundles import Bundles
from orchard.linear.search import SearchSettings
from orchard.linear.training import Lists, SolverSettings, TreeTrainer, samples_of_labels, samples_of_nodes, train_tree

EXACT = SolverSettings(tolerance=1e-5, max_iterations=5000, threshold=0.0)


def random_problem(seed, n=60, d=12, n_labels=14, copies=0, share=0.15):
    """X and Y with samples that have no label, and a tree with leaves at any depth."""
    rng = np.random.default_rng(seed)
    return random_X(rng, n, d), random_Y(rng, n, n_labels, share), random_tree(rng, n_labels, copies=copies)


def labels_under(tree, node):
    if tree.is_leaf[node]:
        return set(tree.labels_of(node).tolist())
    return set().union(*(labels_under(tree, child) for child in range(tree.children[node], tree.children[node + 1])))


def plain_teacher_forcing(Y, tree):
    """The samples with a label under each node; all of them at the root."""
    dense = Y.toarray() > 0
    under = [dense[:, sorted(labels_under(tree, node))].any(axis=1) for node in range(tree.n_nodes)]
    return [np.arange(Y.shape[0])] + [np.flatnonzero(samples) for samples in under[1:]]


def positives_of(Y, tree, node):
    """bool (n, outputs): what every classifier of a node should say."""
    dense = Y.toarray() > 0
    if tree.is_leaf[node]:
        return dense[:, tree.labels_of(node)]
    children = range(tree.children[node], tree.children[node + 1])
    return np.column_stack([dense[:, sorted(labels_under(tree, child))].any(axis=1) for child in children])


def assert_same_models(one, other):
    for name in ("bundle_outputs", "biases", "bundle_tables", "tables", "bundle_words", "words"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@given(st.integers(0, 10_000), st.integers(0, 2))
@settings(max_examples=25)
def test_teacher_forcing_gives_a_node_the_samples_of_its_labels(seed, copies):
    """Every list ascends and names each sample once, however many of its labels or copies are under the node."""
    _, Y, tree = random_problem(seed, copies=copies)
    lists = samples_of_nodes(Y, tree)
    for node, expected in enumerate(plain_teacher_forcing(Y, tree)):
        np.testing.assert_array_equal(lists[node], expected)


def test_the_samples_of_labels():
    """The transpose of Y; a label without samples has an empty list."""
    Y = sp.csr_matrix(np.array([[1, 0, 1], [0, 0, 0], [1, 0, 0]], np.float32))
    lists = samples_of_labels(Y)
    assert [lists[label].tolist() for label in range(3)] == [[0, 2], [], [0]]


def test_the_union_of_lists():
    """List by list, ascending, without repetition; lists that nobody asked for are empty."""
    one, other = (Lists(np.array(p), np.array(i, np.int32)) for p, i in (([0, 2, 2], [1, 4]), ([0, 2, 3], [0, 4, 2])))
    both = one.union(other, np.array([0, 1]))
    assert [both[0].tolist(), both[1].tolist()] == [[0, 1, 4], [2]]
    second = one.union(other, np.array([1]))
    assert [second[0].tolist(), second[1].tolist()] == [[], [2]]
    assert both.indices.dtype == np.int32


def assert_every_edge_is_optimal(X, Y, tree, loss):
    """Every classifier is the minimum of its node's problem; returns how many there are."""
    model = train_tree(X, Y, tree, replace(EXACT, loss=loss), n_jobs=2)
    seen = plain_teacher_forcing(Y, tree)
    n_checked = 0
    for node in range(tree.n_nodes):
        W, biases = model.weights_of(node)
        if tree.is_leaf[node] and tree.labels_of(node).size == 1:
            assert biases.size == 0
            continue
        y = positives_of(Y, tree, node)[seen[node]]
        assert W.shape == (X.shape[1], y.shape[1]) and biases.shape == (y.shape[1],)
        for output in range(y.shape[1]):
            best = minimum(X[seen[node]], np.where(y[:, output], 1.0, -1.0), loss=loss)
            np.testing.assert_allclose(np.append(W[:, [output]].toarray(), biases[output]), best, atol=3e-4)
            n_checked += 1
    return n_checked


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
@pytest.mark.parametrize("copies", [0, 1])
def test_every_edge_solves_its_own_problem(copies, loss):
    """Child against siblings and label against label, on the node's samples alone, to the minimum."""
    X, Y, tree = random_problem(3, copies=copies)
    assert assert_every_edge_is_optimal(X, Y, tree, loss) > 15


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_nodes_that_are_trained_together_have_their_own_samples(loss):
    """Bundles below the root too, with features that only one sample has."""
    rng = np.random.default_rng(8)
    tree = binary_tree(5)
    bundles = Bundles(tree)
    assert (bundles.n_nodes[bundles.of_node[1:]][bundles.top[1:] > 0] > 1).any()
    X, Y = random_X(rng, 40, 8), random_Y(rng, 40, tree.n_labels, 0.06)
    X = sp.hstack([X, sp.identity(40, np.float32)], format="csr")
    assert assert_every_edge_is_optimal(X, Y, tree, loss) == 2 * 31 + 2 * 32


@pytest.fixture
def seen(monkeypatch):
    """The samples of every node that is trained, as the trainer was given them: {node: samples}."""
    lists = {}
    train_piece = TreeTrainer._train_piece

    def watched(self, nodes, samples, *arguments, **options):
        (node,) = nodes
        lists[int(node)] = np.array(samples)
        return train_piece(self, nodes, samples, *arguments, **options)

    monkeypatch.setattr(TreeTrainer, "_train_piece", watched)
    return lists


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("negatives", ["man", "tfn+man"])
@pytest.mark.parametrize("seed", range(4))
def test_matcher_aware_negatives_are_the_samples_whose_beam_comes_by(seen, seed, negatives, beam):
    """Level by level with the levels above as they were trained; with 'tfn+man' the node's own samples besides."""
    X, Y, tree = random_problem(seed, n_labels=20)
    how = SearchSettings(beam=beam, combiner="l3-hinge", normalise=True)  # X is taken as it is while training
    model = train_tree(X, Y, tree, SolverSettings(), negatives=negatives, search=how, n_jobs=2)
    forced = plain_teacher_forcing(Y, tree)
    reached = {node: set() for node in range(tree.n_nodes)}
    for sample, x in enumerate(X.toarray().astype(np.float64)):
        for level in range(tree.max_depth + 1):
            for _, node in plain_beam(model, x, how, level):
                if tree.depth[node] == level:
                    reached[node].add(sample)
    for node, samples in seen.items():
        expected = reached[node] | set(forced[node].tolist() if negatives == "tfn+man" else [])
        assert samples.tolist() == sorted(expected if node else range(X.shape[0]))
    assert len(seen) == sum(model.weights_of(node)[1].size > 0 for node in range(tree.n_nodes)) > 3


def test_unknown_negatives_are_refused():
    """The rules are named."""
    X, Y, tree = random_problem(0)
    with pytest.raises(ValueError, match=r"negatives must be one of tfn, man, tfn\+man, not 'random'"):
        train_tree(X, Y, tree, SolverSettings(), negatives="random")


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
@pytest.mark.parametrize("negatives", ["tfn", "tfn+man"])
def test_threads_do_not_change_a_bit_of_the_model(monkeypatch, negatives, loss):
    """The same seed gives the same weights with one, two and three threads and on a second run; another seed others."""
    monkeypatch.setattr(training, "LABELS_OF_A_JOB", 5)
    X, Y, tree = random_problem(4, n=150, n_labels=60)
    assert (Bundles(tree).n_nodes > 1).any()
    how = SolverSettings(loss=loss, tolerance=0.1, threshold=0.01)
    models = [train_tree(X, Y, tree, how, 7, negatives, n_jobs=n_jobs) for n_jobs in (1, 2, 3, 1)]
    for other in models[1:]:
        assert_same_models(models[0], other)
    different = train_tree(X, Y, tree, how, 8, negatives, n_jobs=1)
    assert not np.array_equal(models[0].biases, different.biases)


def test_bundles_can_be_trained_a_few_at_a_time():
    """Scratch is clean after every one: one by one and with looks at what is there, they come out as all at once."""
    X, Y, tree = random_problem(5)
    at_once, one_by_one = (TreeTrainer(X, Y, tree, SolverSettings(threshold=0.01), 0) for _ in range(2))
    n_bundles = len(at_once.bundles)
    assert n_bundles < tree.n_nodes
    at_once.train_bundles(np.arange(n_bundles), 1)
    for bundle in range(n_bundles):
        one_by_one.train_bundles([bundle], 1)
        so_far = one_by_one.model_so_far()
    assert_same_models(at_once.model(), so_far)
    assert_same_models(one_by_one.model(), so_far)


@pytest.mark.parametrize("labels_of_a_job", [1, 7, 30])
def test_one_versus_all_in_several_jobs_is_the_same_problem(monkeypatch, labels_of_a_job):
    """Blocks of labels can differ in the order of their samples, not in what they converge to."""
    rng = np.random.default_rng(6)
    X, Y = random_X(rng, 50, 10), random_Y(rng, 50, 40)
    whole = one_vs_all(X, Y, tolerance=1e-5, max_iterations=5000)
    monkeypatch.setattr(training, "LABELS_OF_A_JOB", labels_of_a_job)
    np.testing.assert_allclose(one_vs_all(X, Y, tolerance=1e-5, max_iterations=5000), whole, atol=3e-4)


@pytest.mark.parametrize("n_labels", [2, 40])
def test_nobody_has_a_label(n_labels):
    """Training on nothing but negatives, or on no samples at all below the root, ends, and the classifiers say no."""
    X, Y, tree = random_problem(7, n_labels=n_labels, share=0)
    model = train_tree(X, Y, tree, SolverSettings())
    W, biases = model.weights_of(0)
    assert ((X @ W).toarray() + biases < 0).all()


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"loss": "hinge"}, "loss"),
        ({"C_positive": 0.0}, "C_positive"),
        ({"C_negative": -1.0}, "C_negative"),
        ({"C_negative": np.inf}, "C_negative"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": np.nan}, "tolerance"),
        ({"bias": -1.0}, "bias"),
        ({"threshold": -0.1}, "threshold"),
        ({"max_iterations": 0}, "max_iterations"),
    ],
)
def test_settings_that_make_no_sense_are_named(wrong, name):
    """A solver would run for ever or return nothing."""
    with pytest.raises(ValueError, match=name):
        SolverSettings(**wrong).validate()


@given(st.integers(0, 10_000), st.integers(1, 30))
@settings(max_examples=25)
def test_gathered_rows_are_the_rows(seed, n_chosen):
    """A node's own numbering of features loses nothing, and the scratch is clean again."""
    rng = np.random.default_rng(seed)
    X = random_X(rng, 30, 40, density=0.08)
    samples = np.sort(rng.choice(30, n_chosen, replace=False)).astype(np.int32)
    occurrences, bitmap = np.zeros(40, np.int32), np.zeros(1, np.uint64)
    arrays = X.indptr.astype(np.int64), X.indices, X.data
    rows, features, private, (own_indptr, own_features, own_data, *_) = _training_kernels.gather(
        arrays, samples, occurrences, bitmap
    )
    shared = sp.csr_matrix((rows[2], features[rows[1]], rows[0]), shape=(n_chosen, 40))
    own = sp.csr_matrix((own_data, own_features, own_indptr), shape=(n_chosen, 40))
    np.testing.assert_array_equal((shared + own).toarray(), X[samples].toarray())
    counts = np.diff(X[samples].tocsc().indptr)
    assert set(features) == set(np.flatnonzero(counts > 1)) and set(own_features) == set(np.flatnonzero(counts == 1))
    np.testing.assert_allclose(private, own.multiply(own).sum(axis=1).A1, rtol=1e-6)
    assert not occurrences.any() and not bitmap.any()
