"""From the leaves that a search reached to the best k labels: copies merged, trees averaged."""

import numpy as np

from orchard.jit import njit
from orchard.linear._pair_kernels import add_pair, margins_by_bundle, pairs_room
from orchard.linear._scoring_kernels import hits_of, log_gain, margins_alone, scoring_room
from orchard.linear._search_kernels import beam_search, insert_best, row_scales

MEAN, MAX, BEST_PATH = 0, 1, 2  # how several copies of a label become one
SKIPPED = -1  # in place of where margins begin: there are none
ROUNDING = np.float32(1e-5)  # more than what rounding adds to a score, as a share of it
SMALLEST = np.float32(1e-30)  # sums below are rounded by larger shares


@njit(nogil=True, cache=True)
def reach(X, first, last, normalise, tree, weights, combiner, discount, beam):
    """The leaves that the rows first … last − 1 of X reach in one tree.

    Returns (row that is not finite or −1, (scales, memory for scoring), (beam_nodes, beam_scores, beam_sizes)).
    """
    n_queries = last - first
    scales = np.empty(n_queries, np.float32)
    bad_row = row_scales(X, first, last, normalise, scales)
    room = scoring_room(X, first, last, weights)
    beam_nodes = np.empty((n_queries, beam), np.int32)
    beam_scores = np.empty((n_queries, beam), np.float32)
    beam_sizes = np.empty(n_queries, np.int64)
    n_levels = tree[1].size - 2
    beams = (beam_nodes, beam_scores, beam_sizes)
    beam_search(X, first, last, scales, tree, weights, combiner, discount, n_levels, room, *beams)
    return bad_row, (scales, room), beams


@njit(nogil=True, cache=True)
def margins_of_leaves(X, first, scoring, bundle_of, weights, beams, first_place, last_place, room, begins, margins):
    """The margins of the labels in the places first_place … last_place − 1 of every query's beam.

    begins : int64 (n_queries, beam); a place with SKIPPED is left out, the others receive where their margins begin, or
    SKIPPED, if the leaf has no classifier.  room : see `pairs_room`.  Returns `margins`, or a larger array.
    """
    scales, scoring_memory = scoring
    beam_nodes, _, beam_sizes = beams
    output_begins = weights[0]
    n_pairs, n_margins = 0, 0
    for query in range(beam_sizes.size):
        for place in range(first_place, min(last_place, beam_sizes[query])):
            bundle = bundle_of[beam_nodes[query, place]]
            if begins[query, place] == SKIPPED or output_begins[bundle] == output_begins[bundle + 1]:
                begins[query, place] = SKIPPED
                continue
            begins[query, place] = n_margins
            n_pairs, n_margins = add_pair(bundle, query, output_begins, room[0], n_pairs, n_margins)
    return margins_by_bundle(X, first, scales, room, n_pairs, n_margins, weights, scoring_memory, margins)


@njit(nogil=True, cache=True)
def best_of_tree(X, first, last, normalise, tree, labels, weights, combiner, discount, beam, ids, best, depths):
    """The best labels of one tree in which every label stands once.

    A query that is alone takes the leaves of its beam one by one, the best first, and leaves out those whose path
    scores no more than k labels that it has found: no edge adds to a score.

    ids, best, depths : int32, float32, float32 (n, k); the rows first … last − 1 are written: labels, their scores in
    descending order, the depths of their leaves; −1, −∞, NaN where fewer than k labels were reached.
    Returns a row that is not finite, or −1.
    """
    label_indptr, label_indices, node_depths = labels
    bundle_of = tree[3]
    bad_row, scoring, beams = reach(X, first, last, normalise, tree, weights, combiner, discount, beam)
    beam_nodes, beam_scores, beam_sizes = beams
    n_queries, k = last - first, ids.shape[1]
    n_places = beam if n_queries > 1 else 1
    room = pairs_room(n_queries, n_places, weights[0].size)
    begins = np.empty((n_queries, beam), np.int64)
    margins = np.empty(0, np.float32)
    log_scores = best[first:last]  # until the end
    best_items, n_best = np.empty((n_queries, k), np.int64), np.zeros(n_queries, np.int64)
    for first_place in range(0, beam, n_places):
        last_place = min(first_place + n_places, beam)
        for query in range(n_queries):
            for place in range(first_place, min(last_place, beam_sizes[query])):
                is_full = n_best[query] == k
                hopeless = is_full and discount * beam_scores[query, place] <= log_scores[query, k - 1]
                begins[query, place] = SKIPPED if hopeless else 0
        margins = margins_of_leaves(
            X, first, scoring, bundle_of, weights, beams, first_place, last_place, room, begins, margins
        )
        for query in range(n_queries):
            for place in range(first_place, min(last_place, beam_sizes[query])):
                node, score, n_found = beam_nodes[query, place], beam_scores[query, place], n_best[query]
                n_labels = label_indptr[node + 1] - label_indptr[node]
                item, begin = np.int64(place) << 32, begins[query, place]
                if begin != SKIPPED:
                    for number in range(n_labels):
                        total = discount * score + log_gain(margins[begin + number], combiner)
                        n_found = insert_best(total, item | number, n_found, log_scores[query], best_items[query])
                elif n_labels == 1:  # the edge to the leaf is the label's classifier
                    n_found = insert_best(score, item, n_found, log_scores[query], best_items[query])
                n_best[query] = n_found
    for query in range(n_queries):
        row = first + query
        for rank in range(k):
            if rank >= n_best[query]:
                ids[row, rank], best[row, rank], depths[row, rank] = -1, -np.inf, np.nan
                continue
            node = beam_nodes[query, best_items[query, rank] >> 32]
            ids[row, rank] = label_indices[label_indptr[node] + (best_items[query, rank] & 0xFFFFFFFF)]
            best[row, rank] = np.exp(log_scores[query, rank])
            depths[row, rank] = node_depths[node]
    return bad_row


@njit(nogil=True, cache=True)
def labels_of_tree(
    X,
    first,
    last,
    normalise,
    tree,
    labels,
    weights,
    combiner,
    discount,
    beam,
    merge,
    sums,
    copies,
    sum_of_depths,
    best_paths,
    classifiers,
):
    """All labels that each row reached in one tree, copies merged over those reached.

    By their mean, by their maximum, or as exp(best log score of a path + mean log gain of the label's classifiers).
    A copy alone in its leaf has no classifier.
    sums, sum_of_depths, best_paths : float32 (n_labels,), copies, classifiers : int32, zeros; zeros again on return.
    Returns (bad row or −1, indptr, labels, scores, depths); a label's depth is the mean over the copies reached.
    """
    label_indptr, label_indices, node_depths = labels
    bundle_of = tree[3]
    bad_row, scoring, beams = reach(X, first, last, normalise, tree, weights, combiner, discount, beam)
    beam_nodes, beam_scores, beam_sizes = beams
    n_queries = last - first
    room = pairs_room(n_queries, beam, weights[0].size)
    begins = np.zeros((n_queries, beam), np.int64)
    margins = margins_of_leaves(
        X, first, scoring, bundle_of, weights, beams, 0, beam, room, begins, np.empty(0, np.float32)
    )
    n_reached = 0
    for query in range(n_queries):
        for place in range(beam_sizes[query]):
            node = beam_nodes[query, place]
            n_reached += label_indptr[node + 1] - label_indptr[node]
    indptr = np.zeros(n_queries + 1, np.int64)
    found = np.empty(n_reached, np.int32)
    scores, depths = np.empty(n_reached, np.float32), np.empty(n_reached, np.float32)
    n_found = 0
    for query in range(n_queries):
        for place in range(beam_sizes[query]):
            node, begin = beam_nodes[query, place], begins[query, place]
            first_label = label_indptr[node]
            for number in range(label_indptr[node + 1] - first_label):
                label = label_indices[first_label + number]
                path, gain = beam_scores[query, place], np.float32(0)
                if begin != SKIPPED:
                    path, gain = discount * path, log_gain(margins[begin + number], combiner)
                    classifiers[label] += 1
                if copies[label] == 0:
                    found[n_found] = label
                    n_found += 1
                    best_paths[label] = path
                copies[label] += 1
                if merge == BEST_PATH:
                    best_paths[label] = max(best_paths[label], path)
                    sums[label] += gain
                else:
                    score = np.exp(path + gain)
                    sums[label] = max(sums[label], score) if merge == MAX else sums[label] + score
                sum_of_depths[label] += node_depths[node]
        for place in range(indptr[query], n_found):
            label = found[place]
            scores[place] = sums[label] if merge == MAX else sums[label] / copies[label]
            if merge == BEST_PATH:
                scores[place] = np.exp(best_paths[label] + sums[label] / max(classifiers[label], 1))
            depths[place] = sum_of_depths[label] / copies[label]
            sums[label], sum_of_depths[label], copies[label] = 0, 0, 0
            best_paths[label], classifiers[label] = 0, 0
        indptr[query + 1] = n_found
    return bad_row, indptr, found[:n_found], scores[:n_found], depths[:n_found]


@njit(nogil=True, cache=True)
def best_of_trees(first, last, indptrs, labels, scores, depths, sums, found_in, sum_of_depths, ids, best, best_depths):
    """The best labels by the mean score over all trees; a tree that did not reach a label scores it 0.

    indptrs : int64 (n_trees, n_queries + 1), where a query's labels begin in labels, scores, depths, tree after tree.
    sums, found_in, sum_of_depths : as in `labels_of_tree`.  ids, best, best_depths : as in `best_of_tree`.
    """
    n_trees = indptrs.shape[0]
    k = ids.shape[1]
    best_scores, best_labels = np.empty(k, np.float32), np.empty(k, np.int32)
    for query in range(last - first):
        row = first + query
        n_best = 0
        for tree in range(n_trees):
            for place in range(indptrs[tree, query], indptrs[tree, query + 1]):
                sums[labels[place]] += scores[place]
                sum_of_depths[labels[place]] += depths[place]
                found_in[labels[place]] += 1
        for rank in range(k):
            ids[row, rank], best[row, rank], best_depths[row, rank] = -1, -np.inf, np.nan
        for tree in range(n_trees):
            for place in range(indptrs[tree, query], indptrs[tree, query + 1]):
                label = labels[place]
                if found_in[label] > 0:  # the first time that it is met
                    n_best = insert_best(sums[label] / n_trees, label, n_best, best_scores, best_labels)
                    found_in[label] = -found_in[label]
        for rank in range(n_best):
            label = best_labels[rank]
            ids[row, rank], best[row, rank] = label, best_scores[rank]
            best_depths[row, rank] = sum_of_depths[label] / -found_in[label]
        for tree in range(n_trees):
            for place in range(indptrs[tree, query], indptrs[tree, query + 1]):
                sums[labels[place]], sum_of_depths[labels[place]], found_in[labels[place]] = 0, 0, 0


@njit(nogil=True, cache=True)
def best_of_trees_alone(
    X, row, normalise, models, combiner, discount, beam, sums, found_in, sum_of_depths, ids, best, best_depths
):
    """`labels_of_tree` and `best_of_trees` for one query, in several trees without copies: the same to the bit.

    The leaves of all beams are taken one by one, the best first, and those left out none of whose labels can be among
    the best k: what a label has not got yet, it gets from leaves that are no better, from one in every tree.

    models : for every tree what `labels_of_tree` takes; all of the same types.
    """
    n_trees, k = len(models), ids.shape[1]
    features, values = X[1][X[0][row] : X[0][row + 1]], X[2][X[0][row] : X[0][row + 1]]
    nodes, log_scores = np.empty((n_trees, beam), np.int32), np.empty((n_trees, beam), np.float32)
    sizes, begins = np.empty(n_trees, np.int64), np.full((n_trees, beam), SKIPPED)
    n_reached, n_margins = 0, 0
    for number in range(n_trees):
        tree, labels, weights = models[number]
        bad_row, scoring, beams = reach(X, row, row + 1, normalise, tree, weights, combiner, discount, beam)
        if bad_row >= 0:
            return bad_row
        scales, room = scoring  # the same for all trees, as far as it is used below
        nodes[number], log_scores[number], sizes[number] = beams[0][0], beams[1][0], beams[2][0]
        for place in range(sizes[number]):
            n_labels = labels[0][nodes[number, place] + 1] - labels[0][nodes[number, place]]
            n_reached += n_labels
            n_margins = max(n_margins, n_labels)

    scores, margins = np.empty(n_reached, np.float32), np.empty(n_margins, np.float32)
    found = np.empty(n_reached, np.int32)
    best_sums, best_found = np.empty(k, np.float32), np.empty(k, np.int32)
    n_scores, n_found, n_best = 0, 0, 0
    next_place = np.zeros(n_trees, np.int64)
    for _ in range(sizes.sum()):
        number = -1  # of the tree with the best leaf that has not been looked at
        for other in range(n_trees):
            if next_place[other] < sizes[other] and (
                number < 0 or log_scores[other, next_place[other]] > log_scores[number, next_place[number]]
            ):
                number = other
        place = next_place[number]
        next_place[number] += 1
        tree, labels, weights = models[number]
        label_indptr, label_indices, _ = labels
        node, log_score = nodes[number, place], log_scores[number, place]
        here = label_indices[label_indptr[node] : label_indptr[node + 1]]
        if n_best == k and best_sums[k - 1] > SMALLEST:
            most, is_needed = np.exp(discount * log_score), False
            for label in here:
                at_most = (sums[label] + (n_trees - found_in[label]) * most) * (1 + n_trees * ROUNDING)
                is_needed |= at_most >= best_sums[k - 1]
            if not is_needed:
                continue

        bundle = tree[3][node]
        has_classifiers = weights[0][bundle + 1] > weights[0][bundle]
        if has_classifiers:
            n_hits = hits_of(features, values, bundle, weights, room[0], room[1], 0)
            margins_alone(n_hits, room[0], room[1], scales[0], bundle, weights, room[7], margins)
        begins[number, place] = n_scores
        for position in range(here.size):
            label, total = here[position], log_score
            if has_classifiers:
                total = discount * log_score + log_gain(margins[position], combiner)
            score = np.exp(total)
            scores[n_scores] = score
            n_scores += 1
            if found_in[label] == 0:
                found[n_found] = label
                n_found += 1
            sums[label] += score
            found_in[label] += 1
        if n_found >= k:
            n_best = 0
            for label in found[:n_found]:
                n_best = insert_best(sums[label], label, n_best, best_sums, best_found)

    for label in found[:n_found]:
        sums[label], found_in[label] = 0, 0
    lists = lists_of_trees(models, nodes, sizes, begins, scores[:n_scores])
    best_of_trees(row, row + 1, *lists, sums, found_in, sum_of_depths, ids, best, best_depths)
    return -1


@njit(nogil=True, cache=True)
def lists_of_trees(models, nodes, sizes, begins, leaf_scores):
    """What `best_of_trees` takes of one query, tree by tree, so that sums are rounded as those of a batch.

    nodes, begins : (n_trees, beam), the leaves and where their scores begin, or SKIPPED.  sizes : (n_trees,).
    """
    n_trees, n = len(models), leaf_scores.size
    found, scores, depths = np.empty(n, np.int32), np.empty(n, np.float32), np.empty(n, np.float32)
    indptrs = np.zeros((n_trees, 2), np.int64)
    at = 0
    for number in range(n_trees):
        label_indptr, label_indices, node_depths = models[number][1]
        indptrs[number, 0] = at
        for place in range(sizes[number]):
            begin, node = begins[number, place], nodes[number, place]
            if begin == SKIPPED:
                continue
            for position in range(label_indptr[node + 1] - label_indptr[node]):
                found[at] = label_indices[label_indptr[node] + position]
                scores[at] = leaf_scores[begin + position]
                depths[at] = node_depths[node]
                at += 1
        indptrs[number, 1] = at
    return indptrs, found, scores, depths
