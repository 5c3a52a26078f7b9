"""Text classification by hierarchical softmax over any binary label tree, as fastText does it (labeltrees §5.2)."""

from orchard.softmax.hierarchical import HierarchicalSoftmax
from orchard.softmax.ngrams import WordNgrams

__all__ = ["HierarchicalSoftmax", "WordNgrams"]
