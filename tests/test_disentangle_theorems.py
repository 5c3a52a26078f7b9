"""Theorems 1 to 3 of label disentanglement, on instances small enough for exhaustive search."""

from itertools import combinations

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_clusters import all_clusterings, partition, plain_objective, random_problem

from orchard.coverage import exact_coverage
from orchard.disentanglement import project_top_lambda
from orchard.label_clusters import label_counts, objective


def has_cover(sets, universe, r):
    """Set cover by brute force: whether some r of the sets have everything in them."""
    return any(set().union(*chosen) == universe for chosen in combinations(sets, min(r, len(sets))))


@given(st.lists(st.sets(st.integers(0, 6), min_size=1), min_size=1, max_size=7), st.integers(1, 4))
@settings(max_examples=80)
def test_theorem_1_set_cover_is_problem_7_with_one_label(sets, r):
    """The reduction of A.1: an element is a sample of the only label, a set is a cluster, λ = r.

    A cover with r sets exists if and only if the optimum of Problem 7 is the number of elements.
    """
    universe = sorted(set().union(*sets))
    M = sp.csr_matrix([[float(element in one) for one in sets] for element in universe])
    Y, C = sp.csr_matrix(np.ones((len(universe), 1), np.float32)), partition(np.array([0]), len(sets))
    optimum, _ = objective(Y, M, exact_coverage(Y, M, C, copies=r))
    assert (optimum == len(universe)) == has_cover(sets, set(universe), r)


@given(st.integers(0, 10_000), st.integers(1, 2))
@settings(max_examples=15)
def test_theorem_2_the_closed_form_solves_problem_9(seed, copies):
    """No clustering with at most λ clusters per label has a larger Tr(YᵀMCᵀ), of all that there are."""
    Y, M, C = random_problem(seed, n=10, n_labels=3, n_clusters=4, beam=2)
    projected = project_top_lambda(label_counts(Y, M), copies, C)
    _, relaxed = objective(Y, M, projected)
    assert relaxed == max(plain_objective(Y, M, one)[1] for one in all_clusterings(3, 4, copies))


@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 5), st.floats(0.05, 0.9))
def test_theorem_3_projection_covers_no_less_than_any_partition(seed, copies, beam, share):
    """For any Y, M, λ and any partition at all, here a random one that has nothing to do with M."""
    Y, M, any_partition = random_problem(seed, n=40, n_labels=12, n_clusters=6, beam=beam, share=share)
    somewhere = partition(np.random.default_rng(seed + 1).integers(6, size=12), 6)
    projected = project_top_lambda(label_counts(Y, M), copies, somewhere)
    assert objective(Y, M, projected)[0] >= objective(Y, M, any_partition)[0]


def test_theorem_3_is_not_strict():
    """Printed with '>': a partition that reaches everything is equalled, not beaten (docs/deviations.md, D38)."""
    Y, M = sp.csr_matrix(np.eye(2, dtype=np.float32)), sp.csr_matrix(np.eye(2, dtype=np.float32))
    C = partition(np.array([0, 1]), 2)
    assert objective(Y, M, project_top_lambda(label_counts(Y, M), 2, C))[0] == objective(Y, M, C)[0] == 2


def test_projection_is_not_optimal_for_problem_7():
    """Where beams overlap: two clusters that reach the same three samples win over one that reaches a fourth."""
    Y = sp.csr_matrix(np.ones((4, 1), np.float32))
    M = sp.csr_matrix(np.array([[1, 1, 0]] * 3 + [[0, 0, 1]], np.float32))
    C = partition(np.array([0]), 3)
    assert objective(Y, M, project_top_lambda(label_counts(Y, M), 2, C)) == (3, 6)
    assert objective(Y, M, exact_coverage(Y, M, C, 2)) == (4, 4)
