"""Groups of instances as flat tensors, and batches of them: no loop over groups, whatever their sizes."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """Some groups, their instances one after the other.

    members : int64 (n,), the rows of X, group by group.  sizes : int64 (B,), of the groups; widest : the largest.
    counts : float32 (B, L), how often a group has a label.
    """

    members: Tensor
    sizes: Tensor
    widest: int
    counts: Tensor

    def padded(self, values: Tensor, fill: float) -> Tensor:
        """(n, L) values of instances as (B, g, L), g the size of the largest group; `fill` where a group is smaller."""
        shape = (self.sizes.numel(), self.widest, *values.shape[1:])
        if self.members.numel() == shape[0] * shape[1]:
            return values.reshape(shape)
        return values.new_full(shape, fill).index_put((self.present,), values)

    @property
    def present(self) -> Tensor:
        """bool (B, g): where `padded` has an instance."""
        return torch.arange(self.widest, device=self.sizes.device) < self.sizes[:, None]


@dataclass(frozen=True)
class Bags:
    """All groups: the instances of group j are members[offsets[j] : offsets[j + 1]]; no group is larger than widest."""

    members: Tensor
    offsets: Tensor
    counts: Tensor
    are_alike: bool  # all of the same size
    widest: int

    @classmethod
    def of(cls, Y1: sp.csr_matrix, Y2: sp.csr_matrix, device: torch.device) -> "Bags":
        """From Y¹ (n, m) and Y² (m, L), without the groups that have no instance or no label and so teach nothing."""
        samples = sp.csc_matrix(Y1)
        samples.sort_indices()
        kept = np.flatnonzero((np.diff(samples.indptr) > 0) & (np.diff(Y2.indptr) > 0))
        samples = samples[:, kept]
        sizes = np.diff(samples.indptr)
        return cls(
            torch.from_numpy(samples.indices.astype(np.int64)).to(device),
            torch.from_numpy(samples.indptr.astype(np.int64)).to(device),
            torch.from_numpy(Y2[kept].toarray().astype(np.float32)).to(device),
            np.unique(sizes).size == 1,
            int(sizes.max(initial=0)),
        )

    def __len__(self) -> int:
        return self.offsets.numel() - 1

    def batch(self, groups: Tensor) -> Batch:
        """The groups of these numbers, int64 (B,)."""
        starts, sizes = self.offsets[groups], self.offsets[groups + 1] - self.offsets[groups]
        widest = self.widest if self.are_alike else int(sizes.max())
        places = torch.arange(widest, device=groups.device)
        rows = starts[:, None] + places  # (B, g)
        rows = rows.flatten() if self.are_alike else rows[places < sizes[:, None]]
        return Batch(self.members[rows], sizes, widest, self.counts[groups])

    def shuffled(self, batch_size: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        """The numbers of all groups once, in random order, `batch_size` at a time."""
        return torch.randperm(len(self), generator=generator).to(self.offsets.device).split(batch_size)
