"""Aggregated labels: samples are put into groups, and only the groups keep labels (eagle §3, §7.2, B.2).

Y¹ (n, m) says which sample is in which group, Y² (m, L) which labels a group has; Y¹Y² is what a learner that ignores
the groups would train on. Every sample is in exactly one group here, but `merge_labels` takes any Y¹.
"""

import re

import numpy as np
import scipy.sparse as sp

from orchard.errors import ConfigError
from orchard.trees.balanced import balanced_kmeans
from orchard.trees.embeddings import unit_rows

_GROUPING = re.compile(
    r"(random-(?P<size>\d+)|clustered-(?P<depth>\d+)(-noise-(?P<noise>\d+))?)(?P<merge_as_set>-set)?"
)


def aggregate(
    X: sp.csr_matrix,
    Y: sp.csr_matrix,
    grouping: str,
    seed: int,
    n_jobs: int | None = None,
    groups: np.ndarray | None = None,
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Y¹ and Y² of the training samples, for a grouping by its name.

    `random-4`: groups of four · `clustered-8`: 2^8 groups · `clustered-8-noise-25`: the same with noise 0.25.
    Labels are merged as a list, or as a set where `-set` follows.

    `given`: the groups that the data set brings along, int32 (n,), such as the documents of sentences. Their labels
    are a set: every sample of a group repeats what is known of the whole, and repetitions say nothing.
    """
    if grouping == "given":
        if groups is None:
            raise ConfigError("given: the data set brings no groups along (groups.trn.npy); group it by random-4 …")
        Y1 = group_matrix(groups)
        return Y1, merge_labels(Y, Y1, "set")
    named = _GROUPING.fullmatch(grouping)
    if not named:
        raise ConfigError(
            f"unknown grouping {grouping!r}: it reads given, random-4, clustered-8, clustered-8-noise-25-set …"
        )
    if named["size"]:
        size = int(named["size"])
        if not 1 <= size <= X.shape[0]:
            raise ConfigError(f"{grouping}: the group size must be between 1 and the {X.shape[0]} samples")
        groups = random_groups(X.shape[0], size, seed)
    else:
        depth, noise = int(named["depth"]), int(named["noise"] or 0)
        if depth > np.log2(X.shape[0]):
            raise ConfigError(
                f"{grouping}: {2**depth} groups are more than the {X.shape[0]} training samples; a smaller depth, or a"
                " larger data set"
            )
        if noise > 100:
            raise ConfigError(f"{grouping}: a noise of at most 100 per cent")
        groups = hierarchical_groups(X, depth, seed, noise / 100, n_jobs)
    Y1 = group_matrix(groups)
    return Y1, merge_labels(Y, Y1, "set" if named["merge_as_set"] else "list")


def random_groups(n: int, group_size: int, seed: int) -> np.ndarray:
    """Groups of `group_size` samples drawn without replacement (R-4, R-10); the group of every sample, int32 (n,).

    There are ⌈n / group_size⌉ groups; the last one is smaller if `group_size` does not divide n.
    """
    if group_size < 1:
        raise ValueError(f"group_size must be at least 1, not {group_size}")
    groups = np.empty(n, np.int32)
    groups[np.random.default_rng(seed).permutation(n)] = np.arange(n) // group_size
    return groups


def hierarchical_groups(
    X: sp.csr_matrix, depth: int, seed: int, noise: float = 0.0, n_jobs: int | None = None
) -> np.ndarray:
    """2^depth groups by balanced 2-means on the unit rows of X (C-8 is depth 8); the group of every sample, int32 (n,).

    noise : from 0, clustered, to 1, random (Figures 4c and 9). Before clustering, every unit row x is mixed with
        noise z into (1 − noise)·x + noise·z, and made a unit row again. z is the unit row of another sample, given by
        a random permutation: as sparse as the data and as easy to cluster, so that it competes with x throughout.
        (Isotropic noise averages out in the centroids: little happens up to 0.5, then everything at once.) At 1 the
        samples are grouped by rows that are not theirs, which is a random partition.
    """
    if not 0 <= noise <= 1:
        raise ValueError(f"noise must be between 0 and 1, not {noise}")
    rng = np.random.default_rng(seed)
    rows = unit_rows(X)
    if noise > 0:
        rows = unit_rows((1 - noise) * rows + noise * rows[rng.permutation(rows.shape[0])])
    return balanced_kmeans(rows, 2**depth, rng, n_jobs=n_jobs)


def group_matrix(groups: np.ndarray) -> sp.csr_matrix:
    """Y¹, CSR float32 (n, m): sample i belongs to group groups[i]; the groups are 0 … m − 1."""
    n = groups.size
    return sp.csr_matrix((np.ones(n, np.float32), groups, np.arange(n + 1)), shape=(n, groups.max(initial=-1) + 1))


def merge_labels(Y: sp.csr_matrix, Y1: sp.csr_matrix, merge: str = "list") -> sp.csr_matrix:
    """Y², CSR float32 (m, L): the labels of every group's samples (eagle B.2).

    merge : 'list' keeps repetitions, as the paper's experiments do: an entry counts the group's samples that have the
        label; 'set' notes only that there is one.
    """
    if merge not in ("list", "set"):
        raise ValueError(f"merge must be 'list' or 'set', not {merge!r}")
    Y2 = sp.csr_matrix(Y1.T.tocsr() @ Y, dtype=np.float32)
    Y2.sort_indices()
    if merge == "set":
        Y2.data[:] = 1
    return Y2
