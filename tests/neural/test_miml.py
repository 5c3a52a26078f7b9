"""Deep-MIML and its co-attention against Eq. 7 and Figure 2, group by group; objectives against plain sums."""

import numpy as np
import pytest
import scipy.sparse as sp

torch = pytest.importorskip("torch")

from orchard.neural.bags import Bags  # noqa: E402
from orchard.neural.miml import CoAttention, DeepMIML, LabelPrior, instance_mask  # noqa: E402
from orchard.neural.objectives import GROUP_LOSSES, mean_probability_loss  # noqa: E402

N_FEATURES, N_LABELS, CONCEPTS = 6, 4, 3


def some_bags(sizes, seed=0):
    """Groups of these sizes, instances in random order, some labels each, with counts."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    Y1 = sp.csr_matrix(
        (np.ones(groups.size, np.float32), groups, np.arange(groups.size + 1)), (groups.size, len(sizes))
    )
    counts = rng.integers(0, 4, (len(sizes), N_LABELS))
    counts[np.arange(len(sizes)), rng.integers(0, N_LABELS, len(sizes))] += 1
    X = torch.from_numpy(rng.normal(size=(groups.size, N_FEATURES)).astype(np.float32))
    return X, groups, Bags.of(Y1, sp.csr_matrix(counts.astype(np.float32)), torch.device("cpu"))


def a_network(seed=0, **options):
    torch.manual_seed(seed)
    return DeepMIML(N_FEATURES, N_LABELS, hidden=5, concepts=CONCEPTS, **options)


def plain_V2(network, x):
    """Eq. 7 for one instance, in numpy: two layers, then the largest of the concepts of every label."""
    W1, b1, W2, b2 = (
        weights.detach().numpy()
        for weights in (
            network.hidden.weight,
            network.hidden.bias,
            network.concept_layer.weight,
            network.concept_layer.bias,
        )
    )
    V1 = W2 @ np.maximum(W1 @ x + b1, 0) + b2
    V1 = np.maximum(V1, 0) if network.output_relu else V1
    return np.array([max(V1[concept * N_LABELS + label] for concept in range(CONCEPTS)) for label in range(N_LABELS)])


SIZES = [(3, 3, 3), (1, 4, 2), (5,), (1, 1), (2, 7, 1, 3)]


@pytest.mark.parametrize("output_relu", [True, False])
@pytest.mark.parametrize("sizes", SIZES)
def test_deep_miml_is_equation_7(sizes, output_relu):
    X, groups, bags = some_bags(sizes)
    network = a_network(output_relu=output_relu)
    batch = bags.batch(torch.arange(len(sizes)))
    found = network.of_groups(X[batch.members], batch).detach().numpy()
    for group in range(len(sizes)):
        V2 = np.array([plain_V2(network, x) for x in X.numpy()[groups == group]])
        np.testing.assert_allclose(found[group], V2.max(axis=0), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("sizes", SIZES)
def test_co_attention_is_figure_2(sizes):
    """M = g · softmax(τ X Lᵀ) over the instances of a group, times V₂, then the maximum."""
    X, groups, bags = some_bags(sizes)
    L, tau = torch.randn(N_LABELS, N_FEATURES, generator=torch.Generator().manual_seed(1)), 0.7
    network = a_network()
    batch = bags.batch(torch.arange(len(sizes)))
    found = CoAttention(network, L, tau).of_groups(X[batch.members], batch).detach().numpy()
    for group in range(len(sizes)):
        x = X.numpy()[groups == group]
        weights = np.exp(tau * x @ L.numpy().T)
        M = len(x) * weights / weights.sum(axis=0)
        V2 = np.array([plain_V2(network, one) for one in x])
        np.testing.assert_allclose(found[group], (M * V2).max(axis=0), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("sizes", SIZES)
def test_without_attention_it_is_deep_miml(sizes):
    """τ = 0 (eagle §6), for groups of any sizes."""
    X, _, bags = some_bags(sizes)
    network, L = a_network(), torch.randn(N_LABELS, N_FEATURES)
    batch = bags.batch(torch.arange(len(sizes)))
    masked = CoAttention(network, L, tau=0.0).of_groups(X[batch.members], batch)
    torch.testing.assert_close(masked, network.of_groups(X[batch.members], batch))


def test_a_mask_by_hand():
    """Affinities ln 1 and ln 3 share a mask of 2 as 0.5 and 1.5; a group of one has the mask 1."""
    affinity = torch.tensor([[[0.0], [np.log(3)]], [[5.0], [-np.inf]]], dtype=torch.float32)
    mask = instance_mask(affinity, torch.tensor([2, 1]))
    torch.testing.assert_close(mask[..., 0], torch.tensor([[0.5, 1.5], [1.0, 0.0]]))


def test_the_mask_of_a_single_instance_says_nothing():
    X, _, bags = some_bags((1, 1, 1))
    network = CoAttention(a_network(), torch.randn(N_LABELS, N_FEATURES), tau=3.0)
    batch = bags.batch(torch.arange(3))
    torch.testing.assert_close(network.of_groups(X[batch.members], batch), network(X[batch.members]))


def test_everything_is_trained_end_to_end():
    """Gradients reach both layers, the instances, and τ and L where they are to be learned."""
    X, _, bags = some_bags((3, 2, 4))
    batch = bags.batch(torch.arange(3))
    rows = X[batch.members].requires_grad_()
    network = CoAttention(a_network(), torch.randn(N_LABELS, N_FEATURES), 0.5, learn_tau=True, learn_embeddings=True)
    GROUP_LOSSES["shares"](network.of_groups(rows, batch), batch.counts).backward()
    for name, weights in [*network.named_parameters(), ("X", rows)]:
        assert weights.grad is not None, name
        assert weights.grad.abs().sum() > 0, name
    frozen = CoAttention(a_network(), torch.randn(N_LABELS, N_FEATURES), 0.5)
    assert {name for name, weights in frozen.named_parameters() if not weights.requires_grad} == {"tau", "embeddings"}


def test_a_label_prior_is_added_to_single_instances():
    X, _, _ = some_bags((2, 2))
    network, L = a_network(), torch.randn(N_LABELS, N_FEATURES)
    torch.testing.assert_close(LabelPrior(network, L, 0.5)(X), network(X) + 0.5 * X @ L.T)


def test_batches_hold_all_groups_once():
    _, groups, bags = some_bags((3, 1, 4, 2, 5))
    seen = []
    for batch in map(bags.batch, bags.shuffled(2, torch.Generator().manual_seed(0))):
        for number, members in enumerate(batch.members.split(batch.sizes.tolist())):
            members = members.numpy()
            (group,) = np.unique(groups[members])
            assert sorted(members) == np.flatnonzero(groups == group).tolist()
            torch.testing.assert_close(batch.counts[number], bags.counts[group])
            seen.append(group)
    assert sorted(seen) == [0, 1, 2, 3, 4]


def test_groups_that_teach_nothing_are_left_out():
    Y1 = sp.csr_matrix([[1, 0, 0], [0, 0, 1]], dtype=np.float32)  # group 1 has no instance
    Y2 = sp.csr_matrix([[0, 0], [0, 1], [2, 0]], dtype=np.float32)  # group 0 has no label
    bags = Bags.of(Y1, Y2, torch.device("cpu"))
    assert len(bags) == 1
    assert bags.members.tolist() == [1]
    assert bags.counts.tolist() == [[2, 0]]


def test_losses_by_hand():
    """logits (0, ln 3), the first label there twice, the second not at all."""
    logits, counts = torch.tensor([[0.0, np.log(3)]], dtype=torch.float32), torch.tensor([[2.0, 0.0]])
    assert GROUP_LOSSES["sets"](logits, counts).item() == pytest.approx((np.log(2) + np.log(4)) / 2)
    assert GROUP_LOSSES["squares"](logits, counts).item() == pytest.approx((1 + np.log(3) ** 2) / 2)
    assert GROUP_LOSSES["shares"](logits, counts).item() == pytest.approx(np.log(4))
    half = torch.tensor([[1.0, 3.0]])
    assert GROUP_LOSSES["shares"](logits, half).item() == pytest.approx(np.log(4) - 0.75 * np.log(3))


def test_mean_probability_by_hand():
    """Two instances with p = (1/4, 3/4) and (1/2, 1/2): the mean is (3/8, 5/8); a place without an instance is none."""
    logits = torch.tensor([[[0.0, np.log(3)], [1.0, 1.0], [9.0, -9.0]]], dtype=torch.float32)
    present = torch.tensor([[True, True, False]])
    expected = -0.75 * np.log(3 / 8) - 0.25 * np.log(5 / 8)
    assert mean_probability_loss(logits, torch.tensor([[3.0, 1.0]]), present).item() == pytest.approx(expected)


def test_proportions_are_best_met_by_the_mean_that_has_them():
    """The loss is smallest where the mean probability is the proportion: its gradient is 0 there."""
    logits = torch.zeros(1, 4, 2, requires_grad=True)
    mean_probability_loss(logits, torch.tensor([[2.0, 2.0]]), torch.ones(1, 4, dtype=torch.bool)).backward()
    torch.testing.assert_close(logits.grad, torch.zeros(1, 4, 2))
