"""Data without clusters that otherwise resemble the given data, and the graphs of both.

Whatever a method finds in them is due to chance. They have the means, variances and correlations of the data, within
and between views, and the same number of dimensions. Half of the draws are Gaussian, half are uniform in a box.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from manyview.graphs.affinity import adaptive_graph
from manyview.graphs.incomplete import spread_graph
from manyview.preprocessing.scaling import side_by_side
from manyview.typing import Array, Dense, Graph, Indices, is_sparse

SMALLEST_EIGENVALUE = 1e-10  # relative to the largest; directions below are rounding error


@dataclass(frozen=True)
class Rows:
    """The samples as rows of each view that contains them.

    Attributes
    ----------
    tables : rows of each view, on one scale
    samples : sample index of each row, per view, ascending
    n_samples : number of samples
    neighbors : number of neighbours per sample in each view
    """

    tables: tuple[Array, ...]
    samples: tuple[Indices, ...]
    n_samples: int
    neighbors: tuple[int, ...]

    @classmethod
    def complete(cls, tables: Sequence[Array], neighbors: int) -> Rows:
        """Wrap tables in which every sample has a row."""
        n = tables[0].shape[0]
        return cls(tuple(tables), (np.arange(n),) * len(tables), n, (neighbors,) * len(tables))

    def part(self, chosen: Indices) -> Rows:
        """Return some of the samples, given in ascending order."""
        kept = [np.isin(samples, chosen) for samples in self.samples]
        return replace(
            self,
            tables=tuple(X[here] for X, here in zip(self.tables, kept, strict=True)),
            samples=tuple(np.searchsorted(chosen, s[here]) for s, here in zip(self.samples, kept, strict=True)),
            n_samples=len(chosen),
        )

    def graphs(self) -> tuple[list[Graph], Graph | None]:
        """Return the neighbour graph of each view, and one of all views if every sample is in all of several views."""
        views = [
            spread_graph(neighbor_graph(X, k), samples, self.n_samples)
            for X, samples, k in zip(self.tables, self.samples, self.neighbors, strict=True)
        ]
        if len(views) == 1 or any(len(samples) < self.n_samples for samples in self.samples):
            return views, None
        return views, neighbor_graph(side_by_side(self.tables), max(self.neighbors))

    def without_structure(self, draws: int, rng: np.random.Generator) -> Iterator[Rows]:
        """Draw data without clusters, alternately Gaussian and uniform, with the covariances of these rows."""
        tables = [centred(X) for X in self.tables]
        spread = [spread_rows(X, samples, self.n_samples) for X, samples in zip(tables, self.samples, strict=True)]
        values, U = np.linalg.eigh(sum((X @ X.T for X in spread), np.zeros((self.n_samples,) * 2)))
        U = U[:, values > SMALLEST_EIGENVALUE * values[-1]]
        loadings = [U.T @ X for X in spread]
        for draw in range(draws):
            shape = self.n_samples, U.shape[1]
            G = rng.uniform(-np.sqrt(3), np.sqrt(3), shape) if draw % 2 else rng.standard_normal(shape)
            G /= np.sqrt(self.n_samples)
            new = (G[samples] @ D for samples, D in zip(self.samples, loadings, strict=True))
            yield replace(self, tables=tuple(new))


def neighbor_graph(X: Array, k: int) -> Graph:
    """Return the adaptive neighbours of rows; rows that are all zero have none."""
    n = X.shape[0]
    if n < 2 or abs(X).max() == 0:
        return sp.csr_array((n, n), dtype=X.dtype)
    return adaptive_graph(X, k)


def centred(X: Array) -> Dense:
    """Return a dense table minus the means of its columns."""
    dense = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
    return dense - dense.mean(axis=0)


def spread_rows(X: Dense, samples: Indices, n_samples: int) -> Dense:
    """Extend the rows of some samples to a table of all, with 0 for the others."""
    table = np.zeros((n_samples, X.shape[1]))
    table[samples] = X
    return table
