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
    return np.asarray(Z.power(2).sum(axis=1)).ravel() if is_sparse(Z) else np.einsum("ij,ij->i", Z, Z)


def nearest_shared(
    samples: IncompleteSamples, others: IncompleteSamples, k: int, *, same: bool = False
) -> tuple[Dense, Indices]:
    """Return squared distances and indices (n x k) of the k nearest others; infinite if no view is shared.

    With `same`, both are the same samples, and none is its own neighbour. Complete samples are searched as usual
    (`neighbors`), incomplete ones in time O(n m d) and memory O(n k) plus a block.
    """
    k = max(1, min(k, len(others) - same))
    if samples.complete and others.complete:
        index = NeighborIndex(others.Z)
        lengths, nearest = index.neighbors(k) if same else index.query(samples.Z, k)
        return (lengths * index.unit) ** 2, nearest
    step = max(1, BLOCK_ENTRIES // len(others))
    found = []
    for start in range(0, len(samples), step):
        rows = np.arange(start, min(start + step, len(samples)))
        d = samples[rows].squared_distances(others)
        if same:
            d[np.arange(len(rows)), rows] = np.inf
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


def shared_links(samples: IncompleteSamples, others: IncompleteSamples, s: int) -> sp.csr_array:
    """Return links (n x m) of samples to their s adaptive neighbours among others; each row adds up to 1, or 0."""
    return _links(*nearest_shared(samples, others, s + 1), len(others), samples.Z.dtype)


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
