"""Do overlapping clusters tell the meanings of a fused label apart (disentangle §5.1, Table 2)?

A fused label has samples of several originals, its meanings. If its copies stand where these meanings are, the cluster
that a sample is matched to says which one it has. How far the two partitions of its samples are apart is told by the
variation of information (VI), beside that of random partitions into parts of the same sizes.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from orchard._cluster_kernels import NOWHERE, best_of
from orchard.metrics import variation_of_information
from orchard.trees._numbering import starts

MORE_THAN = 10  # samples that every meaning must have, so that there is something to tell
RANDOM_PARTITIONS = 100


@dataclass(frozen=True)
class Meanings:
    """The samples of a fused label that have one of its meanings, and where the matcher leads them.

    samples, meanings, clusters : (n,) each; the original label of a sample, and the one of the fused label's clusters
        that the sample is matched to best, or NOWHERE.
    vi : of meanings and clusters.  random : float64 (RANDOM_PARTITIONS,), the same for random clusters.
    """

    fused: int
    samples: np.ndarray
    meanings: np.ndarray
    clusters: np.ndarray
    vi: float
    random: np.ndarray


def judge_meanings(
    Y: sp.csr_matrix, fused_of_label: np.ndarray, M: sp.csr_matrix, C: sp.csr_matrix, random_state: int = 0
) -> list[Meanings]:
    """The fused labels all of whose meanings, two or more, have more than MORE_THAN samples.

    Y : CSR (n, L), the original labels.  fused_of_label : (L,).  M : CSR (n, K) with scores.  C : CSR (fused, K).
    A sample with several meanings of the same fused label says nothing about them, and is left out.
    """
    rng = np.random.default_rng(random_state)
    samples_of = Y.tocsc()
    n_samples = np.diff(samples_of.indptr)
    by_fused = np.argsort(fused_of_label, kind="stable")
    ends = starts(np.bincount(fused_of_label, minlength=C.shape[0]))
    judged = []
    for fused in range(C.shape[0]):
        originals = by_fused[ends[fused] : ends[fused + 1]]
        if originals.size < 2 or n_samples[originals].min() <= MORE_THAN:
            continue
        samples, meanings = _with_one_meaning(samples_of, originals)
        if np.unique(meanings).size < 2:
            continue
        own = C.indices[C.indptr[fused] : C.indptr[fused + 1]]
        clusters = best_of(samples, (M.indptr, M.indices, M.data), own)
        vi = variation_of_information(meanings, clusters)
        drawn = [variation_of_information(meanings, rng.permutation(clusters)) for _ in range(RANDOM_PARTITIONS)]
        judged.append(Meanings(fused, samples, meanings, clusters, vi, np.array(drawn)))
    return judged


def _with_one_meaning(samples_of: sp.csc_matrix, originals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The samples with exactly one of these labels, ascending, and the label of each."""
    lists = [samples_of.indices[samples_of.indptr[label] : samples_of.indptr[label + 1]] for label in originals]
    samples, meanings = np.concatenate(lists), np.repeat(originals, [len(one) for one in lists])
    found, first, counts = np.unique(samples, return_index=True, return_counts=True)
    return found[counts == 1], meanings[first[counts == 1]]


def meanings_report(judged: list[Meanings]) -> dict[str, float]:
    """Means over the fused labels; without any, their number alone."""
    if not judged:
        return {"fused labels": 0.0}
    better = [np.mean(one.vi < one.random) for one in judged]
    return {
        "fused labels": float(len(judged)),
        "VI": float(np.mean([one.vi for one in judged])),
        "VI, random": float(np.mean([one.random.mean() for one in judged])),
        "told apart": 100 * float(np.mean(np.array(better) >= 0.95)),
    }


def examples(judged: list[Meanings], M: sp.csr_matrix, names: list[str], texts: list[str]) -> list[dict]:
    """The fused label that is told apart best, the one in the middle and the worst, with a document for each meaning.

    'Best' is the smallest VI, as a share of that of random partitions. A meaning's cluster is the one that most of its
    samples are matched to, its document the one that is matched there with the highest score.
    """
    order = sorted(judged, key=lambda one: (one.vi / max(one.random.mean(), 1e-12), one.fused))
    picked = {"best": 0, "median": len(order) // 2, "worst": len(order) - 1} if order else {}
    return [
        {"told apart": how, "vi": order[place].vi, "random": float(order[place].random.mean()),
         "meanings": [_example(order[place], meaning, M, names, texts) for meaning in np.unique(order[place].meanings)]}
        for how, place in picked.items()
    ]  # fmt: skip


def _example(one: Meanings, meaning: int, M: sp.csr_matrix, names: list[str], texts: list[str]) -> dict:
    mine = one.meanings == meaning
    clusters, counts = np.unique(one.clusters[mine], return_counts=True)
    cluster = int(clusters[np.argmax(counts)])
    there = one.samples[mine & (one.clusters == cluster)]
    scores = np.asarray(M[there, cluster].todense()).ravel() if cluster != NOWHERE else np.zeros(there.size)
    return {
        "meaning": names[meaning],
        "samples": int(mine.sum()),
        "cluster": cluster,
        "share": 100 * float(counts.max() / counts.sum()),
        "text": texts[int(there[np.argmax(scores)])],
    }
