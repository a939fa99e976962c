"""Compares many queries with many candidates, by products of matrices, and keeps the nearest of each query.

A product of matrices is several times faster than one distance after another, but it makes far more distances than are
wanted. A bound on those of the neighbours picks out the few that matter, and only these are computed without the
rounding of the product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manyview.numerics.rows import row_products
from manyview.typing import Dense, Indices

CANDIDATES = 1024  # of one product; with some hundred queries it stays in the cache of a core
BUCKETS = 64  # into which candidates are dealt
CROWD = 8  # times the candidates wanted: more within the bound are ties, and only the nearest of them are kept


@dataclass(frozen=True)
class Nearest:
    """Squared distances (m x k) of the nearest candidates to each query, nearest first, and their positions."""

    squares: Dense
    positions: Indices

    @property
    def farthest(self) -> Dense:
        """Squared distance of the last of them."""
        return self.squares[:, -1]


def nearest_of(
    Q: Dense, X: Dense, candidates: Indices, origin: Dense, k: int, itself: Indices | None = None
) -> Nearest:
    """Return the k nearest rows of X, out of some candidates, to each query (row of Q).

    `itself` is the position of each query in X; it is not its own neighbour. `origin` is a point close to all of them,
    relative to which products lose little precision. There must be k candidates, without the query itself.
    """
    query, position = shortlist(Q, X, candidates, origin, k + (itself is not None))
    if itself is not None:
        others = position != itself[query]
        query, position = query[others], position[others]
    return select(Q, X, query, position, k)


def select(Q: Dense, X: Dense, query: Indices, position: Indices, k: int, known: Nearest | None = None) -> Nearest:
    """Return the k nearest to each query out of pairs of queries and rows of X, and of those known already."""
    away = Q[query] - X[position]
    squares = row_products(away, away)
    if known is not None:
        query = np.concatenate([query, np.repeat(np.arange(len(Q)), known.positions.shape[1])])
        position = np.concatenate([position, known.positions.ravel()])
        squares = np.concatenate([squares, known.squares.ravel()])
    order = np.lexsort((position, squares, query))
    first = np.searchsorted(query[order], np.arange(len(Q)))
    taken = order[first[:, None] + np.arange(k)]
    return Nearest(squares[taken], position[taken])


def shortlist(Q: Dense, X: Dense, candidates: Indices, origin: Dense, wanted: int) -> tuple[Indices, Indices]:
    """Return pairs of queries and rows of X; the `wanted` nearest candidates of each query are among them.

    Candidates are dealt into buckets. The `wanted`-th least of the buckets' least distances is the bound: so many are
    at least as near, so nothing beyond it is among the nearest. It falls while candidates are seen, the nearest first.
    """
    buckets = max(BUCKETS, 4 * wanted)
    width = buckets * max(1, CANDIDATES // buckets)
    m, dtype = len(Q), Q.dtype
    D = np.empty((m, width), dtype)  # the same memory for every product: fresh memory costs time
    least, bound = np.full((m, buckets), np.inf, dtype), np.empty(m, dtype)
    twice, found = -2 * (Q - origin), []
    for step, start in enumerate(range(0, len(candidates), width)):
        here = candidates[start : start + width]
        B = X[here] - origin
        np.matmul(twice, B.T, out=D[:, : len(here)])  # squared distances, less the squared length of the query
        D[:, : len(here)] += row_products(B, B)
        D[:, len(here) :] = np.inf
        np.minimum(least, D.reshape(m, -1, buckets).min(axis=1), out=least)
        if step & (step - 1) == 0:  # at steps 0, 1, 2, 4, 8, ...: the others would hardly lower it
            bound = _nth_least(least, wanted)
        query, column = within(D[:, : len(here)], bound, wanted)
        found.append((query, here[column], D[query, column]))
    query, position, squares = (np.concatenate(part) for part in zip(*found, strict=True))
    kept = squares <= _nth_least(least, wanted)[query]
    return query[kept], position[kept]


def within(D: Dense, bound: Dense, wanted: int) -> tuple[Indices, Indices]:
    """Return rows and columns of the entries up to the bound of their row; out of many ties, the `wanted` least."""
    pairs = np.flatnonzero(bound[:, None] >= D)
    if len(pairs) > CROWD * wanted * len(D) and wanted < D.shape[1]:
        columns = np.argpartition(D, wanted - 1)[:, :wanted]
        return np.repeat(np.arange(len(D)), wanted), columns.ravel()
    query, column = np.divmod(pairs, max(D.shape[1], 1))
    return query, column


def _nth_least(A: Dense, n: int) -> Dense:
    """Return the n-th least entry of each row."""
    return np.partition(A, n - 1)[:, n - 1]
