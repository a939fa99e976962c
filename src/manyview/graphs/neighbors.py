"""Nearest neighbours, and directed graphs made from them. Only this module decides how neighbours are found.

Up to `EXACT_UP_TO` samples the search is exact; among more, it is approximate (`approximate`), and its recall is noted
(`recall`), unless it would have to look into so many cells that the exact search costs no more. Where others are
searched for, what counts is the number of pairs. Sparse tables are always searched exactly.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from manyview.graphs.approximate import CellIndex
from manyview.graphs.recall import note_recall
from manyview.numerics.blocks import row_blocks
from manyview.numerics.rows import ascending
from manyview.preprocessing.scaling import in_unit, safe_unit
from manyview.typing import Array, Dense, Indices, is_sparse

EXACT_UP_TO = 20_000  # samples; measured: from here on the approximate search is clearly faster
LARGE_SHARE = 0.4  # of the cells: with more to look into, the exact search is as fast; measured at 20,000 samples
BLOCK_ENTRIES = 2**23  # distances held at a time
FILLED = 0.25  # a column with values in at least this share of the samples is treated as dense


def nearest_neighbors(X: Array, k: int) -> tuple[Dense, Indices]:
    """Return distances and indices (n x k) of the k nearest other samples, nearest first.

    A sample is never its own neighbour, even if it has duplicates. With fewer than k other
    samples, all of them are returned. Distances are in units of `safe_unit`.
    """
    return NeighborIndex(X).neighbors(k)


class NeighborIndex:
    """An index of samples, to search for neighbours of these samples or of others.

    `n_queries` is how many samples will be searched for in all, in one query or in several, and `typical` holds some of
    them; by default they are the samples themselves.

    Time of an exact search O(n m d) in blocks, of an approximate one about O(n sqrt(m) d); memory for one
    more copy of the samples.
    """

    def __init__(self, X: Array, n_queries: int | None = None, typical: Array | None = None) -> None:
        self.unit = safe_unit(X)
        self.X = in_unit(X, self.unit)
        self.typical = None if typical is None else in_unit(typical, self.unit)
        self.n_queries = n_queries or X.shape[0]

    def neighbors(self, k: int) -> tuple[Dense, Indices]:
        """Return distances and indices (n x k) of each sample's nearest other samples."""
        return self._search(None, max(1, min(k, self.X.shape[0] - 1)))

    def query(self, Y: Array, k: int) -> tuple[Dense, Indices]:
        """Return distances and indices (m x k) of the samples nearest to each row of Y."""
        if is_sparse(Y) and not is_sparse(self.X):
            Y = Y.toarray()
        return self._search(in_unit(Y, self.unit), max(1, min(k, self.X.shape[0])))

    def _search(self, Y: Array | None, k: int) -> tuple[Dense, Indices]:
        if is_sparse(self.X):
            return _nearest_in_sparse(self.X, Y, k)
        if self.X.shape[0] * self.n_queries <= EXACT_UP_TO**2 or k * 10 > self.X.shape[0]:
            return self._exact.kneighbors(Y, n_neighbors=k)
        probes, recall = self._approximate.enough_probes(k)
        if probes > LARGE_SHARE * self._approximate.n_cells:
            return self._exact.kneighbors(Y, n_neighbors=k)
        note_recall(recall)
        return self._approximate.search(Y, k)

    @cached_property
    def _exact(self) -> NearestNeighbors:
        return NearestNeighbors().fit(self.X)

    @cached_property
    def _approximate(self) -> CellIndex:
        return CellIndex(self.X, self.typical)


def _nearest_in_sparse(X: sp.csr_array, Y: Array | None, k: int) -> tuple[Dense, Indices]:
    """Search block by block; columns with few zeros are multiplied as dense ones, which is far faster.

    Y None means X itself; then no sample is its own neighbour.
    """
    n = X.shape[0]
    queries = X if Y is None else sp.csr_array(Y)
    filled = np.bincount(X.indices, minlength=X.shape[1]) > FILLED * n
    columns = [np.flatnonzero(~filled), np.flatnonzero(filled)]
    transposed = [sp.csr_array(X[:, columns[0]].T), X[:, columns[1]].toarray().T]
    parts = [queries[:, columns[0]], queries[:, columns[1]].toarray()]
    squares, own = (np.asarray(table.power(2).sum(axis=1)).ravel() for table in (X, queries))
    found = []
    for rows in row_blocks(queries.shape[0], n, BLOCK_ENTRIES):
        d = own[rows, None] + squares
        for part, turned in zip(parts, transposed, strict=True):
            product = part[rows] @ turned
            d -= 2 * (product.toarray() if is_sparse(product) else product)
        if Y is None:
            np.fill_diagonal(d[:, rows], np.inf)
        found.append(k_smallest(d, k))
    squared, neighbors = (np.vstack(part) for part in zip(*found, strict=True))
    return np.sqrt(np.maximum(squared, 0)), neighbors


def k_smallest(d: Dense, k: int) -> tuple[Dense, Indices]:
    """Return the k smallest entries of each row, ascending, and their columns."""
    nearest = np.argpartition(d, k - 1)[:, :k]
    of_nearest = np.take_along_axis(d, nearest, axis=1)
    order = ascending(of_nearest)
    return np.take_along_axis(of_nearest, order, axis=1), np.take_along_axis(nearest, order, axis=1)


def from_neighbors(weights: Dense, neighbors: Indices) -> sp.csr_array:
    """Directed graph from the weights (n x k) of each sample's neighbours."""
    n, k = neighbors.shape
    row_ends = np.arange(0, n * k + 1, k)
    W = sp.csr_array((weights.ravel(), neighbors.ravel(), row_ends), shape=(n, n), copy=True)
    W.sort_indices()  # now, in this copy: scipy would do it later, in arrays that others share
    return W
