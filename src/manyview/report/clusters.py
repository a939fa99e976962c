"""Clusters and the standing of each sample in its own, from the consensus graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.typing import Dense, Indices

Floats = Dense
Integers = Indices

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Standing:
    """How each sample stands: the share of its links to its own cluster and to the next best, and which that is."""

    own: Floats
    next: Floats
    other: Integers

    @property
    def margin(self) -> Floats:
        """Share of the own cluster minus that of the next, from 1 (sure) to -1."""
        return self.own - self.next


@dataclass(frozen=True)
class Clusters:
    """Size, links and silhouettes of each cluster.

    `links` (c x c) holds the share of a cluster's links (row) that goes to each cluster; `silhouette` (c,) the mean
    over its samples, and `quantiles` (c x 5) their spread, at `QUANTILES`. NaN where there is but one cluster.
    """

    size: Integers
    links: Floats
    silhouette: Floats
    quantiles: Floats

    @property
    def inside(self) -> Floats:
        """Share of each cluster's links that stay within it."""
        return np.diag(self.links)


def describe_clusters(W: sp.csr_array, labels: Integers, silhouette: Floats) -> Clusters:
    """Sum up the graph and the samples' silhouettes by cluster."""
    member = indicator(labels)
    total = (member @ W @ member.T).toarray()
    groups = [silhouette[labels == k] for k in range(len(total))]
    return Clusters(
        size=np.bincount(labels),
        links=_shares(total),
        silhouette=np.array([group.mean() for group in groups]),
        quantiles=np.array([np.quantile(group, QUANTILES) for group in groups]),
    )


def stand(W: sp.csr_array, labels: Integers) -> Standing:
    """Count the links of each sample to each cluster; a sample without links has a share of 0 everywhere."""
    shares = _shares((W @ indicator(labels).T).toarray())
    every = np.arange(len(labels))
    own = shares[every, labels]
    shares[every, labels] = -1
    other = shares.argmax(axis=1)
    return Standing(own, np.maximum(shares[every, other], 0), other)


def within_share(W: sp.csr_array, labels: NDArray[Any]) -> float:
    """Share of the total affinity that joins samples of the same class."""
    links = W.tocoo()
    same = labels[links.coords[0]] == labels[links.coords[1]]
    total = float(links.data.sum())
    return float(links.data[same].sum()) / total if total else 0.0


def affinity_image(W: sp.csr_array, labels: NDArray[Any], size: int = 200) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sum a graph over blocks of samples, ordered by label; also return where each label ends (0 to 1).

    Cells hold the share of their row's links, so rows of hubs do not outshine the others.
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


def silhouettes(F: Floats, labels: Integers) -> Floats:
    """Silhouette of each sample in cosine distance, from rows of length 1 (or 0); NaN if all are in one cluster.

    The mean distance to a cluster is 1 - f . mean of its rows, so all n take O(n c q), exactly.
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
    return np.where((size[labels] > 1) & (larger > 0), (nearest - own) / np.where(larger > 0, larger, 1), 0)


def indicator(labels: Integers) -> sp.csr_array:
    """Return the clusters x samples matrix of 0 and 1."""
    n = len(labels)
    return sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(int(labels.max()) + 1, n))


def _shares(links: Floats) -> Floats:
    total = links.sum(axis=1, keepdims=True)
    return links / np.where(total > 0, total, 1)
