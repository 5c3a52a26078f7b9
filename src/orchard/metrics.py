"""Every number the tables report: ranking metrics, F1 of predicted sets, expected depth, variation of information.

A ranking is `ids` (n, ≥k): label ids, best first. An id of -1 means that no label was reached at that rank: a miss.
The truth is a sparse Y (n, L) in which every positive entry is a relevant label.

Values are fractions; only `score_report` gives percentages. A sample without labels counts as 0 in P@k, nDCG@k and the
unnormalised PSP@k, adds nothing to either side of PSP@k and PSnDCG@k, and is left out of recall@k.

No metric makes a dense row: time and memory grow with the entries of `ids` and Y, not with L.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

# ---- Rankings ----


def precision_at_k(ids: ArrayLike, Y: sp.sparray, k: int) -> float:
    """P@k: relevant labels among the first k, divided by k even if fewer were returned, averaged over samples."""
    return _precision(_judge(ids, Y, k).hits)


def recall_at_k(ids: ArrayLike, Y: sp.sparray, k: int) -> float:
    """recall@k: the share of a sample's labels found among the first k, averaged over the samples that have labels."""
    judged = _judge(ids, Y, k)
    return _recall(judged.hits, judged.n_relevant)


def ndcg_at_k(ids: ArrayLike, Y: sp.sparray, k: int) -> float:
    """nDCG@k: Σ_{r≤k} y_r / log2(r+1), divided by Σ_{r≤min(k,|y|)} 1 / log2(r+1), averaged over samples.

    This is the XMC repository's definition: each sample is normalised by the best ranking of its own labels.
    """
    judged = _judge(ids, Y, k)
    return _ndcg(judged.hits, judged.n_relevant)


def psp_at_k(ids: ArrayLike, Y: sp.sparray, p: ArrayLike, k: int) -> float:
    """PSP@k as published in tables: Σ 1/p of the hits over the best attainable, both summed over samples first.

    The best attainable of a sample is the sum of the k largest 1/p among its labels, so a perfect ranking scores 1.
    The XMC repository's tools compute this, and so do the papers' tables: Table 3 of `disentangle` has PSP@1 below
    P@1, which its formula as printed (see `psp_at_k_unnormalised`) can never give.
    """
    gained, best = _inverse_propensity_by_rank(_judge(ids, Y, k), p)
    return _psp(gained, best)


def psp_at_k_unnormalised(ids: ArrayLike, Y: sp.sparray, p: ArrayLike, k: int) -> float:
    """PSP@k as printed in `disentangle` ("Evaluation Metric"): 1/k Σ_{r≤k} y_r / p_r, averaged over samples.

    Not what the tables hold (see `psp_at_k`), and not a fraction: 1/p is at least 1, so it can exceed 1.
    """
    judged = _judge(ids, Y, k)
    gained, _ = _inverse_propensity_by_rank(judged, p)
    return float(gained.sum() / judged.hits.size)


def psndcg_at_k(ids: ArrayLike, Y: sp.sparray, p: ArrayLike, k: int) -> float:
    """PSnDCG@k as published: Σ_{r≤k} y_r / (p_r log2(r+1)) over the best attainable, both summed over samples first.

    The XMC repository prints a divisor Σ_{r≤k} 1 / log2(r+1), the same for all samples, and its tools then divide by
    the value of the perfect ranking; the first divisor cancels, and the second is the normalisation used here. Some
    other libraries put nDCG's divisor, which depends on |y|, into both sums, and get slightly different values.
    """
    gained, best = _inverse_propensity_by_rank(_judge(ids, Y, k), p)
    return _psndcg(gained, best)


def score_report(ids: ArrayLike, Y: sp.sparray, p: ArrayLike, ks: Sequence[int] = (1, 3, 5)) -> dict[str, float]:
    """All ranking metrics at every k, as unrounded percentages: the metrics that score.json keeps.

    Keys are 'P@k', 'PSP@k' (normalised), 'nDCG@k', 'PSnDCG@k' and 'recall@k'. The ranking is judged only once.
    """
    ids = np.asarray(ids)
    ks = [_checked_k(k, ids) for k in ks]
    judged = _judge(ids, Y, max(ks))
    gained, best = _inverse_propensity_by_rank(judged, p)
    hits, n_relevant = judged.hits, judged.n_relevant
    metrics = {
        "P": lambda k: _precision(hits[:, :k]),
        "PSP": lambda k: _psp(gained[:k], best[:k]),
        "nDCG": lambda k: _ndcg(hits[:, :k], n_relevant),
        "PSnDCG": lambda k: _psndcg(gained[:k], best[:k]),
        "recall": lambda k: _recall(hits[:, :k], n_relevant),
    }
    return {f"{name}@{k}": 100 * metric(k) for name, metric in metrics.items() for k in ks}


def propensities(Y_train: sp.sparray, A: float = 0.55, B: float = 1.5) -> np.ndarray:
    """Propensity p (L,) of every label: 1/p = 1 + C (N_l + B)^-A with C = (ln N - 1)(B + 1)^A (Jain et al. 2016).

    N_l is the number of the N training samples that carry label l; a label nobody carries gets the smallest p. The
    XMC repository takes A, B = 0.5, 0.4 for WikiLSHTC-325K and Wikipedia-500K, 0.6, 2.6 for Amazon-670K and Amazon-3M,
    and these defaults for all other data sets.
    """
    train = _relevance(Y_train)
    n_samples = train.shape[0]
    if n_samples < 3:
        raise ValueError(f"propensities need at least 3 training samples (ln N must exceed 1), got {n_samples}")
    C = (np.log(n_samples) - 1) * (B + 1) ** A
    return 1 / (1 + C / (train.sum(axis=0) + B) ** A)


def topk_of_scores(scores: sp.sparray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k best stored entries of every row of a sparse score matrix: ids (n, k) and their scores (n, k).

    Every stored entry counts as a reached label, whatever its score. Ties go to the lower id. Where a row stores fewer
    than k entries, the id is -1 and the score -inf.
    """
    k = _positive(k)
    scores = sp.csr_array(scores, copy=True)  # sum_duplicates works in place
    scores.sum_duplicates()
    values = scores.data.astype(np.result_type(scores.dtype, np.float32), copy=False)
    if np.isnan(values).any():
        raise ValueError("scores contain NaN, which has no rank")
    order, row, rank = _ranks_within_rows(values, scores.indptr)
    kept = rank < k
    row, rank, order = row[kept], rank[kept], order[kept]
    top_ids = np.full((scores.shape[0], k), -1, dtype=np.int64)
    top_scores = np.full((scores.shape[0], k), -np.inf, dtype=values.dtype)
    top_ids[row, rank] = scores.indices[order]
    top_scores[row, rank] = values[order]
    return top_ids, top_scores


# ---- Sets of labels ----


class MicroScores(NamedTuple):
    precision: float
    recall: float
    f1: float


def micro_precision_recall_f1(predicted: sp.sparray, Y: sp.sparray) -> MicroScores:
    """Precision, recall and F1 over all (sample, label) pairs at once (scikit-learn's average="micro")."""
    n_both, n_predicted, n_relevant = _agreement(predicted, Y, axis=None)
    return MicroScores(
        precision=float(_ratio(n_both, n_predicted)),
        recall=float(_ratio(n_both, n_relevant)),
        f1=float(_f1(n_both, n_predicted, n_relevant)),
    )


def macro_f1(predicted: sp.sparray, Y: sp.sparray, only_occurring: bool = False) -> float:
    """F1 of every label, averaged over labels.

    By default over all L labels, as scikit-learn's average="macro" does for indicator matrices: a label that is neither
    relevant nor predicted anywhere scores 0. With `only_occurring` such labels are left out.
    """
    n_both, n_predicted, n_relevant = _agreement(predicted, Y, axis=0)
    f1_of_label = _f1(n_both, n_predicted, n_relevant)
    n_averaged = np.count_nonzero(n_predicted + n_relevant) if only_occurring else f1_of_label.size
    return float(_ratio(f1_of_label.sum(), n_averaged))


def weighted_f1(predicted: sp.sparray, Y: sp.sparray) -> float:
    """F1 of every label, averaged with the number of samples it is relevant for (average="weighted")."""
    n_both, n_predicted, n_relevant = _agreement(predicted, Y, axis=0)
    return float(_ratio(_f1(n_both, n_predicted, n_relevant) @ n_relevant, n_relevant.sum()))


def example_f1(predicted: sp.sparray, Y: sp.sparray) -> float:
    """F1 of every sample, averaged over samples; an empty set against an empty set scores 0 (average="samples")."""
    return float(_f1(*_agreement(predicted, Y, axis=1)).mean())


# ---- Trees and clusterings ----


def expected_depth(depths: ArrayLike, k: int) -> float:
    """Expected depth at k: the depth of the deepest of the first k returned labels, averaged (`labeltrees`, Section 5).

    depths : (n, ≥k), the depth of every returned label, -1 where no label was reached. A sample with no label at all
    is refused: whatever it counted as, a search that finds nothing would look cheap.
    """
    depths = np.asarray(depths)
    depths = depths[:, : _checked_k(k, depths)]
    if not len(depths):
        raise ValueError("there is no sample to average over")
    if not np.all((depths >= 0) | (depths == -1)):
        raise ValueError("a depth must be at least 0, or -1 where no label was reached")
    deepest = depths.max(axis=1)
    if (deepest < 0).any():
        raise ValueError(f"row {np.argmax(deepest < 0)} has no label among its first {k}, so it has no depth")
    return float(deepest.mean())


def variation_of_information(a: ArrayLike, b: ArrayLike) -> float:
    """VI = H(A|B) + H(B|A) in nats between two clusterings of the same items: 0 iff they differ in names only.

    a, b : (n,) integers, the cluster of every item.
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim != 1 or a.shape != b.shape or a.size == 0:
        raise ValueError(f"two clusterings of the same items are needed, got shapes {a.shape} and {b.shape}")
    if a.dtype.kind not in "iu" or b.dtype.kind not in "iu":
        raise ValueError(f"clusters must be integers, got {a.dtype} and {b.dtype}")
    _, a, size_a = np.unique(a, return_inverse=True, return_counts=True)
    _, b, size_b = np.unique(b, return_inverse=True, return_counts=True)
    shared_cells, n_shared = np.unique(a * size_b.size + b, return_counts=True)
    in_a, in_b = np.divmod(shared_cells, size_b.size)
    # Ratios inside the logarithm, not a difference of entropies: equal clusterings give exactly 0, never a negative.
    nats = np.log(size_a[in_a] / n_shared) + np.log(size_b[in_b] / n_shared)
    return float(n_shared @ nats / a.size)


# ---- What the metrics share ----


@dataclass(frozen=True)
class _Judged:
    """A ranking compared with the truth."""

    ids: np.ndarray  # (n, k)
    hits: np.ndarray  # (n, k) bool: this id is relevant
    truth: sp.csr_array  # (n, L) bool
    n_relevant: np.ndarray  # (n,)


def _judge(ids, Y, k):
    """Look every one of the first k ids up in Y, after making sure that the answer will mean something."""
    ids, truth = np.asarray(ids), _relevance(Y)
    ids = ids[:, : _checked_k(k, ids)]
    n_samples, n_labels = truth.shape
    if ids.shape[0] != n_samples:
        raise ValueError(f"ids have {ids.shape[0]} rows, but Y has {n_samples}")
    if truth.nnz == 0:
        raise ValueError("Y has no relevant label at all, so there is nothing to score")
    if ids.dtype.kind not in "iu":
        raise ValueError(f"ids must be integers, got {ids.dtype}")
    if ids.min() < -1 or ids.max() >= n_labels:
        raise ValueError(f"ids range from {ids.min()} to {ids.max()}, but must be from -1 to {n_labels - 1}")
    ids = ids.astype(np.int64)  # before any arithmetic: row × label overflows 32 bits
    ordered = np.sort(ids, axis=1)
    repeated = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    if repeated.any():
        raise ValueError(f"row {np.argmax(repeated)} has a label twice among its first {k}: it would count twice")

    # One number for each (row, label), sorted because the CSR is, turns membership into a single binary search.
    n_relevant = np.diff(truth.indptr)
    relevant_pairs = np.repeat(np.arange(n_samples) * n_labels, n_relevant) + truth.indices
    pairs = np.arange(n_samples)[:, None] * n_labels + ids
    found = np.searchsorted(relevant_pairs, pairs).clip(max=relevant_pairs.size - 1)
    hits = (relevant_pairs[found] == pairs) & (ids >= 0)  # an id of -1 would alias the last label of the row before
    return _Judged(ids, hits, truth, n_relevant)


def _relevance(Y):
    """Y as a boolean CSR: sorted, no duplicates, relevant entries only; the caller's own matrix stays as it is."""
    truth = sp.csr_array(Y, copy=True)
    if truth.ndim != 2 or truth.shape[0] == 0:
        raise ValueError(f"a matrix (n, L) with at least one row is needed, got shape {truth.shape}")
    truth.sum_duplicates()
    truth.data = truth.data > 0
    truth.eliminate_zeros()
    return truth


def _inverse_propensity_by_rank(judged, p):
    """Σ over samples of 1/p at each rank, (k,) each: of the hits, and of every sample's labels ranked rarest first."""
    p = np.asarray(p, dtype=np.float64)
    n_labels = judged.truth.shape[1]
    if p.shape != (n_labels,):
        raise ValueError(f"propensities have shape {p.shape}, but Y has {n_labels} labels")
    if not np.all((p > 0) & (p <= 1)):
        raise ValueError("propensities must be in (0, 1]; are these the inverse propensities 1/p?")
    k = judged.ids.shape[1]
    gained = np.where(judged.hits, 1 / p[judged.ids], 0).sum(axis=0)
    weights = 1 / p[judged.truth.indices]
    order, _, rank = _ranks_within_rows(weights, judged.truth.indptr)
    attainable = rank < k
    best = np.bincount(rank[attainable], weights=weights[order[attainable]], minlength=k)
    return gained, best


def _ranks_within_rows(values, indptr):
    """Sort every CSR row downwards, ties left in place: the new order of the entries, and each place's row and rank."""
    lengths = np.diff(indptr)
    row = np.repeat(np.arange(lengths.size), lengths)
    rank = np.arange(values.size) - np.repeat(indptr[:-1], lengths)
    return np.lexsort((-values, row)), row, rank


def _precision(hits):
    return float(hits.mean())


def _recall(hits, n_relevant):
    labelled = n_relevant > 0
    return float((hits[labelled].sum(axis=1) / n_relevant[labelled]).mean())


def _ndcg(hits, n_relevant):
    k = hits.shape[1]
    discounts = _discounts(k)
    # Both sides add rank by rank, so that rounding cannot lift a perfect ranking above 1.
    ideal = np.cumsum(discounts)[np.clip(n_relevant, 1, k) - 1]
    return float((np.cumsum(hits * discounts, axis=1)[:, -1] / ideal).mean())


def _psp(gained, best):
    return float(gained.sum() / best.sum())


def _psndcg(gained, best):
    discounts = _discounts(gained.size)
    return float((gained * discounts).sum() / (best * discounts).sum())


def _discounts(k):
    return 1 / np.log2(np.arange(2, k + 2))


def _agreement(predicted, Y, axis):
    """Number of labels in both, in `predicted` and in Y: per label (axis 0), per sample (axis 1) or overall (None)."""
    predicted, truth = _relevance(predicted), _relevance(Y)
    if predicted.shape != truth.shape:
        raise ValueError(f"predicted has shape {predicted.shape}, but Y has {truth.shape}")
    return tuple(matrix.sum(axis=axis) for matrix in (predicted.multiply(truth), predicted, truth))


def _f1(n_both, n_predicted, n_relevant):
    return _ratio(2 * n_both, n_predicted + n_relevant)


def _ratio(part, whole):
    """part / whole; 0 where there is nothing to divide by, as with scikit-learn's zero_division=0."""
    return part / np.maximum(whole, 1)  # whole is a count, and part is 0 where it is


def _checked_k(k, ranked):
    if ranked.ndim != 2:
        raise ValueError(f"an array (n, k) is needed, got shape {ranked.shape}")
    if _positive(k) > ranked.shape[1]:
        raise ValueError(f"k = {k}, but only {ranked.shape[1]} labels per sample are given")
    return k


def _positive(k):
    if operator.index(k) < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    return k
