"""OTSeq2Set and its baselines, the way scikit-learn has estimators; they take texts instead of features."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from orchard.data.store import sha256_of_csr
from orchard.data.word_vectors import WordVectors
from orchard.linear.inputs import check_parameter, checked_incidence
from orchard.metrics import micro_precision_recall_f1
from orchard.neural.devices import pick_device, repeatable, rounded_products, seeded
from orchard.neural.seq2set import objectives
from orchard.neural.seq2set.batches import Batch, batches_by_length, label_sequences, shuffled_rows, training_batch
from orchard.neural.seq2set.matching import SCHEMES
from orchard.neural.seq2set.network import INITIAL, Network, Sizes
from orchard.neural.seq2set.ragged import Ragged
from orchard.neural.seq2set.words import N_SPECIAL, PADDING, TOKENIZERS, Vocabulary
from orchard.neural.training import Checkpoint, Schedule, train
from orchard.parameters import Parameters
from orchard.provenance import source_hash

VOCABULARIES = ("training", "all")


@dataclass(eq=False, repr=False)
class LabelWriter(Parameters):
    """What all of them share: a network that reads a text and writes labels; the defaults are the paper's (§3.4).

    hidden, layers, dropout : of encoder and decoder.
    bottleneck : b of Eq. 10, or None.
    light_convolutions : attend to them too (LC, Eq. 7);  stride : of the last one;  conv_heads : kernels per layer, 0
        for one per channel, see `orchard.neural.seq2set.encoder.LightConvolutions`.
    tokens : how texts are cut, 'white space' or 'plain words';  max_tokens : words of a text that are read;
    max_words : of the vocabulary.
    embedding_size, label_embedding_size : where there are no word vectors, or no names of labels.
    label_names : whether labels start as the mean of the vectors of the words in their names, if there are names.
    transport : λ of Eq. 17; 0 is without the optimal transport distance (OT).
    vocabulary : whose words and labels are known, those of the 'training' texts, or of 'all' that `also_seen` shows
        too, as in the authors' code.
    batch_size, learning_rate, epochs : of Adam; the rate is annealed along a cosine.  clip : of the gradient's length.
    held_out : the share of the training texts that are not trained on but validate.
    random_state : an integer; the same one gives the same network, bit for bit on a processor.
    device : 'cpu', 'cuda' …; None takes a GPU where there is one.
    mixed_precision : products in TF32 on a GPU, light convolutions and keys in bfloat16; None does so on a GPU that
        has bfloat16.

    Attributes after `fit`: network_, course_ (loss and seconds of every epoch), n_labels_, max_labels_ (N),
    words_found_ (per cent of the vocabulary that the word vectors have), validation_f1_ (micro, per cent), device_.
    """

    hidden: int = 512
    layers: int = 2
    dropout: float = 0.2
    bottleneck: int | None = None
    light_convolutions: bool = False
    stride: int = 3
    conv_heads: int = 1
    tokens: str = "white space"
    max_tokens: int = 1000
    max_words: int = 50_000
    embedding_size: int = 300
    label_embedding_size: int = 300
    label_names: bool = True
    transport: float = 0.0
    vocabulary: str = "training"
    batch_size: int = 32
    learning_rate: float = 1e-3
    epochs: int = 20
    clip: float = 8.0
    held_out: float = 0.1
    random_state: int = 0
    device: str | None = None
    mixed_precision: bool | None = None

    takes_texts: ClassVar[bool] = True
    objectives: ClassVar = objectives  # `per_sample` in its place gives the same, slowly
    ENDS: ClassVar[bool] = True  # the first ∅ ends a text's labels
    REPEATS: ClassVar[bool] = True  # a label may be written twice; in the set it is there once
    BY_FREQUENCY: ClassVar[bool] = False  # labels are written the most frequent first, not in the order of columns
    GLOBAL_EMBEDDING: ClassVar[bool] = False

    def fit(
        self,
        texts: Sequence[str],
        Y,
        label_names: Sequence[str] | None = None,
        word_vectors: WordVectors | None = None,
        also_seen: tuple[Sequence[str], sp.csr_matrix] | None = None,
        checkpoint=None,
        keep_checkpoint: bool = False,
    ):
        """Train on texts and Y (n, L).

        label_names : of the columns of Y, for the embeddings of labels.  word_vectors : of words, and of these names.
        also_seen : test texts and their labels, for vocabulary='all': words, labels and the largest number of labels
            are counted in them too; nothing is trained on them.
        checkpoint : a file in which the training waits if it is killed; it is removed at the end, unless
            keep_checkpoint: then a training that is over is gone on from at its end.
        """
        device = pick_device(self.device)
        with repeatable():
            network, batch_of, documents = self.begin(texts, Y, label_names, word_vectors, also_seen)
            Y = checked_incidence(Y, "Y")
            trained, validating = self._split(Y)
            resume = Checkpoint(checkpoint, self._recipe(texts, Y, network)) if checkpoint else None
            lengths = documents.lengths[trained]
            with rounded_products(device, self._mixed):
                self.course_ = train(
                    network,
                    lambda network, rows: self.loss(network, batch_of(trained[rows])),
                    lambda order: shuffled_rows(lengths, self.batch_size, order),
                    Schedule(self.learning_rate, self.epochs, annealed=True, clip=self.clip),
                    self.random_state,
                    checkpoint=resume,
                )
            network.forget_room()
            self.network_ = network.eval()
            self.validation_f1_ = None
            if len(validating):
                predicted, _ = self._sets(documents.some(validating))
                self.validation_f1_ = 100 * micro_precision_recall_f1(predicted, Y[validating]).f1
            if resume and not keep_checkpoint:
                resume.remove()
        return self

    def begin(
        self, texts: Sequence[str], Y, label_names=None, word_vectors=None, also_seen=None
    ) -> tuple[Network, Callable[[np.ndarray], Batch], Ragged]:
        """What `fit` trains, with its first weights; the batch of some rows of the texts; and all texts as numbers."""
        self._check_parameters()
        device = pick_device(self.device)
        texts, Y, known = self._checked(texts, Y, label_names, also_seen)
        self.device_, self.n_labels_ = str(device), Y.shape[1]
        rank = self._learn_vocabularies(texts, Y, known)
        documents = self.vocabulary_.documents(texts, self.max_tokens)
        sequences = label_sequences(Y[:, self.known_labels_], rank if self.BY_FREQUENCY else None)
        network = self._network(label_names, word_vectors).to(device)
        return network, lambda rows: training_batch(documents, sequences, rows, network.empty, device), documents

    def predict(self, texts: Sequence[str]) -> sp.csr_matrix:
        """The set of labels that is written for every text, CSR (n, L) of ones."""
        return self.predict_sets(texts)[0]

    def predict_sets(self, texts: Sequence[str]) -> tuple[sp.csr_matrix, np.ndarray]:
        """The sets, and how many of the labels written for every text were repetitions, (n,)."""
        if not hasattr(self, "network_"):
            raise ValueError(f"this {type(self).__name__} is not trained yet: call fit first")
        with repeatable():
            return self._sets(self.vocabulary_.documents(_checked_texts(texts), self.max_tokens))

    @property
    def n_parameters_(self) -> int:
        return sum(weights.numel() for weights in self.network_.parameters())

    @property
    def model_bytes_(self) -> int:
        return sum(weights.numel() * weights.element_size() for weights in self.network_.state_dict().values())

    def loss(self, network: Network, batch: Batch) -> Tensor:
        """Teacher forcing: the mean cross-entropy of the labels in their order and of the end."""
        features = network.teacher_forced(batch, self._mixed)
        log_p, means = self._ask(network, features, batch, None)
        loss = self.objectives.sequence_loss(log_p, batch.n_labels)
        return loss + self._transport(network, means, batch, batch.n_labels) if self.transport else loss

    def _ask(self, network: Network, features: Tensor, batch: Batch, logits: Tensor | None) -> tuple[Tensor, Tensor]:
        """log p (B, N, n + 1) of every sample's labels and ∅, and Σ p·E (B, N, d), for features (N, B, z)."""
        n_steps, size = features.shape[:2]
        ended = torch.full_like(batch.labels[:, :1], network.empty)
        asked = torch.cat([batch.labels, ended], dim=1).expand(n_steps, -1, -1)
        E = network.label_embeddings.detach() if self.transport else None
        flat = logits if logits is None else logits.flatten(0, 1)
        found = network.output.ask(features.flatten(0, 1), asked.flatten(0, 1), E, flat)
        log_p, means = (one.unflatten(0, (n_steps, size)).transpose(0, 1) for one in found)
        return log_p, means

    def _transport(self, network: Network, means: Tensor, batch: Batch, n_predictions: Tensor) -> Tensor:
        E = network.label_embeddings
        lengths = n_predictions, batch.n_labels
        return self.transport * self.objectives.transport_loss(means, batch.labels, *lengths, E)

    @property
    def _mixed(self) -> bool:
        if self.mixed_precision is not None:
            return self.mixed_precision
        return self.device_.startswith("cuda") and torch.cuda.is_bf16_supported(including_emulation=False)

    def _learn_vocabularies(self, texts: list[str], Y: sp.csr_matrix, known: tuple) -> np.ndarray:
        """Words, labels and the largest number of labels (N), from the texts and what else is `known`.

        Returns the rank of every known label, the most frequent first.
        """
        more_texts, more_Y = known
        self.vocabulary_ = Vocabulary([*texts, *more_texts], self.tokens, self.max_words)
        together = sp.vstack([Y, more_Y]).tocsr()
        frequencies = np.asarray((together > 0).sum(axis=0)).ravel()
        # 'all' is all columns: labels that occur nowhere cannot be told from those that a smaller part leaves out.
        all_columns = np.ones(Y.shape[1], bool) if self.vocabulary == "all" else frequencies > 0
        self.known_labels_ = np.flatnonzero(all_columns)
        self.max_labels_ = int(np.diff(together.indptr).max())
        return np.argsort(np.argsort(-frequencies[self.known_labels_], kind="stable"))

    def _split(self, Y: sp.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
        """The rows that are trained on, those with labels, and those that validate."""
        n = Y.shape[0]
        permutation = np.random.default_rng(self.random_state).permutation(n)
        n_held_out = round(self.held_out * n)
        trained = np.sort(permutation[n_held_out:])
        trained = trained[np.diff(Y.indptr)[trained] > 0]
        if not len(trained):
            raise ValueError("no training text has a label: there is nothing to learn from")
        return trained, np.sort(permutation[:n_held_out])

    def _network(self, label_names: Sequence[str] | None, word_vectors: WordVectors | None) -> Network:
        """With its first weights: embeddings from word vectors where there are any."""
        random = np.random.default_rng([self.random_state, 1])
        words, self.words_found_ = self._word_embeddings(word_vectors, random)
        labels = self._label_embeddings(label_names, word_vectors, random)
        embeddings = torch.from_numpy(words), torch.from_numpy(labels)
        return seeded(lambda: Network(*embeddings, self.sizes), self.random_state)

    @property
    def sizes(self) -> Sizes:
        return Sizes(
            self.hidden,
            self.layers,
            self.bottleneck,
            self.stride if self.light_convolutions else None,
            self.conv_heads or 2 * self.hidden,
            self.dropout,
            self.GLOBAL_EMBEDDING,
        )

    def _word_embeddings(self, vectors: WordVectors | None, random: np.random.Generator) -> tuple[np.ndarray, float]:
        """Of the vocabulary, float32 (D, d), and the per cent of it that have vectors; PADDING is zero."""
        if vectors is None:
            own, found = _uniform(random, (len(self.vocabulary_.words), self.embedding_size)), 0
        else:
            own, found = vectors.matrix_for(self.vocabulary_.words, random)
        special = _uniform(random, (N_SPECIAL, own.shape[1]))
        special[PADDING] = 0
        return np.concatenate([special, own]), 100 * found / max(1, len(own))

    def _label_embeddings(self, names, vectors: WordVectors | None, random: np.random.Generator) -> np.ndarray:
        """Of the known labels, ∅, which is zero, and the start, float32 (L + 2, d)."""
        if vectors is None or names is None or not self.label_names:
            own = _uniform(random, (len(self.known_labels_), self.label_embedding_size))
        else:
            own, _ = vectors.label_matrix([names[label] for label in self.known_labels_], random)
        empty, start = np.zeros((1, own.shape[1]), np.float32), _uniform(random, (1, own.shape[1]))
        return np.concatenate([own, empty, start])

    def _sets(self, documents: Ragged) -> tuple[sp.csr_matrix, np.ndarray]:
        network, device = self.network_, torch.device(self.device_)
        written = np.full((len(documents), self.max_labels_), network.empty)
        for rows, batch in batches_by_length(documents, 2 * self.batch_size, device):
            found = network.generate(batch, self.max_labels_, self.ENDS, self.REPEATS, self._mixed)
            written[rows] = found.cpu().numpy()
        row, step = np.nonzero(written != network.empty)
        labels = self.known_labels_[written[row, step]]
        counts = sp.csr_matrix((np.ones(len(row), np.float32), (row, labels)), shape=(len(documents), self.n_labels_))
        repeated = np.bincount(row, minlength=len(documents)) - np.diff(counts.indptr)
        counts.data[:] = 1
        return counts, repeated

    def _checked(self, texts, Y, label_names, also_seen) -> tuple[list[str], sp.csr_matrix, tuple]:
        texts, Y = _checked_texts(texts), checked_incidence(Y, "Y")
        if len(texts) != Y.shape[0]:
            raise ValueError(f"there are {len(texts)} texts and {Y.shape[0]} rows of Y")
        if not texts:
            raise ValueError("there are no texts, and so nothing to learn from")
        if label_names is not None and len(label_names) != Y.shape[1]:
            raise ValueError(f"there are {len(label_names)} label names and {Y.shape[1]} columns of Y")
        if self.vocabulary == "training":
            return texts, Y, ([], sp.csr_matrix((0, Y.shape[1]), dtype=Y.dtype))
        if also_seen is None:
            raise ValueError("vocabulary='all' needs the test texts and their labels (also_seen)")
        more_texts, more_Y = _checked_texts(also_seen[0]), checked_incidence(also_seen[1], "Y of also_seen")
        if more_Y.shape != (len(more_texts), Y.shape[1]):
            raise ValueError(f"also_seen: {len(more_texts)} texts, Y {more_Y.shape}; Y of fit {Y.shape}")
        return texts, Y, (more_texts, more_Y)

    def _check_parameters(self) -> None:
        """Refuse what makes no sense, naming the parameter, before any work starts."""
        for one in fields(self):
            check_parameter(one.name, getattr(self, one.name), one.type)
        for name in (
            *("hidden", "layers", "bottleneck", "stride", "max_tokens", "max_words"),
            *("embedding_size", "label_embedding_size", "batch_size", "epochs"),
        ):
            if (value := getattr(self, name)) is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, not {value!r}")
        if self.conv_heads < 0 or (self.conv_heads and 2 * self.hidden % self.conv_heads):
            raise ValueError(f"conv_heads must divide 2·hidden = {2 * self.hidden}, or be 0, not {self.conv_heads!r}")
        if self.random_state < 0:
            raise ValueError(f"random_state must be at least 0, not {self.random_state!r}")
        for name in ("learning_rate", "clip"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be a positive number, not {getattr(self, name)!r}")
        for name in ("dropout", "held_out"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, not {getattr(self, name)!r}")
        if not 0 <= self.transport < np.inf:
            raise ValueError(f"transport must not be negative, not {self.transport!r}")
        for name, allowed in {"tokens": TOKENIZERS, "vocabulary": VOCABULARIES}.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {getattr(self, name)!r}")

    def _recipe(self, texts: Sequence[str], Y: sp.csr_matrix, network: Network) -> str:
        """All that a training depends on, the code among it: one that was killed is not gone on with by other code."""
        about = [type(self).__name__, repr(self.get_params()), self.device_, torch.__version__, source_hash(__file__)]
        about += [str(self.max_labels_), *self.vocabulary_.words]  # which texts that are also seen may change
        digest = hashlib.sha256("\n".join([*about, *texts, sha256_of_csr(Y)]).encode())
        for weights in network.state_dict().values():  # its first ones: word vectors and names are in them
            digest.update(np.ascontiguousarray(weights.cpu().numpy()))
        return digest.hexdigest()


@dataclass(eq=False, repr=False)
class Seq2Seq(LabelWriter):
    """Seq2Seq with attention (Bahdanau et al., 2015), labels in the order of the columns; see `LabelWriter`."""


@dataclass(eq=False, repr=False)
class MLC2Seq(LabelWriter):
    """MLC2Seq (Nam et al., 2017): Seq2Seq, the most frequent label first; see `LabelWriter`."""

    BY_FREQUENCY: ClassVar[bool] = True


@dataclass(eq=False, repr=False)
class SGM(LabelWriter):
    """SGM (Yang et al., 2018): MLC2Seq with a global embedding, and no label written twice; see `LabelWriter`."""

    BY_FREQUENCY: ClassVar[bool] = True
    REPEATS: ClassVar[bool] = False
    GLOBAL_EMBEDDING: ClassVar[bool] = True


@dataclass(eq=False, repr=False)
class OTSeq2Set(LabelWriter):
    """OTSeq2Set: predictions follow each other, and are matched with the labels; see `LabelWriter`.

    scheme : which predictions the labels are matched with, 'all' or 'first-n' (Figure 1); 'in order' does not match.
    empty_weight : λ_∅ of Eq. 13.
    transport : λ of Eq. 17; 0 leaves the bipartite matching alone (BM).
    """

    scheme: str = "all"
    empty_weight: float = 0.2
    transport: float = 8.0
    light_convolutions: bool = True

    ENDS: ClassVar[bool] = False

    def loss(self, network: Network, batch: Batch) -> Tensor:
        """Student forcing, Eq. 17."""
        features, logits = network.student_forced(batch, self.max_labels_, self._mixed)
        log_p, means = self._ask(network, features, batch, logits)
        loss = self.objectives.matching_loss(log_p, batch.n_labels, self.scheme, self.empty_weight)
        all_of_them = torch.full_like(batch.n_labels, self.max_labels_)
        return loss + self._transport(network, means, batch, all_of_them) if self.transport else loss

    def _check_parameters(self):
        super()._check_parameters()
        if self.scheme not in SCHEMES:
            raise ValueError(f"scheme must be one of {', '.join(SCHEMES)}, not {self.scheme!r}")
        if not 0 <= self.empty_weight <= 1:
            raise ValueError(f"empty_weight must lie between 0 and 1, not {self.empty_weight!r}")


def _uniform(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return random.uniform(-INITIAL, INITIAL, shape).astype(np.float32)


def _checked_texts(texts) -> list[str]:
    if isinstance(texts, str):
        raise ValueError("texts must be a list of strings, not one string")
    if sp.issparse(texts):
        raise ValueError("texts must be a list of strings, not a matrix: these networks read words, not features")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"texts must be a list of strings; texts[{place}] is of type {type(text).__name__}")
    return list(texts)
