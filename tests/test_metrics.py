"""The metrics against numbers worked out by hand, scikit-learn, and a second implementation in plain Python."""

import math
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, mutual_info_score, ndcg_score, precision_recall_fscore_support

from orchard import metrics

LOG3 = math.log2(3)  # the discount of rank 2 is 1 / LOG3, that of rank 3 is 1 / 2


def matrix(label_sets, n_labels):
    """Indicator CSR of a list of label sets."""
    Y = sp.lil_array((len(label_sets), n_labels), dtype=np.float32)
    for row, labels in enumerate(label_sets):
        for label in labels:
            Y[row, label] = 1
    return Y.tocsr()


# Three samples, five labels. Hits: row 0 at ranks 1 and 3, row 1 at rank 2, row 2 (which has no labels) nowhere.
Y = matrix([{0, 1, 2}, {4}, set()], 5)
IDS = np.array([[2, 3, 0], [1, 4, -1], [0, 1, 2]])
P = np.array([1.0, 0.5, 0.25, 1.0, 0.2])  # 1/p = 1, 2, 4, 1, 5


def test_precision_counts_hits_over_k():
    """Missing ids and samples without labels count as misses."""
    assert metrics.precision_at_k(IDS, Y, 1) == pytest.approx((1 + 0 + 0) / 3)
    assert metrics.precision_at_k(IDS, Y, 2) == pytest.approx((1 + 1 + 0) / 6)
    assert metrics.precision_at_k(IDS, Y, 3) == pytest.approx((2 + 1 + 0) / 9)


def test_recall_skips_samples_without_labels():
    """Row 0 finds 1, 1, 2 of its 3 labels, row 1 finds 0, 1, 1 of its 1; row 2 is not averaged."""
    assert metrics.recall_at_k(IDS, Y, 1) == pytest.approx((1 / 3 + 0) / 2)
    assert metrics.recall_at_k(IDS, Y, 2) == pytest.approx((1 / 3 + 1) / 2)
    assert metrics.recall_at_k(IDS, Y, 3) == pytest.approx((2 / 3 + 1) / 2)


def test_ndcg_is_normalised_by_the_best_ranking_of_each_sample():
    """Row 0 gains 1 + 1/2 of 1 + 1/log2(3) + 1/2; row 1 has one label, so its best is 1 and it gains 1/log2(3)."""
    assert metrics.ndcg_at_k(IDS, Y, 1) == pytest.approx((1 + 0 + 0) / 3)
    assert metrics.ndcg_at_k(IDS, Y, 3) == pytest.approx((1.5 / (1.5 + 1 / LOG3) + 1 / LOG3 + 0) / 3)


def test_psp_is_normalised_over_all_samples_together():
    """Hits weigh 4 (row 0, rank 1), 5 (row 1, rank 2), 1 (row 0, rank 3); attainable are 4, 2, 1 and 5."""
    assert metrics.psp_at_k(IDS, Y, P, 1) == pytest.approx(4 / (4 + 5))
    assert metrics.psp_at_k(IDS, Y, P, 2) == pytest.approx((4 + 5) / (4 + 2 + 5))
    assert metrics.psp_at_k(IDS, Y, P, 3) == pytest.approx((4 + 5 + 1) / (4 + 2 + 1 + 5))


def test_psp_unnormalised_is_the_mean_of_the_printed_formula():
    """1/k Σ y/p per sample: at k = 3 row 0 has (4 + 1) / 3, row 1 has 5 / 3, row 2 has 0."""
    assert metrics.psp_at_k_unnormalised(IDS, Y, P, 1) == pytest.approx(4 / 3)
    assert metrics.psp_at_k_unnormalised(IDS, Y, P, 3) == pytest.approx((5 / 3 + 5 / 3 + 0) / 3)


def test_psndcg_discounts_both_the_gained_and_the_attainable():
    """Gained 4 + 1/2 in row 0 and 5/log2(3) in row 1; attainable 4 + 2/log2(3) + 1/2 and 5."""
    gained = 4 + 1 / 2 + 5 / LOG3
    best = 4 + 2 / LOG3 + 1 / 2 + 5
    assert metrics.psndcg_at_k(IDS, Y, P, 3) == pytest.approx(gained / best)
    assert metrics.psndcg_at_k(IDS, Y, P, 1) == pytest.approx(4 / 9)


def test_propensities_follow_jain_et_al():
    """N = 3, A = 1, B = 1: C = (ln 3 - 1) · 2, and 1/p = 1 + C / (N_l + 1) for label counts 2, 1, 0."""
    C = (math.log(3) - 1) * 2
    p = metrics.propensities(matrix([{0}, {0, 1}, set()], 3), A=1, B=1)
    assert p == pytest.approx([1 / (1 + C / 3), 1 / (1 + C / 2), 1 / (1 + C)])


def test_a_rarer_label_never_has_the_higher_propensity():
    """p grows with the count, and stays in (0, 1] even for a label without any training sample."""
    p = metrics.propensities(matrix([set(range(row)) for row in range(8)], 8))
    assert (np.diff(p) < 0).all()  # label l is carried by 7 - l samples
    assert (p > 0).all() and (p <= 1).all()


def test_report_holds_the_single_metrics_in_percent():
    """Sharing the judgement between metrics and cut-offs changes no value."""
    report = metrics.score_report(IDS, Y, P, ks=(1, 3))
    expected = {}
    for k in (1, 3):
        expected[f"P@{k}"] = 100 * metrics.precision_at_k(IDS, Y, k)
        expected[f"PSP@{k}"] = 100 * metrics.psp_at_k(IDS, Y, P, k)
        expected[f"nDCG@{k}"] = 100 * metrics.ndcg_at_k(IDS, Y, k)
        expected[f"PSnDCG@{k}"] = 100 * metrics.psndcg_at_k(IDS, Y, P, k)
        expected[f"recall@{k}"] = 100 * metrics.recall_at_k(IDS, Y, k)
    assert report == pytest.approx(expected, rel=1e-14)
    assert all(type(value) is float for value in report.values())
    assert list(report) == [f"{name}@{k}" for name in ("P", "PSP", "nDCG", "PSnDCG", "recall") for k in (1, 3)]


def test_truth_is_every_positive_entry_however_it_is_stored():
    """Stored zeros, negative entries, unsorted and repeated indices change nothing, and Y is not modified."""
    data = np.array([2, 0, 1, 3, -1, 1, 1], dtype=np.float32)
    indices = np.array([2, 3, 0, 1, 1, 4, 4], dtype=np.int32)
    untidy = sp.csr_array((data, indices, np.array([0, 4, 7, 7])), shape=(3, 5))
    assert metrics.score_report(IDS, untidy, P, ks=(1, 2, 3)) == metrics.score_report(IDS, Y, P, ks=(1, 2, 3))
    assert untidy.data.tolist() == [2, 0, 1, 3, -1, 1, 1]
    assert untidy.indices.tolist() == [2, 3, 0, 1, 1, 4, 4]


def test_missing_id_is_not_the_last_label_of_the_row_before():
    """-1 in row 1 must not find label L - 1 of row 0 through the combined (row, label) numbers."""
    assert metrics.precision_at_k(np.array([[0], [-1]]), matrix([{1}, {0}], 2), 1) == 0
    assert metrics.psp_at_k(np.array([[-1], [0]]), matrix([{1}, {0}], 2), [0.5, 0.5], 1) == pytest.approx(1 / 2)


def with_entry(row, rank, label):
    ids = IDS.copy()
    ids[row, rank] = label
    return ids


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((IDS[:2], Y, P), "ids have 2 rows, but Y has 3"),
        ((IDS[:, :2], Y, P), "k = 3, but only 2 labels"),
        ((IDS[0], Y, P), r"an array \(n, k\)"),
        ((IDS.astype(float), Y, P), "ids must be integers"),
        ((with_entry(2, 0, 5), Y, P), "to 5, but must be from -1 to 4"),
        ((with_entry(2, 0, -2), Y, P), "range from -2"),
        ((with_entry(2, 0, 1), Y, P), "row 2 has a label twice"),
        ((IDS, Y, P[:4]), r"shape \(4,\), but Y has 5 labels"),
        ((IDS, Y, 1 / P), "inverse propensities"),
        ((IDS, Y, P * np.nan), r"in \(0, 1\]"),
        ((IDS, Y * 0, P), "no relevant label at all"),
        ((IDS[:0], Y[:0], P), "at least one row"),
        ((IDS, Y, P, (0, 1)), "k must be at least 1"),
    ],
)
def test_meaningless_input_is_refused(arguments, message):
    """Each of these would otherwise give a number, and a wrong one."""
    arguments = (*arguments, (1, 3))[:4]
    with pytest.raises(ValueError, match=message):
        metrics.score_report(*arguments)


def test_repetition_after_the_first_k_is_harmless():
    """Only the labels that are scored have to be distinct; several -1 are no repetition."""
    assert metrics.precision_at_k(np.array([[0, 1, 1]]), matrix([{0}], 2), 2) == 1 / 2
    assert metrics.precision_at_k(np.array([[0, -1, -1]]), matrix([{0}], 2), 3) == pytest.approx(1 / 3)


def test_propensities_need_a_positive_constant():
    """With fewer than three samples ln N < 1, and rare labels would weigh less than frequent ones."""
    with pytest.raises(ValueError, match="at least 3 training samples"):
        metrics.propensities(matrix([{0}, {1}], 2))


# ---- The second implementation ----


def plain_scores(ids, label_sets, p, k):
    """All ranking metrics in plain Python, one sample at a time, straight from the definitions."""
    precision, psp_plain, ndcg, recall = [], [], [], []
    gained = best = discounted_gained = discounted_best = 0.0
    for ranking, labels in zip(ids, label_sets, strict=True):
        hits = [label in labels for label in ranking[:k]]
        precision.append(sum(hits) / k)
        if labels:
            recall.append(sum(hits) / len(labels))
        ideal = sum(1 / math.log2(rank + 2) for rank in range(min(k, len(labels))))
        ndcg.append(sum(hit / math.log2(rank + 2) for rank, hit in enumerate(hits)) / ideal if labels else 0)
        weights = [1 / p[label] if hit else 0 for label, hit in zip(ranking, hits, strict=False)]
        best_weights = sorted((1 / p[label] for label in labels), reverse=True)[:k]
        psp_plain.append(sum(weights) / k)
        gained += sum(weights)
        best += sum(best_weights)
        discounted_gained += sum(weight / math.log2(rank + 2) for rank, weight in enumerate(weights))
        discounted_best += sum(weight / math.log2(rank + 2) for rank, weight in enumerate(best_weights))
    return {
        "P": np.mean(precision),
        "PSP": gained / best,
        "PSP unnormalised": np.mean(psp_plain),
        "nDCG": np.mean(ndcg),
        "PSnDCG": discounted_gained / discounted_best,
        "recall": np.mean(recall),
    }


def library_scores(ids, Y, p, k):
    return {
        "P": metrics.precision_at_k(ids, Y, k),
        "PSP": metrics.psp_at_k(ids, Y, p, k),
        "PSP unnormalised": metrics.psp_at_k_unnormalised(ids, Y, p, k),
        "nDCG": metrics.ndcg_at_k(ids, Y, k),
        "PSnDCG": metrics.psndcg_at_k(ids, Y, p, k),
        "recall": metrics.recall_at_k(ids, Y, k),
    }


@st.composite
def ranked_problems(draw):
    """A ranking with missing labels at the end, label sets (not all empty), propensities, and a k."""
    n_samples, n_labels = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    width = draw(st.integers(1, n_labels + 2))
    ids = np.full((n_samples, width), -1)
    for row in ids:
        ranking = draw(st.permutations(range(n_labels)))[: draw(st.integers(0, min(width, n_labels)))]
        row[: len(ranking)] = ranking
    label_sets = draw(st.lists(st.sets(st.integers(0, n_labels - 1)), min_size=n_samples, max_size=n_samples))
    assume(any(label_sets))
    p = draw(st.lists(st.floats(0.01, 1), min_size=n_labels, max_size=n_labels))
    return ids, label_sets, np.array(p), draw(st.integers(1, width))


@given(ranked_problems())
def test_rankings_agree_with_plain_python(problem):
    """Sorting, searching and sharing must not change what the definitions say."""
    ids, label_sets, p, k = problem
    Y = matrix(label_sets, p.size)
    scores = library_scores(ids, Y, p, k)
    assert scores == pytest.approx(plain_scores(ids.tolist(), label_sets, p.tolist(), k))
    del scores["PSP unnormalised"]
    assert all(0 <= value <= 1 + 1e-12 for value in scores.values())


@given(ranked_problems())
def test_perfect_ranking_scores_one(problem):
    """Each sample's labels, rarest first, attain the best of every normalised metric."""
    _, label_sets, p, k = problem
    label_sets = [labels or {0} for labels in label_sets]
    ids = np.full((len(label_sets), k), -1)
    for row, labels in zip(ids, label_sets, strict=True):
        ranking = sorted(labels, key=lambda label: p[label])[:k]
        row[: len(ranking)] = ranking
    Y = matrix(label_sets, p.size)
    assert metrics.psp_at_k(ids, Y, p, k) == 1
    assert metrics.psndcg_at_k(ids, Y, p, k) == 1
    assert metrics.ndcg_at_k(ids, Y, k) == 1
    if k >= max(map(len, label_sets)):
        assert metrics.recall_at_k(ids, Y, k) == 1


@given(ranked_problems(), st.data())
def test_turning_a_hit_into_a_miss_never_helps(problem, data):
    """Every ranking metric is monotone in the hits."""
    ids, label_sets, p, k = problem
    Y = matrix(label_sets, p.size)
    worse = ids.copy()
    worse[data.draw(st.integers(0, len(ids) - 1)), data.draw(st.integers(0, k - 1))] = -1
    before, after = library_scores(ids, Y, p, k), library_scores(worse, Y, p, k)
    assert all(after[name] <= before[name] + 1e-12 for name in before)


@given(ranked_problems())
def test_equal_propensities_turn_psp_into_precision(problem):
    """With p = 1/2 everywhere the unnormalised PSP@k is 2 P@k: the weighting is the only difference."""
    ids, label_sets, p, k = problem
    Y = matrix(label_sets, p.size)
    unweighted = metrics.psp_at_k_unnormalised(ids, Y, np.full(p.size, 0.5), k)
    assert unweighted == pytest.approx(2 * metrics.precision_at_k(ids, Y, k))


@given(st.integers(0, 2**32 - 1), st.integers(1, 7))
@settings(max_examples=50)
def test_ndcg_agrees_with_scikit_learn(seed, k):
    """Distinct scores, so that scikit-learn has no ties to average over."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, size=(6, 8))
    truth[0, 0] = 1
    scores = rng.permuted(np.tile(np.arange(8.0), (6, 1)), axis=1)
    ids = np.argsort(-scores, axis=1)
    assert metrics.ndcg_at_k(ids, sp.csr_array(truth), k) == pytest.approx(ndcg_score(truth, scores, k=k))


# ---- Top k of a score matrix ----


def test_topk_orders_by_score_then_by_lower_id_and_pads():
    """A stored zero or a negative score is still a reached label; an absent entry is not."""
    data = np.array([0.5, 0.9, 0.5, -1.0, 0.0], dtype=np.float32)
    scores = sp.csr_array((data, np.array([3, 2, 1, 0, 4]), np.array([0, 3, 5, 5])), shape=(3, 5))
    ids, values = metrics.topk_of_scores(scores, 3)
    assert ids.tolist() == [[2, 1, 3], [4, 0, -1], [-1, -1, -1]]
    expected = np.array([[0.9, 0.5, 0.5], [0, -1, -np.inf], [-np.inf] * 3], dtype=np.float32)
    np.testing.assert_array_equal(values, expected)
    assert values.dtype == np.float32
    assert scores.indices.tolist() == [3, 2, 1, 0, 4]  # sorted in a copy, not in the caller's matrix


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
@settings(max_examples=50)
def test_topk_agrees_with_a_stable_dense_sort(seed, k):
    """Few distinct scores, so that ties are common."""
    dense = np.random.default_rng(seed).integers(1, 4, size=(5, 6))
    ids, values = metrics.topk_of_scores(sp.csr_array(dense), k)
    order = np.argsort(-dense, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(ids, order)
    np.testing.assert_array_equal(values, np.take_along_axis(dense, order, axis=1))


def test_topk_refuses_nan():
    """A NaN has no place in a ranking."""
    with pytest.raises(ValueError, match="NaN"):
        metrics.topk_of_scores(sp.csr_array([[np.nan, 1.0]]), 1)


# ---- Sets ----

# Label 0: 1 of both, no error. Label 1: 1 of both, 1 too many. Label 2: 1 missed. Label 3: nowhere.
TRUE_SETS = matrix([{0, 1}, {2}, set()], 4)
PREDICTED_SETS = matrix([{0, 1}, {1}, set()], 4)


def test_micro_scores_count_pairs():
    """2 pairs are right of 3 predicted and 3 relevant."""
    scores = metrics.micro_precision_recall_f1(PREDICTED_SETS, TRUE_SETS)
    assert scores == pytest.approx((2 / 3, 2 / 3, 4 / 6))
    assert all(type(value) is float for value in scores)


def test_macro_f1_averages_labels():
    """F1 of the labels: 1, 2/3, 0, and 0 for label 3, which occurs nowhere."""
    assert metrics.macro_f1(PREDICTED_SETS, TRUE_SETS) == pytest.approx((1 + 2 / 3 + 0 + 0) / 4)
    assert metrics.macro_f1(PREDICTED_SETS, TRUE_SETS, only_occurring=True) == pytest.approx((1 + 2 / 3 + 0) / 3)


def test_weighted_f1_weighs_labels_by_support():
    """Supports 1, 1, 1, 0 with F1 1, 2/3, 0, 0; a second sample with label 0 doubles its weight."""
    assert metrics.weighted_f1(PREDICTED_SETS, TRUE_SETS) == pytest.approx((1 + 2 / 3 + 0) / 3)
    more_truth, more_predicted = sp.vstack([TRUE_SETS, TRUE_SETS[:1]]), sp.vstack([PREDICTED_SETS, PREDICTED_SETS[:1]])
    # Counts are now 2/2/2 for label 0, 2 of both with 3 predicted for label 1 (F1 4/5), a miss for label 2.
    assert metrics.weighted_f1(more_predicted, more_truth) == pytest.approx((2 * 1 + 2 * 4 / 5 + 0) / 5)


def test_example_f1_averages_samples():
    """F1 of the samples: 1, 0, and 0 for nothing against nothing."""
    assert metrics.example_f1(PREDICTED_SETS, TRUE_SETS) == pytest.approx((1 + 0 + 0) / 3)


@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
@settings(max_examples=50)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_set_scores_agree_with_scikit_learn(seed, density):
    """All four averages of f1_score with zero_division=0, empty rows and columns included."""
    truth, predicted = (np.random.default_rng(seed).random((2, 5, 6)) < density).astype(int)
    Y, predicted_sets = sp.csr_array(truth), sp.csr_array(predicted)
    micro = precision_recall_fscore_support(truth, predicted, average="micro", zero_division=0)[:3]
    assert metrics.micro_precision_recall_f1(predicted_sets, Y) == pytest.approx(micro)
    for ours, average in [
        (metrics.macro_f1, "macro"),
        (metrics.weighted_f1, "weighted"),
        (metrics.example_f1, "samples"),
    ]:
        theirs = f1_score(truth, predicted, average=average, zero_division=0)
        assert ours(predicted_sets, Y) == pytest.approx(theirs)
    occurring = np.flatnonzero((truth + predicted).any(axis=0))
    if occurring.size:
        theirs = f1_score(truth, predicted, labels=occurring, average="macro", zero_division=0)
        assert metrics.macro_f1(predicted_sets, Y, only_occurring=True) == pytest.approx(theirs)


def test_sets_of_different_shape_are_refused():
    """A forgotten label or sample must not be broadcast away."""
    with pytest.raises(ValueError, match=r"shape \(3, 4\), but Y has \(3, 5\)"):
        metrics.macro_f1(PREDICTED_SETS, Y)


# ---- Depth ----


def test_expected_depth_takes_the_deepest_of_the_first_k():
    """At k = 1 depths 3 and 5; at k = 3 the deepest are 4 and 5, the missing label in row 1 is ignored."""
    depths = np.array([[3, 2, 4], [5, 1, -1]])
    assert metrics.expected_depth(depths, 1) == pytest.approx((3 + 5) / 2)
    assert metrics.expected_depth(depths, 3) == pytest.approx((4 + 5) / 2)


def test_expected_depth_never_shrinks_with_k():
    """A search for more labels goes at least as deep."""
    depths = np.random.default_rng(0).integers(0, 20, size=(50, 5))
    at_k = [metrics.expected_depth(depths, k) for k in range(1, 6)]
    assert at_k == sorted(at_k)


@pytest.mark.parametrize(
    ("depths", "message"),
    [([[1, 2], [-1, -1]], "row 1 has no label"), ([[1, -2]], "at least 0"), ([[1]], "k = 2")],
)
def test_expected_depth_refuses_what_has_no_depth(depths, message):
    """A sample for which nothing was found would make the search look cheap."""
    with pytest.raises(ValueError, match=message):
        metrics.expected_depth(depths, 2)


# ---- Variation of information ----

clusterings = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n), min_size=3, max_size=3)
)


def test_variation_of_information_of_crossed_pairs():
    """Two independent halvings: knowing one says nothing of the other, so VI = ln 2 + ln 2."""
    assert metrics.variation_of_information([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(2 * math.log(2))


def test_variation_of_information_of_a_refinement():
    """B splits half of A's items in two: H(A|B) = 0 and H(B|A) = 1/2 ln 2."""
    assert metrics.variation_of_information([7, 7, 9, 9], [1, 1, 2, 3]) == pytest.approx(math.log(2) / 2)


@given(clusterings)
def test_variation_of_information_agrees_with_mutual_information(three):
    """VI = H(A) + H(B) - 2 I(A; B), and the entropy H(A) is I(A; A)."""
    a, b, _ = three
    expected = mutual_info_score(a, a) + mutual_info_score(b, b) - 2 * mutual_info_score(a, b)
    assert metrics.variation_of_information(a, b) == pytest.approx(expected, abs=1e-12)


@given(clusterings)
def test_variation_of_information_is_a_metric(three):
    """Symmetric, zero exactly for the same clustering under other names, and never longer than a detour."""
    a, b, c = three
    distance = metrics.variation_of_information
    assert distance(a, b) == pytest.approx(distance(b, a), abs=1e-12)
    assert distance(a, c) <= distance(a, b) + distance(b, c) + 1e-12
    same_clusters = len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))
    assert (distance(a, b) == 0) == same_clusters
    assert distance(a, [100 - 7 * cluster for cluster in a]) == 0


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [([0, 1], [0], "same items"), ([], [], "same items"), ([0.5, 1.0], [0, 1], "integers")],
)
def test_variation_of_information_refuses_what_is_no_clustering(a, b, message):
    """Different lengths, no items at all, or numbers that are no cluster ids."""
    with pytest.raises(ValueError, match=message):
        metrics.variation_of_information(a, b)


# ---- Scale ----


def test_amazon_670k_scale_needs_no_dense_row():
    """A dense row for each of 150,000 samples would take 100 GB; the report needs less than 0.5."""
    n_samples, n_labels, k = 150_000, 670_000, 5
    rng = np.random.default_rng(0)
    first = rng.integers(0, n_labels - 2 * k, size=(n_samples, 1))
    indptr = np.arange(n_samples + 1) * k
    Y = sp.csr_array((np.ones(n_samples * k, dtype=np.float32), (first + np.arange(k)).ravel(), indptr))
    Y.resize(n_samples, n_labels)
    ids = first + np.arange(k)[::-1] + 2  # two of five lie beyond the sample's own labels, and those come first
    tracemalloc.start()
    try:
        report = metrics.score_report(ids, Y, metrics.propensities(Y, A=0.6, B=2.6))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [report[f"P@{k}"] for k in (1, 3, 5)] == pytest.approx([0, 100 / 3, 60])
    assert peak < 500e6
