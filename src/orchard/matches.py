"""Matches as files: M and YᵀM are made once, and serve every λ and every solver."""

from dataclasses import dataclass
from pathlib import Path

import scipy.sparse as sp

from orchard.data.store import load_csr, save_csr
from orchard.files import atomic_folder
from orchard.linear.estimators import TreeEstimator
from orchard.shared_trees import load_trees, save_trees
from orchard.trees.label_tree import LabelTree


@dataclass(frozen=True)
class Matches:
    """M (n, K) with scores and YᵀM (L, K), the leaves of all trees side by side, and the model that matched.

    Cross-fitted matches are made by several models, and none of them is kept.
    """

    trees: list[LabelTree]
    M: sp.csr_matrix
    counts: sp.csr_matrix
    model: TreeEstimator | None = None


def save_matches(folder, matches: Matches) -> None:
    with atomic_folder(folder) as temporary:
        save_trees(temporary / "trees", matches.trees)
        save_csr(temporary / "M.npz", matches.M)
        save_csr(temporary / "counts.npz", matches.counts)
        if matches.model is not None:
            matches.model.save(temporary / "model")


def load_matches(folder, with_model: bool = False, n_jobs: int | None = None) -> Matches:
    """Read what `save_matches` wrote; the model, if there is one, only where it is wanted."""
    folder = Path(folder)
    has_model = with_model and (folder / "model").is_file()
    model = TreeEstimator.load(folder / "model", n_jobs) if has_model else None
    return Matches(load_trees(folder / "trees"), load_csr(folder / "M.npz"), load_csr(folder / "counts.npz"), model)
