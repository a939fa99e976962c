"""The map of the samples: which of them are drawn, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.manifold import TSNE

from manyview.numerics.division import unit_length_rows
from manyview.partition.spectral import spectral_embedding
from manyview.typing import Dense, Indices

Floats = Dense
Integers = Indices

EXTRA_EIGENVECTORS = 10  # clusters that the first c do not tell apart, the next ones do
REGULARIZATION = 1.0  # a few loosely linked samples do not make directions of their own
FEWEST_DRAWN = 50  # of a cluster that has as many: a small one is still to be seen
FEWEST_FOR_TSNE = 10


@dataclass(frozen=True)
class Picture:
    """Samples on the map: their rows (m,), their places (m x 2, both axes from 0 to 1), and how these were found."""

    rows: Integers
    places: Floats
    how: str


def spectral_coordinates(W: sp.csr_array, n_clusters: int) -> Floats:
    """Leading eigenvectors of the consensus graph, each times its eigenvalue; rows of length 1.

    More of them than `embedding_` has, which holds one per cluster.
    """
    values, F = spectral_embedding(W, n_clusters + EXTRA_EIGENVECTORS, REGULARIZATION)
    return unit_length_rows(F.astype(float) * np.maximum(values, 0))


def draw_sample(labels: Integers, at_most: int, seed: int) -> Integers:
    """Rows of up to `at_most` samples in their order, drawn in proportion from all clusters, some from each."""
    n, sizes = len(labels), np.bincount(labels)
    if n <= at_most:
        return np.arange(n)
    sure = min(FEWEST_DRAWN, at_most // len(sizes))
    quota = np.minimum(sizes, sure + (at_most - sure * len(sizes)) * sizes // n)
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(np.flatnonzero(labels == k), quota[k], replace=False) for k in range(len(sizes))]
    return np.sort(np.concatenate(drawn))


def draw_picture(coordinates: Floats, rows: Integers, seed: int) -> Picture:
    """Lay the given rows out in the plane."""
    F = coordinates[rows]
    if len(F) < FEWEST_FOR_TSNE:
        plane = np.pad(F, ((0, 0), (0, 2)))[:, :2]
        return Picture(rows, _fill_square(plane), "the first two spectral coordinates")
    # neighbours have settled long before the default 1000 steps; the accuracy that `angle` gives up is not visible
    layout = TSNE(perplexity=min(30, len(F) / 4), init="pca", max_iter=400, angle=0.8, random_state=seed)
    return Picture(rows, _fill_square(layout.fit_transform(F)), f"t-SNE of {F.shape[1]} spectral coordinates")


def _fill_square(places: Floats) -> Floats:
    low, high = places.min(axis=0), places.max(axis=0)
    return (places - low) / np.where(high > low, high - low, 1)
