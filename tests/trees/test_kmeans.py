from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from orchard.trees import _kmeans_kernels as kernels
from orchard.trees import kmeans
from orchard.trees.embeddings import unit_rows
from orchard.trees.kmeans import as_matrix, cluster_groups, lloyd_in_threads, spherical_kmeans


def random_unit_rows(seed, n, n_features=30, density=0.3):
    """Sparse rows with negative values too; never empty."""
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal((n, n_features)) * (rng.random((n, n_features)) < density)
    dense[np.arange(n), rng.integers(n_features, size=n)] += 1.5
    return unit_rows(sp.csr_matrix(dense))


def lloyd_in_numpy(V, seeds, tolerance, max_iterations=100):
    """Assign to the nearest centre, average, repeat; a cluster without rows is out."""
    centres, objective = V[seeds], -np.inf
    for _ in range(max_iterations):
        norms = np.linalg.norm(centres, axis=1, keepdims=True)
        cosines = V @ np.divide(centres, norms, out=np.zeros_like(centres), where=norms > 0).T
        cosines[:, np.isnan(centres[:, 0])] = -np.inf
        cluster = cosines.argmax(axis=1)
        previous, objective = objective, cosines.max(axis=1).mean()
        if objective - previous <= tolerance:
            break
        members = [V[cluster == c] for c in range(len(seeds))]
        centres = np.array([rows.sum(axis=0) if len(rows) else np.full(V.shape[1], np.nan) for rows in members])
    return cluster, objective


@given(st.integers(0, 100_000), st.integers(2, 80), st.integers(1, 20), st.sampled_from([0.0, 1e-4, 0.03]))
def test_kmeans_agrees_with_numpy(seed, n, k, tolerance):
    """Known cosines, moved rows, tiles and lanes are shortcuts: the clusters are those of the textbook."""
    V, k = random_unit_rows(seed, n), min(k, n)
    seeds = np.random.default_rng(seed).choice(n, k, replace=False)
    cluster, objective = kernels.lloyd(*as_matrix(V), seeds, tolerance + 1e-6, 100)
    expected, expected_objective = lloyd_in_numpy(V.toarray().astype(float), seeds, tolerance + 1e-6)
    np.testing.assert_array_equal(cluster, expected)
    assert objective == pytest.approx(expected_objective, abs=1e-5)


def test_tiles_change_nothing():
    """Features that fill several tiles: one cosine is put together from all of them."""
    V, k = random_unit_rows(0, 120, n_features=6000, density=0.05), 40
    assert kernels.tile_width(6000, 40, V.nnz / 120) < 6000
    cluster, _ = kernels.lloyd(*as_matrix(V), np.arange(k), 1e-6, 100)
    np.testing.assert_array_equal(cluster, lloyd_in_numpy(V.toarray().astype(float), np.arange(k), 1e-6)[0])


@given(st.integers(1, 10_000_000), st.integers(1, 1000), st.floats(0, 1e5))
def test_a_tile_has_a_width(n_features, n_lanes, mean_entries):
    """At least one feature, never more than there are, whatever the shape."""
    assert 1 <= kernels.tile_width(n_features, n_lanes, mean_entries) <= n_features


@given(st.integers(0, 100_000), st.integers(2, 60))
def test_the_objective_never_falls(seed, n):
    """Both steps maximise the mean cosine, so more iterations are at least as good."""
    V = as_matrix(random_unit_rows(seed, n))
    seeds = np.arange(min(5, n))
    objectives = [kernels.lloyd(*V, seeds, -np.inf, limit)[1] for limit in range(1, 10)]
    assert np.all(np.diff(objectives) >= -1e-6)


@given(st.integers(0, 100_000), st.integers(2, 300), st.integers(1, 4))
def test_threads_do_what_one_thread_does(seed, n, n_jobs):
    """The loop over threads and the loop in the kernel must be the same loop, bit for bit."""
    V, seeds = as_matrix(random_unit_rows(seed, n)), np.arange(min(12, n))
    with ThreadPoolExecutor(n_jobs) as pool:
        threaded = lloyd_in_threads(V, seeds, 1e-4, 100, pool, n_jobs)
    np.testing.assert_array_equal(threaded, kernels.lloyd(*V, seeds, 1e-4, 100)[0])


def test_large_and_small_groups_are_clustered_alike(monkeypatch):
    """A group's clusters must not depend on whether it was dealt out whole or in pieces, nor on its neighbours."""
    V = as_matrix(random_unit_rows(5, 200))
    groups = [np.arange(0, 120), np.arange(120, 200), np.arange(0, 200, 3)]
    seeds = [np.arange(9), np.arange(3, 15), np.array([7])]
    small = cluster_groups(V, groups, seeds, 1e-4, 100, n_jobs=2)
    monkeypatch.setattr(kmeans, "SHARED_ENTRIES", 0)
    large = cluster_groups(V, groups, seeds, 1e-4, 100, n_jobs=2)
    for rows, own_seeds, one, other in zip(groups, seeds, small, large, strict=True):
        np.testing.assert_array_equal(one, other)
        alone = kernels.lloyd(*as_matrix(sp.csr_matrix((V[2], V[1], V[0]))[rows]), own_seeds, 1e-4, 100)[0]
        np.testing.assert_array_equal(one, alone)


def test_a_group_keeps_only_its_own_features():
    """Features 3, 64 and 130 become 0, 1 and 2; the scratch space comes back clean."""
    V = sp.csr_matrix(([1.0, 2, 3, 4], [[1, 1, 0, 3], [3, 130, 7, 64]]), shape=(5, 200))
    used, local = np.zeros(4, np.uint64), np.empty(200, np.int32)
    indptr, indices, data, n_features = kernels.local_features(*as_matrix(V)[:3], np.array([1, 2, 3]), used, local)
    np.testing.assert_array_equal(indptr, [0, 2, 2, 3])
    np.testing.assert_array_equal(indices, [0, 2, 1])
    np.testing.assert_array_equal(data, [1, 2, 4])
    assert n_features == 3 and not used.any()


def test_equal_rows_share_a_cluster_and_the_other_stays_empty():
    """Two first centres on the same spot: the lower cluster takes all, the emptied one never wins again."""
    V = unit_rows(sp.csr_matrix([[1.0, 0]] * 4 + [[0, 1.0]] * 2))
    cluster, objective = kernels.lloyd(*as_matrix(V), np.array([1, 0, 4]), 0.0, 100)
    np.testing.assert_array_equal(cluster, [0, 0, 0, 0, 2, 2])
    assert objective == 1


@given(st.integers(0, 1000), st.integers(1, 400))
def test_the_result_depends_on_the_seed_and_not_on_the_threads(seed, n):
    """Same seed, same clusters with one thread or many, and again in the next run."""
    V = random_unit_rows(seed, n)
    one = spherical_kmeans(V, min(n, 20), seed, n_jobs=1)
    assert one.dtype == np.int32
    for n_jobs in (1, 2, 3, None):
        np.testing.assert_array_equal(spherical_kmeans(V, min(n, 20), seed, n_jobs=n_jobs), one)


def test_unsorted_indices_are_sorted_first():
    """Tiles want ascending features; a product of sparse matrices does not have them."""
    V = random_unit_rows(1, 50)
    shuffled = V.copy()
    for row in range(50):
        entries = slice(V.indptr[row], V.indptr[row + 1])
        shuffled.indices[entries], shuffled.data[entries] = V.indices[entries][::-1], V.data[entries][::-1]
    shuffled.has_sorted_indices = False
    np.testing.assert_array_equal(spherical_kmeans(shuffled, 7), spherical_kmeans(V, 7))


@pytest.mark.parametrize("n_clusters", [0, 5])
def test_more_clusters_than_rows_are_refused(n_clusters):
    """Each cluster starts from a row of its own."""
    with pytest.raises(ValueError, match=f"between 1 and the number of rows \\(4\\), not {n_clusters}"):
        spherical_kmeans(random_unit_rows(0, 4), n_clusters)
