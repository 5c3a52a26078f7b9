"""Arithmetic on numbered nodes: orders, ranges, parents."""

import numpy as np
import scipy.sparse as sp


def integers(name: str, values, kind) -> np.ndarray:
    """One-dimensional integers as contiguous `kind`; what would not survive the conversion is refused."""
    values = np.asarray(values)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise ValueError(f"{name} must be one-dimensional integers, not {values.dtype} {values.shape}")
    limits = np.iinfo(kind)
    if values.size and not limits.min <= int(values.min()) <= int(values.max()) <= limits.max:
        raise ValueError(f"{name} has values that do not fit into {np.dtype(kind)}")
    return np.ascontiguousarray(values, dtype=kind)


def frequencies(name: str, values, size: int | None = None) -> np.ndarray:
    """One-dimensional non-negative numbers as float64, `size` of them where that is known, at least one."""
    values = np.asarray(values, np.float64)
    right = values.ndim == 1 and values.size and size in (None, values.size)
    if not right or not np.isfinite(values).all() or (values < 0).any():
        many = "one or more" if size is None else size
        raise ValueError(f"{name} must be {many} frequencies, none negative or not finite")
    return values


def starts(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)])


def ranges(begins: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """begins[0], begins[0] + 1, … (counts[0] of them), begins[1], …"""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if ends.size else 0) + np.repeat(begins - (ends - counts), counts)


def cluster_matrix(parents: np.ndarray, n_parents: int) -> sp.csc_matrix:
    """Node × parent with a one for every node's parent."""
    ones, rows = np.ones(parents.size, np.float32), np.arange(parents.size)
    return sp.csc_matrix((ones, (rows, parents)), shape=(parents.size, n_parents))


def breadth_first(parents: np.ndarray) -> np.ndarray:
    """The nodes in breadth-first order, siblings ascending; refuses what is not one tree."""
    roots = np.flatnonzero(parents == -1)
    if roots.size != 1:
        raise ValueError(f"a tree has one root, with parent -1; here are {roots.size}")
    if parents.min() < -1 or parents.max() >= parents.size:
        raise ValueError(f"a parent is out of range: they go from -1 to {parents.size - 1}")
    siblings = np.argsort(parents, kind="stable")  # the root, then the children of node 0, of node 1, …
    counts = np.bincount(parents + 1, minlength=parents.size + 1)[1:]
    begins = 1 + starts(counts)[:-1]
    levels, n_found = [roots], 1
    while levels[-1].size:
        levels.append(siblings[ranges(begins[levels[-1]], counts[levels[-1]])])
        n_found += levels[-1].size
    if n_found < parents.size:
        raise ValueError(f"{parents.size - n_found} nodes do not descend from the root: their parents form a circle")
    return np.concatenate(levels)


def without_only_children(parents: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Join every only child to its parent: the parents of the nodes that are left, and what `nodes` are called now.

    Node 0 is the root.
    """
    is_only = np.append(False, np.bincount(parents[1:], minlength=parents.size)[parents[1:]] == 1)
    top = np.where(is_only, parents, np.arange(parents.size))
    while is_only[top].any():  # each round halves what is left of a path of only children
        top = top[top]
    number = np.cumsum(~is_only) - 1
    joined = number[top[parents[~is_only]]]
    joined[0] = -1
    return joined, number[top[nodes]]
