"""What surrounds the solver: who trains where, a node's samples in local feature ids, weights packed for search."""

import numpy as np

from orchard.jit import njit
from orchard.linear._layout_kernels import pack, set_bits_ascending


@njit(nogil=True, cache=True)
def nodes_of_samples(Y_indptr, Y_indices, leaf_indptr, leaf_indices, parent, last_seen, indptr, nodes):
    """The root and the nodes on the paths from it to a sample's labels: teacher forcing.

    leaf_indptr, leaf_indices : CSR, the leaves of every label.  last_seen : int64 (n_nodes,), −1.
    Called twice: with `nodes` empty it fills indptr[i + 1] with the number of nodes up to sample i, then `nodes`.
    """
    n_found = 0
    for i in range(Y_indptr.size - 1):
        last_seen[0] = i
        if nodes.size:
            nodes[n_found] = 0
        n_found += 1
        for y in range(Y_indptr[i], Y_indptr[i + 1]):
            label = Y_indices[y]
            for place in range(leaf_indptr[label], leaf_indptr[label + 1]):
                node = leaf_indices[place]
                while last_seen[node] != i:
                    last_seen[node] = i
                    if nodes.size:
                        nodes[n_found] = node
                    n_found += 1
                    node = parent[node]
        indptr[i + 1] = n_found


@njit(nogil=True, cache=True)
def transpose(indptr, indices, n_columns):
    """The rows of every column, ascending: (column_indptr int64, row_ids int32)."""
    column_indptr = np.zeros(n_columns + 1, np.int64)
    for column in indices:
        column_indptr[column + 1] += 1
    for column in range(n_columns):
        column_indptr[column + 1] += column_indptr[column]
    free = column_indptr[:-1].copy()
    row_ids = np.empty(indices.size, np.int32)
    for row in range(indptr.size - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            column = indices[entry]
            row_ids[free[column]] = row
            free[column] += 1
    return column_indptr, row_ids


@njit(nogil=True, cache=True)
def gather(X, samples, occurrences, bitmap):
    """The rows of a node's samples with features numbered from 0: only such as occur, so that W stays in the cache.

    A feature that one sample alone has needs no weight while training: there w_f = y·α·x_f, so that all such features
    of a sample count as one number, the sum of their squares ('private').

    X : CSR arrays.  samples : int32, ascending.  occurrences : int32 (d,), zeros; bitmap : uint64 (⌈d/64⌉,), zeros;
    both zeros again on return.
    Returns the rows (indptr, indices, data), features (local id → feature), private squares (n,), and the private
    entries as CSR (indptr, features, data) with the largest |data| of every sample.
    """
    X_indptr, X_indices, X_data = X
    n = samples.size
    n_entries = 0
    n_seen = 0
    for i in range(n):
        for entry in range(X_indptr[samples[i]], X_indptr[samples[i] + 1]):
            feature = X_indices[entry]
            n_seen += 1 if occurrences[feature] == 0 else 0
            occurrences[feature] += 1
            bitmap[feature >> 6] |= np.uint64(1) << np.uint64(feature & 63)
            n_entries += 1

    seen = np.empty(n_seen, np.int32)
    set_bits_ascending(bitmap, seen)
    features = np.empty(n_seen, np.int32)
    n_features, n_private = 0, 0
    for feature in seen:  # from here on `occurrences` holds local id + 1, or −1
        if occurrences[feature] == 1:
            occurrences[feature] = -1
            n_private += 1
        else:
            features[n_features] = feature
            n_features += 1
            occurrences[feature] = n_features

    indptr = np.zeros(n + 1, np.int64)
    indices = np.empty(n_entries - n_private, np.int32)
    data = np.empty(n_entries - n_private, np.float32)
    private = np.zeros(n, np.float32)
    private_indptr = np.zeros(n + 1, np.int64)
    private_features = np.empty(n_private, np.int32)
    private_data = np.empty(n_private, np.float32)
    largest = np.zeros(n, np.float32)
    at, private_at = 0, 0
    for i in range(n):
        for entry in range(X_indptr[samples[i]], X_indptr[samples[i] + 1]):
            feature = X_indices[entry]
            local = occurrences[feature]
            if local > 0:
                indices[at] = local - 1
                data[at] = X_data[entry]
                at += 1
            else:
                private_features[private_at] = feature
                private_data[private_at] = X_data[entry]
                private[i] += X_data[entry] * X_data[entry]
                largest[i] = max(largest[i], abs(X_data[entry]))
                private_at += 1
        indptr[i + 1] = at
        private_indptr[i + 1] = private_at
    for feature in seen:
        occurrences[feature] = 0
    private_entries = (private_indptr, private_features, private_data, largest)
    return (indptr, indices, data), features[:n_features], private, private_entries


@njit(nogil=True, cache=True)
def by_output(n_outputs, found):
    """Weights found in any order, output by output: (output_indptr, features, weights)."""
    outputs, features, weights = found
    output_indptr = np.zeros(n_outputs + 1, np.int64)
    for output in outputs:
        output_indptr[output + 1] += 1
    for output in range(n_outputs):
        output_indptr[output + 1] += output_indptr[output]
    free = output_indptr[:-1].copy()
    ordered_features, ordered_weights = np.empty_like(features), np.empty_like(weights)
    for entry in range(outputs.size):
        place = free[outputs[entry]]
        free[outputs[entry]] += 1
        ordered_features[place], ordered_weights[place] = features[entry], weights[entry]
    return output_indptr, ordered_features, ordered_weights


@njit(nogil=True, cache=True)
def prepare(X, samples, position, occurrences, bitmap):
    """What the solver needs of a node's samples: `gather`, or X itself for one-vs-all and the root, without a copy.

    X : CSR arrays of the training rows.  samples : int32, ascending, the rows that the node sees.
    position : int32 (n,), −1; receives where each of the samples stands among them.
    """
    for i in range(samples.size):
        position[samples[i]] = i
    if samples.size < X[0].size - 1:
        return gather(X, samples, occurrences, bitmap)
    features, private = np.arange(occurrences.size).astype(np.int32), np.zeros(samples.size, np.float32)
    return X, features, private, (np.zeros(samples.size + 1, np.int64), features[:0], private[:0], private)


@njit(nogil=True, cache=True)
def rows_with(row_features, row_counts, features, counts, bitmap):
    """Rows and more weights, one for each of `features`: the features, ascending, and how many weights each has.

    counts, bitmap : as in `pack_outputs`.
    """
    n_rows = row_features.size
    for row in range(n_rows):
        feature = row_features[row]
        counts[feature] = row_counts[row]
        bitmap[feature >> 6] |= np.uint64(1) << np.uint64(feature & 63)
    for feature in features:
        n_rows += 1 if counts[feature] == 0 else 0
        counts[feature] += 1
        bitmap[feature >> 6] |= np.uint64(1) << np.uint64(feature & 63)
    all_features, all_counts = np.empty(n_rows, np.int32), np.empty(n_rows, np.int32)
    set_bits_ascending(bitmap, all_features)
    for row in range(n_rows):
        all_counts[row] = counts[all_features[row]]
        counts[all_features[row]] = 0
    return all_features, all_counts


@njit(nogil=True, cache=True)
def pack_outputs(output_indptr, features, weights, counts, bitmap, kind):
    """Turn weights that stand output by output into one row per feature, laid out for search: (table, words).

    counts : int32 (d,), zeros; bitmap : uint64 (⌈d/64⌉,), zeros; both zeros again on return.  kind : see `pack`.
    """
    n_rows = 0
    for feature in features:
        n_rows += 1 if counts[feature] == 0 else 0
        counts[feature] += 1
        bitmap[feature >> 6] |= np.uint64(1) << np.uint64(feature & 63)
    row_features = np.empty(n_rows, np.int32)
    set_bits_ascending(bitmap, row_features)
    row_begins = np.zeros(n_rows + 1, np.int64)
    for row in range(n_rows):
        row_begins[row + 1] = row_begins[row] + counts[row_features[row]]
        counts[row_features[row]] = row_begins[row]
    row_outputs = np.empty(features.size, np.int32)
    row_weights = np.empty(features.size, np.float32)
    for output in range(output_indptr.size - 1):
        for entry in range(output_indptr[output], output_indptr[output + 1]):
            place = counts[features[entry]]
            counts[features[entry]] += 1
            row_outputs[place] = output
            row_weights[place] = weights[entry]
    for feature in row_features:
        counts[feature] = 0
    return pack(row_features, row_begins, row_outputs, row_weights, output_indptr.size - 1, kind)
