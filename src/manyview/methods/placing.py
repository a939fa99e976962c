"""Assigning new samples to clusters by their neighbours among the fitted samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
import scipy.sparse as sp

from manyview.graphs.incomplete import IncompleteSamples, SharedIndex
from manyview.numerics.division import inverse_or_zero
from manyview.partition.blockmodel import Blocks, links_to_clusters
from manyview.partition.placement import LayerWeights
from manyview.preprocessing.scaling import Scaler, unit_distance_factor, without_missing
from manyview.records import saved
from manyview.typing import Array, Dense, Graph, Labels, Mask
from manyview.views.container import Views
from manyview.views.presence import present_rows

NEIGHBORS = 10


class Placing(Protocol):
    """What a fit keeps for new samples."""

    @property
    def labels(self) -> Labels:
        """Labels of the fitted samples."""

    def indexes(self, n_new: int) -> list[SharedIndex]:
        """Return what finds the neighbours of so many new samples among those fitted."""

    def links(self, tables: Sequence[Array], indexes: Sequence[SharedIndex]) -> list[Graph]:
        """Return the links (m x n) of new samples to those fitted, one matrix per layer; rows add up to 1, or 0."""

    def read(self, links: Sequence[Graph]) -> tuple[Dense, Graph]:
        """Return the evidence (m x c) from the links for each cluster, and the links of all layers as one matrix.

        A sample belongs to the cluster with the most evidence; its embedding is the mean over its links.
        """


class Linker:
    """Links `n_new` samples to those fitted, all at once or in blocks; each process makes the indexes once."""

    def __init__(self, placing: Placing, n_new: int) -> None:
        self.placing, self.n_new = placing, n_new

    @cached_property
    def _indexes(self) -> list[SharedIndex]:
        return self.placing.indexes(self.n_new)

    def links(self, tables: Sequence[Array]) -> list[Graph]:
        """Return the links of some of the samples, one matrix per layer."""
        return self.placing.links(tables, self._indexes)

    def __reduce__(self) -> tuple[type[Linker], tuple[Placing, int]]:
        return Linker, (self.placing, self.n_new)


class LayeredPlacing(Placing, Protocol):
    """A placing by links in layers, whose block model can be re-estimated from other samples."""

    blocks: Blocks | None
    layer_weights: LayerWeights

    def revised(self, labels: Labels, blocks: Blocks) -> LayeredPlacing:
        """Return a copy with other labels of the fitted samples, and another block model."""


@saved
@dataclass(frozen=True)
class NeighborPlacing:
    """Adaptive neighbours by distance over shared views, each scaled as in the fit and with equal weight.

    Neighbours vote, unless there is a block model of their links. It keeps the views of the fit, O(n d).
    """

    scalers: tuple[Scaler, ...]
    scales: tuple[float, ...]
    rows: tuple[Array, ...]
    present: Mask
    labels: Labels
    n_clusters: int
    blocks: Blocks | None = None

    layer_weights: ClassVar[LayerWeights] = LayerWeights((1.0,))

    @classmethod
    def of(cls, views: Views, scaling: Mapping[str, str], labels: Labels, n_clusters: int) -> NeighborPlacing:
        """Keep the views that were clustered, with the scaling that was used."""
        scalers = tuple(Scaler.fit(X, scaling[name]) for name, X in views.items())
        tables = [without_missing(scaler.apply(X)) for scaler, X in zip(scalers, views.arrays, strict=True)]
        scales = tuple(unit_distance_factor(X) for X in tables)
        rows = tuple(X * X.dtype.type(scale) for X, scale in zip(tables, scales, strict=True))
        return cls(scalers, scales, rows, views.present, labels, n_clusters)

    def indexes(self, n_new: int) -> list[SharedIndex]:
        """Return the one that finds neighbours over all views."""
        return [SharedIndex(IncompleteSamples(self.rows, self.present), n_new)]

    def links(self, tables: Sequence[Array], indexes: Sequence[SharedIndex]) -> list[Graph]:
        """Return the links of new samples to their neighbours: one layer."""
        rows = [
            without_missing(scaler.apply(X)) * X.dtype.type(scale)
            for scaler, X, scale in zip(self.scalers, tables, self.scales, strict=True)
        ]
        present = np.column_stack([present_rows(X) for X in tables])
        return [index.links(IncompleteSamples(rows, present), NEIGHBORS) for index in indexes]

    def read(self, links: Sequence[Graph]) -> tuple[Dense, Graph]:
        """Let the neighbours vote, or apply the block model to their labels."""
        (only,) = links
        if self.blocks is not None:
            return self.blocks.evidence(self.labels, [only]), only
        return links_to_clusters(only, self.labels, self.n_clusters), only

    def revised(self, labels: Labels, blocks: Blocks) -> NeighborPlacing:
        """Return a copy with other labels of the fitted samples, read by a block model."""
        return replace(self, labels=labels, blocks=blocks)


@saved
@dataclass(frozen=True)
class AffinityPlacing:
    """New samples come with their affinities to the fitted samples (m x n), one matrix per view."""

    labels: Labels
    n_clusters: int

    def indexes(self, n_new: int) -> list[SharedIndex]:  # noqa: ARG002
        """Return none: affinities say who is near."""
        return []

    def links(self, tables: Sequence[Array], indexes: Sequence[SharedIndex]) -> list[Graph]:  # noqa: ARG002
        """Return each affinity as a share of the new sample's in that view, with equal weights for its views."""
        return [row_shares(sp.csr_array(sum(row_shares(sp.csr_array(without_missing(A))) for A in tables)))]

    def read(self, links: Sequence[Graph]) -> tuple[Dense, Graph]:
        """Let the fitted samples vote."""
        (only,) = links
        return links_to_clusters(only, self.labels, self.n_clusters), only


def row_shares(A: sp.csr_array) -> sp.csr_array:
    """Scale each row to add up to 1; zero rows stay."""
    total = np.asarray(A.sum(axis=1)).ravel()
    return sp.csr_array(sp.diags_array(inverse_or_zero(total)) @ A)
