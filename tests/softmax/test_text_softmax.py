"""Texts over trees of one's own: which tree is built, what is counted, what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp

from orchard.data.statistics import label_frequencies
from orchard.softmax import TextSoftmax
from orchard.trees.coding import fano_label_tree, huffman_label_tree

TEXTS = ["red apple", "green apple", "red car", "fast car", "green tree", "tall tree"] * 4
LABELS = np.array([0, 0, 1, 1, 2, 2] * 4)
Y = sp.csr_matrix((np.ones(LABELS.size, np.float32), (np.arange(LABELS.size), LABELS)), shape=(LABELS.size, 4))
X = sp.csr_matrix(np.eye(6, dtype=np.float32)[np.arange(LABELS.size) % 6])
QUICK = {"dimension": 8, "epochs": 40}


@pytest.mark.parametrize(("kind", "build"), [("huffman", huffman_label_tree), ("fano", fano_label_tree)])
def test_coding_trees_look_at_frequencies_alone(kind, build):
    (tree,) = TextSoftmax(tree=kind).build_trees(X, Y)
    assert tree.same_as(build(label_frequencies(Y)))


def test_the_interpolated_tree_depends_on_λ_and_on_the_seed():
    rng = np.random.default_rng(0)
    many_X = sp.csr_matrix(rng.random((200, 30)) * (rng.random((200, 30)) < 0.3))
    many_Y = sp.csr_matrix(rng.random((200, 40)) < 0.08 / np.arange(1, 41) ** 0.5, dtype=np.float32)
    build = lambda **how: TextSoftmax(tree="interpolated", **how).build_trees(many_X, many_Y)[0]  # noqa: E731
    assert np.diff(build().label_indptr).max() == 1
    f = label_frequencies(many_Y)
    assert f @ build(lambda_prime=1.0).label_depths < f @ build().label_depths
    assert build(random_state=1).same_as(build(random_state=1))
    assert not build(random_state=1).same_as(build())


@pytest.mark.parametrize("kind", ["huffman", "fano"])
def test_texts_and_features_are_learnt(kind):
    """Texts by their words, features by being there, whatever their weight."""
    by_text = TextSoftmax(tree=kind, **QUICK).fit(TEXTS, Y)
    ids, _, depths = by_text.predict_topk([*TEXTS[:6], "red words never seen"], k=1, return_depths=True)
    np.testing.assert_array_equal(ids[:6, 0], LABELS[:6])
    np.testing.assert_array_equal(depths[:, 0], by_text.tree_.label_depths[ids[:, 0]])
    by_feature, by_weight = (TextSoftmax(tree=kind, **QUICK).fit(matrix, Y) for matrix in (X, 7 * X))
    np.testing.assert_array_equal(by_feature.predict_topk(X, k=1)[0][:6, 0], LABELS[:6])
    np.testing.assert_array_equal(by_weight.predict_topk(X)[1], by_feature.predict_topk(X)[1])


def test_an_interpolated_tree_is_taken_from_features_for_texts():
    model = TextSoftmax(tree="interpolated", **QUICK)
    with pytest.raises(ValueError, match="built from features, not from texts"):
        model.fit(TEXTS, Y)
    model.fit(TEXTS, Y, model.build_trees(X, Y))
    with pytest.raises(ValueError, match="was trained on texts"):
        model.predict_topk(X)


def test_fit_builds_the_tree_that_build_trees_does():
    """From the features as they are, though training takes each of them as a word."""
    rng = np.random.default_rng(5)
    values = sp.csr_matrix(rng.random((60, 12)) * (rng.random((60, 12)) < 0.4))
    many = sp.csr_matrix(rng.random((60, 30)) < 0.1, dtype=np.float32)
    model = TextSoftmax(tree="interpolated", lambda_prime=0.5, **QUICK)
    (tree,) = model.build_trees(values, many)
    assert model.fit(values, many).tree_.same_as(tree)
    assert not model.build_trees(values.sign(), many)[0].same_as(tree)  # what each of them as a word would give


def test_unknown_n_grams_count_in_the_mean():
    """As many as known words: the text is half as sure, as in fastText; unknown words are not counted at all."""
    model = TextSoftmax(tree="huffman", **QUICK).fit(TEXTS, Y)
    known, unknown = model.ngrams_.transform(["red apple"]), model.ngrams_.transform(["apple red"])
    assert known[0, -1] == 0 and unknown[0, -1] == 2  # `apple red` and `red </s>`
    assert model.embeddings_[:, -1].any() == np.False_
    hidden = model.predict_topk(["red apple"], k=1)[1] - model.predict_topk(["apple red"], k=1)[1]
    assert hidden[0, 0] > 0


@pytest.mark.parametrize(
    ("wrong", "words"), [({"tree": "oak"}, "tree must be one of"), ({"gamma": -1.0}, "gamma must")]
)
def test_wrong_parameters_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        TextSoftmax(**wrong).build_trees(X, Y)
