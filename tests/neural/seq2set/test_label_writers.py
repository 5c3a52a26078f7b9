"""Seq2Seq, MLC2Seq, SGM and OTSeq2Set as estimators: they learn, repeat themselves, resume, and refuse nonsense."""

import numpy as np
import pytest
import scipy.sparse as sp

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from labelled_texts import SMALL, labelled_texts  # noqa: E402

from orchard.data.word_vectors import WordVectors  # noqa: E402
from orchard.errors import OrchardError  # noqa: E402
from orchard.metrics import micro_precision_recall_f1  # noqa: E402
from orchard.neural import training  # noqa: E402
from orchard.neural.seq2set.batches import label_sequences, shuffled_rows  # noqa: E402
from orchard.neural.seq2set.estimators import SGM, MLC2Seq, OTSeq2Set, Seq2Seq  # noqa: E402

ALL = (Seq2Seq, MLC2Seq, SGM, OTSeq2Set)
LARGER = SMALL | {"hidden": 32, "epochs": 200, "dropout": 0.0, "learning_rate": 0.01}


@pytest.mark.parametrize(
    "model",
    [
        *(make(**LARGER | {"epochs": 100}) for make in (Seq2Seq, MLC2Seq, SGM)),
        Seq2Seq(**LARGER | {"epochs": 100}, light_convolutions=True, transport=1.0),
        OTSeq2Set(**LARGER, scheme="first-n", light_convolutions=False, transport=0.0),
        OTSeq2Set(**LARGER, scheme="all"),
        OTSeq2Set(**LARGER | {"learning_rate": 0.02}, scheme="first-n", bottleneck=64),
    ],
    ids=lambda model: f"{type(model).__name__}-{model.light_convolutions}-{model.transport}-{model.bottleneck}",
)
def test_twenty_documents_are_learned_by_heart(model):
    texts, Y = labelled_texts()
    predicted = model.fit(texts, Y).predict(texts)
    assert micro_precision_recall_f1(predicted, Y).f1 > 0.95
    assert predicted.shape == Y.shape
    assert (predicted.data == 1).all()


@pytest.mark.parametrize("make", ALL)
def test_training_twice_gives_the_same_network_whatever_the_threads(make):
    texts, Y = labelled_texts()
    weights = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        torch.rand(threads)  # the state of everybody's random numbers does not matter
        weights.append(make(**SMALL, epochs=2).fit(texts, Y).network_.state_dict())
    for name in weights[0]:
        assert torch.equal(weights[0][name], weights[1][name]), name
    other = make(**SMALL, epochs=2, random_state=1).fit(texts, Y).network_.state_dict()
    assert any(not torch.equal(weights[0][name], other[name]) for name in other)


@pytest.mark.parametrize("place", [(1, 0), (1, 1)], ids=["between epochs", "in an epoch"])
def test_a_training_that_was_killed_goes_on_to_the_same_end(tmp_path, killed_at, place):
    """With dropout, whose random numbers go on, too."""
    texts, Y = labelled_texts()
    model, file = OTSeq2Set(**SMALL, epochs=3), tmp_path / "checkpoint.pt"
    expected = model.fit(texts, Y).network_.state_dict()
    losses = model.course_.losses
    killed_at(place, lambda: model.fit(texts, Y, checkpoint=file))
    again = model.fit(texts, Y, checkpoint=file)
    assert again.course_.losses == losses
    for name, weights in again.network_.state_dict().items():
        assert torch.equal(weights, expected[name]), name
    assert not file.exists()


def test_a_training_that_diverges_says_so():
    texts, Y = labelled_texts()
    with pytest.raises(OrchardError, match="the loss is nan in step 1 of epoch 1: the training has diverged"):
        Broken(**SMALL).fit(texts, Y)


class Broken(Seq2Seq):
    def loss(self, network, batch):
        return super().loss(network, batch) * float("nan")


def test_a_finished_training_is_not_repeated(tmp_path, monkeypatch):
    """Its checkpoint is kept until somebody has written down what came of it."""
    texts, Y = labelled_texts()
    monkeypatch.setattr(training, "CHECKPOINT_SECONDS", 0.0)
    model, file = OTSeq2Set(**SMALL, epochs=2), tmp_path / "checkpoint.pt"
    first = model.fit(texts, Y, checkpoint=file, keep_checkpoint=True).predict(texts)
    assert file.is_file()
    monkeypatch.setattr(training, "_epoch", None)
    again = model.fit(texts, Y, checkpoint=file).predict(texts)
    assert (first != again).nnz == 0
    assert model.course_.epochs == 2
    assert not file.exists()


def test_mixed_precision_learns_too():
    """What a GPU does by default, here on the processor."""
    texts, Y = labelled_texts()
    model = OTSeq2Set(**LARGER, mixed_precision=True).fit(texts, Y)
    assert micro_precision_recall_f1(model.predict(texts), Y).f1 > 0.9
    assert all(weights.dtype == torch.float32 for weights in model.network_.parameters())


def test_labels_are_written_in_the_order_of_columns_or_by_frequency():
    Y = sp.csr_matrix([[1, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]])
    rank = np.argsort(np.argsort(-np.array([1, 1, 2, 3]), kind="stable"))
    empty, rows = 4, np.array([0, 1, 2])
    in_columns, counts = label_sequences(Y).padded(rows, empty)
    assert in_columns.tolist() == [[0, 2, 3], [2, 3, 4], [1, 3, 4]]
    assert counts.tolist() == [3, 2, 2]
    assert label_sequences(Y, rank).padded(rows, empty)[0].tolist() == [[3, 2, 0], [3, 2, 4], [3, 1, 4]]


def test_batches_hold_all_texts_once_and_like_lengths_together():
    lengths = np.random.default_rng(0).integers(1, 100, 230)
    order = torch.Generator().manual_seed(0)
    batches = shuffled_rows(lengths, 16, order)
    assert sorted(np.concatenate(batches)) == list(range(230))
    widths = [lengths[rows].max() - lengths[rows].min() for rows in batches]
    assert np.median(widths) < 15
    assert [rows.tolist() for rows in shuffled_rows(lengths, 16, order)] != [rows.tolist() for rows in batches]


VECTORS = WordVectors(["red", "fox"], np.array([[1, 2], [3, 6]], np.float32))


def test_embeddings_start_as_word_vectors_and_as_means_over_names():
    texts, Y = ["red fox runs", "Red dog"], sp.csr_matrix(np.eye(2, dtype=np.float32))
    model = Seq2Seq(**SMALL, epochs=1).set_params(learning_rate=1e-12, tokens="plain words")
    network = model.fit(texts, Y, ["red fox", "zebra"], VECTORS).network_
    words = network.encoder.embedding.weight.detach()
    assert model.vocabulary_.words == ["red", "dog", "fox", "runs"]
    np.testing.assert_allclose(words[[0, 2, 4]], [[0, 0], [1, 2], [3, 6]], atol=1e-6)  # padding, red, fox
    assert (words[[1, 3, 5]].abs() <= 0.1).all()
    labels = network.decoder.embedding.weight.detach()
    np.testing.assert_allclose(labels[[0, 2]], [[2, 4], [0, 0]], atol=1e-6)  # red fox, ∅
    assert model.words_found_ == 50


def test_words_labels_and_limits_are_those_of_the_training_texts():
    texts, Y = ["a b", "b c"], sp.csr_matrix(np.array([[1, 1, 0], [1, 0, 0]], np.float32))
    seen = ["c d e"], sp.csr_matrix(np.array([[1, 1, 1]], np.float32))
    model = Seq2Seq(**SMALL, epochs=1).fit(texts, Y, also_seen=seen)
    assert model.vocabulary_.words == ["b", "a", "c"]
    assert model.known_labels_.tolist() == [0, 1]
    assert model.max_labels_ == 2
    model.set_params(vocabulary="all").fit(texts, Y, also_seen=seen)
    assert model.vocabulary_.words == ["b", "c", "a", "d", "e"]
    assert model.known_labels_.tolist() == [0, 1, 2]
    assert model.max_labels_ == 3
    with pytest.raises(ValueError, match="vocabulary='all' needs"):
        model.fit(texts, Y)


def test_a_label_of_no_training_text_is_never_predicted():
    texts, Y = labelled_texts()
    Y = sp.hstack([sp.csr_matrix((20, 2), dtype=np.float32), Y]).tocsr()
    predicted = Seq2Seq(**SMALL, epochs=5).fit(texts, Y).predict(texts)
    assert predicted.shape == Y.shape
    assert not predicted[:, :2].nnz


def test_held_out_texts_validate():
    texts, Y = labelled_texts(40)
    model = Seq2Seq(**SMALL | {"held_out": 0.25}, epochs=2).fit(texts, Y)
    trained, validating = model._split(Y)
    assert len(trained) == 30
    assert len(validating) == 10
    assert not set(trained) & set(validating)
    expected = micro_precision_recall_f1(model.predict([texts[row] for row in validating]), Y[validating]).f1
    assert model.validation_f1_ == pytest.approx(100 * expected)


def test_texts_without_labels_or_words_do_no_harm():
    texts, Y = labelled_texts()
    Y = sp.vstack([Y, sp.csr_matrix((1, Y.shape[1]), dtype=np.float32)]).tocsr()
    model = OTSeq2Set(**SMALL, epochs=1).fit([*texts, "no label at all"], Y)
    assert model.predict(["", "words nobody knows"]).shape == (2, Y.shape[1])
    assert model.predict([]).shape == (0, Y.shape[1])


def test_sets_count_repetitions_once():
    texts, Y = labelled_texts()
    model = OTSeq2Set(**SMALL, epochs=1).fit(texts, Y)
    n = model.max_labels_
    model.network_.generate = lambda batch, *_: torch.tensor(
        [[1, 1, 0] + [model.network_.empty] * (n - 3)] * batch.size
    )
    predicted, repeated = model.predict_sets(texts[:2])
    assert predicted.toarray()[:, :3].tolist() == [[1, 1, 0]] * 2
    assert repeated.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("parameter", "value", "problem"),
    [
        ("hidden", 0, "hidden must be at least 1"),
        ("dropout", 1.0, "dropout must be at least 0 and below 1"),
        ("held_out", -0.1, "held_out must be at least 0"),
        ("learning_rate", 0.0, "learning_rate must be a positive number"),
        ("clip", float("inf"), "clip must be a positive number"),
        ("tokens", "letters", "tokens must be one of white space, plain words"),
        ("vocabulary", "test", "vocabulary must be one of training, all"),
        ("transport", -1.0, "transport must not be negative"),
        ("scheme", "last-n", "scheme must be one of all, first-n, in order"),
        ("empty_weight", 2.0, "empty_weight must lie between 0 and 1"),
        ("conv_heads", 5, "conv_heads must divide 2·hidden = 24"),
        ("epochs", "3", "epochs must be"),
    ],
)
def test_nonsense_is_refused_before_any_work(parameter, value, problem):
    with pytest.raises(ValueError, match=problem):
        OTSeq2Set(**SMALL | {parameter: value}).fit(["a"], sp.csr_matrix([[1.0]]))


def test_texts_and_labels_must_fit():
    texts, Y = labelled_texts()
    with pytest.raises(ValueError, match="19 texts and 20 rows of Y"):
        Seq2Seq(**SMALL).fit(texts[1:], Y)
    with pytest.raises(ValueError, match="there are no texts"):
        Seq2Seq(**SMALL).fit([], Y[:0])
    with pytest.raises(ValueError, match="texts must be a list of strings, not a matrix"):
        Seq2Seq(**SMALL).fit(Y, Y)
    with pytest.raises(ValueError, match="texts must be a list of strings, not one string"):
        Seq2Seq(**SMALL).fit(texts[0], Y)
    with pytest.raises(ValueError, match=r"texts\[2\] is of type NoneType"):
        Seq2Seq(**SMALL).fit([*texts[:2], None, *texts[3:]], Y)
    with pytest.raises(ValueError, match="1 label names and 8 columns"):
        Seq2Seq(**SMALL).fit(texts, Y, ["one"])
    with pytest.raises(ValueError, match="no training text has a label"):
        Seq2Seq(**SMALL).fit(texts, sp.csr_matrix(Y.shape, dtype=np.float32))
    with pytest.raises(ValueError, match="not trained yet"):
        Seq2Seq(**SMALL).predict(texts)
