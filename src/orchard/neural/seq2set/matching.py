"""Which prediction stands for which label (Eq. 11, 12), for all samples of a batch at once."""

import numpy as np
import torch
from torch import Tensor

from orchard.neural.seq2set._matching_kernels import assign_batch

SCHEMES = ("all", "first-n", "in order")  # the last is no matching: the i-th prediction stands for the i-th label


def match(p: Tensor, n_labels: Tensor, scheme: str) -> Tensor:
    """The prediction that stands for every label, (B, n), −1 beyond a sample's last label; the others stand for ∅.

    p : (B, N, n), the probability that prediction i gives to label j of its sample.  n_labels : (B,), at most N.
    scheme : labels are matched with all N predictions, or with the first n of them (Figure 1). Their matching cost is
        −p (Eq. 12), the sum of which is the least that any matching has.
    """
    if scheme not in SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(SCHEMES)}, not {scheme!r}")
    counts = n_labels.cpu().numpy()
    n_predictions, most = p.shape[1:]
    if counts.max(initial=0) > n_predictions:
        raise ValueError(f"a sample has {counts.max()} labels, and there are {n_predictions} predictions to match with")
    if scheme == "in order":
        places = np.arange(most)
        found = np.where(places < counts[:, None], places, -1)
    else:
        costs = -p.detach().transpose(1, 2).double().cpu().numpy()  # labels are the rows, of which there are fewer
        if not np.isfinite(costs).all():
            raise ValueError("a probability is not a number: the training has diverged; try a lower learning_rate")
        columns = np.full_like(counts, n_predictions) if scheme == "all" else counts
        found = np.empty(costs.shape[:2], np.int64)
        assign_batch(np.ascontiguousarray(costs), counts, columns, found)
    return torch.from_numpy(found).to(p.device)
