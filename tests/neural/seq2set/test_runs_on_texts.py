"""A run on texts: its metrics are those of the sets that were written, and test texts are shown only where told."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from labelled_texts import SMALL, labelled_dataset

from orchard.data.store import Dataset
from orchard.errors import OrchardError
from orchard.neural.seq2set.runs import run_on_texts

NO_FEATURES = sp.csr_matrix((2, 0), dtype=np.float32)


class Scripted:
    """Writes the sets that it was given, whatever it reads, and notes what it was shown."""

    course_ = SimpleNamespace(seconds=[1.0, 2.0, 6.0], epochs=3)
    n_parameters_, model_bytes_, device_ = 7, 2**21, "cpu"

    def __init__(self, sets, repeated, vocabulary="training", validation_f1=None):
        self.written = sp.csr_matrix(np.array(sets, np.float32)), np.array(repeated)
        self.vocabulary, self.validation_f1_ = vocabulary, validation_f1

    def fit(self, texts, Y, label_names, word_vectors, also_seen, checkpoint, keep_checkpoint=False):
        self.shown = SimpleNamespace(texts=texts, names=label_names, also_seen=also_seen, checkpoint=checkpoint)

    def predict_sets(self, texts):
        return self.written


def two_documents():
    Y = sp.csr_matrix(np.array([[1, 1, 0], [0, 1, 1]], np.float32))
    return Dataset(NO_FEATURES, Y, NO_FEATURES, Y, ["a", "b"], ["c", "d"], ["x", "y", "z"])


def test_metrics_by_hand():
    """Of the sets {0, 1} and {1, 2} the first lacks 1, and has 0 written twice."""
    model = Scripted([[1, 0, 0], [0, 1, 1]], repeated=[1, 0], validation_f1=61.0)
    metrics, cost = run_on_texts(two_documents(), model, None, checkpoint="somewhere")
    assert metrics == pytest.approx(
        {
            "P": 100,
            "R": 75,
            "F1": 100 * 6 / 7,
            "maF1": 100 * (1 + 2 / 3 + 1) / 3,
            "weF1": 100 * (1 + 2 * 2 / 3 + 1) / 4,
            "ebF1": 100 * (2 / 3 + 1) / 2,
            "duplicates": 25,
            "labels": 1.5,
            "validation F1": 61.0,
        }
    )
    assert {key: cost["seconds"][key] for key in ("fit", "epoch")} == {"fit": 9.0, "epoch": 2.0}
    assert cost | {"epochs": 3, "parameters": 7, "model_mb": 2.0, "device": "cpu"} == cost
    assert model.shown == SimpleNamespace(
        texts=["a", "b"], names=["x", "y", "z"], also_seen=None, checkpoint="somewhere"
    )


def test_a_network_that_writes_nothing_scores_nothing():
    """And without texts held out there is no validation F1, instead of one that is zero."""
    metrics, _ = run_on_texts(two_documents(), Scripted([[0, 0, 0]] * 2, [0, 0]), None)
    assert set(metrics.values()) == {0.0}
    assert "validation F1" not in metrics


@pytest.mark.parametrize("vocabulary", ["training", "all"])
def test_a_real_network_is_scored_on_the_sets_that_it_predicts(vocabulary):
    """scikit-learn computes the same metrics; the labels of test texts are known only to vocabulary='all'."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    from sklearn.metrics import f1_score, precision_recall_fscore_support

    from orchard.neural.seq2set.estimators import OTSeq2Set

    dataset = labelled_dataset()
    Y_train = dataset.Y_train.toarray()
    Y_train[:, 7] = 0  # now one of test texts alone
    dataset = replace(dataset, Y_train=sp.csr_matrix(Y_train))
    model = OTSeq2Set(**SMALL | {"held_out": 0.25}, epochs=3, vocabulary=vocabulary)
    metrics, cost = run_on_texts(dataset, model, None)
    predicted, Y = model.predict(dataset.texts_test).toarray(), dataset.Y_test.toarray()
    micro = precision_recall_fscore_support(Y, predicted, average="micro", zero_division=0)[:3]
    averages = {"maF1": "macro", "weF1": "weighted", "ebF1": "samples"}
    expected = dict(zip(("P", "R", "F1"), micro, strict=True))
    expected |= {name: f1_score(Y, predicted, average=one, zero_division=0) for name, one in averages.items()}
    assert {name: metrics[name] for name in expected} == pytest.approx(
        {key: 100 * one for key, one in expected.items()}
    )
    assert metrics["labels"] == predicted.sum() / len(predicted)
    assert metrics["validation F1"] == model.validation_f1_
    assert (7 in model.known_labels_) == (vocabulary == "all")
    assert cost["parameters"] == model.n_parameters_
    assert cost["epochs"] == 3


def test_a_data_set_without_texts_is_refused():
    bare = Dataset(*[NO_FEATURES] * 4, stats={"name": "digits"})
    with pytest.raises(OrchardError, match="digits has no texts: these networks read words"):
        run_on_texts(bare, Scripted([[0]], [0]), None)
