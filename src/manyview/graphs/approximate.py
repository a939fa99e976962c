"""Approximate nearest neighbours in near-linear time: samples are sorted into cells, and look into those around them.

A query is compared with the members of the `probes` cells whose centres are nearest to it, by products of matrices
(`comparison`), in two steps:

1. All queries of a cell are compared with the members of the few cells around it. What they find bounds the distances
   of their neighbours.
2. For each cell, all queries that have to look into it are compared with its members. Few are within the bound.

How many probes are enough is measured: for some typical queries all true neighbours are found, and how near the cells
are that hold them. `probes` is the smallest number that finds the wanted share of them (`wanted_recall`).

Results do not depend on the number of threads: each works on other queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np

from manyview.graphs.cells import Cells, find_centres, nearest_centres
from manyview.graphs.comparison import Nearest, nearest_of, select, shortlist, within
from manyview.numerics.blocks import row_blocks
from manyview.numerics.progress import tracked
from manyview.numerics.rows import ascending, row_products
from manyview.numerics.threads import allowed_threads, single_threaded_blas
from manyview.typing import Dense, Indices, Mask

MOST_MISSED = 0.04  # share of the neighbours, measured with a sample, so that the true one is not above .05
MANY = 100_000  # rows; among fewer, clusters are smaller, and a smaller share may be missed
RECALL_SAMPLE = 400
AROUND = 16  # cells around its own that every query looks into
BATCH = 2**15  # queries that are searched for together
QUERIES = 512  # of one product of matrices
BLOCK_ENTRIES = 2**20  # values of a table that are processed at a time
TIE = 1e-5  # relative difference of squared distances that count as equal


class CellIndex:
    """The rows of X in cells. Distances have single precision.

    Memory: a float32 copy of X, two while it is sorted into cells, and a byte for each pair of cells (n^1.2).

    `typical` holds queries to measure the recall with; by default X itself.
    """

    def __init__(self, X: Dense, typical: Dense | None = None) -> None:
        self.X, self.typical = X, typical
        self.centre = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
        blocks = row_blocks(len(X), X.shape[1], BLOCK_ENTRIES)
        spread = max((float(np.abs(X[rows] - self.centre).max()) for rows in blocks), default=0.0)
        self.unit = spread or 1.0  # single precision holds squares up to 1e38 only
        self._enough: dict[int, tuple[int, float]] = {}
        self._around: dict[int, Mask] = {}

    @cached_property
    def _cells(self) -> Cells:
        X = self._compact(self.X)
        with single_threaded_blas():
            return Cells.of(X, find_centres(X))

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self._cells.centres)

    def search(self, Y: Dense | None, k: int) -> tuple[Dense, Indices]:
        """Return distances and indices of the k nearest rows of X to each row of Y.

        Y None means X itself; then no row is its own neighbour.
        """
        probes, _ = self.enough_probes(k)
        cells = self._cells
        is_around = self._is_around(k)
        with single_threaded_blas():
            queries = cells if Y is None else Cells.of(self._compact(Y), cells.centres)
            squares, neighbors = np.empty((len(queries.X), k), np.float32), np.empty((len(queries.X), k), np.intp)

            def search_for(batch: slice) -> None:
                itself = np.arange(batch.start, batch.stop) if Y is None else None
                Q, own = queries.X[batch], queries.own[batch]
                first = look_around(Q, own, cells, is_around, k, itself)
                best = look_farther(Q, own, cells, is_around, probes, first)
                squares[queries.rows[batch]], neighbors[queries.rows[batch]] = best.squares, cells.rows[best.positions]

            _for_each(search_for, row_blocks(len(queries.X), 1, BATCH), "neighbours" if Y is None else None)
        dtype = (self.X if Y is None else Y).dtype
        return np.sqrt(squares).astype(dtype) * dtype.type(self.unit), neighbors

    def enough_probes(self, k: int) -> tuple[int, float]:
        """Return into how many cells to look so that the recall is as wanted, and the recall; measured once."""
        if k not in self._enough:
            with single_threaded_blas():
                self._enough[k] = self._measure_probes(k)
        return self._enough[k]

    def _measure_probes(self, k: int) -> tuple[int, float]:
        """Count, for some queries, the true neighbours in the nearest cell, in the nearest two, and so on.

        Ties count as found: another neighbour at the same distance is as good.
        """
        cells, same = self._cells, self.typical is None
        Y = self.X if self.typical is None else self.typical
        Q = self._compact(Y[np.sort(np.random.default_rng(1).permutation(len(Y))[:RECALL_SAMPLE])])
        farthest = _true_squares(Q, cells.X, k + same)[:, -1:] * (1 + TIE) + TIE**2
        rank = np.argsort(np.argsort(_squares(Q, cells.centres)))
        rank[self._is_around(k)[nearest_centres(Q, cells.centres)]] = 0
        found = np.zeros(rank.shape)  # per query, in the cells of each rank
        for rows, squares in _squares_in_blocks(Q, cells.X):
            i, j = np.nonzero(squares <= farthest)
            np.add.at(found, (i, rank[i, cells.own[rows][j]]), 1)
        recall = np.clip(np.cumsum(found, axis=1) - same, 0, k).mean(axis=0) / k
        probes = int(np.argmax(recall >= min(wanted_recall(len(cells.X)), recall[-1]))) + 1
        return probes, float(recall[probes - 1])

    def _is_around(self, k: int) -> Mask:
        """Return which cells (columns) the queries of each cell (rows) look into at first."""
        if k not in self._around:
            n_cells = len(self._cells.centres)
            self._around[k] = np.zeros((n_cells, n_cells), dtype=bool)
            for c in range(n_cells):
                self._around[k][c, self._cells.around(c, AROUND, k + 1)] = True
        return self._around[k]

    def _compact(self, X: Dense) -> Dense:
        return ((X - self.centre) / X.dtype.type(self.unit)).astype(np.float32)


def wanted_recall(n: int) -> float:
    """Return the share of the true neighbours among n rows that has to be found."""
    return 1 - MOST_MISSED * min(1.0, n / MANY) ** 2


def look_around(Q: Dense, own: Indices, cells: Cells, is_around: Mask, k: int, itself: Indices | None) -> Nearest:
    """Compare the queries of each cell (rows of Q, sorted by cell) with the members of the cells around it."""
    squares, positions = np.empty((len(Q), k), Q.dtype), np.empty((len(Q), k), np.intp)
    starts = np.flatnonzero(np.diff(own, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(Q)], strict=True):
        c = own[start]
        members = cells.members(np.flatnonzero(is_around[c]))
        for rows in (slice(i, min(i + QUERIES, stop)) for i in range(start, stop, QUERIES)):
            near = nearest_of(Q[rows], cells.X, members, cells.centres[c], k, None if itself is None else itself[rows])
            squares[rows], positions[rows] = near.squares, near.positions
    return Nearest(squares, positions)


def look_farther(Q: Dense, own: Indices, cells: Cells, is_around: Mask, probes: int, first: Nearest) -> Nearest:
    """Compare queries with the members of their nearest cells that they have not looked into, and keep the nearest."""
    query, cell = _cells_to_look_into(Q, own, cells, is_around, probes)
    limit = first.farthest * (1 - Q.dtype.type(TIE))  # a tie is no better
    k, found = first.positions.shape[1], []
    ends = np.searchsorted(cell, np.arange(len(cells.centres) + 1))
    for c in np.flatnonzero(np.diff(ends)):
        here = query[ends[c] : ends[c + 1]]
        members = slice(cells.starts[c], cells.starts[c + 1])
        A, B = Q[here] - cells.centres[c], cells.X[members] - cells.centres[c]
        D = (-2 * A) @ B.T
        D += row_products(B, B)
        i, j = within(D, limit[here] - row_products(A, A), k)
        found.append((here[i], j + members.start))
    if not found:
        return first
    query, position = (np.concatenate(part) for part in zip(*found, strict=True))
    return select(Q, cells.X, query, position, k, first)


def _cells_to_look_into(Q: Dense, own: Indices, cells: Cells, is_around: Mask, probes: int) -> tuple[Indices, Indices]:
    """Return pairs of queries and cells among the nearest to them, without those around their own; sorted by cell."""
    every, origin = np.arange(len(cells.centres)), np.zeros_like(cells.centres[0])
    found = []
    for rows in row_blocks(len(Q), 1, QUERIES):
        query, cell = shortlist(Q[rows], cells.centres, every, origin, min(probes, len(every)))
        query += rows.start
        new = ~is_around[own[query], cell] & (cells.sizes[cell] > 0)
        found.append((query[new], cell[new]))
    query, cell = (np.concatenate(part) for part in zip(*found, strict=True))
    order = ascending(cell)
    return query[order], cell[order]


def _true_squares(Q: Dense, X: Dense, k: int) -> Dense:
    """Return the squared distances of the k nearest rows to a few queries, by comparing with all."""
    least = np.empty((len(Q), 0), dtype=Q.dtype)
    for _, squares in _squares_in_blocks(Q, X):
        near = np.partition(squares, k - 1)[:, :k] if squares.shape[1] > k else squares
        least = np.sort(np.hstack([least, near]))[:, :k]
    return least


def _squares_in_blocks(Q: Dense, X: Dense) -> Iterator[tuple[slice, Dense]]:
    """Yield blocks of rows of X, and their squared distances to a few queries."""
    for rows in row_blocks(len(X), len(Q), BLOCK_ENTRIES):
        yield rows, _squares(Q, X[rows])


def _squares(Q: Dense, X: Dense) -> Dense:
    squares = row_products(Q, Q)[:, None] + row_products(X, X) - 2 * (Q @ X.T)
    return np.maximum(squares, 0)


def _for_each(function: Callable[[slice], None], items: Sequence[slice], step: str | None) -> None:
    """Call a function for each item, in as many threads as allowed; a step with a name reports its progress."""
    pool = ThreadPoolExecutor(allowed_threads())
    try:
        calls = [pool.submit(function, item) for item in items]
        for call in tracked(step, calls) if step else calls:
            call.result()
    finally:
        pool.shutdown(cancel_futures=True)  # after an interrupt or an error, the others need not be done
