"""Networks that learn from groups: they learn, twice alike, they resume, and they refuse what makes no sense."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

torch = pytest.importorskip("torch")

from orchard.metrics import precision_at_k  # noqa: E402
from orchard.neural import training  # noqa: E402
from orchard.neural.estimators import CoAttentionMIML, DeepMIML, LabelProportions  # noqa: E402
from orchard.variants.aggregate import group_matrix, merge_labels, random_groups  # noqa: E402

N_LABELS = 3
KINDS = [
    DeepMIML(),
    DeepMIML(loss="shares"),
    DeepMIML(loss="squares"),
    CoAttentionMIML(tau=0.3),
    CoAttentionMIML(tau=0.3, iterations=0, learn_tau=True, learn_embeddings=True),
    LabelProportions(),
    LabelProportions(tau=0.5, iterations=0),
]


def clusters(n, seed):
    """Samples around three far points, the point their label."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, N_LABELS, n)
    X = 3 * np.eye(N_LABELS, 5)[labels] + 0.3 * rng.normal(size=(n, 5))
    Y = sp.csr_matrix((np.ones(n, np.float32), labels, np.arange(n + 1)), (n, N_LABELS))
    return sp.csr_matrix(X.astype(np.float32)), Y


def grouped(n=240, size=4, seed=0, merge="list"):
    X, Y = clusters(n, seed)
    Y1 = group_matrix(random_groups(n, size, seed))
    return X, Y1, merge_labels(Y, Y1, merge)


def small(kind, **changes):
    return type(kind)(
        **kind.get_params() | {"hidden": 16, "batch_size": 8, "learning_rate": 0.01, "epochs": 8} | changes
    )


def accuracy(model, X, Y):
    return precision_at_k(model.predict_topk(X, 1)[0], Y, 1)


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_single_samples_are_told_after_groups_were_learned(kind):
    X_test, Y_test = clusters(100, seed=1)
    model = small(kind, epochs=25).fit(*grouped(n=241))  # the last group has one sample
    assert accuracy(model, X_test, Y_test) > 0.95


def test_proportions_tell_what_sets_hide():
    """Of groups of 24 samples nearly all have all labels: sets say nothing, counts say enough."""
    X_test, Y_test = clusters(200, seed=1)
    groups = grouped(n=960, size=24)
    assert (groups[2] > 0).toarray().all()
    assert accuracy(small(LabelProportions(), epochs=20).fit(*groups), X_test, Y_test) > 0.95
    assert accuracy(small(DeepMIML(), epochs=20).fit(*groups), X_test, Y_test) < 0.8


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_the_same_seed_gives_the_same_bits(kind):
    groups, (X_test, _) = grouped(), clusters(50, seed=1)
    first, second, other = (small(kind, random_state=seed).fit(*groups).predict_topk(X_test, 2) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first[1], second[1])
    assert not np.array_equal(first[1], other[1])


def test_threads_and_other_random_numbers_change_nothing():
    groups, (X_test, _) = grouped(), clusters(50, seed=1)
    before = torch.get_num_threads()
    results = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        torch.rand(threads)
        results.append(small(CoAttentionMIML(tau=0.3)).fit(*groups).predict_topk(X_test, 3)[1])
        assert torch.get_num_threads() == threads
    torch.set_num_threads(before)
    np.testing.assert_array_equal(*results)


def test_everybody_elses_random_numbers_stay_as_they_were():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    small(DeepMIML()).fit(*grouped())
    torch.testing.assert_close(torch.rand(3), expected)


def test_tau_zero_is_deep_miml():
    """Through a whole training (eagle §6)."""
    groups, (X_test, _) = grouped(), clusters(50, seed=1)
    masked = small(CoAttentionMIML(tau=0.0)).fit(*groups).predict_topk(X_test, 3)
    plain = small(DeepMIML()).fit(*groups).predict_topk(X_test, 3)
    np.testing.assert_allclose(masked[1], plain[1], rtol=1e-4, atol=1e-5)


def test_patience_stops_and_keeps_the_best_epoch():
    """What is kept are the weights of the best epoch: a training of just as many epochs has the same."""
    X_valid, Y_valid = clusters(100, seed=2)
    model = small(DeepMIML(), epochs=60, patience=3).fit(*grouped(), X_valid, Y_valid)
    validation = model.course_.validation
    assert len(validation) == model.course_.best_epoch + 3 < 60
    assert model.epoch_ == model.course_.best_epoch == int(np.argmax(validation)) + 1
    assert 100 * accuracy(model, X_valid, Y_valid) == pytest.approx(max(validation))
    same = small(DeepMIML(), epochs=model.epoch_).fit(*grouped(), X_valid, Y_valid)
    np.testing.assert_array_equal(model.predict_topk(X_valid, 3)[1], same.predict_topk(X_valid, 3)[1])


@pytest.mark.parametrize("patience", [None, 20])
@pytest.mark.parametrize("place", [(4, 0), (4, 2)], ids=["between epochs", "in an epoch"])
def test_a_training_that_was_killed_goes_on_to_the_same_end(tmp_path, monkeypatch, killed_at, patience, place):
    groups, (X_valid, Y_valid) = grouped(), clusters(60, seed=2)
    model, file = (
        small(CoAttentionMIML(tau=0.3, learn_tau=True), epochs=9, patience=patience),
        tmp_path / "checkpoint.pt",
    )
    expected = model.fit(*groups, X_valid, Y_valid)
    expected_scores, expected_course = expected.predict_topk(X_valid, 3)[1], expected.course_
    killed_at(place, lambda: model.fit(*groups, X_valid, Y_valid, checkpoint=file))
    assert file.is_file()
    write, places = training.Checkpoint.write, []

    def write_and_note(self, state):
        places.append((state.course.epochs, state.course.steps_done))
        write(self, state)

    monkeypatch.setattr(training.Checkpoint, "write", write_and_note)
    again = model.fit(*groups, X_valid, Y_valid, checkpoint=file)
    assert places[0] == (place[0], place[1] + 1)
    assert places[-1] == (9, 0)
    np.testing.assert_array_equal(again.predict_topk(X_valid, 3)[1], expected_scores)
    assert again.course_.validation == expected_course.validation
    assert again.course_.losses == expected_course.losses
    assert not file.exists()


def test_a_checkpoint_of_another_training_is_not_gone_on_from(tmp_path, monkeypatch):
    groups, file = grouped(), tmp_path / "checkpoint.pt"
    monkeypatch.setattr(training.Checkpoint, "is_due", lambda self: True)
    monkeypatch.setattr(training.Checkpoint, "remove", lambda self: None)
    small(DeepMIML(), epochs=2).fit(*groups, checkpoint=file)
    X_test, _ = clusters(20, seed=1)
    for other in (small(DeepMIML(), epochs=2, random_state=1), small(DeepMIML(), epochs=2, hidden=8)):
        resumed = other.fit(*groups, checkpoint=file).predict_topk(X_test, 1)[1]
        np.testing.assert_array_equal(resumed, other.fit(*groups).predict_topk(X_test, 1)[1])
    small(DeepMIML(), epochs=2, patience=2).fit(*groups, *clusters(60, seed=2), checkpoint=file)
    other_validation = small(DeepMIML(), epochs=2, patience=2).fit(*groups, *clusters(60, seed=3), checkpoint=file)
    fresh = small(DeepMIML(), epochs=2, patience=2).fit(*groups, *clusters(60, seed=3))
    assert other_validation.course_.validation == fresh.course_.validation
    torch.save({"some": "file"}, file)
    assert small(DeepMIML(), epochs=2).fit(*groups, checkpoint=file).course_.epochs == 2
    file.write_bytes(b"nonsense")
    assert small(DeepMIML(), epochs=2).fit(*groups, checkpoint=file).course_.epochs == 2


def test_dense_and_sparse_input_are_alike():
    X, Y1, Y2 = grouped()
    sparse = small(DeepMIML()).fit(X, Y1, Y2).predict_topk(X, 3)
    dense = small(DeepMIML()).fit(X.toarray(), Y1.toarray(), Y2.toarray()).predict_topk(X.toarray(), 3)
    np.testing.assert_array_equal(sparse[1], dense[1])


def test_labels_run_out():
    X, Y1, Y2 = grouped()
    ids, scores = small(DeepMIML(), epochs=1).fit(X, Y1, Y2).predict_topk(X[:2], k=5)
    assert (ids[:, N_LABELS:] == -1).all()
    assert np.isneginf(scores[:, N_LABELS:]).all()
    assert (np.sort(ids[:, :N_LABELS]) == np.arange(N_LABELS)).all()
    assert (np.diff(scores[:, :N_LABELS]) <= 0).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"loss": "hinge"}, "loss must be one of sets, squares, shares"),
        ({"random_state": -1}, "random_state must be at least 0"),
        ({"hidden": 0}, "hidden must be at least 1"),
        ({"epochs": 2.5}, "epochs must be an integer"),
        ({"learning_rate": 0.0}, "learning_rate must be a positive number"),
        ({"patience": 2}, "patience needs a validation set"),
        ({"tau": -1.0}, "tau must not be negative"),
        ({"iterations": -3}, "iterations must not be negative"),
    ],
)
def test_wrong_parameters_are_named(change, words):
    with pytest.raises(ValueError, match=words):
        small(CoAttentionMIML(), **change).fit(*grouped())


def test_wrong_input_is_refused():
    X, Y1, Y2 = grouped()
    with pytest.raises(ValueError, match="nothing to learn from"):
        small(DeepMIML()).fit(X, Y1, sp.csr_matrix(Y2.shape, dtype=np.float32))
    with pytest.raises(ValueError, match="nothing to learn from"):
        small(DeepMIML()).fit(X[:0], Y1[:0], Y2)
    with pytest.raises(ValueError, match="go together"):
        small(DeepMIML()).fit(X, Y1, Y2, X_valid=X)
    with pytest.raises(ValueError, match="not trained yet"):
        DeepMIML().predict_topk(X)
    with pytest.raises(ValueError, match="the model was trained on 5"):
        small(DeepMIML(), epochs=1).fit(X, Y1, Y2).predict_topk(X[:, :3])
    wide = sp.csr_matrix((10_000_000, 1000), dtype=np.float32)
    with pytest.raises(ValueError, match="hold it dense; project it"):
        small(DeepMIML()).fit(wide, group_matrix(np.zeros(10_000_000, np.int32)), Y2[:1])


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="finds no GPU here for 'cuda:0'"):
        small(DeepMIML(), device="cuda:0").fit(*grouped())


def test_the_library_without_pytorch_does_not_miss_it():
    """Whoever does not ask for a network needs no PyTorch."""
    code = "import sys; sys.modules['torch'] = None; import orchard, orchard.eagle, orchard.neural.features"
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_a_gpu_learns_the_same(kind, tmp_path):
    """Not to the bit, but the same labels, and the same twice."""
    groups, (X_test, Y_test) = grouped(n=241), clusters(100, seed=1)
    first, again = (
        small(kind, epochs=25, device="cuda").fit(*groups, checkpoint=tmp_path / "checkpoint.pt") for _ in range(2)
    )
    assert accuracy(first, X_test, Y_test) > 0.95
    np.testing.assert_array_equal(first.predict_topk(X_test, 3)[1], again.predict_topk(X_test, 3)[1])
