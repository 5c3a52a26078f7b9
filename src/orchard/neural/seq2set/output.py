"""The distribution over labels (Eq. 9, 10), and what losses ask of it."""

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

ROWS_AT_ONCE = 64


class Output(nn.Module):
    """p = softmax(W f), or with a bottleneck softmax(W_out tanh(W_in f)).

    n_features : z.  n_classes : V, the labels and ∅.  bottleneck : b, or None.
    """

    def __init__(self, n_features: int, n_classes: int, bottleneck: int | None):
        super().__init__()
        self.bottleneck = None if bottleneck is None else nn.Linear(n_features, bottleneck)
        self.last = nn.Linear(n_features if bottleneck is None else bottleneck, n_classes)

    def narrow(self, features: Tensor) -> Tensor:
        """What the last layer sees of features (…, z)."""
        return features if self.bottleneck is None else torch.tanh(self.bottleneck(features))

    def forward(self, features: Tensor) -> Tensor:
        """Logits (…, V)."""
        return self.last(self.narrow(features))

    def write(self, features: Tensor, logits: Tensor) -> Tensor:
        """`forward` for features (B, z), written into `logits` (B, V), without a gradient."""
        return torch.addmm(self.last.bias, self.narrow(features), self.last.weight.t(), out=logits)

    def ask(
        self, features: Tensor, asked: Tensor, embeddings: Tensor | None = None, logits: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """log p of some classes, (M, k), and Σ p·E (M, d), the mean of embeddings under p (Eq. 15).

        features : (M, z).  asked : classes (M, k).  embeddings : E (V, d), no gradient goes there; None for no mean.
        logits : of these very features, where they are known already; they are overwritten.
        """
        return _Asked.apply(self.narrow(features), self.last.weight, self.last.bias, asked, embeddings, logits)


class _Asked(torch.autograd.Function):
    """One pass over the classes forwards and one backwards; autograd would make several, and keep them all.

    Passes go row by row through what fits into a processor's cache; matrices of all rows are never made anew.
    """

    @staticmethod
    def forward(ctx, narrow, W, b, asked, E, logits):
        p = torch.addmm(b, narrow, W.t()) if logits is None else logits
        log_p = torch.empty(asked.shape, dtype=p.dtype, device=p.device)
        for rows, of_rows, asked_rows in zip(*(_pieces(one) for one in (p, log_p, asked)), strict=True):
            rows -= rows.amax(1, keepdim=True)
            torch.gather(rows, 1, asked_rows, out=of_rows)
            total = rows.exp_().sum(1, keepdim=True)
            of_rows -= total.log()
            rows /= total
        means = narrow.new_empty((len(p), 0)) if E is None else p @ E
        ctx.save_for_backward(narrow, W, asked, means)
        ctx.p, ctx.E = p, E
        return log_p, means

    @staticmethod
    @once_differentiable
    def backward(ctx, of_log_p, of_means):
        narrow, W, asked, means = ctx.saved_tensors
        of_logits, ctx.p = ctx.p, None  # what was p becomes its gradient
        common = -of_log_p.sum(1, keepdim=True)
        if ctx.E is None:
            of_logits *= common
        else:
            common -= (of_means * means).sum(1, keepdim=True)
            factors = torch.cat([of_means, common], dim=1)
            E = torch.cat([ctx.E, torch.ones_like(ctx.E[:, :1])], dim=1).t()
            for rows, factor in zip(_pieces(of_logits), _pieces(factors), strict=True):
                rows *= factor @ E
        row = torch.arange(len(asked), device=asked.device)[:, None].expand_as(asked)
        of_logits.index_put_((row, asked), of_log_p, accumulate=True)
        return of_logits @ W, of_logits.t() @ narrow, of_logits.sum(0), None, None, None


def _pieces(matrix: Tensor) -> tuple[Tensor, ...]:
    return matrix.split(ROWS_AT_ONCE)
