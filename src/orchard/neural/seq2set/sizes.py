"""How many parameters a network has, counted without making it (otseq2set, Table 7)."""

import torch

from orchard.neural.seq2set.network import Network
from orchard.neural.seq2set.words import N_SPECIAL


def count_parameters(estimator, n_labels: int, dimensions: int) -> int:
    """Of the network that an estimator would train with a full vocabulary, L labels and word vectors of this size."""
    label_size = dimensions if estimator.label_names else estimator.label_embedding_size
    with torch.device("meta"):
        words = torch.empty((estimator.max_words + N_SPECIAL, dimensions))
        labels = torch.empty((n_labels + 2, label_size))
        network = Network(words, labels, estimator.sizes)
    return sum(weights.numel() for weights in network.parameters())
