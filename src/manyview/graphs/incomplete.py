"""Samples that lack values: comparing them over the views they share, and filling in from neighbours.

Samples i and j are compared over the views that contain both, S(i, j). An unknown distance is replaced by the mean
distance m_v, which is 1 in every view scaled by `to_unit_distance`:

    d(i, j) = sum_{v in S(i, j)} |z_vi - z_vj|^2  +  sum_{v not in S(i, j)} m_v,

infinite if they share no view. For complete samples, this is the squared distance in the concatenated views. Values
missing within a view count as the feature's mean in these distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from manyview.graphs.affinity import adaptive_weights
from manyview.graphs.batches import draw_neighbors
from manyview.graphs.laplacian import symmetrize
from manyview.graphs.neighbors import BLOCK_ENTRIES, NeighborIndex, k_smallest
from manyview.numerics.blocks import row_blocks
from manyview.numerics.rows import row_products
from manyview.preprocessing.scaling import side_by_side
from manyview.typing import Array, Dense, Indices, Mask, is_sparse


class IncompleteSamples:
    """Rows of several views, concatenated, with the views that contain each sample.

    Parameters
    ----------
    tables : one per view, samples by features, no NaN; rows of absent samples do not matter
    present : bool (n_samples, n_views)
    unknown : m_v of each view; 1 if not given
    """

    def __init__(self, tables: Sequence[Array], present: Mask, unknown: Sequence[float] | None = None) -> None:
        kept = [with_zero_rows(Z, here) for Z, here in zip(tables, present.T, strict=True)]
        self.Z = side_by_side(kept)
        self.present = present.astype(self.Z.dtype)
        self.squares = np.column_stack([squared_lengths(Z) for Z in kept])
        self.unknown = np.ones(len(tables)) if unknown is None else np.asarray(unknown, dtype=float)

    def __len__(self) -> int:
        return len(self.present)

    def __getitem__(self, rows: Any) -> IncompleteSamples:
        part = IncompleteSamples.__new__(IncompleteSamples)
        part.Z, part.present, part.squares = self.Z[rows], self.present[rows], self.squares[rows]
        part.unknown = self.unknown
        return part

    @property
    def complete(self) -> bool:
        """Whether every sample is in every view."""
        return bool(self.present.all())

    def squared_distances(self, others: IncompleteSamples) -> Dense:
        """Return d between these samples (rows) and others (columns)."""
        products = self.Z @ others.Z.T
        d = -2 * (products.toarray() if is_sparse(products) else products)
        d += self.squares @ others.present.T
        d += self.present @ others.squares.T
        known = (self.present * self.unknown.astype(self.present.dtype)) @ others.present.T
        return np.where(known > 0, np.maximum(d, 0) + (self.unknown.sum() - known), np.inf)


def with_zero_rows(Z: Array, present: Mask) -> Array:
    """Return the table with the rows of absent samples set to 0."""
    if present.all():
        return Z
    if is_sparse(Z):
        return sp.csr_array(sp.diags_array(present.astype(Z.dtype)) @ Z)
    return np.where(present[:, None], Z, 0)


def squared_lengths(Z: Array) -> Dense:
    """Sum the squares of each row."""
    return np.asarray(Z.power(2).sum(axis=1)).ravel() if is_sparse(Z) else row_products(Z, Z)


class SharedIndex:
    """Samples among which others find their neighbours, over the views that two samples share.

    `n_queries` is how many samples will be searched for in all. Complete samples are searched as any others
    (`neighbors`); incomplete ones in time O(n m d), memory O(n k) and a block.
    """

    def __init__(self, others: IncompleteSamples, n_queries: int) -> None:
        self.others = others
        self.index = NeighborIndex(others.Z, n_queries) if others.complete else None

    def nearest(self, samples: IncompleteSamples, k: int) -> tuple[Dense, Indices]:
        """Squared distances and indices (n x k) of the k nearest, nearest first; infinite where no view is shared."""
        k = max(1, min(k, len(self.others)))
        complete = samples.present.all(axis=1) if self.index is not None else np.zeros(len(samples), dtype=bool)
        if complete.all():
            return self._nearest_by_index(samples, k)
        distances, neighbors = np.empty((len(samples), k)), np.empty((len(samples), k), dtype=np.intp)
        for search, rows in ((self._nearest_by_index, complete), (self._nearest_by_pairs, ~complete)):
            if rows.any():
                distances[rows], neighbors[rows] = search(samples[rows], k)
        return distances, neighbors

    def links(self, samples: IncompleteSamples, s: int) -> sp.csr_array:
        """Links (n x m) of samples to their s adaptive neighbours; each row adds up to 1, or 0."""
        return _links(*self.nearest(samples, s + 1), len(self.others), samples.Z.dtype)

    def _nearest_by_index(self, samples: IncompleteSamples, k: int) -> tuple[Dense, Indices]:
        assert self.index is not None
        lengths, nearest = self.index.query(samples.Z, k)
        return (lengths * self.index.unit) ** 2, nearest

    def _nearest_by_pairs(self, samples: IncompleteSamples, k: int) -> tuple[Dense, Indices]:
        return _nearest_by_pairs(samples, self.others, k)


def nearest_shared(
    samples: IncompleteSamples, others: IncompleteSamples, k: int, *, same: bool = False
) -> tuple[Dense, Indices]:
    """Return squared distances and indices (n x k) of the k nearest others; infinite if no view is shared.

    With `same`, both are the same samples, and none is its own neighbour.
    """
    if not same:
        return SharedIndex(others, len(samples)).nearest(samples, k)
    k = max(1, min(k, len(others) - 1))
    if not others.complete:
        return _nearest_by_pairs(samples, others, k, same=True)
    index = NeighborIndex(others.Z)
    lengths, nearest = index.neighbors(k)
    return (lengths * index.unit) ** 2, nearest


def _nearest_by_pairs(
    samples: IncompleteSamples, others: IncompleteSamples, k: int, *, same: bool = False
) -> tuple[Dense, Indices]:
    found = []
    for rows in row_blocks(len(samples), len(others), BLOCK_ENTRIES):
        d = samples[rows].squared_distances(others)
        if same:
            np.fill_diagonal(d[:, rows], np.inf)
        found.append(k_smallest(d, k))
    distances, neighbors = zip(*found, strict=True)
    return np.vstack(distances), np.vstack(neighbors)


def shared_weights(d: Dense) -> Dense:
    """Weigh adaptive neighbours as `adaptive_weights` does, from squared distances of which some are infinite."""
    unknown = np.isinf(d)
    farthest = np.where(unknown, 0, d).max(axis=1, keepdims=True)
    weights = adaptive_weights(np.where(unknown, farthest, d))
    return np.where(unknown[:, : weights.shape[1]], 0, weights)


def shared_graph(samples: IncompleteSamples, s: int, batch: Indices | None = None) -> sp.csr_array:
    """Return the graph of s adaptive neighbours over shared views; with batches, drawn from each in turn."""
    drawn = None if batch is None else _drawn_shared(samples, s + 1, batch)
    d, neighbors = nearest_shared(samples, samples, s + 1, same=True) if drawn is None else drawn
    return symmetrize(_links(d, neighbors, len(samples), samples.Z.dtype))


def _drawn_shared(samples: IncompleteSamples, k: int, batch: Indices) -> tuple[Dense, Indices] | None:
    def search(members: Indices, m: int) -> tuple[Dense, Indices]:
        d, found = nearest_shared(samples, samples[members], m)
        return np.sqrt(d), members[found]

    drawn = draw_neighbors(search, k, batch)
    return None if drawn is None else (drawn[0] ** 2, drawn[1])


def _links(d: Dense, neighbors: Indices, n_others: int, dtype: Any) -> sp.csr_array:
    weights = shared_weights(d)
    k = weights.shape[1]
    ends = np.arange(0, d.shape[0] * k + 1, k)
    W = sp.csr_array((weights.ravel().astype(dtype), neighbors[:, :k].ravel(), ends), shape=(d.shape[0], n_others))
    W.sort_indices()
    return W


def spread_graph(W: sp.csr_array, rows: Indices, n_samples: int) -> sp.csr_array:
    """Extend a graph of some samples to all of them; the others have no links."""
    links = W.tocoo()
    ends = (rows[links.coords[0]], rows[links.coords[1]])
    return sp.csr_array((links.data, ends), shape=(n_samples, n_samples), dtype=W.dtype)
