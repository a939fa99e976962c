"""The samples as rows of each view that contains them, and the neighbour graphs of these rows, one layer each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from manyview.graphs.affinity import adaptive_graph
from manyview.graphs.incomplete import IncompleteSamples, SharedIndex, shared_graph, spread_graph
from manyview.preprocessing.scaling import side_by_side
from manyview.records import saved
from manyview.typing import Array, Graph, Indices, Mask


@saved
@dataclass(frozen=True)
class Layers:
    """Rows of the views (each n_v x r_v) and what is needed to link samples by them.

    Attributes
    ----------
    samples : sample index of each row, per view
    neighbors : how many a sample has in each view
    joined : the views over which the joint graph sums distances
    completed : where samples are absent from views, rows of all views at once with what is missing completed, and the
        sample index of each; otherwise None
    weights : mean squared distance of the rows of each view; 1, less for views that repeat others
    given : per view, the graph itself where the view is one, otherwise None
    batch : of each sample; neighbours are drawn from all of them
    """

    rows: tuple[Array, ...]
    samples: tuple[Indices, ...]
    n_samples: int
    neighbors: tuple[int, ...]
    joined: tuple[int, ...]
    weights: tuple[float, ...]
    completed: tuple[Array, Indices] | None = None
    given: tuple[Graph | None, ...] = ()
    batch: Indices | None = None

    @property
    def complete(self) -> bool:
        """Whether every sample is in every view."""
        return all(len(samples) == self.n_samples for samples in self.samples)

    def weighted(self, weights: Iterable[float]) -> Layers:
        """Return a copy with other mean squared distances for the views, so that they count more or less."""
        weights = tuple(map(float, weights))
        factors = (np.sqrt(new / old) for new, old in zip(weights, self.weights, strict=True))
        rows = tuple(R if f == 1 else R * R.dtype.type(f) for R, f in zip(self.rows, factors, strict=True))
        return replace(self, rows=rows, weights=weights)

    def view_graph(self, v: int) -> sp.csr_array:
        """Return adaptive neighbours within a view; samples that are absent, or all equal, have no links."""
        R, n = self.rows[v], self.n_samples
        given = self.given[v] if self.given else None
        if given is not None:
            return given if len(self.samples[v]) == n else spread_graph(given, self.samples[v], n)
        if abs(R).max() == 0:
            return sp.csr_array((n, n), dtype=R.dtype)
        W = adaptive_graph(R, self.neighbors[v], self._batch_of(self.samples[v]))
        return W if len(self.samples[v]) == n else spread_graph(W, self.samples[v], n)

    def joint_graph(self) -> sp.csr_array:
        """Return adaptive neighbours by distances summed over the joined views.

        If samples are absent, it is the sum of two graphs: by distances over what two samples share, and by the
        completed rows.
        """
        if len(self.joined) == 1:
            return self.view_graph(self.joined[0])
        if not self.complete:
            W = shared_graph(self._partial(self.joined), max(self.neighbors), self.batch)
            return W if self.completed is None else sp.csr_array(W + self._completed_graph(*self.completed))
        R = self.side_by_side()
        n = self.n_samples
        if abs(R).max() == 0:
            return sp.csr_array((n, n), dtype=R.dtype)
        return adaptive_graph(R, max(self.neighbors), self.batch)

    def _completed_graph(self, rows: Array, samples: Indices) -> sp.csr_array:
        W = adaptive_graph(rows, max(self.neighbors), self._batch_of(samples))
        return spread_graph(W, samples, self.n_samples)

    def _batch_of(self, samples: Indices) -> Indices | None:
        return None if self.batch is None else self.batch[samples]

    def side_by_side(self) -> Array:
        """Return the rows of the joined views as one table; 0 for absent samples."""
        return side_by_side([spread(self.rows[v], self.samples[v], self.n_samples) for v in self.joined])

    @property
    def linked_views(self) -> list[tuple[int, ...]]:
        """The views that each layer links by: one per layer, and the joined ones together if there are several."""
        return [(v,) for v in range(len(self.rows))] + ([self.joined] if len(self.rows) > 1 else [])

    def indexes(self, n_new: int) -> list[SharedIndex]:
        """Return what finds the neighbours of `n_new` new samples in every layer."""
        return [SharedIndex(self._partial(views), n_new) for views in self.linked_views]

    def links(self, new: Sequence[Array], present: Mask, indexes: Sequence[SharedIndex]) -> list[sp.csr_array]:
        """Link new samples to those here (m x n), in every layer.

        `new` holds their rows in each view, `present` (m x V) says which of them count.
        """
        layers = []
        for views, index in zip(self.linked_views, indexes, strict=True):
            weights = [self.weights[v] for v in views]
            samples = IncompleteSamples([new[v] for v in views], present[:, list(views)], weights)
            layers.append(index.links(samples, max(self.neighbors[v] for v in views)))
        return layers

    def _partial(self, views: Sequence[int]) -> IncompleteSamples:
        present = np.zeros((self.n_samples, len(views)), dtype=bool)
        for column, v in enumerate(views):
            present[self.samples[v], column] = True
        rows = [spread(self.rows[v], self.samples[v], self.n_samples) for v in views]
        return IncompleteSamples(rows, present, [self.weights[v] for v in views])


def spread(rows: Array, samples: Indices, n_samples: int) -> Array:
    """Extend the rows of some samples to a table of all, with 0 for the others."""
    if len(samples) == n_samples:
        return rows
    place = sp.csr_array(
        (np.ones(len(samples), rows.dtype), (samples, np.arange(len(samples)))), shape=(n_samples, len(samples))
    )
    return place @ rows
