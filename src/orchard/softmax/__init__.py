"""Text classification by hierarchical softmax over any binary label tree, as fastText does it (labeltrees §5.2)."""

from orchard.softmax.hierarchical import HierarchicalSoftmax
from orchard.softmax.ngrams import WordNgrams
from orchard.softmax.texts import TextSoftmax

__all__ = ["HierarchicalSoftmax", "TextSoftmax", "WordNgrams"]
