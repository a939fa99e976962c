"""Placing new samples by their neighbours among the samples that were clustered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from manyview.graphs.incomplete import IncompleteSamples, shared_links
from manyview.numerics.division import inverse_or_zero
from manyview.partition.blockmodel import links_to_clusters
from manyview.preprocessing.scaling import Scaler, unit_distance_factor, without_missing
from manyview.records import saved
from manyview.typing import Array, Dense, Graph, Labels, Mask
from manyview.views.container import Views
from manyview.views.presence import present_rows

NEIGHBORS = 10


class Placing(Protocol):
    """What a fit keeps for new samples."""

    def place(self, tables: Sequence[Array]) -> tuple[Dense, Graph]:
        """Return, for m new samples, the evidence (m x c) for each cluster, and links (m x n) to the samples fitted.

        A sample belongs to the cluster of most evidence; its embedding is the mean over its links.
        """


@saved
@dataclass(frozen=True)
class NeighborPlacing:
    """Adaptive neighbours by distances over the views shared; each view is scaled as in the fit and counts alike.

    It keeps the views of the fit, O(n d).
    """

    scalers: tuple[Scaler, ...]
    scales: tuple[float, ...]
    rows: tuple[Array, ...]
    present: Mask
    labels: Labels
    n_clusters: int

    @classmethod
    def of(cls, views: Views, scaling: Mapping[str, str], labels: Labels, n_clusters: int) -> NeighborPlacing:
        """Keep the views that were clustered, with the scaling that was used."""
        scalers = tuple(Scaler.fit(X, scaling[name]) for name, X in views.items())
        tables = [without_missing(scaler.apply(X)) for scaler, X in zip(scalers, views.arrays, strict=True)]
        scales = tuple(unit_distance_factor(X) for X in tables)
        rows = tuple(X * X.dtype.type(scale) for X, scale in zip(tables, scales, strict=True))
        return cls(scalers, scales, rows, views.present, labels, n_clusters)

    def place(self, tables: Sequence[Array]) -> tuple[Dense, Graph]:
        """Let the neighbours vote."""
        rows = [
            without_missing(scaler.apply(X)) * X.dtype.type(scale)
            for scaler, X, scale in zip(self.scalers, tables, self.scales, strict=True)
        ]
        present = np.column_stack([present_rows(X) for X in tables])
        links = shared_links(IncompleteSamples(rows, present), IncompleteSamples(self.rows, self.present), NEIGHBORS)
        return links_to_clusters(links, self.labels, self.n_clusters), links


@saved
@dataclass(frozen=True)
class AffinityPlacing:
    """New samples come with their affinities to the samples fitted (m x n), one matrix per view."""

    labels: Labels
    n_clusters: int

    def place(self, tables: Sequence[Array]) -> tuple[Dense, Graph]:
        """Let the samples vote, each by its affinity, as a share of the new sample's in that view."""
        links = sp.csr_array(sum(row_shares(sp.csr_array(without_missing(A))) for A in tables))
        return links_to_clusters(links, self.labels, self.n_clusters), links


def row_shares(A: sp.csr_array) -> sp.csr_array:
    """Scale each row to add up to 1; zero rows stay."""
    total = np.asarray(A.sum(axis=1)).ravel()
    return sp.csr_array(sp.diags_array(inverse_or_zero(total)) @ A)
