"""EAGLE gives labels as its algorithms say: worked by hand, against a plain second implementation, at odd inputs."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from plain_eagle import eagle, unit
from threadpoolctl import threadpool_limits

from orchard import impute_labels
from orchard.eagle import _mean_products, _Problem, label_embeddings
from orchard.trees.embeddings import pifa
from orchard.variants.aggregate import group_matrix, merge_labels, random_groups


def random_problem(seed, n=24, d=15, n_groups=7, n_labels=5, memberships=0.25):
    """Samples in no group, one or several; groups with a label none, one, two or three times; sparse features.

    Some samples are equal, so that there are ties; no others, which rounding would decide.
    """
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, d)) + 0.5) * (rng.random((n, d)) < 0.4)
    X[rng.integers(0, n, 4)] = X[rng.integers(0, n, 4)]
    Y1 = rng.random((n, n_groups)) < memberships
    Y2 = rng.integers(1, 4, (n_groups, n_labels)) * (rng.random((n_groups, n_labels)) < 0.5)
    return (sp.csr_matrix(matrix, dtype=np.float32) for matrix in (X, Y1, Y2))


def test_one_step_by_hand():
    """Groups {a, b} and {c}; a = (1, 0), b = (0, 1), c = (0.8, 0.6).

    e0 = Proj(1.8, 1.6): ⟨e0, a⟩ > ⟨e0, b⟩, so a is chosen, and c. g = Proj(1.8, 0.6) = (3, 1)/√10, and with λ = 1
    e1 = Proj(e0 + g).
    """
    X = np.array([[1.0, 0], [0, 1], [0.8, 0.6]])
    Y1, Y2 = np.array([[1, 0], [1, 0], [0, 1]]), np.array([[1], [1]])
    e0 = np.array([1.8, 1.6]) / np.hypot(1.8, 1.6)
    e1 = e0 + np.array([3.0, 1]) / np.sqrt(10)
    np.testing.assert_allclose(label_embeddings(X, Y1, Y2, iterations=0).toarray(), [e0], rtol=1e-6)
    expected = [e1 / np.linalg.norm(e1)]
    np.testing.assert_allclose(label_embeddings(X, Y1, Y2, iterations=1, step=1.0).toarray(), expected, rtol=1e-6)
    np.testing.assert_array_equal(impute_labels(X, Y1, Y2, iterations=1, step=1.0).toarray(), [[1], [0], [1]])


def test_ties_choose_every_closest_sample():
    """Two equal samples of a group both enter the sum; the label goes to the first of them.

    Groups {a, a, b} and {b'}: e0 = Proj(2a + b + b'), a is closest in the first group, so g = Proj(a + a + b').
    """
    a, b = np.array([1.0, 0, 0]), np.array([0.0, 1, 0])
    X, Y1, Y2 = np.array([b, a, a, [0, 0.6, 0.8]]), np.array([[1, 0], [1, 0], [1, 0], [0, 1]]), np.ones((2, 1))
    e0 = 2 * a + b + X[3]
    g = 2 * a + X[3]
    e1 = e0 / np.linalg.norm(e0) + 0.1 * g / np.linalg.norm(g)
    embedding = label_embeddings(X, Y1, Y2, iterations=1).toarray()[0]
    np.testing.assert_allclose(embedding, e1 / np.linalg.norm(e1), rtol=1e-6)
    np.testing.assert_array_equal(impute_labels(X, Y1, Y2).toarray().ravel(), [0, 1, 0, 1])


def test_repetitions_weigh():
    """List merge: a group that has the label three times counts three times in the sum."""
    X, Y1, Y2 = np.eye(2), np.eye(2), np.array([[3.0], [1]])
    np.testing.assert_allclose(label_embeddings(X, Y1, Y2, iterations=0).toarray(), [[0.9486833, 0.3162278]], rtol=1e-6)


def test_the_toy_example_has_no_direction():
    """Figure 1: samples ±x in every group: the sum is zero, so are all steps, and the first sample gets all."""
    X = np.kron(np.ones((3, 1)), [[0.6, 0.8], [-0.6, -0.8]])
    Y1, Y2 = np.kron(np.eye(3), np.ones((2, 1))), np.ones((3, 2))
    assert label_embeddings(X, Y1, Y2).nnz == 0
    np.testing.assert_array_equal(impute_labels(X, Y1, Y2).toarray(), np.kron(np.ones((3, 1)), [[1, 1], [0, 0]]))


@given(st.integers(0, 10_000), st.sampled_from([0, 1, 2, 20]), st.sampled_from([0.1, 1.0]))
def test_agrees_with_the_plain_implementation(seed, iterations, step):
    """Labels and embeddings are those of Algorithms 1 and 2, for any Y¹ and any counts."""
    X, Y1, Y2 = random_problem(seed)
    expected_Y, expected = eagle(unit(X), Y1, Y2, iterations, step)
    embeddings = label_embeddings(X, Y1, Y2, iterations, step).toarray()
    np.testing.assert_allclose(embeddings, expected, atol=1e-5)
    assert (impute_labels(X, Y1, Y2, iterations, step) != expected_Y.tocsr()).nnz == 0


@given(st.integers(0, 10_000), st.sampled_from([0, 1, 20]), st.sampled_from([1e-7, 1.0, 300.0]))
def test_rows_as_they_are_agree_with_the_plain_implementation(seed, iterations, scale):
    """Algorithm 1 does not ask for unit rows; a common scale of all samples changes nothing."""
    X, Y1, Y2 = random_problem(seed)
    X = sp.csr_matrix(X)
    X = X.multiply(np.random.default_rng(seed).uniform(0.2, 1, (X.shape[0], 1))).tocsr()
    longest = np.sqrt(X.multiply(X).sum(axis=1).max()) if X.nnz else 1.0
    _, expected = eagle(X / longest, Y1, Y2, iterations)
    embeddings = label_embeddings(scale * X, Y1, Y2, iterations, unit_samples=False).toarray()
    np.testing.assert_allclose(embeddings, expected, atol=1e-5)


def test_long_samples_speak_louder_where_rows_are_taken_as_they_are():
    X, Y1, Y2 = np.diag([3.0, 1.0]), np.ones((2, 1)), np.ones((1, 1))
    lengths = label_embeddings(X, Y1, Y2, iterations=0, unit_samples=False).toarray()
    np.testing.assert_allclose(lengths, [[0.9486833, 0.3162278]], rtol=1e-6)
    np.testing.assert_allclose(label_embeddings(X, Y1, Y2, iterations=0).toarray(), [[0.5**0.5] * 2], rtol=1e-6)


@pytest.mark.parametrize("lowest", [0.0, -0.5])
@pytest.mark.parametrize("step", [0.1, 1.0])
@pytest.mark.parametrize("iterations", [3, 30])
def test_many_groups_agree_with_the_plain_implementation(lowest, step, iterations):
    """In some steps few groups change their choice, so that most are not read again; labels go to one, or by count."""
    rng = np.random.default_rng(7)
    topics = rng.random((6, 40)) + lowest
    Y = rng.random((400, 6)) < 0.3
    X = sp.csr_matrix((Y @ topics + 2 * (rng.random((400, 40)) + lowest)) * (rng.random((400, 40)) < 0.5))
    Y1 = group_matrix(random_groups(400, 5, 0))
    Y2 = merge_labels(sp.csr_matrix(Y, dtype=np.float32), Y1)
    expected_Y, expected = eagle(unit(X), Y1, Y2, iterations, step)
    np.testing.assert_allclose(label_embeddings(X, Y1, Y2, iterations, step).toarray(), expected, atol=1e-5)
    assert (impute_labels(X, Y1, Y2, iterations, step) != expected_Y.tocsr()).nnz == 0
    scores, counts = unit(X) @ expected.T, Y2.toarray().astype(int)
    for group, label in zip(*np.nonzero(counts), strict=True):
        members = Y1.getcol(group).nonzero()[0]
        best = members[np.argsort(-scores[members, label])[: counts[group, label]]]
        expected_Y[best, label] = 1
    assert (impute_labels(X, Y1, Y2, iterations, step, by_count=True) != expected_Y.tocsr()).nnz == 0


def problems_in_doubt(kind, seed):
    """X, Y¹, Y² with many close decisions: 'pairs' are as far apart as rows can be, 'clouds' have hardly any order."""
    rng = np.random.default_rng(seed)
    if kind == "pairs":
        half = rng.standard_normal((100, 3))
        X = np.stack([half, -half + 0.2 * rng.standard_normal((100, 3))], axis=1).reshape(200, 3)
        groups = np.repeat(np.arange(50), 4)
    else:
        X = rng.random((200, 12)) + 1
        groups = random_groups(200, 5, seed)
    return X, group_matrix(groups), rng.integers(0, 3, (groups.max() + 1, 4))


@pytest.mark.parametrize("step", [0.1, 1.0, 1000.0])
@pytest.mark.parametrize("centre", [False, True])
@given(kind=st.sampled_from(["pairs", "clouds"]), seed=st.integers(0, 10_000), iterations=st.sampled_from([4, 40]))
def test_what_is_not_read_again_changes_nothing(step, centre, kind, seed, iterations):
    """With an endless doubt all groups are read in every step: the same labels, one or by count, and embeddings."""
    problem = _Problem.checked(*problems_in_doubt(kind, seed), iterations, step, centre)
    always = replace(problem, rule=(iterations, step, 1e12))
    ones = np.ones(problem.counts.size, np.int64)
    for wanted in (ones, problem.counts.astype(np.int64)):
        for got, expected in zip(problem.solve(wanted, 1), always.solve(wanted, 1), strict=True):
            np.testing.assert_array_equal(got, expected)
    got, expected = (one.coefficients(1).toarray() for one in (problem, always))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-7)


def test_centred_embeddings_are_those_of_centred_rows():
    """e_T = Σ coefficient · (x − μ), against Algorithm 1 on these rows: norms and totals, not only the order."""
    X, Y1, Y2 = (sp.csr_matrix(matrix, dtype=np.float32) for matrix in problems_in_doubt("clouds", 3))
    problem = _Problem.checked(X, Y1, Y2, 20, 0.1, True)
    rows = problem.X.toarray().astype(float)
    rows -= rows.mean(axis=0)
    _, expected = eagle(sp.csr_matrix(rows), Y1[problem.order], Y2)
    np.testing.assert_allclose(problem.coefficients(1).T @ rows, expected, atol=1e-5)


def test_ties_go_to_the_lowest_sample_whatever_its_other_groups():
    """Sample 5 is in group 0 as well, so that its row is kept before that of sample 3, its equal in group 1."""
    X, Y1 = np.eye(6), np.zeros((6, 2))
    X[5] = X[3]
    Y1[5, 0] = Y1[3, 1] = Y1[5, 1] = 1
    Y = impute_labels(X, Y1, [[0.0], [1]])
    np.testing.assert_array_equal(Y.toarray().ravel(), [0, 0, 0, 1, 0, 0])


@pytest.mark.parametrize("iterations", [1, 2, 3, 4])
def test_a_step_back_to_zero(iterations):
    """e0 = (1, 0), g = (−1, 0), λ = 1: e1 = 0, to which all samples are equally close, so that e2 = e0, and so on.

    The first group has (1, 0) and two others around it, the second (−1, 0), twice.
    """
    X, Y1 = np.array([[1.0, 0], [0.8, 0.6], [0.8, -0.6], [-1, 0]]), np.array([[1, 0], [1, 0], [1, 0], [0, 1]])
    embedding = label_embeddings(X, Y1, [[1.0], [2]], iterations, step=1.0)
    np.testing.assert_allclose(embedding.toarray(), [[0, 0] if iterations % 2 else [1, 0]], atol=1e-6)
    np.testing.assert_array_equal(impute_labels(X, Y1, [[1.0], [2]], iterations, 1.0).toarray(), [[1], [0], [0], [1]])


@pytest.mark.parametrize(("iterations", "step"), [(300, 1000.0), (8000, 0.1), (50, 1e-9), (3, 1e80)])
def test_long_ways_and_large_steps(iterations, step):
    """Sums that grow by 1 + λ in every step stay finite, and steps next to nothing change nothing."""
    X, Y1, Y2 = random_problem(5, n=12, n_groups=3, n_labels=2)
    expected_Y, expected = eagle(unit(X), Y1, Y2, iterations, step)
    np.testing.assert_allclose(label_embeddings(X, Y1, Y2, iterations, step).toarray(), expected, atol=1e-5)
    assert (impute_labels(X, Y1, Y2, iterations, step) != expected_Y.tocsr()).nnz == 0


@given(st.integers(0, 10_000), st.sampled_from([0, 5]))
def test_centring_is_eagle_on_centred_rows(seed, iterations):
    """`centre` subtracts the mean of the unit rows: the plain algorithms on the rows x − μ, not normalised again."""
    X, Y1, Y2 = random_problem(seed)
    rows = unit(X).toarray()
    expected, _ = eagle(sp.csr_matrix(rows - rows.mean(axis=0)), Y1, Y2, iterations)
    assert (impute_labels(X, Y1, Y2, iterations, centre=True) != expected.tocsr()).nnz == 0


def test_centring_takes_away_what_all_samples_share():
    """A large common feature hides which of two samples the label belongs to; without the mean it does not.

    Sample 2j of group j has the label's own feature; the other one has more of what all samples share.
    """
    shared, own = np.array([1.0, 0, 0]), np.array([0.0, 1, 0])
    rng = np.random.default_rng(0)
    X = [row for _ in range(6) for row in (0.75 * shared + 0.66 * own, 0.95 * shared + 0.3 * rng.random() * own[::-1])]
    X = np.vstack([X, np.tile([1.0, 0, 0.2], (12, 1))])  # groups without the label
    groups = np.repeat(np.arange(12), 2)
    Y2 = np.repeat([[1.0], [0]], 6, axis=0)
    expected = np.repeat([[1, 0] * 6 + [0] * 12], 1, axis=0).T
    centred = impute_labels(X, group_matrix(groups), Y2, iterations=0, centre=True)
    np.testing.assert_array_equal(centred.toarray(), expected)
    plain = impute_labels(X, group_matrix(groups), Y2, iterations=0)
    assert (plain.toarray() != expected).any()


def test_by_count_gives_a_label_to_as_many_samples_as_have_it():
    """Twice in a group of three: its two closest samples; five times: all three."""
    X = np.array([[1.0, 0], [0.9, 0.1], [0, 1]])
    Y1, Y2 = np.ones((3, 1)), np.array([[2.0, 5, 1]])
    Y = impute_labels(X, Y1, Y2, iterations=0, by_count=True).toarray()
    np.testing.assert_array_equal(Y.sum(axis=0), [2, 3, 1])
    np.testing.assert_array_equal(Y[:, 0], [1, 1, 0])


@pytest.mark.parametrize("options", [{}, {"iterations": 0}, {"centre": True, "by_count": True}])
def test_threads_change_nothing(options):
    """The same matrix, to the bit, from one, two and five threads, and again."""
    rng = np.random.default_rng(1)
    X = sp.random(600, 300, 0.05, format="csr", dtype=np.float32, random_state=2)
    Y = sp.csr_matrix(rng.random((600, 80)) < rng.random(80) * 0.1, dtype=np.float32)
    Y1 = group_matrix(random_groups(600, 5, 0))
    Y2 = merge_labels(Y, Y1)
    results = [impute_labels(X, Y1, Y2, **options, n_jobs=n_jobs) for n_jobs in (1, 2, 5, 2)]
    assert results[0].nnz > 500
    for other in results[1:]:
        for name in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(results[0], name), getattr(other, name))


def test_the_threads_of_blas_change_nothing():
    """The length of the mean row, over so many features that BLAS would share it out, is the same to the bit."""
    X = sp.random(40, 200_000, 0.01, format="csr", dtype=np.float32, random_state=0)
    squares = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, "blas"):
            squares.append(_mean_products(X, centre=True)[1])
    assert squares[0] == squares[1]


@pytest.mark.parametrize("iterations", [0, 20])
def test_groups_of_one_change_nothing(iterations):
    """ḡ = 1: every sample keeps its labels, and the embeddings are Parabel's (Eq. 1)."""
    X = sp.random(60, 40, 0.2, format="csr", dtype=np.float32, random_state=0)
    Y = sp.random(60, 12, 0.2, format="csr", dtype=np.float32, random_state=1)
    Y.data[:] = 1
    Y1 = sp.identity(60, format="csr")
    assert (impute_labels(X, Y1, Y, iterations) != Y).nnz == 0
    np.testing.assert_allclose(label_embeddings(X, Y1, Y, iterations).toarray(), pifa(X, Y).toarray(), atol=1e-6)


@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_what_is_given_was_there(seed, centre, by_count):
    """Each label of a group with samples is given inside the group, once or as often as it can be; nothing else is."""
    X, Y1, Y2 = random_problem(seed)
    Y = impute_labels(X, Y1, Y2, centre=centre, by_count=by_count).toarray()
    groups, counts = Y1.toarray() > 0, Y2.toarray()
    assert not Y[(groups.astype(float) @ counts) == 0].any()
    for j, k in zip(*counts.nonzero(), strict=True):
        least = min(counts[j, k] if by_count else 1, groups[:, j].sum())
        assert Y[groups[:, j], k].sum() >= least


def test_the_length_of_a_sample_does_not_matter():
    X, Y1, Y2 = random_problem(3)
    scales = sp.diags(2.0 ** np.random.default_rng(0).integers(-3, 4, X.shape[0]))
    assert (impute_labels(X, Y1, Y2) != impute_labels(scales @ X, Y1, Y2)).nnz == 0


def test_nothing_to_do():
    """No groups with labels, groups without samples, samples without features, no labels at all."""
    X, Y1, Y2 = random_problem(0)
    assert impute_labels(X, Y1, Y2 * 0).nnz == 0
    assert impute_labels(X, Y1 * 0, Y2).nnz == 0
    assert impute_labels(X, Y1, Y2[:, :0]).shape == (X.shape[0], 0)
    first = [np.flatnonzero(column)[0] for column in Y1.toarray().T if column.any()]
    given_to = impute_labels(X * 0, Y1, np.ones(Y2.shape), 20).toarray().any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(given_to), sorted(set(first)))


def test_inputs_are_left_alone_and_may_be_dense_or_odd():
    """Unsorted, repeated and explicit zero entries, integers, dense arrays: the same answer."""
    X, Y1, Y2 = random_problem(5)
    expected = impute_labels(X, Y1, Y2)
    for kind in (np.asarray, sp.csc_matrix, sp.coo_matrix):
        assert (
            impute_labels(kind(X.toarray()), kind(Y1.toarray().astype(int)), kind(Y2.toarray())) != expected
        ).nnz == 0
    odd = [with_odd_entries(matrix) for matrix in (Y1, Y2)]
    given = [X, *odd]
    before = [(matrix.data.copy(), matrix.indices.copy(), matrix.indptr.copy()) for matrix in given]
    assert (impute_labels(*given) != expected).nnz == 0
    impute_labels(X, np.eye(X.shape[0]), np.ones((X.shape[0], 1)))  # X is in the order of the groups already
    for matrix, arrays in zip(given, before, strict=True):
        for array, old in zip((matrix.data, matrix.indices, matrix.indptr), arrays, strict=True):
            np.testing.assert_array_equal(array, old)


def with_odd_entries(matrix):
    """The same numbers: every entry in two halves, columns descending, and a zero stored where there is none."""
    rows = []
    for row in matrix.toarray():
        columns = np.flatnonzero(row)[::-1]
        zero = np.flatnonzero(row == 0)[:1]
        rows.append((np.concatenate([columns, columns, zero]), np.concatenate([row[columns] / 2] * 2 + [row[zero]])))
    indptr = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    columns, values = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    odd = sp.csr_matrix((values, columns, indptr), shape=matrix.shape)
    assert not odd.has_sorted_indices and odd.nnz > 2 * matrix.nnz
    return odd


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"Y1": np.ones((3, 2))}, "X has 24 samples .* Y1 has 3"),
        ({"Y2": np.ones((3, 2))}, "Y1 has 7 groups .* Y2 has 3"),
        ({"Y2": np.full((7, 2), 0.5)}, "no whole numbers"),
        ({"Y2": np.full((7, 2), -1)}, "Y2 has negative entries"),
        ({"X": np.full((24, 2), np.nan)}, "row 0 of X"),
        ({"iterations": -1}, "iterations must not be negative"),
        ({"iterations": 1.5}, "iterations must be an integer"),
        ({"step": 0.0}, "step must be a positive number"),
        ({"n_jobs": 0}, "n_jobs must be a positive number"),
        ({"centre": 1}, "centre must be True or False"),
        ({"by_count": None}, "by_count must be True or False"),
    ],
)
def test_wrong_arguments_are_named(change, words):
    X, Y1, Y2 = random_problem(0)
    with pytest.raises(ValueError, match=words):
        impute_labels(**({"X": X, "Y1": Y1, "Y2": Y2} | change))
