"""Groups left out: what they are asked, who sees them, and whether they tell good labels from bad ones."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_eagle_plus import csr, topics_and_something_shared

from orchard.eagle_plus import impute_labels_plus
from orchard.group_validation import LEFT_OUT, group_precision, left_out_precision, scores_of_unseen
from orchard.variants.aggregate import group_matrix, random_groups


def test_group_precision_by_hand():
    """Groups {0, 1}, {2}, {3}: 2 labels, 1 label, none.

    Group 0 has labels 0 and 2; summed scores 0.7, 0.9, 0.8, so labels 1 and 2 are told: one is right. Group 1 has
    label 1, and 0 and 1 tie: the lower is told, wrongly. Group 2 has nothing and is asked for nothing. 1 of 3.
    """
    scores = csr([[0.3, 0.9, 0], [0.4, 0, 0.8], [0.5, 0.5, 0.1], [1, 1, 1]])
    Y1, Y2 = group_matrix(np.array([0, 0, 1, 2])), csr([[1, 0, 3], [0, 2, 0], [0, 0, 0]])
    assert group_precision(scores, Y1, Y2) == pytest.approx(1 / 3)


@given(st.integers(0, 10_000))
def test_group_precision_at_its_ends(seed):
    """Scores on the groups' labels alone give 1, on all others or on none 0, and without labels it is 0."""
    rng = np.random.default_rng(seed)
    Y1, Y2 = group_matrix(random_groups(24, 4, seed)), csr(rng.integers(0, 3, (6, 5)))
    own, nothing = (Y1 @ Y2).toarray() > 0, csr(np.zeros((6, 5)))
    scores = rng.uniform(0.1, 1, own.shape)
    assert group_precision(csr(own * scores), Y1, Y2) == 1
    assert group_precision(csr(~own * scores), Y1, Y2) == 0
    assert group_precision(csr(0 * scores), Y1, Y2) == 0
    assert group_precision(csr(scores), Y1, nothing) == 0


def test_only_unseen_rows_are_scored():
    """By a model of the seen rows: their own labels stand first where topics are clear; no rows, no scores."""
    X, Y, _, _ = topics_and_something_shared(0, noise=0.1, shared=0.0)
    seen = np.arange(X.shape[0]) % 4 > 0
    scores = scores_of_unseen(X, ~seen, Y[seen], 0, 1)
    assert scores.shape == Y.shape and scores.dtype == np.float32
    assert not scores[seen].nnz
    best = np.asarray(scores[~seen].argmax(axis=1)).ravel()
    assert Y[~seen].toarray()[np.arange(best.size), best].mean() > 0.95
    everybody = np.ones_like(seen)
    assert not scores_of_unseen(X, ~everybody, Y, 0, 1).nnz
    assert not scores_of_unseen(X, everybody, Y[~everybody], 0, 1).nnz


def test_an_imputation_sees_neither_the_groups_left_out_nor_their_samples():
    """A sample that is in a group left out and in another one is not seen either, and its other group is without it."""
    X, _, Y1, _ = topics_and_something_shared(0, 60, 5, 3, n_features=8)
    both = Y1.toarray()
    both[np.arange(0, 60, 7), (Y1.indices[::7] + 1) % 20] = 1
    Y1 = csr(both)
    Y2 = csr(np.arange(1, 20 * 5 + 1).reshape(20, 5))  # every count once: it names its group
    asked = []

    def impute(X, Y1, Y2):
        asked.append((X, Y1, Y2))
        return csr(np.ones((X.shape[0], Y2.shape[1])))

    left_out_precision(X, Y1, Y2, impute, n_jobs=1)
    ((X_seen, Y1_seen, Y2_seen),) = asked
    kept = (Y2_seen.toarray()[:, 0] - 1).astype(int) // 5
    assert kept.size == 20 * (1 - LEFT_OUT)
    left_out = np.setdiff1d(np.arange(20), kept)
    unseen = both[:, left_out].any(axis=1)
    assert (both[unseen].sum(axis=1) > 1).any()  # else there is no sample of two groups to be careful about
    np.testing.assert_array_equal(X_seen.toarray(), X.toarray()[~unseen])
    np.testing.assert_array_equal(Y1_seen.toarray(), both[~unseen][:, kept])


def test_better_labels_tell_more_of_the_groups_left_out():
    """The true labels, those of EAGLE+, and a random sample's for every label of a group: in this order."""
    X, Y, Y1, Y2 = topics_and_something_shared(3, n=800, noise=2.5)
    row_of = {row.tobytes(): i for i, row in enumerate(X.toarray())}

    def true_labels(X, Y1, Y2):
        return Y[[row_of[row.tobytes()] for row in X.toarray()]]

    def at_random(X, Y1, Y2):
        return impute_labels_plus(csr(np.random.default_rng(0).random(X.shape)), Y1, Y2, refits=0)

    imputations = true_labels, partial(impute_labels_plus, refits=0, n_jobs=1), at_random
    best, good, bad = (left_out_precision(X, Y1, Y2, impute, n_jobs=1) for impute in imputations)
    assert best > good > bad + 0.1


def test_groups_left_out_depend_on_the_random_state_alone():
    """Whatever imputes, the same groups are left out; with another seed others. Threads change nothing."""
    X, _, Y1, Y2 = topics_and_something_shared(4)
    asked = []

    def impute(X, Y1, Y2, by_count=True):
        asked.append(X.toarray().tobytes())
        return impute_labels_plus(X, Y1, Y2, by_count=by_count, refits=0, n_jobs=1)

    told = [left_out_precision(X, Y1, Y2, impute, seed, n_jobs) for seed, n_jobs in ((0, 1), (0, 2), (1, 1))]
    left_out_precision(X, Y1, Y2, partial(impute, by_count=False), 0, 1)
    assert told[0] == told[1]
    assert asked[0] == asked[1] == asked[3] != asked[2]


def test_memberships_and_zeros_count_once_or_not_at_all():
    X, _, Y1, Y2 = topics_and_something_shared(5, n=200)
    impute = partial(impute_labels_plus, refits=0, n_jobs=1)
    expected = left_out_precision(X, Y1, Y2, impute, n_jobs=1)
    twice, padded = Y1.copy(), csr(Y2.toarray() + 1)
    twice.data[::3] = 2
    padded.data -= 1  # zeros are stored, and yet not there
    assert 0.3 < expected < 1
    assert left_out_precision(X, twice, padded, impute, n_jobs=1) == expected


@pytest.mark.parametrize("n_groups", [0, 1, 2])
def test_too_few_groups_to_leave_any_out(n_groups):
    Y1 = csr(np.arange(4)[:, None] % max(n_groups, 1) == np.arange(n_groups))
    with pytest.raises(ValueError, match=f"{n_groups} groups are too few to leave some out"):
        left_out_precision(csr(np.eye(4)), Y1, csr(np.ones((n_groups, 3))), impute_labels_plus, n_jobs=1)
