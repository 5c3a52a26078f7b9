"""Beyond EAGLE: the regression, its ridge, the assignment and the refits, each against a few lines of numpy."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from test_eagle import random_problem

from orchard import eagle_plus, group_validation, impute_labels
from orchard.eagle_plus import (
    MOST_REFITS,
    RIDGES,
    Candidates,
    choose_ridge,
    clustering_quality,
    group_regression,
    impute_labels_plus,
    out_of_fold_scores,
    refitted,
)
from orchard.trees.embeddings import unit_rows
from orchard.variants.aggregate import group_matrix, merge_labels, random_groups


def csr(matrix) -> sp.csr_matrix:
    return sp.csr_matrix(matrix, dtype=np.float32)


def assert_same_bits(one: sp.csr_matrix, other: sp.csr_matrix):
    assert one.shape == other.shape
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def topics_and_something_shared(seed, n=400, n_labels=20, group_size=8, n_features=60, shared=2.0, noise=1.0):
    """X, Y, Y¹, Y²: a sample is the sum of its one or two labels' topics, of what all share (more or less), and noise.

    The groups are random: each of its labels could be that of any of its samples.
    """
    rng = np.random.default_rng(seed)
    topics, common = rng.standard_normal((n_labels, n_features)), rng.standard_normal(n_features)
    Y = np.zeros((n, n_labels))
    for _ in range(2):
        Y[np.arange(n), rng.integers(0, n_labels, n)] = 1
    X = Y @ topics + shared * rng.uniform(0.5, 1.5, (n, 1)) * common + noise * rng.standard_normal((n, n_features))
    Y1 = group_matrix(random_groups(n, group_size, seed))
    return csr(X), csr(Y), Y1, merge_labels(csr(Y), Y1)


# --- clustering_quality


def theorem_1(share, seed=0, n_groups=60, size=6, n_features=2000):
    """Rows of Theorem 1's model, normalised: a centre per group with variance `share`, and noise with the rest."""
    rng = np.random.default_rng(seed)
    centres = np.repeat(rng.standard_normal((n_groups, n_features)), size, axis=0)
    noise = rng.standard_normal(centres.shape)
    X = np.sqrt(share) * centres + np.sqrt(1 - share) * noise
    return unit_rows(csr(X)), group_matrix(np.arange(n_groups * size) // size)


@pytest.mark.parametrize("shared", [0.0, 2.0])
def test_random_groups_have_quality_zero(shared):
    """Independent rows have nothing in common beyond what all rows have, however much that is."""
    rng = np.random.default_rng(0)
    X = unit_rows(csr(rng.standard_normal((600, 200)) + shared))
    assert abs(clustering_quality(X, group_matrix(random_groups(600, 5, 0)))) < 0.01


@given(st.integers(0, 1000), st.integers(2, 6))
def test_groups_of_equal_samples_have_quality_one(seed, size):
    """Samples that are equal inside a group and differ between groups are as alike as can be."""
    rng = np.random.default_rng(seed)
    X = unit_rows(csr(np.repeat(rng.random((8, 12)), size, axis=0)))
    assert clustering_quality(X, group_matrix(np.repeat(np.arange(8), size))) == pytest.approx(1, abs=1e-4)


def test_quality_is_the_intraclass_correlation_of_theorem_1():
    """σ₁² / (σ₁² + σ₂²), as far as groups of 6 among 360 samples can tell, and so it rises with the share."""
    shares = np.linspace(0, 1, 6)
    qualities = [clustering_quality(*theorem_1(share)) for share in shares]
    np.testing.assert_allclose(qualities, shares, atol=0.02)
    assert (np.diff(qualities) > 0.1).all()


@given(st.integers(0, 1000))
def test_quality_is_a_mean_over_pairs(seed):
    """The formula by a double loop, for samples in no group, one or several."""
    X, Y1, _ = random_problem(seed)
    X = unit_rows(X)
    cosines, groups = (X @ X.T).toarray().astype(float), Y1.toarray() > 0
    pairs = ~np.eye(X.shape[0], dtype=bool)
    several = [group for group in groups.T if group.sum() > 1]
    within = np.mean([cosines[np.ix_(group, group)][pairs[np.ix_(group, group)]].mean() for group in several])
    between = cosines[pairs].mean()
    assert clustering_quality(X, Y1) == pytest.approx((within - between) / (1 - between), abs=1e-5)


@pytest.mark.parametrize(
    ("rows", "groups"),
    [
        (np.eye(4), np.eye(4)),
        (np.eye(4), np.zeros((4, 0))),
        (np.eye(4), np.zeros((4, 3))),
        (np.eye(1), np.ones((1, 1))),
        (np.zeros((0, 3)), np.zeros((0, 2))),
    ],
    ids=["groups of one", "no groups", "groups without samples", "one sample", "no samples"],
)
def test_groups_without_pairs_have_quality_zero(rows, groups):
    """There is nothing to compare: no division by zero, not even a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clustering_quality(csr(rows), csr(groups)) == 0


@pytest.mark.parametrize("n", [60, 333, 1000])
def test_equal_samples_have_quality_zero(n):
    """If all samples are equal no group is better than another; rounding must not decide (it gave up to 1.8)."""
    for seed in range(5):
        X = unit_rows(csr(np.tile(np.random.default_rng(seed).random((1, 7)), (n, 1))))
        assert clustering_quality(X, group_matrix(np.arange(n) // 7)) == 0


# --- group_regression and choose_ridge


def sums_and_counts(X, Y1, Y2):
    """s_j, |N_j| and c_jk as the docstring of `group_regression` has them, float64 and dense."""
    X, Y1, Y2 = (matrix.toarray().astype(float) for matrix in (X, Y1, Y2))
    sizes = Y1.sum(axis=0)
    return Y1.T @ (X - X.mean(axis=0)), sizes, Y2 - np.outer(sizes, Y2.sum(axis=0) / max(sizes.sum(), 1))


def primal_embeddings(sums, sizes, counts, ridge):
    """e_k of Σ_j (c_jk − ⟨e, s_j⟩)² / |N_j| + ridge · ‖e‖² by the normal equations in d dimensions, (d, L)."""
    weighted = sums / np.maximum(sizes, 1)[:, None]
    return np.linalg.solve(weighted.T @ sums + ridge * np.eye(sums.shape[1]), weighted.T @ counts)


@given(st.integers(0, 10_000), st.sampled_from([0.03, 0.3, 1.0, 10.0]), st.sampled_from([0.05, 0.25]))
def test_regression_minimises_what_it_says(seed, ridge, memberships):
    """The dual, solved in float32 from uncentred sums, gives the scores of the primal in float64."""
    X, Y1, Y2 = random_problem(seed, memberships=memberships)
    X = unit_rows(X)
    candidates = Candidates(Y1, Y2, True)
    scores = group_regression(X, Y1, Y2, candidates, ridge, 0, 1)
    embeddings = primal_embeddings(*sums_and_counts(X, Y1, Y2), ridge)
    expected = (X @ embeddings)[candidates.samples, candidates.labels]
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, expected, atol=1e-3)


def test_regression_is_the_same_in_blocks_of_labels(monkeypatch):
    """Labels are solved for some at a time: no block may read another's scores, the last may be shorter."""
    X, Y1, Y2 = random_problem(1, n_labels=11)
    X, candidates = unit_rows(X), Candidates(Y1, Y2, True)
    whole = group_regression(X, Y1, Y2, candidates, 1.0, 0, 1)
    monkeypatch.setattr(eagle_plus, "LABELS_AT_ONCE", 3)
    np.testing.assert_allclose(group_regression(X, Y1, Y2, candidates, 1.0, 0, 2), whole, atol=1e-5)


def errors_without_each_group(sums, sizes, counts):
    """For every ridge, the squared errors of groups that the regression was refitted without, by their size."""
    errors = []
    for ridge in RIDGES:
        total = 0.0
        for j in range(sizes.size):
            others = np.arange(sizes.size) != j
            embeddings = primal_embeddings(sums[others], sizes[others], counts[others], ridge)
            total += ((counts[j] - sums[j] @ embeddings) ** 2).sum() / max(sizes[j], 1)
        errors.append(total)
    return np.array(errors)


def ridge_and_errors(monkeypatch, sums, sizes, Y2, frequencies, random_state=0):
    """What `choose_ridge` chooses, and the errors that it logs for RIDGES."""
    logged = []
    monkeypatch.setattr(eagle_plus.logger, "info", lambda words, *values: logged.append(values[0]))
    gram = (sums @ sums.T).astype(np.float32)
    ridge = choose_ridge(gram, sizes.astype(np.float32), Y2, frequencies, random_state)
    return ridge, np.array([float(part.split()[1]) for part in logged[0].split(", ")])


def two_kinds_of_problems(seed):
    """Labels that the features explain, where a small ridge is best, or that they do not, where the largest is."""
    if seed % 2:
        X, _, Y1, Y2 = topics_and_something_shared(seed, 120, 6, 4, n_features=8, noise=0.1)
    else:
        X, Y1, Y2 = random_problem(seed)
    return unit_rows(X), Y1, Y2


@pytest.mark.parametrize("seed", range(6))
def test_the_ridge_is_best_for_groups_left_out(seed, monkeypatch):
    """The closed form of the error is that of refitting without each group; the smallest one wins."""
    X, Y1, Y2 = two_kinds_of_problems(seed)
    sums, sizes, counts = sums_and_counts(X, Y1, Y2)
    frequencies = np.asarray(Y2.sum(axis=0)).ravel() / sizes.sum()
    ridge, errors = ridge_and_errors(monkeypatch, sums, sizes, Y2, frequencies)
    expected = errors_without_each_group(sums, sizes, counts)
    np.testing.assert_allclose(errors, expected, rtol=1e-4)
    assert ridge == RIDGES[np.argmin(expected)]


def test_both_ends_of_the_ridges_are_chosen(monkeypatch):
    """The problems above ask for different penalties: a choice that is always the same would pass unseen."""
    chosen = set()
    for seed in range(6):
        X, Y1, Y2 = two_kinds_of_problems(seed)
        sums, sizes, _ = sums_and_counts(X, Y1, Y2)
        frequencies = np.asarray(Y2.sum(axis=0)).ravel() / sizes.sum()
        chosen.add(ridge_and_errors(monkeypatch, sums, sizes, Y2, frequencies)[0])
    assert len(chosen) > 1


def test_the_ridge_may_be_chosen_by_some_of_the_groups(monkeypatch):
    """Of 30 groups 10 are drawn, by the seed alone, and the error is theirs: refits know no other groups."""
    X, _, Y1, Y2 = topics_and_something_shared(0, 120, 6, 4)
    sums, sizes, counts = sums_and_counts(unit_rows(X), Y1, Y2)
    frequencies = np.asarray(Y2.sum(axis=0)).ravel() / sizes.sum()
    monkeypatch.setattr(eagle_plus, "GROUPS_TO_CHOOSE_BY", 10)
    results = [ridge_and_errors(monkeypatch, sums, sizes, Y2, frequencies, seed) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(results[0][1], results[1][1])
    assert (results[0][1] != results[2][1]).all()
    drawn = np.random.default_rng(0).permutation(30)[:10]
    expected = errors_without_each_group(sums[drawn], sizes[drawn], counts[drawn])
    np.testing.assert_allclose(results[0][1], expected, rtol=1e-4)


@pytest.mark.parametrize("ridge", [0, 1e-3, None])
@pytest.mark.parametrize("spread", [0.0, 1e-3, 0.05])
def test_rounding_leaves_the_matrix_positive_definite(ridge, spread):
    """Large groups of samples that are nearly equal: what centring leaves is rounding, which Cholesky refused."""
    for size, n_groups in ((500, 40), (2000, 20), (200, 100)):
        rng = np.random.default_rng(0)
        X = 1 + spread * rng.random((size * n_groups, 6))
        Y1, Y2 = group_matrix(np.arange(size * n_groups) // size), rng.integers(1, 9, (n_groups, 4))
        Y = impute_labels_plus(X, Y1, Y2, ridge=ridge, refits=0)
        np.testing.assert_array_equal((Y1.T @ Y).toarray(), Y2)


# --- Candidates


def entries(Y2):
    """(label, group, count) by label, then by group."""
    return [(k, j, int(Y2[j, k])) for k in range(Y2.shape[1]) for j in range(Y2.shape[0]) if Y2[j, k]]


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.05, 0.25, 1.0]), st.integers(0, 5))
def test_candidates_are_those_of_a_double_loop(seed, memberships, n_labels):
    """Every sample of a group for every label of the group, by label, group and sample; groups may be empty."""
    _, Y1, Y2 = random_problem(seed, memberships=memberships, n_labels=n_labels)
    candidates = Candidates(Y1, Y2, True)
    groups = [np.flatnonzero(column) for column in Y1.toarray().T]
    expected = [(i, k) for k, j, _ in entries(Y2.toarray()) for i in groups[j]]
    assert list(zip(candidates.samples.tolist(), candidates.labels.tolist(), strict=True)) == expected
    for first in range(n_labels):
        mine = candidates.of_labels(first, first + 2)
        assert list(range(len(expected)))[mine] == [at for at, (_, k) in enumerate(expected) if first <= k < first + 2]


@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 3))
def test_the_best_candidates_get_the_label(seed, by_count, n_keys):
    """min(count, size) samples of every group, or one: by the scores, then the next scores, then the lower id."""
    _, Y1, Y2 = random_problem(seed)
    candidates = Candidates(Y1, Y2, by_count)
    keys = np.random.default_rng(seed).integers(-1, 2, (n_keys, candidates.samples.size)).astype(np.float32)
    expected, at = np.zeros((Y1.shape[0], Y2.shape[1])), 0
    for k, j, count in entries(Y2.toarray()):
        members = np.flatnonzero(Y1.toarray()[:, j])
        mine = range(at, at + members.size)
        best = sorted(mine, key=lambda place: (*-keys[:, place], candidates.samples[place]))
        expected[candidates.samples[best[: count if by_count else 1]], k] = 1
        at += members.size
    Y = candidates.assign(*keys)
    assert Y.dtype == np.float32 and Y.has_canonical_format
    np.testing.assert_array_equal(Y.toarray(), expected)


def test_picked_entries_are_those_of_the_candidates():
    """Entries that are not stored are 0."""
    _, Y1, Y2 = random_problem(2)
    candidates = Candidates(Y1, Y2, True)
    matrix = sp.random(*candidates.shape, 0.5, format="csr", dtype=np.float32, random_state=0)
    picked = candidates.pick(matrix)
    assert picked.dtype == np.float32
    np.testing.assert_array_equal(picked, matrix.toarray()[candidates.samples, candidates.labels])
    assert Candidates(csr(np.zeros(Y1.shape)), Y2, True).pick(matrix).shape == (0,)


# --- out_of_fold_scores


def test_a_model_never_saw_the_groups_that_it_scores():
    """The labels of a group change no score in the group's own fold, and some in every other: no leak, no constant.

    Whose scores do not change says which fold a group is in; it must be all of its samples.
    """
    X, Y, Y1, _ = topics_and_something_shared(0, 96, 6, 4, n_features=20)
    before, groups = out_of_fold_scores(X, Y1, Y, 0, 1).toarray(), Y1.indices
    folds = set()
    for group in range(Y1.shape[1]):
        changed = Y.toarray()
        changed[groups == group] = 1 - changed[groups == group]
        after = out_of_fold_scores(X, Y1, csr(changed), 0, 1).toarray()
        same = (before == after).all(axis=1)
        assert same[groups == group].all()
        assert not same.all()
        sizes = np.bincount(groups[same], minlength=Y1.shape[1])
        assert set(sizes) == {0, 4}
        folds.add(tuple(sizes > 0))
    np.testing.assert_array_equal(np.sum(list(folds), axis=0), 1)
    assert len(folds) == eagle_plus.FOLDS


def test_the_random_state_deals_the_folds(monkeypatch):
    """Every sample is scored once; another seed holds out other groups together, the same seed the same ones."""
    held_out = []

    class Model:
        def __init__(self, **_):
            held_out.append(None)

        def fit(self, X, Y):
            return self

        def predict_topk(self, X, k):
            held_out[-1] = tuple(X.indices)
            return np.zeros((X.shape[0], 1), np.int32), np.ones((X.shape[0], 1), np.float32)

    monkeypatch.setattr(group_validation, "XRLinear", Model)
    X, Y1 = csr(np.eye(60)), group_matrix(random_groups(60, 4, 0))
    dealt = []
    for seed in (0, 0, 1):
        held_out.clear()
        scores = out_of_fold_scores(X, Y1, csr(np.ones((60, 2))), seed, 1)
        np.testing.assert_array_equal(scores.toarray(), np.tile([1, 0], (60, 1)))
        dealt.append(set(held_out))
    assert dealt[0] == dealt[1] != dealt[2]


def test_out_of_fold_scores_tell_the_labels():
    """Learned from right labels, the best score of a sample of an unseen group is one of its labels."""
    X, Y, Y1, _ = topics_and_something_shared(1, noise=0.3)
    scores = out_of_fold_scores(X, Y1, Y, 0, 1)
    assert scores.shape == Y.shape and scores.dtype == np.float32
    best = np.asarray(scores.argmax(axis=1)).ravel()
    assert Y.toarray()[np.arange(Y.shape[0]), best].mean() > 0.95


def test_samples_in_no_group_or_in_several_are_scored_too():
    """A row of scores for each, and the labels of a sample's first group still do not reach it."""
    X, _, _, _ = topics_and_something_shared(2, 96, 6, 4, n_features=20)
    rng = np.random.default_rng(0)
    Y1, Y = csr(rng.random((96, 12)) < 0.1), csr(rng.random((96, 6)) < 0.4)
    filled = np.flatnonzero(np.diff(Y1.indptr))
    first = np.full(96, -1)
    first[filled] = Y1.indices[Y1.indptr[filled]]
    assert (np.bincount(np.diff(Y1.indptr), minlength=3)[:3] > 0).all()
    before = out_of_fold_scores(X, Y1, Y, 0, 1).toarray()
    assert before.any(axis=1).all()
    for group in range(12):
        changed = Y.toarray()
        changed[first == group] = 1 - changed[first == group]
        after = out_of_fold_scores(X, Y1, csr(changed), 0, 1).toarray()
        np.testing.assert_array_equal(before[first == group], after[first == group])


# --- refitted


@pytest.mark.parametrize(
    ("precisions", "best", "models"),
    [
        ([0.5, 0.4, 0.9], 0, 2),
        ([0.5, 0.5, 0.9], 0, 2),
        ([0.5, 0.6, 0.4], 1, 3),
        ([0.5, 0.6, 0.7], 2, 3),
        ([0.0, 0.0, 0.0], 0, 2),
    ],
)
def test_the_labels_that_teach_best_are_returned(precisions, best, models, monkeypatch):
    """When the precision falls, or stays, the labels before are returned; there are at most MOST_REFITS refits.

    Refit r gives the label to sample r of the only group.
    """
    assert MOST_REFITS == 2
    asked = []

    def scores_of_the_next_sample(X, Y1, Y, random_state, n_jobs):
        asked.append(int(Y.indices.size and np.flatnonzero(Y.toarray())[0]))
        return csr(np.arange(5)[:, None] == len(asked))

    monkeypatch.setattr(eagle_plus, "out_of_fold_scores", scores_of_the_next_sample)
    monkeypatch.setattr(eagle_plus, "group_precision", lambda *_: precisions[len(asked) - 1])
    X, Y1, Y2, Y = csr(np.eye(5)), csr(np.ones((5, 1))), csr([[1]]), csr(np.eye(5)[:, :1])
    result = refitted(X, Y1, Y2, Y, Candidates(Y1, Y2, True), 0, 1)
    assert np.flatnonzero(result.toarray()).tolist() == [best]
    assert asked == list(range(models))


def test_a_label_stays_where_the_model_says_nothing(monkeypatch):
    """Without scores for a group's samples the second key, the old labels, decides; not the lowest id."""
    monkeypatch.setattr(eagle_plus, "out_of_fold_scores", lambda X, Y1, Y, *_: csr(np.zeros(Y.shape)))
    precisions = iter([0.1, 0.2, 0.3])
    monkeypatch.setattr(eagle_plus, "group_precision", lambda *_: next(precisions))
    Y1, Y2, Y = csr(np.ones((5, 1))), csr([[2]]), csr(np.array([[0, 0, 1, 0, 1]]).T)
    assert_same_bits(refitted(csr(np.eye(5)), Y1, Y2, Y, Candidates(Y1, Y2, True), 0, 1), Y)


# --- impute_labels_plus


def share_found(Y, truth):
    """F1 of the labels given: a method may not gain by giving more of them, or fewer."""
    return 2 * Y.multiply(truth).nnz / (Y.nnz + truth.nnz)


@pytest.mark.parametrize("seed", range(3))
def test_more_labels_are_right_than_with_eagle(seed):
    """What all samples share draws EAGLE's embeddings to it, counted or not; the regression does not see it."""
    X, Y, Y1, Y2 = topics_and_something_shared(seed)
    plus = share_found(impute_labels_plus(X, Y1, Y2), Y)
    assert plus > 0.9
    for iterations in (0, 20):
        for by_count in (False, True):
            assert plus > share_found(impute_labels(X, Y1, Y2, iterations, by_count=by_count), Y) + 0.4


@pytest.mark.parametrize("seed", range(3))
def test_groups_without_a_label_teach_it(seed):
    """The regression is right more often than the centred sum of the label's own groups (T = 0, counted)."""
    X, Y, Y1, Y2 = topics_and_something_shared(seed)
    own = impute_labels(X, Y1, Y2, iterations=0, centre=True, by_count=True)
    assert share_found(impute_labels_plus(X, Y1, Y2, refits=0), Y) > share_found(own, Y) + 0.02


def test_refits_help_where_samples_are_noisy():
    """Labels assigned anew by models of the labels assigned before are right more often."""
    shares = {0: [], None: []}
    for seed in range(4):
        X, Y, Y1, Y2 = topics_and_something_shared(seed, noise=2.0)
        for refits, found in shares.items():
            found.append(share_found(impute_labels_plus(X, Y1, Y2, refits=refits), Y))
    assert np.mean(shares[None]) > np.mean(shares[0]) + 0.01


@settings(max_examples=25)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["regression", "grlr"]),
    st.booleans(),
    st.sampled_from([0, 1, None]),
    st.sampled_from([0.05, 0.25]),
)
def test_what_is_given_was_there(seed, start, by_count, refits, memberships):
    """Each label of a group with samples is given inside the group, once or as often as it can be; nothing else is."""
    X, Y1, Y2 = random_problem(seed, memberships=memberships)
    Y = impute_labels_plus(X, Y1, Y2, start, by_count, refits=refits, n_jobs=1)
    assert Y.format == "csr" and Y.dtype == np.float32 and (Y.data == 1).all()
    Y, groups, counts = Y.toarray(), Y1.toarray() > 0, Y2.toarray()
    assert not Y[(groups.astype(float) @ counts) == 0].any()
    for j, k in zip(*counts.nonzero(), strict=True):
        assert Y[groups[:, j], k].sum() >= min(counts[j, k] if by_count else 1, groups[:, j].sum())


@pytest.mark.parametrize("by_count", [True, False])
def test_a_partition_gets_exactly_what_its_groups_have(by_count):
    """Where every sample is in one group, the merged result is Y² again (or its ones)."""
    X, _, Y1, Y2 = topics_and_something_shared(3)
    given_again = (Y1.T @ impute_labels_plus(X, Y1, Y2, by_count=by_count)).toarray()
    np.testing.assert_array_equal(given_again, Y2.toarray() if by_count else Y2.toarray() > 0)


@pytest.mark.parametrize("options", [{}, {"start": "grlr"}, {"refits": 1, "ridge": 1.0}])
def test_threads_change_nothing(options, monkeypatch):
    """The same matrix, to the bit, from one thread and two, and again."""
    monkeypatch.setattr(eagle_plus, "LABELS_AT_ONCE", 3)
    X, _, Y1, Y2 = topics_and_something_shared(4, noise=2.0)
    results = [impute_labels_plus(X, Y1, Y2, **options, n_jobs=n_jobs) for n_jobs in (1, 2, 2)]
    for other in results[1:]:
        assert_same_bits(results[0], other)


def test_only_the_random_state_is_random():
    """Another seed deals the folds anew: the refitted labels differ, so that the test above tests something."""
    X, _, Y1, Y2 = topics_and_something_shared(4, noise=2.0)
    zero, one = (impute_labels_plus(X, Y1, Y2, ridge=1.0, refits=1, random_state=seed) for seed in (0, 1))
    assert (zero != one).nnz > 0


@pytest.mark.parametrize(("clustered", "iterations"), [(True, 20), (False, 0)])
def test_too_many_groups_fall_back_to_centred_grlr(clustered, iterations):
    """One group more than `max_groups`: EAGLE on centred rows, with Algorithm 1's steps for clustered groups only."""
    X, Y, Y1, Y2 = topics_and_something_shared(5, noise=2.0)
    if clustered:
        Y1 = group_matrix((np.argsort(np.argsort(Y.toarray().argmax(axis=1), kind="stable")) // 8).astype(np.int32))
        Y2 = merge_labels(Y, Y1)
    assert (clustering_quality(unit_rows(X), Y1) > eagle_plus.CLUSTERED) == clustered
    expected = impute_labels(X, Y1, Y2, iterations, centre=True, by_count=True)
    m = Y1.shape[1]
    assert (impute_labels_plus(X, Y1, Y2, max_groups=m - 1, refits=0) != expected).nnz == 0
    assert (impute_labels_plus(X, Y1, Y2, start="grlr", refits=0) != expected).nnz == 0
    assert (impute_labels_plus(X, Y1, Y2, max_groups=m, refits=0) != expected).nnz > 0
    assert (impute_labels(X, Y1, Y2, 20 - iterations, centre=True, by_count=True) != expected).nnz > 0


@pytest.mark.parametrize("refits", [0, None])
def test_groups_of_one_change_nothing(refits):
    """Every sample keeps its labels, whatever the scores."""
    X, Y, _, _ = topics_and_something_shared(6, 60, 6)
    assert (impute_labels_plus(X, sp.identity(60, format="csr"), Y, refits=refits) != Y).nnz == 0


@pytest.mark.parametrize("start", ["regression", "grlr"])
def test_inputs_are_left_alone_and_may_be_dense_or_odd(start):
    """Integers, dense arrays, other formats, samples named twice in a group, rows of any length: the same answer."""
    X, Y1, Y2 = random_problem(5)
    expected = impute_labels_plus(X, Y1, Y2, start)
    for kind in (np.asarray, sp.csc_matrix, sp.coo_matrix):
        odd = kind(X.toarray()), kind(Y1.toarray().astype(int)), kind(Y2.toarray())
        assert_same_bits(impute_labels_plus(*odd, start), expected)
    often = Y1.multiply(np.random.default_rng(0).integers(1, 4, Y1.shape)).tocsr()
    scales = sp.diags(2.0 ** np.random.default_rng(0).integers(-3, 4, X.shape[0]))
    inputs = [csr(scales @ X), often, Y2]
    before = [matrix.copy() for matrix in inputs]
    assert_same_bits(impute_labels_plus(*inputs, start), expected)
    for one, other in zip(inputs, before, strict=True):
        assert_same_bits(one, other)


def odd_problems():
    X, Y1, Y2 = random_problem(0)
    n, m = Y1.shape
    return {
        "no label is there": (X, Y1, csr(np.zeros((m, 5))), 0),
        "no labels": (X, Y1, Y2[:, :0], 0),
        "groups without samples": (X, csr(np.zeros((n, m))), Y2, 0),
        "no groups": (X, Y1[:, :0], Y2[:0], 0),
        "no samples": (X[:0], Y1[:0], Y2, 0),
        "one group": (X, np.ones((n, 1)), np.array([[1, 2, 3, 0, 99]]), 1 + 2 + 3 + n),
        "one sample": (X[:1], np.ones((1, 1)), np.array([[1, 2, 0]]), 2),
        "one label": (X, group_matrix(np.arange(n) // 4), np.full((6, 1), 2), 12),
        "samples without features": (csr(np.zeros(X.shape)), group_matrix(np.arange(n) // 4), np.full((6, 2), 3), 36),
        "no features": (X[:, :0], group_matrix(np.arange(n) // 4), np.full((6, 2), 3), 36),
        "equal samples": (np.ones((n, 3)), group_matrix(np.arange(n) // 4), np.full((6, 2), 3), 36),
    }


@pytest.mark.parametrize("start", ["regression", "grlr"])
@pytest.mark.parametrize("refits", [0, 1, None])
@pytest.mark.parametrize("name", odd_problems())
def test_odd_data(name, refits, start):
    """Nothing to do, or nothing to tell samples apart by: as many labels as there are to give, and no warning."""
    X, Y1, Y2, n_given = odd_problems()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Y = impute_labels_plus(X, Y1, Y2, start, refits=refits)
    assert Y.shape == (X.shape[0], Y2.shape[1]) and Y.dtype == np.float32
    assert Y.nnz == n_given


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"start": "x"}, "start must be 'regression' or 'grlr', not 'x'"),
        ({"refits": -1}, "refits must be a number from 0 on"),
        ({"refits": 1.5}, "refits must be an integer or None"),
        ({"refits": True}, "refits must be an integer or None"),
        ({"ridge": -1}, "ridge must be a number from 0 on"),
        ({"ridge": float("nan")}, "ridge must"),
        ({"ridge": "1"}, "ridge must be a number or None"),
        ({"by_count": 1}, "by_count must be True or False"),
        ({"random_state": 0.5}, "random_state must be an integer"),
        ({"n_jobs": 0}, "n_jobs must be a positive number"),
        ({"Y1": np.ones((3, 7))}, "X has 24 samples .* Y1 has 3"),
        ({"Y2": np.ones((3, 2))}, "Y1 has 7 groups .* Y2 has 3"),
        ({"Y2": np.full((7, 2), 0.5)}, "no whole numbers"),
        ({"X": np.full((24, 2), np.nan)}, "row 0 of X"),
    ],
)
def test_wrong_arguments_are_named(change, words):
    X, Y1, Y2 = random_problem(0)
    with pytest.raises(ValueError, match=words):
        impute_labels_plus(**({"X": X, "Y1": Y1, "Y2": Y2} | change))
