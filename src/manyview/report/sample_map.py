"""The map of the samples: which samples are drawn, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.manifold import TSNE

from manyview.numerics.division import or_one, unit_length_rows
from manyview.partition.spectral import spectral_embedding
from manyview.typing import Dense, Indices

EXTRA_EIGENVECTORS = 10  # separate clusters that the first c eigenvectors do not
REGULARIZATION = 1.0  # keeps a few loosely linked samples from forming their own directions
FEWEST_DRAWN = 50  # per cluster, if it has as many, so that small clusters stay visible
FEWEST_FOR_TSNE = 10
SAME = 1e-9  # samples closer than this in all coordinates are one point, on which t-SNE crashes


@dataclass(frozen=True)
class SampleMap:
    """Samples on the map: their rows (m,), positions (m x 2, both axes from 0 to 1), and how they were laid out."""

    rows: Indices
    places: Dense
    how: str


def spectral_coordinates(W: sp.csr_array, n_clusters: int) -> Dense:
    """Return leading eigenvectors of the consensus graph, scaled by their eigenvalues; rows have length 1.

    There are more of them than in `embedding_`, which has one per cluster.
    """
    values, F = spectral_embedding(W, n_clusters + EXTRA_EIGENVECTORS, REGULARIZATION)
    return unit_length_rows(F.astype(float) * np.maximum(values, 0))


def choose_samples(labels: Indices, at_most: int, seed: int) -> Indices:
    """Choose up to `at_most` rows, in proportion to cluster sizes, with some from every cluster; in ascending order."""
    n, sizes = len(labels), np.bincount(labels)
    if n <= at_most:
        return np.arange(n)
    sure = min(FEWEST_DRAWN, at_most // len(sizes))
    quota = np.minimum(sizes, sure + (at_most - sure * len(sizes)) * sizes // n)
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(np.flatnonzero(labels == k), quota[k], replace=False) for k in range(len(sizes))]
    return np.sort(np.concatenate(drawn))


def lay_out_samples(coordinates: Dense, rows: Indices, seed: int) -> SampleMap:
    """Place the given rows in the plane."""
    F = coordinates[rows]
    if len(F) < FEWEST_FOR_TSNE or np.ptp(F, axis=0).max() < SAME:
        plane = np.pad(F, ((0, 0), (0, 2)))[:, :2]
        return SampleMap(rows, _fill_square(plane), "the first two spectral coordinates")
    # neighbourhoods settle long before the default of 1000 steps; the accuracy lost by `angle` is not visible
    layout = TSNE(perplexity=min(30, len(F) / 4), init="pca", max_iter=400, angle=0.8, random_state=seed)
    return SampleMap(rows, _fill_square(layout.fit_transform(F)), f"t-SNE of {F.shape[1]} spectral coordinates")


def _fill_square(places: Dense) -> Dense:
    low, high = places.min(axis=0), places.max(axis=0)
    return np.where(high > low, (places - low) / or_one(high - low), 0.5)  # equal places lie in the middle
