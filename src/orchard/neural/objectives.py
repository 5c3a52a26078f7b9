"""What a network is trained to: losses of the logits of groups, and of the label proportions of groups.

The paper names no loss. Labels of groups are lists with repetitions (B.3), which can be read in several ways
(`GROUP_LOSSES`); they differ little in small groups and in everything in large ones.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F


def sets(logits: Tensor, counts: Tensor) -> Tensor:
    """Binary cross-entropy: has the group the label or not. logits, counts : (B, L)."""
    return F.binary_cross_entropy_with_logits(logits, (counts > 0).float())


def squares(logits: Tensor, counts: Tensor) -> Tensor:
    """Squared error against 1 for a label that the group has, and 0 otherwise."""
    return F.mse_loss(logits, (counts > 0).float())


def shares(logits: Tensor, counts: Tensor) -> Tensor:
    """Cross-entropy of the softmax over labels with the labels' shares of the list: repetitions count."""
    return F.cross_entropy(logits, proportions(counts))


GROUP_LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"sets": sets, "squares": squares, "shares": shares}


def proportions(counts: Tensor) -> Tensor:
    """The share of every label in a group's labels, (B, L); all of them alike where only the set is known."""
    return counts / counts.sum(dim=1, keepdim=True)


def mean_probability_loss(logits: Tensor, counts: Tensor, present: Tensor) -> Tensor:
    """Learning from label proportions: the mean over a group of its instances' softmax, fitted to the proportions.

    −Σ_k π_k ln (1/g Σᵢ pᵢₖ).  logits : V₂, (B, g, L).  present : (B, g).
    """
    g = present.sum(dim=1)[:, None]
    log_p = torch.log_softmax(logits, dim=2).masked_fill(~present[..., None], -torch.inf)
    log_mean = torch.logsumexp(log_p, dim=1) - torch.log(g)
    return -(proportions(counts) * log_mean).sum(dim=1).mean()
