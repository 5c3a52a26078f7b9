"""Steps are timed in turn: who is timed, what is told, and that ways to compute a loss compute the same."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from labelled_texts import SMALL, labelled_dataset  # noqa: E402

from orchard.neural.devices import repeatable  # noqa: E402
from orchard.neural.seq2set.estimators import OTSeq2Set, Seq2Seq  # noqa: E402
from orchard.neural.seq2set.step_times import WARM_UP, measure_steps, steppers_of  # noqa: E402

KEYS = {"method", "loss", "steps", "step_ms", "matching_ms", "transport_ms"}


def test_every_method_is_timed_and_a_set_model_in_three_ways():
    steppers = [*steppers_of("plain", Seq2Seq(**SMALL)), *steppers_of("ours", OTSeq2Set(**SMALL))]
    found = measure_steps(labelled_dataset(), steppers, None, steps=4)
    assert all(one.keys() == KEYS and one["steps"] == 4 and one["step_ms"] > 0 for one in found)
    timed = {(one["method"], one["loss"]): one for one in found}
    assert list(timed) == [
        ("plain", "its own"),
        ("ours", "its own"),
        ("ours", "cross-entropy"),
        ("ours", "sample by sample"),
    ]
    assert all(timed["plain", "its own"][part] == 0 for part in ("matching_ms", "transport_ms"))
    assert timed["ours", "cross-entropy"]["transport_ms"] == 0
    for loss in ("its own", "sample by sample"):
        one = timed["ours", loss]
        assert one["matching_ms"] > 0
        assert one["transport_ms"] > 0
        assert one["matching_ms"] + one["transport_ms"] < one["step_ms"]


def test_the_first_steps_do_not_count():
    (stepper,) = steppers_of("plain", Seq2Seq(**SMALL))
    stepper.notes = [{"step": time} for time in (*[1000.0] * WARM_UP, 1.0, 3.0, 2.0)]
    assert stepper.report() == {"method": "plain", "loss": "its own", "steps": 3, "step_ms": 2.0}


@pytest.mark.parametrize("scheme", ["all", "first-n"])
@pytest.mark.parametrize("transport", [0.0, 8.0])
def test_sample_by_sample_is_the_same_loss(scheme, transport):
    """On the same first weights and batch, a text without labels in it."""
    dataset = labelled_dataset()
    Y = sp.vstack([sp.csr_matrix((1, 8), dtype=np.float32), dataset.Y_train[1:]]).tocsr()
    dataset, rows = replace(dataset, Y_train=Y), np.arange(10)
    own, plain, one_by_one = steppers_of("ours", OTSeq2Set(**SMALL, scheme=scheme, transport=transport))
    losses, gradients = [], []
    for stepper in (own, plain, one_by_one):
        with repeatable():
            stepper.begin(dataset, None)
            stepper.network.eval()  # without dropout
            loss = stepper.estimator.loss(stepper.network, stepper.batch_of(rows))
            loss.backward()
        losses.append(loss.detach())
        gradients.append(torch.cat([weights.grad.flatten() for weights in stepper.network.parameters()]))
    torch.testing.assert_close(losses[0], losses[2])
    torch.testing.assert_close(gradients[0], gradients[2], rtol=1e-3, atol=1e-6)
    assert not torch.isclose(losses[0], losses[1])


def test_timing_a_method_leaves_its_settings_alone():
    """The plain one is a copy: what is timed as its own still matches and transports."""
    model = OTSeq2Set(**SMALL, scheme="first-n")
    own, plain, one_by_one = steppers_of("ours", model)
    assert (own.estimator.scheme, own.estimator.transport) == ("first-n", 8.0)
    assert (plain.estimator.scheme, plain.estimator.transport) == ("in order", 0.0)
    assert (one_by_one.estimator.scheme, one_by_one.estimator.transport) == ("first-n", 8.0)
