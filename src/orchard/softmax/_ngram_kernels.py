"""The hash of words."""

import numpy as np

from orchard.jit import njit

_FNV_BASIS, _FNV_PRIME = np.uint32(2166136261), np.uint32(16777619)


@njit(nogil=True, cache=True)
def hash_words(letters, ends, hashes):
    """FNV-1a of every word, 32 bits; as in fastText a byte above 127 is negative, so it flips the upper bits too.

    letters : uint8, the words one after the other.  ends : int64 (n_words,).  hashes : uint32 (n_words,), the result.
    """
    begin = 0
    for word in range(ends.size):
        value = _FNV_BASIS
        for at in range(begin, ends[word]):
            value = np.uint32((value ^ np.uint32(np.int8(letters[at]))) * _FNV_PRIME)
        hashes[word] = value
        begin = ends[word]
