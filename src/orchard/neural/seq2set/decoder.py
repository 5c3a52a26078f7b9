"""Writing: a GRU that attends to the text while it writes label after label (Eq. 4 to 6 and 8).

`Decoder.forward` is the recurrence of a whole sequence as one function with a gradient of its own: what autograd would
do step by step, such as adding up the gradient of all states of the text, is done once for all steps. `Decoder.step` is
one step of the same, for who needs gradients through what was written before (SGM).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


class Memory(NamedTuple):
    """What is attended to: states (B, T, C), their keys U·h (B, T, hidden), and what is no state, bool (B, T)."""

    states: Tensor
    keys: Tensor
    outside: Tensor


Choose = Callable[[int, Tensor], Tensor]  # of a step and its features (B, z): the labels that follow, (B,)


class Decoder(nn.Module):
    """s_t = GRU(s_{t−1}, [e_t; c_t; ĉ_t]), where c_t and ĉ_t share the parameters of their attention.

    embeddings : (V, d), of the labels, ∅ and the start.  n_memories : 2 with light convolutions, else 1.
    Features of a step are [s_t; c_t; ĉ_t; e_t], (B, z).
    """

    def __init__(self, embeddings: Tensor, hidden: int, n_memories: int, dropout: float):
        super().__init__()
        size = embeddings.shape[1]
        self.embedding = nn.Embedding.from_pretrained(embeddings, freeze=False)
        self.keys = nn.Linear(2 * hidden, hidden, bias=False)  # U_a
        self.query = nn.Linear(hidden, hidden, bias=False)  # W_a
        self.v = nn.Parameter(torch.zeros(hidden))
        self.cell = nn.GRUCell(size + n_memories * 2 * hidden, hidden)
        self.dropout = dropout
        self.n_features = hidden + n_memories * 2 * hidden + size

    def memory(self, states: Tensor, lengths: Tensor) -> Memory:
        """states (B, T, 2·hidden), of which the first `lengths` (B,) count."""
        places = torch.arange(states.shape[1], device=states.device)
        return Memory(states.contiguous(), self.keys(states), places >= lengths[:, None])

    def forward(
        self, memories: list[Memory], state: Tensor, given: Tensor, n_steps: int, choose: Choose | None = None
    ) -> Tensor:
        """Features of all steps, (n_steps, B, z).

        given : the labels before the steps, (B, n_steps), of which only the first is looked at if `choose` chooses.
        """
        flat = [tensor for memory in memories for tensor in memory]
        weights = (self.embedding.weight, self.query.weight, self.v, *self.cell.parameters())
        return _Recurrence.apply(given, n_steps, choose, self._kept(len(given), n_steps), state, *weights, *flat)

    def step(self, memories: list[Memory], state: Tensor, embedded: Tensor) -> tuple[Tensor, Tensor]:
        """One step from s_{t−1} (B, hidden) and e_t (B, d): its features (B, z) and s_t."""
        query, contexts = self.query(state)[:, None], []
        for memory in memories:
            scores = torch.tanh(query + memory.keys) @ self.v
            attention = torch.softmax(scores.masked_fill(memory.outside, -torch.inf), dim=1)
            contexts.append(torch.bmm(attention[:, None], memory.states)[:, 0])
        state = self.cell(torch.cat([embedded, *contexts], dim=1), state)
        return torch.cat([state, *contexts, embedded], dim=1), state

    def _kept(self, batch: int, n_steps: int) -> Tensor | None:
        """What dropout leaves of the embeddings of labels, (n_steps, B, d), as factors; None if all."""
        if not self.training or not self.dropout:
            return None
        kept = torch.empty((n_steps, batch, self.embedding.embedding_dim), device=self.v.device)
        return kept.bernoulli_(1 - self.dropout).div_(1 - self.dropout)


class _Recurrence(torch.autograd.Function):
    """`Decoder.step` for all steps."""

    @staticmethod
    def forward(ctx, given, n_steps, choose, kept, state, E, W, v, W_ih, W_hh, b_ih, b_hh, *flat):
        memories = [Memory(*flat[first : first + 3]) for first in range(0, len(flat), 3)]
        labels, saved, features = [], [], []
        written = given[:, 0]
        for step in range(n_steps):
            labels.append(written)
            embedded = E[written] if kept is None else E[written] * kept[step]
            query = state @ W.t()
            attended = [_attend(memory, query, v) for memory in memories]
            entry = torch.cat([embedded, *(context for context, _, _ in attended)], dim=1)
            gates, new = _gru(entry, state, W_ih, W_hh, b_ih, b_hh)
            saved.append((state, entry, gates, [(attention, tanh) for _, attention, tanh in attended]))
            state = new
            features.append(torch.cat([state, entry[:, embedded.shape[1] :], embedded], dim=1))
            chosen = choose(step, features[-1]) if choose else None
            if step + 1 < n_steps:
                written = given[:, step + 1] if chosen is None else chosen
        ctx.saved, ctx.kept, ctx.labels, ctx.memories = saved, kept, torch.stack(labels), memories
        ctx.weights = E, W, v, W_ih, W_hh
        return torch.stack(features)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        E, W, v, W_ih, W_hh = ctx.weights
        hidden, size = W_hh.shape[1], E.shape[1]
        n_steps, one = len(grad), torch.ones((), dtype=grad.dtype, device=grad.device)
        of_state = torch.zeros_like(ctx.saved[0][0])
        of_contexts = [grad.new_empty((n_steps, *memory.states[:, 0].shape)) for memory in ctx.memories]
        of_keys = [torch.zeros_like(memory.keys) for memory in ctx.memories]
        of_v = torch.zeros_like(v)
        of_query = grad.new_empty((n_steps, *of_state.shape))
        of_embedded = grad.new_empty((n_steps, grad.shape[1], size))
        of_inputs = grad.new_empty((n_steps, grad.shape[1], 3 * hidden))
        of_hidden = torch.empty_like(of_inputs)
        for step in reversed(range(n_steps)):
            state, _, gates, attended = ctx.saved[step]
            of_state = of_state + grad[step, :, :hidden]
            direct = _gru_backward(of_state, gates, state, of_inputs[step], of_hidden[step])
            of_entry = of_inputs[step] @ W_ih
            of_state = torch.addmm(direct, of_hidden[step], W_hh)
            torch.add(of_entry[:, :size], grad[step, :, -size:], out=of_embedded[step])
            of_query[step] = 0
            for number, (memory, (attention, tanh)) in enumerate(zip(ctx.memories, attended, strict=True)):
                width = memory.states.shape[2]
                inner = of_entry[:, size + number * width :][:, :width]
                outer = grad[step, :, hidden + number * width :][:, :width]
                of_context = torch.add(inner, outer, out=of_contexts[number][step])
                of_attention = torch.bmm(memory.states, of_context[:, :, None])[:, :, 0]
                of_scores = attention * (of_attention - (attention * of_attention).sum(1, keepdim=True))
                of_v += torch.mv(tanh.flatten(0, 1).t(), of_scores.flatten())
                # The derivative of tanh, in the place of its value, which nobody needs any more.
                slope = torch.addcmul(one, tanh, tanh, value=-1, out=tanh)
                of_keys[number].addcmul_(slope, of_scores[:, :, None])
                of_query[step] += torch.bmm(of_scores[:, None], slope)[:, 0] * v
            of_state = torch.addmm(of_state, of_query[step], W)
        saved, ctx.saved = ctx.saved, None  # so that all of it is free once this is done, not when the graph is
        attentions = [torch.stack([at[3][number][0] for at in saved], 1) for number in range(len(ctx.memories))]
        of_memories = []
        for attention, of_context, keys in zip(attentions, of_contexts, of_keys, strict=True):
            of_memories += [torch.bmm(attention.transpose(1, 2), of_context.transpose(0, 1)), keys.mul_(v), None]
        states, entries = (torch.stack([at[part] for at in saved]).flatten(0, 1) for part in (0, 1))
        of_inputs, of_hidden, of_query = (one.flatten(0, 1) for one in (of_inputs, of_hidden, of_query))
        if ctx.kept is not None:
            of_embedded *= ctx.kept
        of_E = torch.zeros_like(E).index_add_(0, ctx.labels.flatten(), of_embedded.flatten(0, 1))
        of_cell = of_inputs.t() @ entries, of_hidden.t() @ states, of_inputs.sum(0), of_hidden.sum(0)
        of_weights = of_E, of_query.t() @ states, of_v, *of_cell
        return None, None, None, None, of_state, *of_weights, *of_memories


def _attend(memory: Memory, query: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Eq. 4 to 6: the context (B, C), the attention (B, T) and the tanh in it (B, T, hidden)."""
    tanh = torch.add(memory.keys, query[:, None]).tanh_()
    scores = torch.matmul(tanh, v).masked_fill_(memory.outside, -torch.inf)
    attention = torch.softmax(scores, dim=1)
    return torch.bmm(attention[:, None], memory.states)[:, 0], attention, tanh


def _gru(entry, state, W_ih, W_hh, b_ih, b_hh) -> tuple[tuple[Tensor, ...], Tensor]:
    """A GRU cell as PyTorch defines it: its gates r, z, n and what r lets through of the state, and the new state."""
    hidden = state.shape[1]
    inputs, recurrent = torch.addmm(b_ih, entry, W_ih.t()), torch.addmm(b_hh, state, W_hh.t())
    r, z = torch.sigmoid(inputs[:, : 2 * hidden] + recurrent[:, : 2 * hidden]).chunk(2, dim=1)
    through = recurrent[:, 2 * hidden :]
    n = torch.tanh(inputs[:, 2 * hidden :] + r * through)
    return (r, z, n, through), n + z * (state - n)


def _gru_backward(grad, gates, state, of_inputs, of_recurrent) -> Tensor:
    """Fills the gradients of the sums in the gates, (B, 3·hidden) each; returns what goes to the state directly."""
    r, z, n, through = gates
    of_n = grad * (1 - z) * (1 - n * n)
    of_r = of_n * through * r * (1 - r)
    of_z = grad * (state - n) * z * (1 - z)
    torch.cat([of_r, of_z, of_n], dim=1, out=of_inputs)
    torch.cat([of_r, of_z, of_n * r], dim=1, out=of_recurrent)
    return grad * z
