"""Reading: a bidirectional GRU over the words (Eq. 2, 3), and light convolutions over its states (Eq. 7)."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from orchard.neural.seq2set.batches import Batch
from orchard.neural.seq2set.words import PADDING

KERNELS = (3, 7, 15, 30)
LONGEST_BAND = 512  # states; beyond, a matrix that is mostly zeros does not pay
REACH = sum(kernel - 1 for kernel in KERNELS) + 1  # 52 states go into the first state of the last convolution


class Encoder(nn.Module):
    """States of every word from both directions, and the decoder's first state.

    Every direction reads its texts from the first place on, so that what a text is padded with never comes before a
    word of it. This gives what packed sequences give, at half their time on a processor.
    """

    def __init__(self, embeddings: Tensor, hidden: int, layers: int, dropout: float):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(embeddings, freeze=False, padding_idx=PADDING)
        sizes = [embeddings.shape[1]] + [2 * hidden] * (layers - 1)
        self.forwards = nn.ModuleList(nn.GRU(size, hidden) for size in sizes)
        self.backwards = nn.ModuleList(nn.GRU(size, hidden) for size in sizes)
        self.dropout = nn.Dropout(dropout)
        self.bridge = nn.Linear(2 * hidden, hidden)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The states h (B, T, 2·hidden), zero beyond the end of a text, and s₀ (B, hidden)."""
        reverse = _reverse(batch.lengths, batch.words.shape[0])  # (T, B)
        states = self.embedding(batch.words)
        for ahead, back in zip(self.forwards, self.backwards, strict=True):
            states = self.dropout(states)
            one, _ = ahead(states)
            other, _ = back(_reordered(states, reverse))
            states = torch.cat([one, _reordered(other, reverse)], dim=2)  # (T, B, 2·hidden)
        last = (batch.lengths - 1)[None, :, None].expand(1, -1, one.shape[2])
        ends = torch.cat([one.gather(0, last), other.gather(0, last)], dim=2)[0]
        inside = torch.arange(len(reverse), device=reverse.device)[:, None] < batch.lengths
        return (states * inside[:, :, None]).transpose(0, 1), torch.tanh(self.bridge(ends))


def _reverse(lengths: Tensor, longest: int) -> Tensor:
    """Which place every place of a text read backwards shows, (T, B); beyond its end, itself."""
    places = torch.arange(longest, device=lengths.device)[:, None]
    return torch.where(places < lengths, lengths - 1 - places, places)


def _reordered(states: Tensor, places: Tensor) -> Tensor:
    """The states (T, B, d) of these places (T, B); doing it twice changes nothing."""
    return _Reordered.apply(states, places)


class _Reordered(torch.autograd.Function):
    """Its own inverse, so that its gradient is read and not added up, which takes a GPU an age to do repeatably."""

    @staticmethod
    def forward(ctx, states, places):
        ctx.save_for_backward(places)
        return states.gather(0, places[:, :, None].expand_as(states))

    @staticmethod
    def backward(ctx, grad):
        (places,) = ctx.saved_tensors
        return grad.gather(0, places[:, :, None].expand_as(grad)), None


class LightConvolutions(nn.Module):
    """Four convolutions over time with a ReLU each; weights are a softmax over the kernel and shared by channels.

    heads : how many kernels a layer has; channels c, c + heads, … share one. One kernel is what the paper's words say;
        its parameter counts (Table 7) are those of a kernel for every channel (D64).
    """

    def __init__(self, channels: int, stride: int, heads: int = 1):
        super().__init__()
        self.stride = stride
        self.weights = nn.ParameterList(nn.Parameter(torch.zeros(heads, kernel)) for kernel in KERNELS)

    def forward(self, states: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """States (B, k, channels) of "labels", and how many of each text are its own, (B,).

        A text of fewer than 52 words has one state, which sees zeros beyond its end.
        """
        signal = states.transpose(1, 2)  # (B, channels, T)
        signal = functional.pad(signal, (0, max(0, REACH - signal.shape[2])))
        for layer, weights in enumerate(self.weights):
            stride = self.stride if layer == len(self.weights) - 1 else 1
            signal = _light_convolution(signal, functional.softmax(weights, dim=1), stride).relu()
        return signal.transpose(1, 2), (lengths - REACH).clamp(min=0) // self.stride + 1


def _light_convolution(signal: Tensor, weights: Tensor, stride: int) -> Tensor:
    """signal (B, channels, T), weights (heads, kernel) → (B, channels, T′): every channel on its own."""
    batch, channels, length = signal.shape
    heads = len(weights)
    if heads == 1 and length <= LONGEST_BAND:
        return signal @ _band(weights[0], length, stride)
    folded = signal.reshape(batch * channels // heads, heads, length)
    return functional.conv1d(folded, weights[:, None], stride=stride, groups=heads).reshape(batch, channels, -1)


def _band(weights: Tensor, length: int, stride: int) -> Tensor:
    """The convolution as a matrix (T, T′): for texts of some hundred words ten times as fast on a processor."""
    kernel = len(weights)
    columns = torch.arange((length - kernel) // stride + 1, device=weights.device)
    rows = columns * stride + torch.arange(kernel, device=weights.device)[:, None]  # (kernel, T′)
    band = weights.new_zeros((length, len(columns)))
    return band.index_put((rows, columns.expand_as(rows)), weights[:, None].expand(rows.shape))
