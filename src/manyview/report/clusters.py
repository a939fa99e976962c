"""Statistics of the clusters, and how firmly each sample belongs to its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.evaluation.moments import indicator
from manyview.numerics.division import or_one
from manyview.partition.membership import confidence, second_cluster
from manyview.typing import Dense, Indices

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Membership:
    """Probabilities of each sample's own cluster (`own`), and of the most likely other one (`next`, `other`)."""

    own: Dense
    next: Dense
    other: Indices

    @classmethod
    def of(cls, P: Dense, labels: Indices) -> Membership:
        """Compute them from the probabilities P (n x c) of all clusters; a single cluster has no other one."""
        other = second_cluster(P, labels)
        return cls(confidence(P, labels), confidence(P, other) if P.shape[1] > 1 else np.zeros(len(P)), other)


@dataclass(frozen=True)
class ClusterStatistics:
    """Size, links and silhouettes of each cluster.

    `links` (c x c) holds the share of each cluster's links (row) that go to each cluster (column), `silhouette` (c,)
    the mean over its samples, and `quantiles` (c x 5) the quantiles at `QUANTILES`; NaN if there is only one cluster.
    """

    size: Indices
    links: Dense
    silhouette: Dense
    quantiles: Dense

    @property
    def inside(self) -> Dense:
        """Share of each cluster's links that stay inside it."""
        return np.diag(self.links)


def summarize_clusters(W: sp.csr_array, labels: Indices, silhouette: Dense) -> ClusterStatistics:
    """Summarize the graph and the silhouettes by cluster."""
    member = indicator(labels)
    total = (member @ W @ member.T).toarray()
    groups = [silhouette[labels == k] for k in range(len(total))]
    return ClusterStatistics(
        size=np.bincount(labels),
        links=_shares(total),
        silhouette=np.array([group.mean() for group in groups]),
        quantiles=np.array([np.quantile(group, QUANTILES) for group in groups]),
    )


def within_share(W: sp.csr_array, labels: NDArray[Any]) -> float:
    """Share of the total affinity that is between samples of the same class."""
    links = W.tocoo()
    same = labels[links.coords[0]] == labels[links.coords[1]]
    total = float(links.data.sum())
    return float(links.data[same].sum()) / total if total else 0.0


def affinity_image(W: sp.csr_array, labels: NDArray[Any], size: int = 200) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sum a graph over blocks of samples ordered by label; also return where each label ends (0 to 1).

    Cells hold shares of their row's links, so that rows with many links do not dominate.
    """
    n = len(labels)
    order = np.argsort(labels, kind="stable")
    size = min(size, n)
    cell = np.empty(n, dtype=np.intp)
    cell[order] = np.arange(n) * size // n
    links = W.tocoo()
    image = np.zeros((size, size))
    np.add.at(image, (cell[links.coords[0]], cell[links.coords[1]]), links.data)
    image /= np.maximum(image.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return image, np.cumsum(np.unique(labels, return_counts=True)[1]) / n


def silhouettes(F: Dense, labels: Indices) -> Dense:
    """Silhouette of each sample in cosine distance, from rows of length 1 or 0; NaN if there is only one cluster.

    The mean distance of f to a cluster is 1 - f . (mean of its rows), so the exact result takes O(n c q).
    """
    member = indicator(labels)
    size = np.bincount(labels)
    if len(size) == 1:
        return np.full(len(labels), np.nan)
    every = np.arange(len(labels))
    alike = F @ (member @ F).T
    within = alike[every, labels] - np.einsum("ij,ij->i", F, F)
    own = np.maximum(1 - within / np.maximum(size[labels] - 1, 1), 0)
    distance = np.maximum(1 - alike / size, 0)
    distance[every, labels] = np.inf
    nearest = distance.min(axis=1)
    larger = np.maximum(own, nearest)
    return np.where((size[labels] > 1) & (larger > 0), (nearest - own) / or_one(larger), 0)


def _shares(links: Dense) -> Dense:
    return links / or_one(links.sum(axis=1, keepdims=True))
