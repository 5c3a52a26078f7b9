"""Texts, or bags of words, classified by hierarchical softmax over a Huffman, a Fano or an interpolated tree."""

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from orchard.data.statistics import label_frequencies
from orchard.linear.inputs import checked_training
from orchard.softmax.hierarchical import HierarchicalSoftmax
from orchard.softmax.ngrams import WordNgrams
from orchard.trees.coding import fano_label_tree, huffman_label_tree
from orchard.trees.embeddings import pifa
from orchard.trees.interpolated import Interpolation
from orchard.trees.label_tree import LabelTree

TREES = ("huffman", "fano", "interpolated")


@dataclass(eq=False, repr=False)
class TextSoftmax(Interpolation, HierarchicalSoftmax):
    """fastText with a label tree of one's own (labeltrees §5.2); its defaults are the settings of §5.4.2.

    tree : 'huffman', as fastText has it, 'fano', or 'interpolated' between 2-means and Fano coding, one label a leaf.
    lambda_prime, gamma, frequencies, sharpness, route, renormalise : of the interpolated tree, see `Interpolation`.
    min_count, word_ngrams, bucket : the features of texts, see `WordNgrams`.

    Where there are no texts, every feature of X that is not zero counts as a word, once.
    """

    tree: str = "huffman"
    min_count: int = 2
    word_ngrams: int = 2
    bucket: int = 2_000_000

    TREE_PARAMETERS: ClassVar[tuple[str, ...]] = ("tree", *(field.name for field in fields(Interpolation)))
    takes_texts: ClassVar[bool] = True

    def build_trees(self, X, Y) -> list[LabelTree]:
        """The tree over the labels of Y (n, n_labels), in a list; X (n, d) is what the interpolated one looks at."""
        self._check_parameters()
        X, Y = checked_training(X, Y)
        if self.tree == "huffman":
            return [huffman_label_tree(label_frequencies(Y))]
        if self.tree == "fano":
            return [fano_label_tree(label_frequencies(Y))]
        how = {"max_leaf": 1, "seed": np.random.default_rng([self.random_state, 0]), "n_jobs": self.n_jobs}
        return [self.interpolated_tree(pifa(X, Y, n_jobs=self.n_jobs), Y, **how)]

    def fit(self, X, Y, trees: list[LabelTree] | None = None) -> "TextSoftmax":
        """Train on texts, a list of strings, or on X (n, d), and on Y (n, n_labels).

        trees : what `build_trees` gave; needed for texts, from which no interpolated tree is built.
        """
        self._check_parameters()
        is_text = _are_texts(X)
        if trees is None:
            if is_text and self.tree == "interpolated":
                raise ValueError(
                    "an interpolated tree is built from features, not from texts: give trees=build_trees(X, Y)"
                )
            trees = self.build_trees(sp.csr_matrix((len(X), 1)) if is_text else X, Y)
        self.ngrams_ = self._word_ngrams() if is_text else None
        return super().fit(self.ngrams_.fit_transform(X) if is_text else _ones(X), Y, trees)

    def predict_topk(self, X, k: int = 5, return_depths: bool = False):
        """As `HierarchicalSoftmax.predict_topk`, for what it was trained on: texts or features."""
        self._refuse_unfitted()
        if _are_texts(X) != (self.ngrams_ is not None):
            raise ValueError(
                f"this TextSoftmax was trained on {'texts' if self.ngrams_ else 'features'}, ask it about such"
            )
        return super().predict_topk(self.ngrams_.transform(X) if self.ngrams_ else _ones(X), k, return_depths)

    def _word_ngrams(self) -> WordNgrams:
        return WordNgrams(self.min_count, self.word_ngrams, self.bucket)

    def _check_parameters(self):
        super()._check_parameters()
        if self.tree not in TREES:
            raise ValueError(f"tree must be one of {', '.join(TREES)}, not {self.tree!r}")
        self.check_interpolation()
        self._word_ngrams()._check_parameters()


def _are_texts(X) -> bool:
    return isinstance(X, list | tuple) and all(isinstance(text, str) for text in X[:1])


def _ones(X) -> sp.csr_matrix:
    X = sp.csr_matrix(X, dtype=np.float32, copy=True)
    X.eliminate_zeros()
    X.data[:] = 1
    return X
