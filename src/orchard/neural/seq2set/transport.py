"""The semantic optimal transport distance (Eq. 14 to 16), for all samples of a batch at once."""

import torch
from torch import Tensor

BETA, ITERATIONS = 1.0, 50  # the authors': one inner iteration in each
SMALLEST_NORM = 1e-8  # ∅ starts as a vector of zeros, which has no direction


def cosine_distances(x: Tensor, y: Tensor) -> Tensor:
    """1 − cos(xᵢ, yⱼ) (Eq. 16): x (B, n, d), y (B, m, d) → (B, n, m)."""
    lengths = x.norm(dim=2)[:, :, None] * y.norm(dim=2)[:, None]
    return 1 - torch.bmm(x, y.transpose(1, 2)) / lengths.clamp(min=SMALLEST_NORM)


@torch.no_grad()
def ipot(C: Tensor, n_rows: Tensor, n_columns: Tensor, beta: float = BETA, iterations: int = ITERATIONS) -> Tensor:
    """Transport plans Γ (B, n, m) of min ⟨C, Γ⟩ by the inexact proximal point method (Xie et al., 2020).

    C : costs (B, n, m); of sample b the first n_rows[b] rows and n_columns[b] columns count, each row with 1/n_rows[b]
        and each column with 1/n_columns[b] of the mass. All else of Γ is zero, and so is a plan without columns.
    """
    rows = torch.arange(C.shape[1], device=C.device) < n_rows[:, None]
    columns = torch.arange(C.shape[2], device=C.device) < n_columns[:, None]
    # A row or column that does not count gets the factor zero, whatever stands there.
    mu = torch.where(rows, 1 / n_rows.clamp(min=1)[:, None], 0.0)[:, :, None].to(C)  # (B, n, 1)
    nu = torch.where(columns, 1 / n_columns.clamp(min=1)[:, None], 0.0)[:, None].to(C)  # (B, 1, m)
    counts = (rows[:, :, None] & columns[:, None]).to(C)
    G = torch.exp(-C / beta) * counts
    plan, factor = counts, nu
    tiny = torch.finfo(C.dtype).tiny
    for _ in range(iterations):
        Q = G * plan
        # Sums, not products of matrices, which a GPU may round to three digits.
        of_rows = mu / (Q * factor).sum(2, keepdim=True).clamp_(min=tiny)
        factor = nu / (Q * of_rows).sum(1, keepdim=True).clamp_(min=tiny)
        plan = Q.mul_(of_rows).mul_(factor)
    return plan
