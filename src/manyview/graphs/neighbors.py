"""Nearest neighbours, and directed graphs made of them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from manyview.preprocessing.scaling import without_extremes
from manyview.typing import Array, Dense, Indices


def nearest_neighbors(X: Array, k: int) -> tuple[Dense, Indices]:
    """Distances and indices (n x k) of the k nearest other samples, nearest first.

    A sample is never its own neighbour, also when it has duplicates. With fewer than k other
    samples, all of them are returned. Distances are in units of `without_extremes`.
    """
    k = max(1, min(k, X.shape[0] - 1))
    return NearestNeighbors(n_neighbors=k).fit(without_extremes(X)).kneighbors()


def from_neighbors(weights: Dense, neighbors: Indices) -> sp.csr_array:
    """Directed graph from the weights (n x k) of each sample's neighbours."""
    n, k = neighbors.shape
    row_ends = np.arange(0, n * k + 1, k)
    W = sp.csr_array((weights.ravel(), neighbors.ravel(), row_ends), shape=(n, n), copy=True)
    W.sort_indices()  # now, in a copy: scipy would do it some day, in arrays that others share
    return W
