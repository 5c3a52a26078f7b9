"""Multi-instance multi-label networks: Deep-MIML, and the co-attention of labels and instances (eagle §6).

    X → V₁ → V₂ → Ŷ    by two layers, max over concepts, max over instances (Eq. 7)

EAGLE multiplies V₂ by a mask M = g · softmax(τ X Lᵀ), the softmax over the instances of a group, before the last
maximum (Figure 2): the label embeddings L say which instance a label of the group is about.
"""

import torch
from torch import Tensor, nn

from orchard.neural.bags import Batch


class DeepMIML(nn.Module):
    """Two layers and the maximum over concepts (Eq. 7, and Feng and Zhou 2017).

    output_relu : whether the second layer ends in a ReLU, as Eq. 7 has it.
    """

    def __init__(self, n_features: int, n_labels: int, hidden: int, concepts: int, output_relu: bool = True):
        super().__init__()
        self.n_labels, self.concepts, self.output_relu = n_labels, concepts, output_relu
        self.hidden = nn.Linear(n_features, hidden)
        self.concept_layer = nn.Linear(hidden, concepts * n_labels)

    def forward(self, X: Tensor) -> Tensor:
        """V₂, the multi-instance logit: (n, d) → (n, L)."""
        V1 = self.concept_layer(torch.relu(self.hidden(X))).view(-1, self.concepts, self.n_labels)  # (n, k, L)
        if self.output_relu:
            V1 = torch.relu(V1)
        return V1.max(dim=1).values

    def of_groups(self, X: Tensor, batch: Batch) -> Tensor:
        """Ŷ, the logit of a group: (n, d) instances of a batch → (B, L)."""
        return max_over_instances(batch.padded(self(X), 0.0), batch.present)


class CoAttention(nn.Module):
    """Deep-MIML whose multi-instance logit is masked by the affinity of instances and labels (Figure 2).

    embeddings : L, float32 (L, d).  tau : τ; with 0 the network is Deep-MIML.
    learn_tau, learn_embeddings : whether they are trained along; without, they stay as they are.
    A single instance has the mask 1: what is asked about one, `forward`, is V₂ itself.
    """

    def __init__(
        self,
        network: nn.Module,
        embeddings: Tensor,
        tau: float,
        learn_tau: bool = False,
        learn_embeddings: bool = False,
    ):
        super().__init__()
        self.network = network
        self.embeddings = nn.Parameter(embeddings.clone(), requires_grad=learn_embeddings)
        self.tau = nn.Parameter(torch.tensor(float(tau)), requires_grad=learn_tau)

    def forward(self, X: Tensor) -> Tensor:
        return self.network(X)

    def of_groups(self, X: Tensor, batch: Batch) -> Tensor:
        affinity = self.tau * (X @ self.embeddings.T)
        V2, M = batch.padded(self(X), 0.0), instance_mask(batch.padded(affinity, -torch.inf), batch.sizes)
        return max_over_instances(V2 * M, batch.present)


class LabelPrior(nn.Module):
    """Beyond the paper: V₂ + τ X Lᵀ in the place of V₂, for instances of groups and for single ones alike.

    The mask of `CoAttention` is 1 for a single instance, so that the label embeddings do not take part in predictions;
    here they do, and the network learns what they lack.
    """

    def __init__(self, network: nn.Module, embeddings: Tensor, tau: float):
        super().__init__()
        self.network = network
        self.register_buffer("scaled_embeddings", tau * embeddings)

    def forward(self, X: Tensor) -> Tensor:
        return self.network(X) + X @ self.scaled_embeddings.T


def instance_mask(affinity: Tensor, sizes: Tensor) -> Tensor:
    """M = g · softmax(τ X Lᵀ) over the instances of every group (eagle §6).

    affinity : τ X Lᵀ, (B, g, L), −∞ where there is no instance.  sizes : (B,), the g of every group.
    """
    return sizes[:, None, None] * torch.softmax(affinity, dim=1)


def max_over_instances(values: Tensor, present: Tensor) -> Tensor:
    """(B, g, L) → (B, L), over the instances that there are."""
    return values.masked_fill(~present[..., None], -torch.inf).max(dim=1).values
