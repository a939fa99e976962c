r"""Which samples are landmarks. They are drawn by a hash, so the division of rows into blocks does not matter.

A sample's position and a seed give it a number u in [0, 1). Those with u < f, f = 5 L / n, are candidates for L
landmarks. Clusters of all sizes should have enough landmarks to be found, so candidates in crowded regions are thinned
out: k-means divides them into cells, and a candidate in a cell of m candidates has weight

.. math:: w = m^{-1/2} .

The L candidates with the smallest -log(u') / w become landmarks, with u' another hash; this is a draw without
replacement with probabilities proportional to w.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from manyview.preprocessing.scaling import scale_views, side_by_side, unit_distance_factor, without_missing
from manyview.typing import Array, Dense, Indices, Mask
from manyview.views import Views

CANDIDATES = 5  # for each landmark
CELLS = 100
CELL_SAMPLES = 5000  # candidates from which the cells are learned
CROWDING = 0.5  # exponent of w; 0 draws uniformly, 1 gives every cell equally many landmarks
CHOICE = 1  # distinguishes the second hash of a sample from its first
UNITS = 2.0**-64


def uniform(positions: Indices, seed: int, purpose: int = 0) -> Dense:
    """Return numbers in [0, 1) that depend only on the position, the seed and the purpose (SplitMix64)."""
    salt = _mix(np.array([seed], dtype=np.uint64) + np.uint64(purpose << 33))
    return _mix(positions.astype(np.uint64) + salt).astype(np.float64) * UNITS


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble the bits of 64-bit numbers; sums and products are meant to overflow."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def are_candidates(positions: Indices, n_samples: int, n_landmarks: int, seed: int) -> Mask:
    """Return which samples may become landmarks: about `CANDIDATES` times as many as needed, or all."""
    return uniform(positions, seed) * n_samples < CANDIDATES * n_landmarks


def choose_landmarks(
    views: Views, positions: Indices, n_landmarks: int, seed: int, crowding: float = CROWDING
) -> Indices:
    """Return which of the candidates are landmarks, in ascending order."""
    if views.n_samples <= n_landmarks:
        return np.arange(views.n_samples)
    cells = find_cells(views, positions, seed) if crowding > 0 else np.zeros(views.n_samples, dtype=np.intp)
    weights = np.bincount(cells)[cells] ** -crowding
    u = np.maximum(uniform(positions, seed, CHOICE), UNITS)
    return np.sort(np.lexsort((positions, -np.log(u) / weights))[:n_landmarks])


def find_cells(views: Views, positions: Indices, seed: int) -> Indices:
    """Divide candidates by k-means into `CELLS` cells: centres are learned from some of them."""
    X = comparable_rows(views)
    learnt_from = np.sort(np.argsort(uniform(positions, seed, CHOICE), kind="stable")[:CELL_SAMPLES])
    kmeans = KMeans(min(CELLS, len(learnt_from)), n_init=1, max_iter=20, random_state=seed)
    return np.asarray(kmeans.fit(X[learnt_from]).predict(X))


def comparable_rows(views: Views) -> Array:
    """Return the concatenated views, each scaled to a mean squared distance of 1; missing values count as 0."""
    tables = [without_missing(X) for X in scale_views(views)[0]]
    return side_by_side([X * X.dtype.type(unit_distance_factor(X)) for X in tables])
