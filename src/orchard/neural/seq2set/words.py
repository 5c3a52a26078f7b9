"""Texts as sequences of word numbers; the vocabulary is that of the training texts. No PyTorch."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from orchard.data.text import tokenize
from orchard.neural.seq2set.ragged import Ragged

PADDING, UNKNOWN = 0, 1  # the first word numbers
N_SPECIAL = 2

_WORD = re.compile(r"[^\W_]+(?:[.'][^\W_]+)*")  # letters and digits, also around an apostrophe or a decimal point


def plain_words(text: str) -> list[str]:
    """Lower-case words without punctuation, as vocabularies of word vectors have them."""
    return _WORD.findall(text.lower())


# How a text is cut: at white space, as the authors cut their texts, which are clean already; or into plain words.
TOKENIZERS: dict[str, Callable[[str], list[str]]] = {"white space": tokenize, "plain words": plain_words}


class Vocabulary:
    """The most frequent words of some texts; ties go to the word that sorts first.

    tokens : one of TOKENIZERS.  max_words : how many words are kept, PADDING and UNKNOWN not among them.
    """

    def __init__(self, texts: Sequence[str], tokens: str = "white space", max_words: int = 50_000):
        self.cut = TOKENIZERS[tokens]
        counts = Counter(word for text in texts for word in self.cut(text))
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        self.words = ranked[:max_words]
        self.number_of_word = {word: number for number, word in enumerate(self.words, start=N_SPECIAL)}

    def __len__(self) -> int:
        """Numbers that a word may have, PADDING and UNKNOWN among them."""
        return len(self.words) + N_SPECIAL

    def documents(self, texts: Sequence[str], max_tokens: int) -> Ragged:
        """The first `max_tokens` words of every text; a text without words is one unknown word."""
        number, rows = self.number_of_word.get, []
        for text in texts:
            rows.append([number(word, UNKNOWN) for word in self.cut(text)[:max_tokens]] or [UNKNOWN])
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
        words = np.fromiter((word for row in rows for word in row), dtype=np.int32, count=starts[-1])
        return Ragged(words, starts)
