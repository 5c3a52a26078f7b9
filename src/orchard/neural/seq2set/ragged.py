"""Rows of unequal length, one after the other: the words of texts, and their labels. No PyTorch."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Ragged:
    """Row i is `values[starts[i] : starts[i + 1]]`."""

    values: np.ndarray  # integers
    starts: np.ndarray  # int64 (n + 1,)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.starts)

    def some(self, rows: np.ndarray) -> "Ragged":
        lengths = self.lengths[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        moved = np.repeat(self.starts[rows] - starts[:-1], lengths)
        return Ragged(self.values[moved + np.arange(starts[-1])], starts)

    def padded(self, rows: np.ndarray, fill: int) -> tuple[np.ndarray, np.ndarray]:
        """Some rows, int64 (n, longest, at least 1), filled up with `fill`, and their lengths."""
        lengths = self.lengths[rows]
        places = np.arange(lengths.max(initial=1))
        inside = places < lengths[:, None]
        padded = np.full(inside.shape, fill, np.int64)
        padded[inside] = self.values[(self.starts[rows][:, None] + places)[inside]]
        return padded, lengths
