"""From the labels that a search reached to the best k: copies merged, trees averaged."""

import numpy as np
from numba import njit

from orchard.linear._search_kernels import beam_search, insert_best, row_scales, score_labels

MEAN, MAX = 0, 1  # how several copies of a label become one


@njit(nogil=True, cache=True)
def reach(X, first, last, normalise, tree, weights, combiner, discount, beam):
    """Search one tree for the rows first … last − 1 of X.

    Returns (row that is not finite or −1, beam_nodes, beam_sizes, begins, scores): the log scores of the labels in
    place b of query q's beam are scores[begins[q · beam + b] : begins[q · beam + b + 1]].
    """
    children, levels, label_indptr, _, _ = tree
    n_queries = last - first
    scales = np.empty(n_queries, np.float32)
    bad_row = row_scales(X, first, last, normalise, scales)
    beam_nodes = np.empty((n_queries, beam), np.int32)
    beam_scores = np.empty((n_queries, beam), np.float32)
    beam_sizes = np.empty(n_queries, np.int64)
    beam_search(
        X,
        first,
        last,
        scales,
        (children, levels),
        weights,
        combiner,
        discount,
        levels.size - 2,
        beam_nodes,
        beam_scores,
        beam_sizes,
    )
    begins = np.zeros(n_queries * beam + 1, np.int64)
    for query in range(n_queries):
        for place in range(beam):
            at = query * beam + place
            n_labels = 0
            if place < beam_sizes[query]:
                node = beam_nodes[query, place]
                n_labels = label_indptr[node + 1] - label_indptr[node]
            begins[at + 1] = begins[at] + n_labels
    scores = np.empty(begins[-1], np.float32)
    score_labels(
        X,
        first,
        scales,
        weights,
        combiner,
        discount,
        beam_nodes,
        beam_scores,
        beam_sizes,
        begins,
        scores,
    )
    return bad_row, beam_nodes, beam_sizes, begins, scores


@njit(nogil=True, cache=True)
def best_of_tree(X, first, last, normalise, tree, weights, combiner, discount, beam, ids, best, depths):
    """The best labels of one tree in which every label stands once.

    ids, best, depths : int32, float32, float32 (n, k); the rows first … last − 1 are written: labels, their scores in
    descending order, the depths of their leaves; −1, −∞, NaN where fewer than k labels were reached.
    Returns a row that is not finite, or −1.
    """
    _, _, label_indptr, label_indices, node_depths = tree
    bad_row, beam_nodes, _, begins, scores = reach(X, first, last, normalise, tree, weights, combiner, discount, beam)
    k = ids.shape[1]
    best_scores, best_places = np.empty(k, np.float32), np.empty(k, np.int64)
    for query in range(last - first):
        n_best = 0
        for place in range(begins[query * beam], begins[(query + 1) * beam]):
            n_best = insert_best(scores[place], place, n_best, best_scores, best_places)
        for rank in range(k):
            row = first + query
            if rank >= n_best:
                ids[row, rank], best[row, rank], depths[row, rank] = -1, -np.inf, np.nan
                continue
            at = 0
            while begins[query * beam + at + 1] <= best_places[rank]:
                at += 1
            node = beam_nodes[query, at]
            ids[row, rank] = label_indices[label_indptr[node] + best_places[rank] - begins[query * beam + at]]
            best[row, rank] = np.exp(best_scores[rank])
            depths[row, rank] = node_depths[node]
    return bad_row


@njit(nogil=True, cache=True)
def labels_of_tree(
    X, first, last, normalise, tree, weights, combiner, discount, beam, merge, sums, copies, sum_of_depths
):
    """All labels that each row reached in one tree, copies merged by their mean or maximum over those reached.

    sums, sum_of_depths : float32 (n_labels,), copies : int32 (n_labels,), zeros; zeros again on return.
    Returns (bad row or −1, indptr, labels, scores, depths); a label's depth is the mean over the copies reached.
    """
    _, _, label_indptr, label_indices, node_depths = tree
    bad_row, beam_nodes, beam_sizes, begins, log_scores = reach(
        X, first, last, normalise, tree, weights, combiner, discount, beam
    )
    n_queries = last - first
    indptr = np.zeros(n_queries + 1, np.int64)
    labels = np.empty(log_scores.size, np.int32)
    scores = np.empty(log_scores.size, np.float32)
    depths = np.empty(log_scores.size, np.float32)
    n_found = 0
    for query in range(n_queries):
        for at in range(beam_sizes[query]):
            node = beam_nodes[query, at]
            for place in range(begins[query * beam + at], begins[query * beam + at + 1]):
                label = label_indices[label_indptr[node] + place - begins[query * beam + at]]
                score = np.exp(log_scores[place])
                if copies[label] == 0:
                    labels[n_found] = label
                    n_found += 1
                copies[label] += 1
                sums[label] = max(sums[label], score) if merge == MAX else sums[label] + score
                sum_of_depths[label] += node_depths[node]
        for place in range(indptr[query], n_found):
            label = labels[place]
            scores[place] = sums[label] if merge == MAX else sums[label] / copies[label]
            depths[place] = sum_of_depths[label] / copies[label]
            sums[label], sum_of_depths[label], copies[label] = 0, 0, 0
        indptr[query + 1] = n_found
    return bad_row, indptr, labels[:n_found], scores[:n_found], depths[:n_found]


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
