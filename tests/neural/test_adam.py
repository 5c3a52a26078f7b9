"""Adam against PyTorch's own."""

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from orchard.neural.adam import Adam  # noqa: E402


def weights_and_losses():
    torch.manual_seed(0)
    weights = [torch.nn.Parameter(torch.randn(7, 5)), torch.nn.Parameter(torch.randn(5))]
    return weights, [torch.randn(3, 7) for _ in range(30)]


def trained(optimiser, weights, rows):
    for X in rows:
        optimiser.zero_grad()
        torch.relu(X @ weights[0] + weights[1]).pow(2).sum().backward()
        optimiser.step()
    return [one.detach().clone() for one in weights]


def test_it_takes_the_steps_of_pytorchs_own_to_the_bit():
    weights, rows = weights_and_losses()
    before = [one.detach().clone() for one in weights]
    ours = trained(Adam(weights, 0.01), weights, rows)
    weights, rows = weights_and_losses()
    theirs = trained(torch.optim.Adam(weights, lr=0.01, fused=True), weights, rows)
    for a, b, start in zip(ours, theirs, before, strict=True):
        assert torch.equal(a, b) and not torch.equal(a, start)


def test_its_state_can_be_handed_on():
    weights, rows = weights_and_losses()
    through = trained(Adam(weights, 0.01), weights, rows)
    weights, rows = weights_and_losses()
    first = Adam(weights, 0.01)
    trained(first, weights, rows[:12])
    second = Adam(weights, 0.01)
    second.load_state_dict(first.state_dict())
    for a, b in zip(trained(second, weights, rows[12:]), through, strict=True):
        assert torch.equal(a, b)


def test_training_does_not_load_pytorchs_compiler():
    """What `orchard.neural.adam` is for; and nothing else in a training should."""
    training = (
        "import sys, numpy as np, scipy.sparse as sp\n"
        "from orchard.neural.estimators import CoAttentionMIML\n"
        "X, Y1, Y2 = sp.eye(8, format='csr'), sp.csr_matrix(np.kron(np.eye(4), [[1], [1]])), sp.csr_matrix(np.eye(4))\n"
        "CoAttentionMIML(tau=0.1, epochs=2).fit(X, Y1, Y2).predict_topk(X, k=1)\n"
        "assert 'torch' in sys.modules\n"
        "assert 'torch._dynamo' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", training], check=True)
