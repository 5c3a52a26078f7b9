"""Kernels of EAGLE: one label after the other; its embedding is never kept, and rarely asked.

An embedding is a weighted sum of the label's samples, and Algorithm 1 asks it for nothing but which sample of a group
is closest. So a label's state is two numbers per sample (`learn_label`), which tell where its cosine goes while the
choices stay as they are, and nearly so when few of them change. A group's features are read again only where that is
not enough to know its closest sample.

Strict floating point, float64, sums in the order of groups and samples: the same bits from any number of threads.
"""

import numpy as np

from orchard.jit import njit

# Rows are float32, so that cosines that are equal on paper differ by this much: the two samples of the only group of a
# label are equally close to their sum.
TIE = 1e-6


@njit(nogil=True, cache=True)
def dot(X, sample, dense):
    """⟨x, dense⟩; four sums that need not wait for each other."""
    indptr, indices, data = X
    # Slices, and unsigned indices: numba then knows that no index is negative.
    features, values = indices[indptr[sample] : indptr[sample + 1]], data[indptr[sample] : indptr[sample + 1]]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    in_fours = values.size // 4 * 4
    for e in range(0, in_fours, 4):
        a += values[e] * dense[features[e]]
        b += values[e + 1] * dense[features[e + 1]]
        c += values[e + 2] * dense[features[e + 2]]
        d += values[e + 3] * dense[features[e + 3]]
    for e in range(in_fours, values.size):
        a += values[e] * dense[features[e]]
    return (a + b) + (c + d)


@njit(nogil=True, cache=True)
def two_dots(X, sample, one, other):
    """(⟨x, one⟩, ⟨x, other⟩)."""
    indptr, indices, data = X
    features, values = indices[indptr[sample] : indptr[sample + 1]], data[indptr[sample] : indptr[sample + 1]]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    in_twos = values.size // 2 * 2
    for e in range(0, in_twos, 2):
        a += values[e] * one[features[e]]
        b += values[e] * other[features[e]]
        c += values[e + 1] * one[features[e + 1]]
        d += values[e + 1] * other[features[e + 1]]
    if in_twos < values.size:
        a += values[in_twos] * one[features[in_twos]]
        b += values[in_twos] * other[features[in_twos]]
    return a + c, b + d


@njit(nogil=True, cache=True)
def row_dots(X, dense, products):
    """⟨x, dense⟩ for all rows."""
    for sample in range(products.size):
        products[sample] = dot(X, sample, dense)


@njit(nogil=True, cache=True)
def add_row(X, mean, sample, weight, sums, total):
    """sums += weight · x, and its total (see `centred`) likewise."""
    indptr, indices, data = X
    features, values = indices[indptr[sample] : indptr[sample + 1]], data[indptr[sample] : indptr[sample + 1]]
    for e in range(values.size):
        sums[features[e]] += weight * values[e]
    total[0] += weight
    total[1] += weight * mean[0][sample]


@njit(nogil=True, cache=True)
def clear_rows(X, samples, n, sums):
    """sums = 0 wherever one of the first n samples has a feature; all of it, where reading these takes longer."""
    indptr, indices, _ = X
    n_entries = 0
    for m in range(n):
        n_entries += indptr[samples[m] + 1] - indptr[samples[m]]
    if n_entries > sums.size // 4:
        sums[:] = 0.0
        return
    for m in range(n):
        for feature in indices[indptr[samples[m]] : indptr[samples[m] + 1]]:
            sums[feature] = 0.0


@njit(nogil=True, cache=True)
def centred(product, total, mean, sample):
    """⟨v, x − μ⟩ for v = Σ a·(x − μ), from product = ⟨Σ a·x, x⟩ and total = (Σ a, Σ a·⟨μ, x⟩).

    mean : (⟨μ, xᵢ⟩ of every sample, ‖μ‖²), or zeros where nothing is subtracted.
    """
    mean_dots, mean_square = mean
    return product - total[0] * mean_dots[sample] - (total[1] - total[0] * mean_square)


@njit(nogil=True, cache=True)
def read_group(X, mean, samples, begin, end, Q, S, totals, now, values, products, read_at):
    """values[m] = ⟨F, xₘ⟩ and products[m] = ⟨S, xₘ⟩ for the members begin … end − 1, with F = Q + C · S.

    now, read_at : (C, walked, path), see `since`.
    """
    C = now[0]
    read_at[0], read_at[1], read_at[2] = now
    for m in range(begin, end):
        q, s = two_dots(X, samples[m], Q, S)
        products[m] = centred(s, totals[1], mean, samples[m])
        values[m] = centred(q, totals[0], mean, samples[m]) + C * products[m]


@njit(nogil=True, cache=True)
def lead(begin, end, values, products, steps):
    """By how much the first of a group is ahead of the second in values + steps · products."""
    best, second = -np.inf, -np.inf
    for m in range(begin, end):
        value = values[m] + steps * products[m]
        second = max(second, min(best, value))
        best = max(best, value)
    return best - second


@njit(nogil=True, cache=True)
def choose_closest(begin, end, values, products, steps, tie, chosen, is_new):
    """chosen[m] = whether values + steps · products is the largest of a group, ties included; is_new[m]: it changed.

    Returns whether any choice changed.
    """
    best = -np.inf
    for m in range(begin, end):
        best = max(best, values[m] + steps * products[m])
    changed = False
    for m in range(begin, end):
        is_best = values[m] + steps * products[m] >= best - tie
        is_new[m] = chosen[m] != is_best
        changed |= is_new[m]
        chosen[m] = is_best
    return changed


@njit(nogil=True, cache=True)
def since(read_at, C, walked, diameter):
    """(steps, doubt) since a group was read: ⟨F, x − x'⟩ is that of values + steps · products, up to the doubt.

    read_at : C, walked (Σ c · path over all steps c) and the length of the path of S at that time.
    """
    steps = C - read_at[0]
    return steps, diameter * (walked - read_at[1] - read_at[2] * steps)


@njit(nogil=True, cache=True)
def move_rows(X, mean, members, Q, S, totals, C, values, products, coefficients):
    """Rows that are chosen now join S, those that are no more leave it, and Q makes up for it: F stays.

    members : (samples, weights, chosen, is_new).
    Returns (‖S after − S before‖, ‖S after‖² − ‖S before‖², ⟨F, S after − S before⟩).
    """
    samples, weights, chosen, is_new = members
    turn, square, product = 0.0, 0.0, 0.0
    for m in range(samples.size):
        if is_new[m]:
            sample, weight = samples[m], weights[m] if chosen[m] else -weights[m]
            around = centred(dot(X, sample, S), totals[1], mean, sample)
            add_row(X, mean, sample, weight, S, totals[1])
            around += centred(dot(X, sample, S), totals[1], mean, sample)  # w · around = ‖S + wx‖² − ‖S‖²
            if C > 0:
                add_row(X, mean, sample, -C * weight, Q, totals[0])
            turn += weight * (around - 2 * products[m])
            square += weight * around
            product += weight * values[m]
            coefficients[m] -= C * weight
    return np.sqrt(max(turn, 0.0)), square, product


@njit(nogil=True, cache=True)
def learn_label(X, mean, begins, n_groups, samples, weights, wanted, rule, scratch, values, coefficients):
    """GRLR (Algorithm 1) for one label: values[m] = ⟨e_T, xₘ⟩ and e_T = Σ coefficients[m] · xₘ.

    The embedding is e = F / ‖F‖ with F = Q + C · S, where S = Σ a w x is the sum over the samples that are chosen. A
    step adds to C; a choice that changes moves a row between S and Q. What was read of a group, ⟨F, x⟩ and ⟨S, x⟩,
    tells ⟨F, x⟩ after some steps but for what S has changed meanwhile. The length of the path of S bounds that, so who
    leads by more than this doubt is the closest sample for certain; other groups are read again.

    begins, samples, weights : the members of group j of the label are samples[begins[j] : begins[j + 1]], and so are
        their weights, the label's count in the group.
    wanted : how many members of each group get the label. Values are as good as that needs: where nobody or everybody
        gets it they may be out of date, where one does the largest is that of the closest sample, else all are exact.
    rule : (T, λ, a bound of ‖x − x'‖ for any two samples).
    scratch : (Q (d,), S (d,), products (n,), chosen (n,), is_new (n,), read_at (m, 3)); Q and S are zeros, and zeros
        again on return.
    """
    iterations, step, diameter = rule
    Q, S, products, chosen, is_new, read_at = scratch
    n = begins[n_groups]
    totals = np.zeros((2, 2))  # of Q and S, see `centred`
    for m in range(n):
        add_row(X, mean, samples[m], weights[m], Q, totals[0])
        coefficients[m] = weights[m]
        chosen[m] = False
        products[m] = 0.0
    square_F, FS, square_S = 0.0, 0.0, 0.0  # ‖F‖², ⟨F, S⟩, ‖S‖²
    for m in range(n):
        values[m] = centred(dot(X, samples[m], Q), totals[0], mean, samples[m])
        square_F += weights[m] * values[m]
    C = path = walked = 0.0  # path: of S, the sum of its changes; walked: Σ c · path over the steps c
    read_at[:n_groups] = 0.0  # C, walked and path when a group was read
    # A sum of rows that cancel out is zero but for rounding: it has no direction.
    has_embedding = square_F > 1e-12 * totals[0, 0] ** 2
    if not has_embedding:
        values[:n] = 0.0
        coefficients[:n] = 0.0
        iterations = 0
    for t in range(iterations):
        norm = np.sqrt(square_F) if has_embedding else 1.0
        tie, now = TIE * norm, (C, walked, path)
        changed = False
        for group in range(n_groups):
            begin, end = begins[group], begins[group + 1]
            steps, doubt = since(read_at[group], C, walked, diameter)
            is_read = t == 0
            if doubt > 1e-12 * norm and lead(begin, end, values, products, steps) <= doubt + 2 * tie:
                read_group(X, mean, samples, begin, end, Q, S, totals, now, values, products, read_at[group])
                is_read, steps = True, 0.0
            if choose_closest(begin, end, values, products, steps, tie, chosen, is_new):
                changed = True
                if not is_read:  # what changes S has to be known exactly
                    read_group(X, mean, samples, begin, end, Q, S, totals, now, values, products, read_at[group])
        if changed:
            moved = samples[:n], weights, chosen, is_new
            turn, more_S, more_FS = move_rows(X, mean, moved, Q, S, totals, C, values, products, coefficients)
            square_S += more_S
            FS += more_FS
            if t == 0:
                for m in range(n):
                    products[m] = centred(dot(X, samples[m], S), totals[1], mean, samples[m])
            else:
                path += turn
        if square_S <= 1e-12 * totals[1, 0] ** 2:
            break  # g = 0, now and for ever: e stays
        added = step * norm / np.sqrt(square_S)  # e + λg = (F + added · S) / ‖F‖
        before = square_F
        square_F += 2 * added * FS + added * added * square_S
        FS += added * square_S
        C += added
        walked += added * path
        has_embedding = square_F > 1e-12 * before
        if not has_embedding or square_F > 1e20:  # F grows by up to 1 + λ a step
            scale = 1 / np.sqrt(square_F) if has_embedding else 0.0
            Q *= scale
            totals[0] *= scale
            values[:n] *= scale
            coefficients[:n] *= scale
            read_at[:n_groups, :2] *= scale
            C, walked, FS, square_F = C * scale, walked * scale, FS * scale, square_F * scale * scale
    norm, now = np.sqrt(square_F) if has_embedding else 1.0, (C, walked, path)
    for group in range(n_groups):
        begin, end = begins[group], begins[group + 1]
        steps, doubt = since(read_at[group], C, walked, diameter)
        is_known = doubt <= 1e-12 * norm or wanted[group] == 0 or wanted[group] >= end - begin
        if not is_known and wanted[group] == 1:
            is_known = lead(begin, end, values, products, steps) > doubt + 2 * TIE * norm
        if not is_known:
            read_group(X, mean, samples, begin, end, Q, S, totals, now, values, products, read_at[group])
            steps = 0.0
        for m in range(begin, end):
            values[m] = (values[m] + steps * products[m]) / norm
    for m in range(n):
        coefficients[m] = (coefficients[m] + (C * weights[m] if chosen[m] else 0.0)) / norm
    clear_rows(X, samples, n, Q)
    if iterations > 0:
        clear_rows(X, samples, n, S)


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

    X : CSR (indptr, indices, data), unit rows.  mean : see `centred`.
    Y1 : the samples of every group (indptr, samples).  Y2 : the groups of every label (indptr, groups, counts).
    wanted : for every entry of Y2, how many samples of the group get the label.  rule : see `learn_label`.
    out_samples : receives the samples that get label `first`, then those of the next one …; out_sizes : (L,), how many.
    out_members, out_weights : receive the embeddings: samples of all members, and their coefficients; empty if nobody
        asks for them.
    """
    group_indptr, group_samples = Y1
    label_indptr, label_groups, label_counts = Y2
    begins = np.zeros(group_indptr.size, np.int64)
    scratch = (
        np.zeros(n_features),
        np.zeros(n_features),
        np.empty(most_members),
        np.empty(most_members, np.bool_),
        np.empty(most_members, np.bool_),
        np.empty((begins.size, 3)),
    )
    values, coefficients, weights = np.empty(most_members), np.empty(most_members), np.empty(most_members)
    samples = np.empty(most_members, np.int32)
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
        learn_label(
            X, mean, begins, end - begin, samples, weights, wanted[begin:end], rule, scratch, values, coefficients
        )
        if out_members.size:
            out_members[n_written : n_written + n] = samples[:n]
            out_weights[n_written : n_written + n] = coefficients[:n]
            n_written += n
        out_sizes[label] = assign_best(
            begins, end - begin, samples, values, wanted[begin:end], out_samples[n_assigned:]
        )
        n_assigned += out_sizes[label]
