"""Networks that learn from the labels of groups, the way scikit-learn has estimators.

Unlike the other estimators of Orchard they take the groups themselves, Y¹ and Y², not labels of samples.
"""

import hashlib
from dataclasses import dataclass, fields

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from orchard.data.store import sha256_of_csr
from orchard.eagle import checked_groups
from orchard.linear.inputs import check_parameter, checked_incidence, checked_X
from orchard.metrics import precision_at_k
from orchard.neural import miml
from orchard.neural.bags import Bags, Batch
from orchard.neural.devices import pick_device, repeatable, seeded
from orchard.neural.features import CentredFeatures, embeddings_of_centred
from orchard.neural.objectives import GROUP_LOSSES, mean_probability_loss
from orchard.neural.training import Checkpoint, Schedule, train
from orchard.parameters import Parameters
from orchard.provenance import source_hash

ROWS_AT_ONCE = 4096


@dataclass(eq=False, repr=False)
class GroupNetwork(Parameters):
    """What all of them share: a network, see `orchard.neural.miml.DeepMIML`, that is trained on groups of instances.

    hidden, concepts, output_relu : of the network.
    batch_size : in groups.  learning_rate : Adam's.
    epochs, patience : see `orchard.neural.training.Schedule`.
    random_state : an integer; the same one gives the same network, bit for bit on a processor.
    device : 'cpu', 'cuda' …; None takes a GPU where there is one.

    Features are centred (the mean training row is subtracted, B.3) and divided by the largest value of the training
    samples, so that pixels lie within 0 and 1 before that.

    Attributes after `fit`: network_, course_ (validation accuracy and seconds of every epoch), epoch_ (the one that was
    kept, from 1), device_, n_labels_, n_features_in_.
    """

    hidden: int = 128
    concepts: int = 10
    output_relu: bool = True
    batch_size: int = 64
    learning_rate: float = 1e-3
    epochs: int = 20
    patience: int | None = None
    random_state: int = 0
    device: str | None = None

    def fit(self, X, Y1, Y2, X_valid=None, Y_valid=None, checkpoint=None):
        """Train on groups: X (n, d), Y1 (n, m), Y2 (m, L) with counts, as `orchard.eagle.impute_labels` takes them.

        X_valid, Y_valid : single samples and their labels, (n', d) and (n', L); the accuracy on them is told after
            every epoch and decides when to stop, if there is patience.
        checkpoint : a file in which the training waits if it is killed; it is removed at the end.
        """
        self._check_parameters()
        X, Y1, Y2 = checked_groups(X, Y1, Y2)
        validation = _checked_validation(X_valid, Y_valid, X.shape[1], Y2.shape[1])
        schedule = Schedule(self.learning_rate, self.epochs, self.patience)
        device = pick_device(self.device)
        with repeatable():
            bags = Bags.of(Y1, Y2, device)
            if not len(bags):
                raise ValueError("no group has both samples and labels: there is nothing to learn from")
            self.features_ = CentredFeatures.of(X)
            dense = torch.from_numpy(self.features_(X))
            self.n_labels_, self.n_features_in_, self.device_ = Y2.shape[1], X.shape[1], str(device)
            network = self._network(dense, Y1, Y2).to(device)
            resume = Checkpoint(checkpoint, self._recipe(X, Y1, Y2, *validation)) if checkpoint else None
            dense = dense.to(device)
            self.course_ = train(
                network,
                lambda network, groups: self._loss_of(network, dense, bags.batch(groups)),
                lambda order: bags.shuffled(self.batch_size, order),
                schedule,
                self.random_state,
                self._accuracy_on(*validation, device) if validation else None,
                resume,
            )
            self.network_ = network.eval()
            self.epoch_ = self.course_.epochs if self.patience is None else self.course_.best_epoch
            if resume:
                resume.remove()
        return self

    def predict_topk(self, X, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """The best labels of single samples and their logits, (n, k) each, best first; −1 beyond the last label."""
        if not hasattr(self, "network_"):
            raise ValueError(f"this {type(self).__name__} is not trained yet: call fit first")
        with repeatable():
            dense = self.features_(checked_X(X, self.n_features_in_))
            return _topk(_logits(self.network_, torch.from_numpy(dense)), k)

    @property
    def model_bytes_(self) -> int:
        return sum(weights.numel() * weights.element_size() for weights in self.network_.state_dict().values())

    def _network(self, X: Tensor, Y1: sp.csr_matrix, Y2: sp.csr_matrix) -> nn.Module:
        """Made for centred features X (n, d), with its first weights."""
        sizes = X.shape[1], Y2.shape[1], self.hidden, self.concepts
        return seeded(lambda: miml.DeepMIML(*sizes, self.output_relu), self.random_state)

    def _loss_of(self, network: nn.Module, X: Tensor, batch: Batch) -> Tensor:
        return self._loss(network, X[batch.members], batch)

    def _loss(self, network: nn.Module, X: Tensor, batch: Batch) -> Tensor:
        """Of the instances X (n, d) of a batch."""
        raise TypeError(f"{type(self).__name__} does not say what it is trained to")

    def _check_parameters(self) -> None:
        """Refuse what makes no sense, naming the parameter, before any work starts."""
        for one in fields(self):
            check_parameter(one.name, getattr(self, one.name), one.type)
        for name in ("hidden", "concepts", "batch_size", "epochs", "patience"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, not {value!r}")
        if self.random_state < 0:
            raise ValueError(f"random_state must be at least 0, not {self.random_state!r}")
        if not 0 < self.learning_rate < np.inf:
            raise ValueError(f"learning_rate must be a positive number, not {self.learning_rate!r}")

    def _accuracy_on(self, X: sp.csr_matrix, Y: sp.csr_matrix, device: torch.device):
        dense = torch.from_numpy(self.features_(X)).to(device)
        return lambda network: 100 * precision_at_k(_topk(_logits(network, dense), 1)[0], Y, 1)

    def _recipe(self, *matrices: sp.csr_matrix) -> str:
        """All that a training depends on, the code among it: one that was killed is not gone on with by other code."""
        about = [type(self).__name__, repr(self.get_params()), self.device_, torch.__version__, source_hash(__file__)]
        return hashlib.sha256("\n".join([*about, *map(sha256_of_csr, matrices)]).encode()).hexdigest()


@dataclass(eq=False, repr=False)
class DeepMIML(GroupNetwork):
    """Deep-MIML (eagle §6, Eq. 7): two layers, the maximum over concepts, the maximum over the instances of a group.

    loss : of a group's logits: 'sets', 'squares' or 'shares', see `orchard.neural.objectives`.
    All else: see `GroupNetwork`.
    """

    loss: str = "sets"

    def _loss(self, network, X, batch):
        return GROUP_LOSSES[self.loss](network.of_groups(X, batch), batch.counts)

    def _check_parameters(self):
        super()._check_parameters()
        if self.loss not in GROUP_LOSSES:
            raise ValueError(f"loss must be one of {', '.join(GROUP_LOSSES)}, not {self.loss!r}")


@dataclass(eq=False, repr=False)
class _WithEmbeddings(GroupNetwork):
    """A network beside label embeddings that GRLR (Algorithm 1) learns from the groups."""

    tau: float = 0.1
    iterations: int = 20
    step: float = 0.1

    def _embeddings(self, X: Tensor, Y1: sp.csr_matrix, Y2: sp.csr_matrix) -> Tensor:
        """L (L, d)."""
        return torch.from_numpy(embeddings_of_centred(X.numpy(), Y1, Y2, self.iterations, self.step, n_jobs=1))

    def _check_parameters(self):
        super()._check_parameters()
        if not 0 <= self.tau < np.inf:
            raise ValueError(f"tau must not be negative, not {self.tau!r}")
        if self.iterations < 0:
            raise ValueError(f"iterations must not be negative, not {self.iterations!r}")


@dataclass(eq=False, repr=False)
class CoAttentionMIML(_WithEmbeddings, DeepMIML):
    """EAGLE for MIML (eagle §6, Figure 2): Deep-MIML, masked by the affinity of instances and label embeddings.

    tau : how hard the mask assigns; 0 is Deep-MIML.  learn_tau, learn_embeddings : train them along, from there.
    iterations, step : T and λ of Algorithm 1, by which the label embeddings are learned; EAGLE-0 is iterations=0.
    """

    learn_tau: bool = False
    learn_embeddings: bool = False

    def _network(self, X, Y1, Y2):
        network, L = super()._network(X, Y1, Y2), self._embeddings(X, Y1, Y2)
        return miml.CoAttention(network, L, self.tau, self.learn_tau, self.learn_embeddings)


@dataclass(eq=False, repr=False)
class LabelProportions(_WithEmbeddings):
    """Beyond the paper: the labels' shares in a group teach how many of its instances have each label.

    The mean over a group of its instances' softmax is fitted to the shares.
    tau, iterations, step : of the label embeddings, which are added to the logits (`orchard.neural.miml.LabelPrior`),
        and of Algorithm 1, which learns them; tau = 0 is without.
    """

    output_relu: bool = False
    tau: float = 0.0

    def _network(self, X, Y1, Y2):
        network = super()._network(X, Y1, Y2)
        return miml.LabelPrior(network, self._embeddings(X, Y1, Y2), self.tau) if self.tau else network

    def _loss(self, network, X, batch):
        return mean_probability_loss(batch.padded(network(X), 0.0), batch.counts, batch.present)


def _checked_validation(X, Y, n_features: int, n_labels: int) -> tuple[sp.csr_matrix, ...]:
    """(X, Y) of validation samples, or () without any."""
    if (X is None) != (Y is None):
        raise ValueError("X_valid and Y_valid go together")
    if X is None:
        return ()
    X, Y = checked_X(X, n_features), checked_incidence(Y, "Y_valid")
    if Y.shape != (X.shape[0], n_labels):
        raise ValueError(f"Y_valid is {Y.shape}, samples × labels are {(X.shape[0], n_labels)}")
    return X, Y


@torch.no_grad()
def _logits(network: nn.Module, X: Tensor) -> np.ndarray:
    """V₂ of single samples, (n, L)."""
    device = next(network.parameters()).device
    return torch.cat([network(rows.to(device)).cpu() for rows in X.split(ROWS_AT_ONCE)]).numpy()


def _topk(logits: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Ties go to the lower label."""
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    shape = len(logits), k
    ids, scores = np.full(shape, -1), np.full(shape, -np.inf, np.float32)
    best = np.argsort(-logits, axis=1, kind="stable")[:, :k]
    ids[:, : best.shape[1]] = best
    scores[:, : best.shape[1]] = np.take_along_axis(logits, best, axis=1)
    return ids, scores
