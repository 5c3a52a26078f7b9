"""Matching and transport one sample after the other, on the processor, as the authors have it: the reference.

What `objectives` gives for a batch is compared with this, and timed beside it (`make bench`).
"""

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from orchard.neural.seq2set.transport import BETA, ITERATIONS, cosine_distances


def match_one(p: np.ndarray, scheme: str) -> np.ndarray:
    """The prediction that stands for every label of one sample, (n,): p (N, n), see `matching.match`."""
    if scheme == "in order":
        return np.arange(p.shape[1])
    predictions, labels = linear_sum_assignment(p if scheme == "all" else p[: p.shape[1]], maximize=True)
    found = np.empty(p.shape[1], np.int64)
    found[labels] = predictions
    return found


def ipot_one(C: np.ndarray, beta: float = BETA, iterations: int = ITERATIONS) -> np.ndarray:
    """The transport plan (n, m) of one sample: see `transport.ipot`."""
    n, m = C.shape
    G, plan, of_columns = np.exp(-C / beta), np.ones((n, m)), np.full(m, 1 / m)
    for _ in range(iterations):
        Q = G * plan
        of_rows = 1 / (n * (Q @ of_columns))
        of_columns = 1 / (m * (Q.T @ of_rows))
        plan = of_rows[:, None] * Q * of_columns
    return plan


def matching_loss(log_p: Tensor, n_labels: Tensor, scheme: str, empty_weight: float) -> Tensor:
    """`objectives.matching_loss`, sample by sample."""
    total, weight, n_steps = 0.0, 0.0, log_p.shape[1]
    for one, n in zip(log_p, n_labels.tolist(), strict=True):
        found = match_one(one[:, :n].detach().exp().cpu().numpy(), scheme)
        empty = torch.ones(n_steps, dtype=torch.bool)
        empty[found] = False
        total = total - one[found, range(n)].sum() - empty_weight * one[empty, -1].sum()
        weight += n + empty_weight * (n_steps - n)
    return total / weight


def transport_loss(
    means: Tensor, labels: Tensor, n_predictions: Tensor, n_labels: Tensor, embeddings: Tensor
) -> Tensor:
    """`objectives.transport_loss`, sample by sample."""
    total = torch.zeros((), device=means.device)
    counts = zip(n_predictions.tolist(), n_labels.tolist(), strict=True)
    for one, own, (n, m) in zip(means, labels, counts, strict=True):
        if m:
            C = cosine_distances(one[None, :n], embeddings.detach()[own[None, :m]])[0]
            plan = ipot_one(C.detach().cpu().numpy())
            total = total + (C * torch.as_tensor(plan, dtype=C.dtype, device=C.device)).sum()
    return total / len(means)
