"""What networks are trained to: label after label, or a set (Eq. 13 and 17).

log_p : (B, N, k), what every prediction gives to the labels that were asked for: those of its sample, and ∅ last.
"""

import torch
from torch import Tensor

from orchard.neural.seq2set.matching import match
from orchard.neural.seq2set.transport import cosine_distances, ipot


def sequence_loss(log_p: Tensor, n_labels: Tensor) -> Tensor:
    """Cross-entropy, the mean over all labels and ends: the i-th prediction is to give the i-th label, the next ∅."""
    n = log_p.shape[2] - 1
    steps = torch.arange(log_p.shape[1], device=log_p.device)
    wanted = torch.where(steps < n_labels[:, None], steps.clamp(max=n), n)  # (B, N)
    counts = steps <= n_labels[:, None]
    return -(log_p.gather(2, wanted[:, :, None])[:, :, 0] * counts).sum() / counts.sum()


def matching_loss(log_p: Tensor, n_labels: Tensor, scheme: str, empty_weight: float) -> Tensor:
    """Eq. 13 as a mean over the weights 1 and λ_∅: predictions are to give the labels that they stand for, or ∅.

    scheme, and which prediction stands for which label: see `match`.  empty_weight : λ_∅.
    """
    found = match(log_p[:, :, :-1].detach().exp(), n_labels, scheme)  # (B, n)
    wanted = log_p.shape[2] - 1 + torch.zeros(log_p.shape[:2], dtype=torch.int64, device=log_p.device)  # ∅
    sample, label = (found >= 0).nonzero(as_tuple=True)
    wanted[sample, found[sample, label]] = label
    weights = torch.where(wanted < log_p.shape[2] - 1, 1.0, empty_weight).to(log_p)
    return -(weights * log_p.gather(2, wanted[:, :, None])[:, :, 0]).sum() / weights.sum()


def transport_loss(
    means: Tensor, labels: Tensor, n_predictions: Tensor, n_labels: Tensor, embeddings: Tensor
) -> Tensor:
    """Eq. 14: what it costs to carry the predictions to the labels, the mean over the batch.

    means : Σ p·E of every prediction, (B, N, d).  labels : (B, n), of which the first `n_labels` (B,) count.
    embeddings : E (V, d). Neither it nor the plan has a gradient, as in the authors' code.
    """
    C = cosine_distances(means, embeddings.detach()[labels])
    return (C * ipot(C.detach(), n_predictions, n_labels)).sum() / len(C)
