"""Label trees between balanced 2-means, λ = 0, and Fano coding, λ = 2 (labeltrees §4)."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from orchard.data.statistics import label_frequencies
from orchard.parameters import Parameters
from orchard.trees import bisection
from orchard.trees._numbering import frequencies
from orchard.trees.bisection import bisected
from orchard.trees.frequencies import greedy_frequencies, marginal_frequencies
from orchard.trees.label_tree import LabelTree

# The values of λ' in the paper's experiments (labeltrees §5.4.3).
PARABEL_GRID = (0, 0.5, 1, 2, 6, 10, 30, 100, 300, 1000, 100_000)
FASTTEXT_GRID = (0, 0.25, 0.5, 0.75, 1, 2, 4, 16, 64, 256, 100_000)
LOGS_GRID = (0, 0.25, 0.5, 0.75, 1, 2, 10, 30, 1000, 100_000)
FREQUENCIES = ("marginal", "greedy")
ROUTES = ("weighted", "direct")
RENORMALISED = ("node", "once")
LARGE_SHARE = 1 / 8  # of the entries of a level


def lambda_of(lambda_prime: float) -> float:
    """λ = 2λ′ / (1 + λ′), in which the paper gives its grids (§5.4.3); λ′ = ∞ is λ = 2."""
    if not lambda_prime >= 0:
        raise ValueError(f"λ′ must be at least 0, not {lambda_prime}")
    return 2.0 if np.isinf(lambda_prime) else 2 * lambda_prime / (1 + lambda_prime)


@dataclass(eq=False, repr=False)
class Interpolation(Parameters):
    """Where between 2-means and Fano coding a tree stands, and which of the paper's schemes it follows.

    Estimators over such trees inherit these parameters.
    lambda_prime : λ′, see `lambda_of`.  gamma, route, renormalise : see `interpolated_label_tree`.
    frequencies : how f̃ is made, 'marginal' (Algorithm 2) or 'greedy' (Algorithm 1).
    sharpness : of the marginal f̃, see `marginal_frequencies`.
    """

    lambda_prime: float = 0.0
    gamma: float = 0.1
    frequencies: str = "marginal"
    sharpness: float = 1.0
    route: str = "weighted"
    renormalise: str = "node"

    def check_interpolation(self) -> None:
        """Refuse what makes no sense, naming the parameter."""
        lambda_of(self.lambda_prime)
        if not 0 <= self.gamma < np.inf:
            raise ValueError(f"gamma must be at least 0, not {self.gamma}")
        if not 0 <= self.sharpness <= 1:
            raise ValueError(f"sharpness must be between 0 and 1, not {self.sharpness}")
        if self.frequencies == "greedy" and self.sharpness != 1:
            raise ValueError("sharpness belongs to frequencies='marginal'; the greedy f̃ has none")
        for name, known in {"frequencies": FREQUENCIES, "route": ROUTES, "renormalise": RENORMALISED}.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}")

    def interpolated_tree(
        self, embeddings: sp.csr_matrix, Y: sp.csr_matrix, contexts: ArrayLike | None = None, **how
    ) -> LabelTree:
        """The tree over the labels of Y (n, n_labels), whose rows are asked for with the frequencies `contexts` (n,).

        how : max_leaf, seed, n_jobs …, see `interpolated_label_tree`.
        """
        self.check_interpolation()
        f = label_frequencies(Y, contexts)
        if self.frequencies == "greedy":
            f_tilde = greedy_frequencies(Y, contexts)
        else:
            f_tilde = marginal_frequencies(Y, contexts, self.sharpness)
        lam = lambda_of(self.lambda_prime)
        settings = {"gamma": self.gamma, "route": self.route, "renormalise": self.renormalise}
        return interpolated_label_tree(embeddings, f, f_tilde, lam, **settings, **how)


def combined_frequencies(
    f: np.ndarray,
    f_tilde: np.ndarray,
    lam: float,
    gamma: float = 0.1,
    route: str = "weighted",
    begins: ArrayLike = (0,),
) -> np.ndarray:
    """f(λ) of Eq. 4 in every node of a level, float64 (n,); its sum over a node is 1.

    f, f_tilde : non-negative float64 (n,), the labels node by node, of any scale: what counts are the shares in the
    node.  begins : where the nodes begin.
    route : 'weighted', by way of weighted 2-means at λ = 1, as in Eq. 4; or 'direct' from balanced 2-means to Fano
    coding, f(λ) = ((1 − λ/2)/L + λ/2 · f̃ + γ/L) / (1 + γ), for the green and the red curve of Figure 3, whose
    formula the paper does not print (D47).
    Labels of a node in which none ever occurs have equal shares.
    """
    begins = np.asarray(begins)
    sizes = np.diff(np.append(begins, f.size))
    L = np.repeat(sizes, sizes)
    f, f_tilde = shares_of_nodes(f, begins), shares_of_nodes(f_tilde, begins)
    if route == "direct":
        return shares_of_nodes((1 - lam / 2) / L + lam / 2 * f_tilde + gamma / L, begins)
    return shares_of_nodes((2 - lam) * f ** min(lam, 1) + max(lam - 1, 0) * f_tilde + gamma / L, begins)


def shares_of_nodes(values: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """What share of its node's sum every value is, float64 (n,); equal shares where the sum is 0."""
    sizes = np.diff(np.append(begins, values.size))
    totals = np.repeat(np.add.reduceat(values, begins), sizes)
    return np.where(totals > 0, values, 1) / np.where(totals > 0, totals, np.repeat(sizes, sizes))


def interpolated_label_tree(
    embeddings: sp.csr_matrix,
    f: ArrayLike,
    f_tilde: ArrayLike,
    lam: float,
    gamma: float = 0.1,
    max_leaf: int = 100,
    seed: int | np.random.Generator = 0,
    route: str = "weighted",
    renormalise: str = "node",
    tolerance: float = 1e-4,
    max_iterations: int = 100,
    n_jobs: int | None = None,
) -> LabelTree:
    """A binary tree whose nodes are split by the combined objective (labeltrees, Eq. 4), down to `max_leaf` labels.

    In every node, over assignments α ∈ [−1, 1]^L with αᵀf(λ) = 0 and unit centres μ±, the sum of
    f_ℓ(λ) (2 − λ) ((1 + α_ℓ)/2 · v_ℓᵀμ⁺ + (1 − α_ℓ)/2 · v_ℓᵀμ⁻) + α_ℓ (λ − 1)⁺ f_ℓ(λ)² is maximised by turns: the
    centres are weighted means, α is that of Lemma 1, rounded each time (§5.4.3), until the objective gains no more than
    `tolerance` · (1 − λ/2). λ = 0 is balanced 2-means, λ = 1 weighted 2-means, λ = 2 Fano coding.

    embeddings : v, CSR (n_labels, d), unit rows; empty rows are allowed.
    f, f_tilde : non-negative (n_labels,), marginal frequencies and those for small depth (`orchard.trees.frequencies`).
    route : see `combined_frequencies`; 'direct' has λ/2 in the place of (λ − 1)⁺.
    renormalise : f(λ) is made from the shares that labels have in the 'node', as if it were a problem of its own, or
        'once' for all labels; the paper does not say which.
    The result depends on `seed`, never on `n_jobs` (all cores by default).
    """
    n_labels = embeddings.shape[0]
    f, f_tilde = frequencies("f", f, n_labels), frequencies("f_tilde", f_tilde, n_labels)
    if max_leaf < 1:
        raise ValueError(f"max_leaf must be at least 1, not {max_leaf}")
    if not 0 <= lam <= 2:
        raise ValueError(f"lam must be between 0 and 2, not {lam}")
    Interpolation(gamma=gamma, route=route, renormalise=renormalise).check_interpolation()
    splitting = _HalvesOfWeight(f, f_tilde, lam, gamma, max_leaf, route, renormalise)
    return LabelTree.from_partitions(
        *bisected(embeddings, splitting, seed, tolerance * (1 - lam / 2), max_iterations, n_jobs)
    )


class _HalvesOfWeight:
    """A `Splitting` in which both sides of a node have half of its f(λ)."""

    def __init__(self, f, f_tilde, lam, gamma, max_leaf, route, renormalise):
        self.f, self.f_tilde, self.lam, self.gamma, self.route = f, f_tilde, lam, gamma, route
        self.max_leaf = max_leaf
        self.once = combined_frequencies(f, f_tilde, lam, gamma, route) if renormalise == "once" else None
        self.fano = lam / 2 if route == "direct" else max(lam - 1, 0)

    def nodes_to_split(self, sizes: np.ndarray) -> np.ndarray:
        return sizes > self.max_leaf

    def many_levels_left(self, sizes: np.ndarray) -> bool:
        """A few deep nodes are not worth a copy of all rows."""
        return 2 * sizes[sizes > 4 * self.max_leaf].sum() > sizes.sum()

    def targets(self, order: np.ndarray, level: np.ndarray) -> tuple:
        sizes = np.diff(level)
        if self.lam == 0:  # all labels weigh the same: they need only be counted
            none, one = np.empty(0, np.float32), np.float32(1)
            return sizes // 2, (sizes + 1) // 2, none, one, np.zeros(sizes.size, np.float32)
        f, totals = self._frequencies(order, level[:-1], sizes)
        mean_one = (f * np.repeat(sizes, sizes)).astype(np.float32)
        similarity, bonus = np.float32(1 - self.lam / 2), (self.fano * totals / sizes).astype(np.float32)
        return sizes // 2, (sizes + 1) // 2, mean_one, similarity, bonus

    def _frequencies(self, order: np.ndarray, begins: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """f(λ) with a sum of 1 in every node, and its true sums, which the squares in Eq. 4 depend on."""
        if self.once is None:
            f = combined_frequencies(self.f[order], self.f_tilde[order], self.lam, self.gamma, self.route, begins)
            return f, np.ones(sizes.size)
        return shares_of_nodes(self.once[order], begins), np.add.reduceat(self.once[order], begins)

    def large_nodes(self, entries: np.ndarray) -> np.ndarray:
        """Nodes of a level are of all sizes: one that is large is left to no single thread."""
        return (entries >= LARGE_SHARE * entries.sum()) & (entries.sum() >= bisection.MANY_ENTRIES)

    def descend(self, splits: np.ndarray) -> None:
        pass
