"""Matching and transport of a batch: against SciPy, POT, and the same one sample after the other."""

from itertools import permutations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from scipy.optimize import linear_sum_assignment  # noqa: E402

from orchard.neural.seq2set import objectives, per_sample  # noqa: E402
from orchard.neural.seq2set.matching import match  # noqa: E402
from orchard.neural.seq2set.transport import cosine_distances, ipot  # noqa: E402

SETS = ("all", "first-n")


@st.composite
def problems(draw):
    """Probabilities (B, N, n) with many ties or none, and how many labels each sample has."""
    size, n_predictions = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    most = draw(st.integers(1, n_predictions))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p = random.random((size, n_predictions, most))
    if draw(st.booleans()):
        p = np.round(3 * p) / 3
    counts = random.integers(0, most + 1, size)
    return torch.from_numpy(p), torch.from_numpy(counts)


@pytest.mark.parametrize("scheme", SETS)
@given(problems())
@settings(max_examples=80, deadline=None)
def test_every_sample_has_the_least_cost_that_scipy_finds(scheme, problem):
    p, counts = problem
    found = match(p, counts, scheme).numpy()
    for one, own, n in zip(p.numpy(), found, counts.tolist(), strict=True):
        allowed = one[:, :n] if scheme == "all" else one[:n, :n]
        assert len(set(own[:n])) == n  # no prediction stands for two labels
        assert ((own[:n] >= 0) & (own[:n] < len(allowed))).all()
        assert (own[n:] == -1).all()
        best = allowed[linear_sum_assignment(allowed, maximize=True)].sum()
        assert one[own[:n], np.arange(n)].sum() == pytest.approx(best, abs=1e-12)


def test_a_matching_by_hand():
    """Prediction 0 likes both labels; together it is better that it takes the second one."""
    p = torch.tensor([[[0.5, 0.4], [0.45, 0.1], [0.2, 0.3]]])
    two = torch.tensor([2])
    assert match(p, two, "all").tolist() == [[1, 0]]  # 0.45 + 0.4 over 0.5 + 0.3
    p[0, 2, 1] = 0.9
    assert match(p, two, "all").tolist() == [[0, 2]]
    assert match(p, two, "first-n").tolist() == [[1, 0]]
    assert match(p, two, "in order").tolist() == [[0, 1]]


def test_an_unknown_scheme_is_refused():
    with pytest.raises(ValueError, match="scheme must be one of all, first-n, in order, not 'some'"):
        match(torch.zeros(1, 1, 1), torch.tensor([1]), "some")


def test_what_cannot_be_matched_is_refused():
    """A kernel would search for ever."""
    with pytest.raises(ValueError, match="the training has diverged"):
        match(torch.tensor([[[torch.nan]]]), torch.tensor([1]), "all")
    with pytest.raises(ValueError, match="a sample has 2 labels, and there are 1 predictions"):
        match(torch.zeros(1, 1, 2), torch.tensor([2]), "all")


def some_costs(seed, size=5, n=7, m=4):
    random = torch.Generator().manual_seed(seed)
    C = 2 * torch.rand((size, n, m), generator=random)
    rows, columns = (torch.randint(1, most + 1, (size,), generator=random) for most in (n, m))
    return C, rows, columns


@pytest.mark.parametrize("seed", range(5))
def test_plans_of_a_batch_are_those_of_its_samples(seed):
    C, rows, columns = some_costs(seed)
    for one, n, m in zip(C, rows.tolist(), columns.tolist(), strict=True):
        one[n:], one[:, m:] = -7.0, 1e4  # whatever stands in a place that does not count
    plans = ipot(C, rows, columns)
    for one, plan, n, m in zip(C, plans, rows.tolist(), columns.tolist(), strict=True):
        expected = per_sample.ipot_one(one[:n, :m].numpy().astype(np.float64))
        np.testing.assert_allclose(plan[:n, :m], expected, atol=1e-5)
        assert not plan[n:].any()
        assert not plan[:, m:].any()


def test_plans_have_their_margins_and_approach_the_exact_optimum():
    """With enough iterations the proximal point method ends at the optimum of the linear programme."""
    ot = pytest.importorskip("ot", reason="POT is not installed (requirements-neural.txt)")
    C, rows, columns = some_costs(0)
    C = C.double()
    plans = ipot(C, rows, columns, beta=0.1, iterations=3000)
    for one, plan, n, m in zip(C.numpy(), plans.numpy(), rows.tolist(), columns.tolist(), strict=True):
        np.testing.assert_allclose(plan.sum(1)[:n], 1 / n, atol=1e-6)
        np.testing.assert_allclose(plan.sum(0)[:m], 1 / m, atol=1e-6)
        exact = ot.emd2(np.full(n, 1 / n), np.full(m, 1 / m), np.ascontiguousarray(one[:n, :m]))
        assert (one * plan).sum() == pytest.approx(exact, abs=1e-4)


def test_fifty_iterations_are_near_the_exact_optimum():
    """What the paper's settings leave: never less than the optimum, and little more."""
    ot = pytest.importorskip("ot", reason="POT is not installed (requirements-neural.txt)")
    C, rows, columns = some_costs(1, size=20)
    costs = (C * ipot(C, rows, columns)).sum((1, 2))
    exact = [
        ot.emd2(np.full(n, 1 / n), np.full(m, 1 / m), np.ascontiguousarray(one[:n, :m].double().numpy()))
        for one, n, m in zip(C, rows.tolist(), columns.tolist(), strict=True)
    ]
    gaps = costs.numpy() - np.array(exact)
    assert gaps.max() < 0.05
    assert np.median(gaps) < 0.01


def test_a_sample_without_labels_has_an_empty_plan():
    plan = ipot(torch.rand(2, 3, 2), torch.tensor([3, 3]), torch.tensor([0, 2]))
    assert not plan[0].any()
    assert plan[1].sum() == pytest.approx(1)


def test_a_plan_by_hand():
    """Two predictions, two labels, each right for one of them: half of the mass goes straight to each."""
    C = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]])
    plan = ipot(C, torch.tensor([2]), torch.tensor([2]))[0]
    torch.testing.assert_close(plan, torch.eye(2) / 2, atol=1e-6, rtol=0)


def test_cosine_distances_are_those_of_eq_16_and_zero_has_no_direction():
    x = torch.tensor([[[3.0, 4.0], [0.0, 0.0]]])
    y = torch.tensor([[[4.0, 3.0], [-3.0, -4.0], [0.0, 0.0]]])
    expected = torch.tensor([[[1 - 24 / 25, 2.0, 1.0], [1.0, 1.0, 1.0]]])
    torch.testing.assert_close(cosine_distances(x, y), expected)


def some_predictions(seed, size=4, n_steps=6, most=3, n_classes=9):
    random = torch.Generator().manual_seed(seed)
    logits = torch.randn((size, n_steps, n_classes), generator=random, dtype=torch.float64)
    counts = torch.randint(0, most + 1, (size,), generator=random)
    labels = torch.stack([torch.randperm(n_classes - 1, generator=random)[:most] for _ in range(size)])
    labels[torch.arange(most) >= counts[:, None]] = n_classes - 1
    E = torch.randn((n_classes, 4), generator=random, dtype=torch.float64)
    return logits.requires_grad_(), labels, counts, E


def set_loss(logits, labels, counts, E, scheme, module=objectives):
    """Eq. 17 with λ = 8 and λ_∅ = 0.2, from logits (B, N, V)."""
    log_p = torch.log_softmax(logits, dim=2)
    empty = torch.full_like(labels[:, :1], logits.shape[2] - 1)
    asked = torch.cat([labels, empty], dim=1)[:, None].expand(-1, logits.shape[1], -1)
    n_predictions = torch.full_like(counts, logits.shape[1])
    matched = module.matching_loss(log_p.gather(2, asked), counts, scheme, 0.2)
    return matched + 8 * module.transport_loss(log_p.exp() @ E, labels, n_predictions, counts, E)


@pytest.mark.parametrize("scheme", [*SETS, "in order"])
@pytest.mark.parametrize("seed", range(4))
def test_the_loss_of_a_batch_is_that_of_its_samples(seed, scheme):
    logits, *rest = some_predictions(seed)
    losses = [set_loss(logits, *rest, scheme, module) for module in (objectives, per_sample)]
    torch.testing.assert_close(*losses, atol=1e-5, rtol=1e-5)
    gradients = [torch.autograd.grad(loss, logits)[0] for loss in losses]
    torch.testing.assert_close(*gradients, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("scheme", SETS)
@given(st.integers(0, 2**31), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_labels_changes_neither_loss_nor_gradient(scheme, seed, random):
    logits, labels, counts, E = some_predictions(seed)
    shuffled = labels.clone()
    for row, n in zip(shuffled, counts.tolist(), strict=True):
        row[:n] = row[random.sample(range(n), n)]
    losses = [set_loss(logits, some, counts, E, scheme) for some in (labels, shuffled)]
    torch.testing.assert_close(*losses, atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(*(torch.autograd.grad(loss, logits)[0] for loss in losses), atol=1e-12, rtol=1e-9)


def test_without_matching_the_order_of_labels_matters():
    """The test above would see it."""
    logits, labels, counts, E = some_predictions(0)
    counts[:], labels[0] = 3, torch.tensor([2, 5, 7])
    labels = torch.stack([torch.tensor([2, 5, 7])] * 4)
    losses = [set_loss(logits, some, counts, E, "in order") for some in (labels, labels.flip(1))]
    assert (losses[0] - losses[1]).abs() > 0.01


@pytest.mark.parametrize("scheme", SETS)
def test_eq_13_by_brute_force(scheme):
    """The loss under the best of all permutations (Eq. 11), tried one by one."""
    logits, labels, counts, _ = some_predictions(3, size=1, n_steps=4)
    counts[:], labels[:] = 3, torch.tensor([1, 4, 6])
    log_p = torch.log_softmax(logits, dim=2)[0]
    among = 4 if scheme == "all" else 3
    best = max(permutations(range(among), 3), key=lambda some: log_p[some, (1, 4, 6)].exp().sum())
    wanted = [8] * 4  # ∅
    for step, label in zip(best, (1, 4, 6), strict=True):
        wanted[step] = label
    weights = torch.tensor([0.2 if label == 8 else 1.0 for label in wanted])
    expected = -(weights * log_p[range(4), wanted]).sum() / weights.sum()
    asked = torch.tensor([1, 4, 6, 8]).expand(1, 4, -1)
    found = objectives.matching_loss(log_p[None].gather(2, asked), counts, scheme, 0.2)
    torch.testing.assert_close(found, expected)


def test_the_sequence_loss_by_hand():
    """Two labels then the end; one label then the end, and nothing after it counts."""
    p = torch.tensor(
        [[[0.5, 0.2, 0.1], [0.1, 0.25, 0.1], [0.1, 0.1, 0.8]], [[0.4, 0.9, 0.1], [0.1, 0.9, 0.2], [9, 9, 9]]]
    )
    loss = objectives.sequence_loss(p.log(), torch.tensor([2, 1]))
    expected = -np.log([0.5, 0.25, 0.8, 0.4, 0.2]).mean()
    assert loss.item() == pytest.approx(expected)
