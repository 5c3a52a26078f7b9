"""The whole network: encoder, decoder and output; trained along given labels or along its own, and let loose."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from orchard.neural.seq2set.batches import Batch
from orchard.neural.seq2set.decoder import Decoder, Memory
from orchard.neural.seq2set.encoder import Encoder, LightConvolutions
from orchard.neural.seq2set.output import Output

INITIAL = 0.1  # weights start uniform within ± this, biases too, as in the authors' code
SHARPNESS = 10.0  # of the distribution that SGM averages labels under, 1/τ in the authors' code


@dataclass(frozen=True)
class Sizes:
    """Of a network, beside its vocabularies. stride : of the last light convolution; None is without them."""

    hidden: int = 512
    layers: int = 2
    bottleneck: int | None = None
    stride: int | None = None
    heads: int = 1
    dropout: float = 0.2
    global_embedding: bool = False


class Network(nn.Module):
    """words : embeddings of the vocabulary (D, d).  labels : of the labels, ∅ and the start, (L + 2, d′)."""

    def __init__(self, words: Tensor, labels: Tensor, sizes: Sizes):
        super().__init__()
        self.empty, self.start = len(labels) - 2, len(labels) - 1
        self.encoder = Encoder(words, sizes.hidden, sizes.layers, sizes.dropout)
        channels = 2 * sizes.hidden
        self.convolutions = None if sizes.stride is None else LightConvolutions(channels, sizes.stride, sizes.heads)
        n_memories = 1 if sizes.stride is None else 2
        self.decoder = Decoder(labels, sizes.hidden, n_memories, sizes.dropout)
        self.output = Output(self.decoder.n_features, self.n_classes, sizes.bottleneck)
        self.mixture = GlobalEmbedding(labels.shape[1]) if sizes.global_embedding else None
        self._memory: Tensor | None = None
        embeddings = {self.encoder.embedding.weight, self.decoder.embedding.weight}
        with torch.no_grad():
            for weights in self.parameters():
                if weights not in embeddings:
                    weights.uniform_(-INITIAL, INITIAL)

    @property
    def n_classes(self) -> int:
        """The labels and ∅, which comes last."""
        return self.empty + 1

    @property
    def label_embeddings(self) -> Tensor:
        """E (V, d) of all classes."""
        return self.decoder.embedding.weight[: self.n_classes]

    def read(self, batch: Batch, mixed: bool = False) -> tuple[list[Memory], Tensor]:
        """What the decoder attends to, and its first state.

        mixed : convolutions and keys in bfloat16. The GRUs stay as they are: cuDNN's would go to float16, in which
            their gradients vanish.
        """
        device, dtype = batch.words.device.type, self.decoder.v.dtype
        states, state = self.encoder(batch)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=mixed):
            memories = [self.decoder.memory(states, batch.lengths)]
            if self.convolutions is not None:
                memories.append(self.decoder.memory(*self.convolutions(states, batch.lengths)))
        kept = [Memory(one.states.to(dtype), one.keys.to(dtype), one.outside) for one in memories]
        return kept, state

    def student_forced(self, batch: Batch, n_steps: int, mixed: bool = False) -> tuple[Tensor, Tensor]:
        """Features and logits of all steps, (n_steps, B, ·), every step after the label that the one before chose.

        No gradient passes through a choice, so the logits have none: `Output.ask` takes them with the features. They
        stay as they are until the next call, which writes into the same memory.
        """
        memories, state = self.read(batch, mixed)
        logits = self._room(n_steps * batch.size).unflatten(0, (n_steps, batch.size))

        def choose(step: int, features: Tensor) -> Tensor:
            return self.output.write(features, logits[step]).argmax(1)

        return self.decoder(memories, state, self._starts(batch), n_steps, choose), logits

    def teacher_forced(self, batch: Batch, mixed: bool = False) -> Tensor:
        """Features of all steps, (n + 1, B, z), every step after the label that is right before it."""
        given = torch.cat([self._starts(batch), batch.labels], dim=1)
        memories, state = self.read(batch, mixed)
        if self.mixture is None:
            return self.decoder(memories, state, given, given.shape[1])
        features, logits = [], None
        for step in range(given.shape[1]):
            one, state = self.decoder.step(memories, state, self._embedded(given[:, step], logits))
            features.append(one)
            logits = self.output(one)
        return torch.stack(features)

    @torch.no_grad()
    def generate(self, batch: Batch, n_steps: int, ends: bool, repeats: bool, mixed: bool = False) -> Tensor:
        """The most probable class at each step, (B, n_steps), `empty` for ∅.

        ends : a text is finished by its first ∅, and only ∅ follows.  repeats : a label may be written twice.
        """
        memories, state = self.read(batch, mixed)
        last, logits = self._starts(batch)[:, 0], None
        written = torch.full((batch.size, n_steps), self.empty, device=last.device)
        used = None if repeats else torch.zeros((batch.size, self.n_classes), dtype=torch.bool, device=last.device)
        for step in range(n_steps):
            features, state = self.decoder.step(memories, state, self._embedded(last, logits))
            logits = self.output(features)
            if not repeats:
                logits = logits.masked_fill(used, -torch.inf)  # for SGM's mean in the next step, too
            last = logits.argmax(1)
            if ends and step:
                last = torch.where(written[:, step - 1] == self.empty, self.empty, last)
            written[:, step] = last
            if ends and (last == self.empty).all():
                break
            if not repeats:
                used.scatter_(1, last[:, None], True)
                used[:, self.empty] = False
        return written

    def forget_room(self) -> None:
        """Give the memory of `student_forced` back."""
        self._memory = None

    def _room(self, n_rows: int) -> Tensor:
        """A matrix (n_rows, V), the same memory every time: fresh memory of this size costs as much as the product."""
        if self._memory is None or len(self._memory) < n_rows or self._memory.device != self.decoder.v.device:
            self._memory = self.decoder.v.new_empty((n_rows, self.n_classes))
        return self._memory[:n_rows].detach()

    def _starts(self, batch: Batch) -> Tensor:
        return torch.full((batch.size, 1), self.start, device=batch.words.device)

    def _embedded(self, labels: Tensor, logits: Tensor | None) -> Tensor:
        """e_t of the labels that were written last, (B,), with SGM's mixture if there is one.

        logits : (B, V), from which the labels were chosen; None before the first step, when all are alike.
        """
        one = nn.functional.dropout(self.decoder.embedding(labels), self.decoder.dropout, self.training)
        if self.mixture is None:
            return one
        E = self.label_embeddings
        mean = E.mean(0).expand_as(one) if logits is None else torch.softmax(SHARPNESS * logits, dim=1) @ E
        return self.mixture(one, mean)


class GlobalEmbedding(nn.Module):
    """SGM's: a gate H between the embedding of the last label and the mean over all (Yang et al., 2018)."""

    def __init__(self, size: int):
        super().__init__()
        self.of_label, self.of_mean = nn.Linear(size, size), nn.Linear(size, size)

    def forward(self, label: Tensor, mean: Tensor) -> Tensor:
        gate = torch.sigmoid(self.of_label(label) + self.of_mean(mean))
        return gate * label + (1 - gate) * mean
