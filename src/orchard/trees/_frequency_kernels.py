"""The greedy construction of f̃ (labeltrees, Algorithm 1) on flat arrays."""

import numpy as np

from orchard.jit import njit


@njit(nogil=True, cache=True)
def goes_first(label, other, keys):
    return keys[label] > keys[other] or (keys[label] == keys[other] and label < other)


@njit(nogil=True, cache=True)
def sift_down(heap, size, place, keys):
    """Let the label at `place` sink until both of those under it come after it."""
    while True:
        first, left = place, 2 * place + 1
        for child in (left, left + 1):
            if child < size and goes_first(heap[child], heap[first], keys):
                first = child
        if first == place:
            return
        heap[place], heap[first] = heap[first], heap[place]
        place = first


@njit(nogil=True, cache=True)
def take_greedily(row_indptr, row_labels, label_indptr, label_rows, p, frequencies):
    """f̃, float64 (n_labels,).  frequencies : Yᵀp, float64 (n_labels,), is used up; Y by rows and by labels.

    What a label still has is summed anew from its contexts when it comes to the top: sums that are only subtracted from
    never get back to zero.
    """
    n_labels = label_indptr.size - 1
    is_left = np.ones(row_indptr.size - 1, np.bool_)
    is_stale = np.zeros(n_labels, np.bool_)
    f = np.zeros(n_labels)
    heap, size = np.arange(n_labels), n_labels
    for place in range(n_labels // 2 - 1, -1, -1):
        sift_down(heap, size, place, frequencies)
    while size > 0:
        label = heap[0]
        if is_stale[label]:
            total = 0.0
            for e in range(label_indptr[label], label_indptr[label + 1]):
                total += p[label_rows[e]] if is_left[label_rows[e]] else 0.0
            frequencies[label], is_stale[label] = total, False
            sift_down(heap, size, 0, frequencies)
            continue
        if frequencies[label] <= 0:
            break
        f[label] = frequencies[label]
        size -= 1
        heap[0] = heap[size]
        sift_down(heap, size, 0, frequencies)
        for e in range(label_indptr[label], label_indptr[label + 1]):
            row = label_rows[e]
            if is_left[row]:
                is_left[row] = False
                for entry in range(row_indptr[row], row_indptr[row + 1]):
                    is_stale[row_labels[entry]] = True
    return f
