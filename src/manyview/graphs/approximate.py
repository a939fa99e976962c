"""Approximate nearest neighbours in near-linear time, by an inverted file from faiss (optional extra `fast`).

Samples are sorted into about 4 sqrt(n) cells by k-means, and a query searches the `probes` cells nearest to it. How
many are enough is measured: some of the queries are searched exactly, and `probes` grows until enough of their true
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
TRAINING = 40  # samples per cell that k-means sees
TRAINING_STEPS = 6
RECALL_SAMPLE = 400
BLOCK = 2**14  # rows converted to float32 at a time


def is_available() -> bool:
    """Return whether faiss is installed."""
    return find_spec("faiss") is not None


class InvertedFile:
    """The rows of X in cells. Memory: a float32 copy of X. Distances have single precision."""

    def __init__(self, X: Dense) -> None:
        self.X = X
        self.centre = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
        spread = max((float(np.abs(X[rows] - self.centre).max()) for rows in _blocks(len(X))), default=0.0)
        self.unit = spread or 1.0  # single precision holds squares only up to 1e38

    @cached_property
    def _index(self) -> Any:
        import faiss

        n, d = self.X.shape
        faiss.omp_set_num_threads(1)  # sums over threads would round differently
        cells = max(1, int(CELLS * np.sqrt(n)))
        index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, cells)
        index.cp.niter, index.cp.max_points_per_centroid, index.cp.min_points_per_centroid = TRAINING_STEPS, TRAINING, 1
        drawn = np.random.default_rng(0).permutation(n)[: TRAINING * cells]
        index.train(self._compact(self.X[np.sort(drawn)]))
        for rows in _blocks(n):
            index.add(self._compact(self.X[rows]))
        return index

    def search(self, Y: Dense | None, k: int) -> tuple[Dense, Indices, float]:
        """Return distances and indices of the k nearest rows of X to each row of Y, and the recall.

        Y None means X itself; then no row is its own neighbour.
        """
        queries = self.X if Y is None else Y
        recall = self._choose_probes(queries, k, same=Y is None)
        blocks = tracked("neighbours", self._in_order_of_cells(queries))
        found = [self._search_rows(queries, rows, k, same=Y is None) for rows in blocks]
        rows, distances, neighbors = (np.concatenate(part) for part in zip(*found, strict=True))
        back = np.empty_like(rows)
        back[rows] = np.arange(len(rows))
        return distances[back], neighbors[back], recall

    def _choose_probes(self, Y: Dense, k: int, *, same: bool) -> float:
        """Search more cells until the recall on some of the queries is high enough; return the recall."""
        drawn = np.sort(np.random.default_rng(0).permutation(len(Y))[:RECALL_SAMPLE])
        index = self._index
        index.nprobe = index.nlist
        true = self._search_rows(Y, drawn, k, same=same)[1]
        probes = min(FIRST_PROBES, index.nlist)
        while True:
            index.nprobe = probes
            # ties count as found: another neighbour at the same distance is as good
            near = self._search_rows(Y, drawn, k, same=same)[1] <= true[:, -1:] * (1 + 1e-5)
            recall = float(near.mean())
            if recall >= WANTED_RECALL or probes >= index.nlist:
                return recall
            probes = min(math.ceil(probes * WIDENING), index.nlist)

    def _search_rows(self, Y: Dense, rows: Indices, k: int, *, same: bool) -> tuple[Indices, Dense, Indices]:
        import faiss

        faiss.omp_set_num_threads(allowed_threads())
        squares, neighbors = self._index.search(self._compact(Y[rows]), k + same)
        if same:
            squares, neighbors = _without_self(squares, neighbors, rows)
        short = np.flatnonzero(neighbors[:, -1] < 0)  # the searched cells hold fewer than k samples
        if len(short):
            squares[short], neighbors[short] = self._search_everywhere(Y, rows[short], k, same=same)
        distances = np.sqrt(np.maximum(squares, 0)).astype(Y.dtype)
        return rows, distances * Y.dtype.type(self.unit), neighbors

    def _search_everywhere(self, Y: Dense, rows: Indices, k: int, *, same: bool) -> tuple[Dense, Indices]:
        probes, self._index.nprobe = self._index.nprobe, self._index.nlist
        squares, neighbors = self._index.search(self._compact(Y[rows]), k + same)
        self._index.nprobe = probes
        return _without_self(squares, neighbors, rows) if same else (squares, neighbors)

    def _in_order_of_cells(self, Y: Dense) -> list[Indices]:
        """Return blocks of row numbers with rows of the same cell together, because they read the same memory."""
        cell = [self._index.quantizer.search(self._compact(Y[rows]), 1)[1].ravel() for rows in _blocks(len(Y))]
        order = np.argsort(np.concatenate(cell), kind="stable")
        return [order[rows] for rows in _blocks(len(Y))]

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
