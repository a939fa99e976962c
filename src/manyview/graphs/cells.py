"""Samples sorted into cells by k-means, for the neighbour search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manyview.numerics.blocks import row_blocks
from manyview.numerics.rows import ascending, row_products
from manyview.typing import Dense, Indices

EXPONENT = 0.6  # n samples are sorted into n^0.6 cells
TRAINING = 20  # samples per cell that k-means sees
TRAINING_STEPS = 5
BLOCK_ENTRIES = 2**20  # distances held at a time


@dataclass(frozen=True)
class Cells:
    """Rows sorted by the cell that they are in.

    Attributes
    ----------
    centres : (c, d), of the cells
    X : (n, d), the rows; those of a cell are together
    rows : (n,), the number that each of them had before
    own : (n,), the cell that each of them is in
    starts : (c + 1,), where each cell begins, and the end
    """

    centres: Dense
    X: Dense
    rows: Indices
    own: Indices
    starts: Indices

    @classmethod
    def of(cls, X: Dense, centres: Dense) -> Cells:
        """Sort rows into the cells of their nearest centres."""
        own = nearest_centres(X, centres)
        rows = ascending(own)
        return cls(centres, X[rows], rows, own[rows], np.searchsorted(own[rows], np.arange(len(centres) + 1)))

    @property
    def sizes(self) -> Indices:
        """Number of rows in each cell."""
        return np.diff(self.starts)

    def around(self, c: int, fewest_cells: int, fewest_rows: int) -> Indices:
        """Return the cells whose centres are nearest to that of c, with c itself; as many cells and rows as wanted."""
        away = self.centres - self.centres[c]
        order = ascending(row_products(away, away))
        enough_rows = np.searchsorted(np.cumsum(self.sizes[order]), fewest_rows) + 1
        return order[: max(fewest_cells, int(enough_rows))]

    def members(self, cells: Indices) -> Indices:
        """Return the positions in `X` of the rows of some cells."""
        return np.concatenate([np.arange(self.starts[c], self.starts[c + 1]) for c in cells])


def find_centres(X: Dense) -> Dense:
    """Return the centres of cells for the rows of X, from a sample of them."""
    n_cells = max(1, round(len(X) ** EXPONENT))
    drawn = np.random.default_rng(0).permutation(len(X))[: TRAINING * n_cells]
    return k_means(X[np.sort(drawn)], X[drawn[:n_cells]].copy())


def k_means(X: Dense, centres: Dense) -> Dense:
    """Move centres by some steps of k-means; one without rows stays where it is."""
    for _ in range(TRAINING_STEPS):
        own = nearest_centres(X, centres)
        rows = ascending(own)
        filled, first, sizes = np.unique(own[rows], return_index=True, return_counts=True)
        centres[filled] = np.add.reduceat(X[rows], first, axis=0) / sizes[:, None]
    return centres


def nearest_centres(X: Dense, centres: Dense) -> Indices:
    """Return the number of the centre that is nearest to each row."""
    half = row_products(centres, centres) / 2
    own = np.empty(len(X), dtype=np.intp)
    for rows in row_blocks(len(X), len(centres), BLOCK_ENTRIES):
        own[rows] = np.argmin(half - X[rows] @ centres.T, axis=1)
    return own
