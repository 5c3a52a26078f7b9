"""Kernels of EAGLE: one label after the other, never its embedding.

An embedding is a weighted sum of the label's samples, and Algorithm 1 asks it for nothing but inner products with them.
So a label's state is one number per sample, ⟨e, xᵢ⟩. A step needs ⟨g, xᵢ⟩ as well, which stays as it is while every
group chooses the sample that it chose before: features are read again only after a choice has changed.

Strict floating point, float64, sums in the order of groups and samples: the same bits from any number of threads.
"""

import numpy as np
from numba import njit

# Rows are float32, so that cosines that are equal on paper differ by this much: the two samples of the only group of a
# label are equally close to their sum.
TIE = 1e-6


@njit(nogil=True, cache=True)
def dot(begin, end, indices, data, dense):
    """⟨row, dense⟩ for the sparse row begin … end − 1; four sums that need not wait for each other."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    entry = begin
    while entry + 4 <= end:
        a += data[entry] * dense[indices[entry]]
        b += data[entry + 1] * dense[indices[entry + 1]]
        c += data[entry + 2] * dense[indices[entry + 2]]
        d += data[entry + 3] * dense[indices[entry + 3]]
        entry += 4
    while entry < end:
        a += data[entry] * dense[indices[entry]]
        entry += 1
    return (a + b) + (c + d)


@njit(nogil=True, cache=True)
def row_dots(indptr, indices, data, dense, products):
    """⟨row, dense⟩ for all rows."""
    for row in range(products.size):
        products[row] = dot(indptr[row], indptr[row + 1], indices, data, dense)


@njit(nogil=True, cache=True)
def add_row(begin, end, indices, data, weight, dense):
    """dense += weight · row."""
    for entry in range(begin, end):
        dense[indices[entry]] += weight * data[entry]


@njit(nogil=True, cache=True)
def clear_rows(X, samples, n, dense):
    """dense = 0 wherever one of the first n samples has a feature; all of it, where reading these takes longer."""
    indptr, indices, _ = X
    n_entries = 0
    for m in range(n):
        n_entries += indptr[samples[m] + 1] - indptr[samples[m]]
    if n_entries > dense.size // 4:
        dense[:] = 0.0
        return
    for m in range(n):
        for entry in range(indptr[samples[m]], indptr[samples[m] + 1]):
            dense[indices[entry]] = 0.0


@njit(nogil=True, cache=True)
def project_products(X, mean, samples, weights, chosen, n, dense, products):
    """products[m] = ⟨g, xₘ⟩ for g = Proj(Σ chosen · weight · x), whose sum without the mean row is `dense`.

    mean : (⟨μ, xᵢ⟩ of every sample, ‖μ‖²); every x is x − μ then, or x itself where both are zero.
    Returns whether g is not zero.
    """
    indptr, indices, data = X
    mean_dots, mean_square = mean
    total, shift = 0.0, 0.0
    for m in range(n):
        if chosen[m]:
            total += weights[m]
            shift += weights[m] * mean_dots[samples[m]]
    shift -= total * mean_square
    square = 0.0
    for m in range(n):
        sample = samples[m]
        product = dot(indptr[sample], indptr[sample + 1], indices, data, dense)
        products[m] = product - total * mean_dots[sample] - shift
        if chosen[m]:
            square += weights[m] * products[m]
    # A sum of rows that cancel out is zero but for rounding: it has no direction.
    if square <= 1e-12 * total * total:
        products[:n] = 0.0
        return False
    products[:n] /= np.sqrt(square)
    return True


@njit(nogil=True, cache=True)
def choose_closest(begins, n_groups, values, chosen):
    """chosen[m] = whether values[m] is the largest of its group, ties included; returns whether any choice changed."""
    changed = False
    for group in range(n_groups):
        best = -np.inf
        for m in range(begins[group], begins[group + 1]):
            best = max(best, values[m])
        for m in range(begins[group], begins[group + 1]):
            is_best = values[m] >= best - TIE
            changed |= chosen[m] != is_best
            chosen[m] = is_best
    return changed


@njit(nogil=True, cache=True)
def learn_label(X, mean, begins, n_groups, samples, weights, iterations, step, scratch, values, coefficients):
    """GRLR (Algorithm 1) for one label: values[m] = ⟨e_T, xₘ⟩ and e_T = Σ coefficients[m] · xₘ.

    begins, samples, weights : the members of group j of the label are samples[begins[j] : begins[j + 1]], and so are
        their weights, the label's count in the group.
    scratch : (dense (d,), products (n,), chosen (n,)); dense is zeros, and zeros again on return.
    """
    indptr, indices, data = X
    dense, products, chosen = scratch
    n = begins[n_groups]
    for m in range(n):
        add_row(indptr[samples[m]], indptr[samples[m] + 1], indices, data, weights[m], dense)
        chosen[m] = True
    has_embedding = project_products(X, mean, samples, weights, chosen, n, dense, values)
    norm = 0.0
    for m in range(n):
        norm += weights[m] * values[m]  # ⟨e₀, Σ w x⟩ = ‖Σ w x‖
    for m in range(n):
        coefficients[m] = weights[m] / norm if has_embedding else 0.0
    clear_rows(X, samples, n, dense)
    if iterations == 0:
        return
    chosen[:n] = False
    before = np.empty(n, np.bool_)
    has_direction = False
    for _ in range(iterations):
        before[:] = chosen[:n]
        if choose_closest(begins, n_groups, values, chosen):
            for m in range(n):
                if chosen[m] != before[m]:
                    weight = weights[m] if chosen[m] else -weights[m]
                    add_row(indptr[samples[m]], indptr[samples[m] + 1], indices, data, weight, dense)
            has_direction = project_products(X, mean, samples, weights, chosen, n, dense, products)
        if not has_direction:
            break  # g = 0, now and for ever: e stays
        norm, cosine = 0.0, 0.0
        for m in range(n):
            if chosen[m]:
                norm += weights[m] * products[m]  # ⟨g, Σ a w x⟩ = ‖Σ a w x‖
                cosine += weights[m] * values[m]
        square = (1.0 if has_embedding else 0.0) + 2 * step * cosine / norm + step * step  # of ‖e + λg‖
        has_embedding = square > 1e-12
        scale = 1 / np.sqrt(square) if has_embedding else 0.0
        for m in range(n):
            values[m] = (values[m] + step * products[m]) * scale
            if chosen[m]:
                coefficients[m] += step * weights[m] / norm
            coefficients[m] *= scale
    clear_rows(X, samples, n, dense)


@njit(nogil=True, cache=True)
def assign_best(begins, n_groups, samples, values, wanted, assigned):
    """The wanted[j] members of group j with the largest values, best first, ties to the first; returns their number."""
    n_assigned = 0
    for group in range(n_groups):
        for _ in range(min(wanted[group], begins[group + 1] - begins[group])):
            best = -np.inf
            for m in range(begins[group], begins[group + 1]):
                best = max(best, values[m])
            closest = begins[group]
            while values[closest] < best - TIE:
                closest += 1
            assigned[n_assigned] = samples[closest]
            n_assigned += 1
            values[closest] = -np.inf
    return n_assigned


@njit(nogil=True, cache=True)
def impute(
    X,
    mean,
    Y1,
    Y2,
    wanted,
    rule,
    most_members,
    n_features,
    first,
    last,
    out_samples,
    out_sizes,
    out_members,
    out_weights,
):
    """EAGLE (Algorithm 2) for the labels first … last − 1.

    X : CSR (indptr, indices, data), unit rows.  mean : see `project_products`.
    Y1 : the samples of every group (indptr, samples).  Y2 : the groups of every label (indptr, groups, counts).
    wanted : for every entry of Y2, how many samples of the group get the label.  rule : (iterations, step).
    out_samples : receives the samples that get label `first`, then those of the next one …; out_sizes : (L,), how many.
    out_members, out_weights : receive the embeddings: samples of all members, and their coefficients; empty if nobody
        asks for them.
    """
    group_indptr, group_samples = Y1
    label_indptr, label_groups, label_counts = Y2
    iterations, step = rule
    scratch = np.zeros(n_features), np.empty(most_members), np.empty(most_members, np.bool_)
    values, coefficients, weights = np.empty(most_members), np.empty(most_members), np.empty(most_members)
    samples = np.empty(most_members, np.int32)
    begins = np.zeros(group_indptr.size, np.int64)
    n_assigned, n_written = 0, 0
    for label in range(first, last):
        begin, end = label_indptr[label], label_indptr[label + 1]
        n = 0
        for entry in range(begin, end):
            group = label_groups[entry]
            for place in range(group_indptr[group], group_indptr[group + 1]):
                samples[n] = group_samples[place]
                weights[n] = label_counts[entry]
                n += 1
            begins[entry - begin + 1] = n
        learn_label(X, mean, begins, end - begin, samples, weights, iterations, step, scratch, values, coefficients)
        if out_members.size:
            out_members[n_written : n_written + n] = samples[:n]
            out_weights[n_written : n_written + n] = coefficients[:n]
            n_written += n
        out_sizes[label] = assign_best(
            begins, end - begin, samples, values, wanted[begin:end], out_samples[n_assigned:]
        )
        n_assigned += out_sizes[label]
