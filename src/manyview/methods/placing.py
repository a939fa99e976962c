"""Placing new samples by their neighbours among the samples that were clustered.

An extension has ``extend(tables)``: for m new samples it returns the evidence (m x c) for each cluster, and their links
(m x n) to the samples fitted. Labels are the clusters of most evidence, the embedding the mean over the links.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from manyview.graphs.incomplete import Partial, shared_links
from manyview.partition.blockmodel import links_to_clusters
from manyview.preprocessing.scaling import Scaler, unit_distance_factor, without_missing
from manyview.typing import Array, Dense, Labels, Mask
from manyview.views.container import Views
from manyview.views.presence import present_rows

Evidence = tuple[Dense, sp.csr_array]

NEIGHBORS = 10


class Extension(Protocol):
    """What a fit keeps for new samples."""

    def extend(self, tables: Sequence[Array]) -> Evidence:
        """Return evidence for each cluster, and links to the samples fitted."""


@dataclass(frozen=True)
class NeighborExtension:
    """Adaptive neighbours by distances over the views shared; each view is scaled as for the fit, and counts alike.

    It keeps the views of the fit, O(n d).
    """

    scalers: tuple[Scaler, ...]
    scales: tuple[float, ...]
    rows: tuple[Array, ...]
    present: Mask
    labels: Labels
    n_clusters: int

    @classmethod
    def of(cls, views: Views, scaling: Mapping[str, str], labels: Labels, n_clusters: int) -> NeighborExtension:
        """Keep the views that were clustered, with the scaling that was used."""
        scalers = tuple(Scaler.fit(X, scaling[name]) for name, X in views.items())
        tables = [without_missing(scaler.apply(X)) for scaler, X in zip(scalers, views.arrays, strict=True)]
        scales = tuple(unit_distance_factor(X) for X in tables)
        rows = tuple(X * X.dtype.type(scale) for X, scale in zip(tables, scales, strict=True))
        return cls(scalers, scales, rows, views.present, labels, n_clusters)

    def extend(self, tables: Sequence[Array]) -> Evidence:
        """Let the neighbours vote."""
        rows = [
            without_missing(scaler.apply(X)) * X.dtype.type(scale)
            for scaler, X, scale in zip(self.scalers, tables, self.scales, strict=True)
        ]
        present = np.column_stack([present_rows(X) for X in tables])
        links = shared_links(Partial(rows, present), Partial(self.rows, self.present), NEIGHBORS)
        return links_to_clusters(links, self.labels, self.n_clusters), links


@dataclass(frozen=True)
class AffinityExtension:
    """New samples come with their affinities to the samples fitted (m x n), one matrix per view."""

    labels: Labels
    n_clusters: int

    def extend(self, tables: Sequence[Array]) -> Evidence:
        """Let the samples vote, each by its affinity, as a share of the new sample's in that view."""
        links = sp.csr_array(sum(shares_of_rows(sp.csr_array(without_missing(A))) for A in tables))
        return links_to_clusters(links, self.labels, self.n_clusters), links


def shares_of_rows(A: sp.csr_array) -> sp.csr_array:
    """Scale each row to add up to 1; rows of 0 stay."""
    total = np.asarray(A.sum(axis=1)).ravel()
    inverse = np.where(total > 0, 1 / np.where(total > 0, total, 1), 0).astype(A.dtype)
    return sp.csr_array(sp.diags_array(inverse) @ A)
