"""Kernels of hierarchical softmax: stochastic gradient steps down the paths of labels, and best-first search.

Vectors are padded with zeros to rows of LANES floats, which `orchard.linear._lanes` keeps in registers; a longer one is
several rows, each in a block of its own: embeddings are [block, feature, lane].
"""

import math

import numpy as np

from orchard.jit import njit
from orchard.linear._lanes import lanes_add, lanes_dot_in_order

LANES = 64
_SUMS = 16  # partial sums of a dot product: the same ones, whatever the machine's vectors are
ZERO, ONE = np.float32(0), np.float32(1)


@njit(nogil=True, cache=True)
def next_random(state):
    """64 random bits (splitmix64); state : uint64 (1,)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(nogil=True, cache=True)
def random_below(state, n):
    """A random integer of 0 … n − 1; n is below 2³¹, so that the upper 32 bits do, scaled."""
    return np.int64(((next_random(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@njit(nogil=True, cache=True)
def weighted_sum(embeddings, indices, values, begin, end, total):
    """total = Σ values[e] · the embedding of indices[e], e = begin … end − 1; total : float32 (blocks · LANES,)."""
    for block in range(embeddings.shape[0]):
        lanes = total[block * LANES : (block + 1) * LANES]
        lanes_dot_in_order(LANES, embeddings[block], indices, values, begin, end, lanes)


@njit(nogil=True, cache=True)
def add_to_rows(embeddings, indices, values, begin, end, step):
    """Add values[e] · step to the embedding of indices[e], e = begin … end − 1; step : float32 (blocks · LANES,)."""
    for block in range(embeddings.shape[0]):
        lanes = step[block * LANES : (block + 1) * LANES]
        lanes_add(LANES, embeddings[block], indices, values, begin, end, lanes)


@njit(nogil=True, cache=True)
def dot(a, b, sums):
    """⟨a, b⟩, of lengths that are multiples of _SUMS; sums : float32 (_SUMS,), scratch."""
    for lane in range(_SUMS):
        sums[lane] = ZERO
    for first in range(0, a.size, _SUMS):
        for lane in range(_SUMS):
            sums[lane] += a[first + lane] * b[first + lane]
    for lane in range(8):
        sums[lane] += sums[lane + 8]
    for lane in range(4):
        sums[lane] += sums[lane + 4]
    return (sums[0] + sums[2]) + (sums[1] + sums[3])


@njit(nogil=True, cache=True)
def scale(vector, factor):
    for lane in range(vector.size):
        vector[lane] *= factor


@njit(nogil=True, cache=True)
def sigmoid(z):
    return ONE / (ONE + np.float32(math.exp(-z)))


@njit(nogil=True, cache=True)
def train(X, divisors, Y, tree, embeddings, outputs, learning_rate, epochs, state):
    """Stochastic gradient steps on −log p(label): samples in their order, a random label of each at a time.

    X : CSR arrays.  divisors : float32 (n,), Σ x of every row; a row of 0 is skipped.  Y : CSR arrays without data.
    tree : (the parent of every node, 1 for its second child and 0 for the first, its row of outputs, labels' leaves).
    embeddings : float32 (blocks, n_features, LANES).  outputs : float32 (n_inner, blocks · LANES).  Both are updated.
    The learning rate falls to 0 in proportion to the Σ x that were seen.  state : uint64 (1,), of `next_random`.
    """
    indptr, indices, values = X
    label_indptr, labels = Y
    parent, is_second, row_of, leaf_of = tree
    n, dimension = divisors.size, outputs.shape[1]
    hidden, gradient = np.empty(dimension, np.float32), np.empty(dimension, np.float32)
    sums = np.empty(_SUMS, np.float32)
    total, seen = 0.0, 0.0
    for sample in range(n):
        total += divisors[sample]
    total *= epochs
    for _ in range(epochs):
        for sample in range(n):
            first_label, n_labels = label_indptr[sample], label_indptr[sample + 1] - label_indptr[sample]
            divisor = divisors[sample]
            if n_labels == 0 or divisor == 0:
                seen += divisor
                continue
            begin, end = indptr[sample], indptr[sample + 1]
            rate = np.float32(learning_rate * (1 - seen / total))
            seen += divisor
            weighted_sum(embeddings, indices, values, begin, end, hidden)
            scale(hidden, ONE / divisor)
            gradient[:] = ZERO
            node = leaf_of[labels[first_label + random_below(state, n_labels)]]
            while node > 0:
                truth = is_second[node]
                node = parent[node]
                weights = outputs[row_of[node]]
                step = rate * (truth - sigmoid(dot(hidden, weights, sums)))
                for lane in range(dimension):
                    old = weights[lane]
                    gradient[lane] += step * old
                    weights[lane] = old + step * hidden[lane]
            scale(gradient, ONE / divisor)
            add_to_rows(embeddings, indices, values, begin, end, gradient)


@njit(nogil=True, cache=True)
def log_sigmoid(z):
    """float64, without overflow."""
    z = np.float64(z)
    return -math.log1p(math.exp(-z)) if z > 0 else z - math.log1p(math.exp(z))


@njit(nogil=True, cache=True)
def push(score, node, size, heap_scores, heap_nodes):
    """Add a node to a heap of `size` nodes, whose largest score is at 0."""
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if heap_scores[above] >= score:
            break
        heap_scores[place], heap_nodes[place] = heap_scores[above], heap_nodes[above]
        place = above
    heap_scores[place], heap_nodes[place] = score, node


@njit(nogil=True, cache=True)
def drop_first(size, heap_scores, heap_nodes):
    """Remove the node at 0 of a heap of `size` nodes."""
    last = size - 1
    score, node = heap_scores[last], heap_nodes[last]
    place = 0
    while 2 * place + 1 < last:
        below = 2 * place + 1
        if below + 1 < last and heap_scores[below + 1] > heap_scores[below]:
            below += 1
        if score >= heap_scores[below]:
            break
        heap_scores[place], heap_nodes[place] = heap_scores[below], heap_nodes[below]
        place = below
    heap_scores[place], heap_nodes[place] = score, node


@njit(nogil=True, cache=True)
def best_labels(X, first, last, tree, embeddings, outputs, ids, scores, depths):
    """The most probable labels of the rows first … last − 1 of X, best first, by best-first search: nothing is missed.

    A path's probability only falls, so a leaf that is on top of the heap is at least as probable as all that is left.
    tree : (children, the row of `outputs` of every node, the label of every leaf, the depth of every node).
    ids, scores, depths : int32, float32, float32 (n, k), filled with −1, −∞ and NaN, receive the labels.
    """
    indptr, indices, values = X
    children, row_of, label_of, depth = tree
    k = ids.shape[1]
    hidden, sums = np.empty(outputs.shape[1], np.float32), np.empty(_SUMS, np.float32)
    room = (children.size + 1) // 2  # the nodes in the heap are in no path of each other: at most as many as leaves
    heap_scores, heap_nodes = np.empty(room + 1, np.float64), np.empty(room + 1, np.int64)
    for sample in range(first, last):
        begin, end = indptr[sample], indptr[sample + 1]
        divisor = ZERO
        for e in range(begin, end):
            divisor += values[e]
        weighted_sum(embeddings, indices, values, begin, end, hidden)
        scale(hidden, ONE / divisor if divisor > 0 else ZERO)
        heap_scores[0], heap_nodes[0] = 0.0, 0
        size, n_found = 1, 0
        while size > 0 and n_found < k:
            score, node = heap_scores[0], heap_nodes[0]
            drop_first(size, heap_scores, heap_nodes)
            size -= 1
            child = children[node]
            if child == children[node + 1]:
                ids[sample, n_found] = label_of[node]
                scores[sample, n_found] = math.exp(score)
                depths[sample, n_found] = depth[node]
                n_found += 1
                continue
            z = dot(hidden, outputs[row_of[node]], sums)
            push(score + log_sigmoid(-z), child, size, heap_scores, heap_nodes)
            push(score + log_sigmoid(z), child + 1, size + 1, heap_scores, heap_nodes)
            size += 2
