"""Nearest neighbours, and directed graphs made of them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from manyview.preprocessing.scaling import without_extremes
from manyview.typing import Array, Dense, Indices, is_sparse

BLOCK_ENTRIES = 2**23  # distances held at a time
FILLED = 0.25  # share of the samples that have a value: such a column is treated as dense


def nearest_neighbors(X: Array, k: int) -> tuple[Dense, Indices]:
    """Distances and indices (n x k) of the k nearest other samples, nearest first.

    A sample is never its own neighbour, even if it has duplicates. With fewer than k other
    samples, all of them are returned. Distances are in units of `without_extremes`. Time O(n^2 d), in blocks.
    """
    k = max(1, min(k, X.shape[0] - 1))
    X = without_extremes(X)
    return _nearest_in_sparse(X, k) if is_sparse(X) else NearestNeighbors(n_neighbors=k).fit(X).kneighbors()


def _nearest_in_sparse(X: sp.csr_array, k: int) -> tuple[Dense, Indices]:
    """Search block by block; columns that are well filled are multiplied as dense ones, which is far quicker."""
    n = X.shape[0]
    filled = np.bincount(X.indices, minlength=X.shape[1]) > FILLED * n
    parts = [X[:, np.flatnonzero(~filled)], X[:, np.flatnonzero(filled)].toarray()]
    transposed = [sp.csr_array(parts[0].T), parts[1].T]
    squares = np.asarray(X.power(2).sum(axis=1)).ravel()
    step = max(1, BLOCK_ENTRIES // n)
    found = []
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        d = squares[rows][:, None] + squares
        for part, turned in zip(parts, transposed, strict=True):
            product = part[rows] @ turned
            d -= 2 * (product.toarray() if is_sparse(product) else product)
        d[np.arange(len(rows)), rows] = np.inf
        found.append(k_smallest(d, k))
    squared, neighbors = (np.vstack(part) for part in zip(*found, strict=True))
    return np.sqrt(np.maximum(squared, 0)), neighbors


def k_smallest(d: Dense, k: int) -> tuple[Dense, Indices]:
    """Return the k smallest entries of each row, ascending, and their columns."""
    nearest = np.argpartition(d, k - 1, axis=1)[:, :k]
    of_nearest = np.take_along_axis(d, nearest, axis=1)
    order = np.argsort(of_nearest, axis=1, kind="stable")
    return np.take_along_axis(of_nearest, order, axis=1), np.take_along_axis(nearest, order, axis=1)


def from_neighbors(weights: Dense, neighbors: Indices) -> sp.csr_array:
    """Directed graph from the weights (n x k) of each sample's neighbours."""
    n, k = neighbors.shape
    row_ends = np.arange(0, n * k + 1, k)
    W = sp.csr_array((weights.ravel(), neighbors.ravel(), row_ends), shape=(n, n), copy=True)
    W.sort_indices()  # now, in a copy: scipy would do it some day, in arrays that others share
    return W
