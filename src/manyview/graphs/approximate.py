"""Approximate nearest neighbours in near-linear time, by an inverted file from faiss (optional extra `fast`).

Samples are sorted into about 4 sqrt(n) cells by k-means, and a query looks into the `probes` cells nearest to it. How
many are enough is measured: some typical queries are searched exactly, and `probes` grows until that many of their true
neighbours are found (`WANTED_RECALL`). Cells, sample and search have fixed seeds and do not depend on the number of
threads; a graph index such as HNSW would, and was slower here (docs/large-data.md).
"""

from __future__ import annotations

import math
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np

from manyview.numerics.progress import tracked
from manyview.numerics.threads import allowed_threads
from manyview.typing import Dense, Indices

WANTED_RECALL = 0.95
CELLS = 4.0  # times the root of the number of samples
FIRST_PROBES = 16
WIDENING = 1.5  # factor on the probes, while the recall is too low
NARROWINGS = 2  # times that the last such step is halved
TRAINING = 40  # samples per cell that k-means sees
TRAINING_STEPS = 6
RECALL_SAMPLE = 400
BLOCK = 2**14  # rows converted to float32 at a time


def is_available() -> bool:
    """Return whether faiss is installed."""
    return find_spec("faiss") is not None


class InvertedFile:
    """The rows of X in cells. Memory: a float32 copy of X. Distances have single precision.

    `typical` holds queries to measure the recall with; by default X itself.
    """

    def __init__(self, X: Dense, typical: Dense | None = None) -> None:
        self.X, self.typical = X, typical
        self.centre = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
        spread = max((float(np.abs(X[rows] - self.centre).max()) for rows in _blocks(len(X))), default=0.0)
        self.unit = spread or 1.0  # single precision holds squares up to 1e38 only
        self._enough: dict[int, tuple[int, float]] = {}

    @cached_property
    def _filled(self) -> tuple[Any, Indices]:
        """The index of faiss, and the cell of each row of X."""
        import faiss

        n, d = self.X.shape
        faiss.omp_set_num_threads(1)  # sums over threads would round differently
        cells = max(1, int(CELLS * np.sqrt(n)))
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, cells)
        index.cp.niter, index.cp.max_points_per_centroid, index.cp.min_points_per_centroid = TRAINING_STEPS, TRAINING, 1
        drawn = np.random.default_rng(0).permutation(n)[: TRAINING * cells]
        index.train(self._compact(self.X[np.sort(drawn)]))
        cell_of = np.empty(n, dtype=np.int64)
        for rows in _blocks(n):
            part = self._compact(self.X[rows])
            own = index.quantizer.search(part, 1)[1].ravel()
            index.add_core(len(rows), faiss.swig_ptr(part), None, faiss.swig_ptr(own))  # add would search again
            cell_of[rows] = own
        return index, cell_of

    def search(self, Y: Dense | None, k: int) -> tuple[Dense, Indices]:
        """Return distances and indices of the k nearest rows of X to each row of Y.

        Y None means X itself; then no row is its own neighbour.
        """
        probes, _ = self.enough_probes(k)
        queries = self.X if Y is None else Y
        blocks = self._in_order_of_cells(Y)
        found = [
            self._search_rows(queries, rows, k, probes, same=Y is None)
            for rows in (tracked("neighbours", blocks) if Y is None else blocks)
        ]
        rows, distances, neighbors = (np.concatenate(part) for part in zip(*found, strict=True))
        back = np.empty_like(rows)
        back[rows] = np.arange(len(rows))
        return distances[back], neighbors[back]

    def enough_probes(self, k: int) -> tuple[int, float]:
        """Return into how many cells to look so that the recall is as wanted, and the recall; measured once."""
        if k not in self._enough:
            self._enough[k] = self._measure_probes(self.X if self.typical is None else self.typical, k)
        return self._enough[k]

    def _measure_probes(self, Y: Dense, k: int) -> tuple[int, float]:
        """Widen the search until the recall is as wanted, then halve the last step a few times: probes cost time."""
        drawn, same = np.sort(np.random.default_rng(0).permutation(len(Y))[:RECALL_SAMPLE]), self.typical is None
        cells = self._filled[0].nlist
        farthest = self._true_distances(Y[drawn], k + same)[:, -1:]

        def recall(probes: int) -> float:
            # ties count as found: another neighbour at the same distance is as good
            near = self._search_rows(Y, drawn, k, probes, same=same)[1] <= farthest * (1 + 1e-5)
            return float(near.mean())

        too_few, enough = 0, min(FIRST_PROBES, cells)
        while (found := recall(enough)) < WANTED_RECALL and enough < cells:
            too_few, enough = enough, min(math.ceil(enough * WIDENING), cells)
        for _ in range(NARROWINGS if too_few else 0):
            fewer = (too_few + enough) // 2
            if (then := recall(fewer)) >= WANTED_RECALL:
                enough, found = fewer, then
            else:
                too_few = fewer
        return enough, found

    def _true_distances(self, Y: Dense, k: int) -> Dense:
        """Return the distances of the k nearest rows of X to a few queries, by comparing with all."""
        import faiss

        queries, squares = self._compact(Y), np.empty((len(Y), 0), dtype=np.float32)
        for rows in _blocks(len(self.X)):
            index = faiss.IndexFlatL2(self.X.shape[1])
            index.add(self._compact(self.X[rows]))
            found = index.search(queries, min(k, len(rows)))[0]
            squares = np.sort(np.hstack([squares, found]), axis=1)[:, :k]
        return self._in_own_units(squares, Y.dtype)

    def _search_rows(
        self, Y: Dense, rows: Indices, k: int, probes: int, *, same: bool
    ) -> tuple[Indices, Dense, Indices]:
        squares, neighbors = self._search_cells(Y, rows, k, probes, same=same)
        short = np.flatnonzero(neighbors[:, -1] < 0)  # the cells looked into hold fewer than k samples
        if len(short):
            squares[short], neighbors[short] = self._search_cells(Y, rows[short], k, self._filled[0].nlist, same=same)
        return rows, self._in_own_units(squares, Y.dtype), neighbors

    def _search_cells(self, Y: Dense, rows: Indices, k: int, probes: int, *, same: bool) -> tuple[Dense, Indices]:
        import faiss

        faiss.omp_set_num_threads(allowed_threads())
        how = faiss.SearchParametersIVF()
        how.nprobe = probes
        squares, neighbors = self._filled[0].search(self._compact(Y[rows]), k + same, params=how)
        return _without_self(squares, neighbors, rows) if same else (squares, neighbors)

    def _in_order_of_cells(self, Y: Dense | None) -> list[Indices]:
        """Return blocks of row numbers, in which rows of the same cell are together: they look at the same memory."""
        index, cell_of = self._filled
        if Y is not None:
            parts = [index.quantizer.search(self._compact(Y[rows]), 1)[1].ravel() for rows in _blocks(len(Y))]
            cell_of = np.concatenate(parts)
        order = np.argsort(cell_of, kind="stable")
        return [order[rows] for rows in _blocks(len(order))]

    def _in_own_units(self, squares: Dense, dtype: np.dtype[Any]) -> Dense:
        return np.sqrt(np.maximum(squares, 0)).astype(dtype) * dtype.type(self.unit)

    def _compact(self, X: Dense) -> Dense:
        return ((X - self.centre) / X.dtype.type(self.unit)).astype(np.float32)


def _blocks(n: int) -> list[Indices]:
    return [np.arange(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]


def _without_self(squares: Dense, neighbors: Indices, rows: Indices) -> tuple[Dense, Indices]:
    """Remove each row from its own neighbours, or the last neighbour if duplicates have crowded the row out."""
    itself = neighbors == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    shape = (len(rows), neighbors.shape[1] - 1)
    return squares[~itself].reshape(shape), neighbors[~itself].reshape(shape)
