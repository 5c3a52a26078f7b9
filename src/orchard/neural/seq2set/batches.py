"""Batches of texts and their labels, texts of like length together, so that little is padded."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from orchard.neural.seq2set.ragged import Ragged
from orchard.neural.seq2set.words import PADDING

POOL = 50  # batches: within so many, texts are sorted by length


@dataclass(frozen=True)
class Batch:
    """Texts and, in training, their labels.

    words : (T, B), PADDING beyond a text's end.  lengths : (B,), at least 1.
    labels : (B, n), `n_classes` − 1 (∅) beyond the last label of a text.  n_labels : (B,).
    """

    words: Tensor
    lengths: Tensor
    labels: Tensor | None = None
    n_labels: Tensor | None = None

    @property
    def size(self) -> int:
        return self.words.shape[1]


def label_sequences(Y: sp.csr_matrix, rank: np.ndarray | None = None) -> Ragged:
    """The labels of every row of Y (n, L) in the order of its columns, or by `rank` (L,), the lowest first."""
    Y = Y.sorted_indices()
    starts, labels = Y.indptr.astype(np.int64), Y.indices.astype(np.int64)
    if rank is not None:
        row = np.repeat(np.arange(Y.shape[0]), np.diff(starts))
        labels = labels[np.lexsort((rank[labels], row))]
    return Ragged(labels, starts)


def shuffled_rows(lengths: np.ndarray, batch_size: int, order: torch.Generator) -> list[np.ndarray]:
    """The rows of every batch of an epoch, in random order, texts of like length together."""
    permutation = torch.randperm(len(lengths), generator=order).numpy()
    batches = []
    for start in range(0, len(permutation), POOL * batch_size):
        pool = permutation[start : start + POOL * batch_size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[first : first + batch_size] for first in range(0, len(pool), batch_size)]
    return [batches[number] for number in torch.randperm(len(batches), generator=order).tolist()]


def training_batch(documents: Ragged, sequences: Ragged, rows: np.ndarray, empty: int, device: torch.device) -> Batch:
    labels, n_labels = sequences.padded(rows, empty)
    texts = text_batch(documents, rows, device)
    return Batch(texts.words, texts.lengths, *(torch.from_numpy(one).to(device) for one in (labels, n_labels)))


def text_batch(documents: Ragged, rows: np.ndarray, device: torch.device) -> Batch:
    words, lengths = documents.padded(rows, PADDING)
    return Batch(torch.from_numpy(np.ascontiguousarray(words.T)).to(device), torch.from_numpy(lengths).to(device))


def batches_by_length(documents: Ragged, batch_size: int, device: torch.device) -> Iterator[tuple[np.ndarray, Batch]]:
    """All texts, the shortest first: their rows, and the batch."""
    by_length = np.argsort(documents.lengths, kind="stable")
    for start in range(0, len(by_length), batch_size):
        rows = by_length[start : start + batch_size]
        yield rows, text_batch(documents, rows, device)
