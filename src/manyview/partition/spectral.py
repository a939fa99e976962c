"""Spectral embedding, the normalised cut, and the assignment of labels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from manyview.checks import check_choice
from manyview.graphs.laplacian import normalized_adjacency
from manyview.numerics.eigenvectors import top_eigenvectors
from manyview.numerics.projections import procrustes
from manyview.typing import Dense, Labels, Seed


@dataclass(frozen=True)
class Cut:
    """A partition of a graph: labels (n,), the embedding (n x k) they were read from, its eigenvalues."""

    labels: Labels
    embedding: Dense
    eigenvalues: Dense


def spectral_embedding(W: sp.csr_array, k: int, regularization: float = 0.0) -> tuple[Dense, Dense]:
    """Top k eigenvalues and eigenvectors of the (degree-regularised) normalised adjacency of W."""
    k = min(k, W.shape[0])
    values, vectors = top_eigenvectors(normalized_adjacency(W, regularization), k, tol=1e-6)
    return values.astype(W.dtype), vectors.astype(W.dtype)


def affinity_features(W: sp.csr_array, rank: int, regularization: float = 0.0) -> Dense:
    """Return features (n x rank) whose products make up the normalised affinity, as nearly as that rank allows.

    For methods that need features where only affinities are at hand.
    """
    values, F = spectral_embedding(W, rank, regularization)
    return F * np.sqrt(np.maximum(values, 0))


def normalized_cut(
    W: sp.csr_array,
    n_clusters: int,
    *,
    regularization: float = 0.0,
    assign: str = "kmeans",
    random_state: Seed = None,
) -> Cut:
    """Cut a graph into `n_clusters` groups, none of them empty.

    Rows of the embedding are scaled to unit length (Ng, Jordan and Weiss) before labels are
    assigned. Time O(nnz c) per Lanczos step, memory O(nnz + n c).

    Parameters
    ----------
    W : sparse symmetric affinity (n, n)
    n_clusters : int, 1 <= n_clusters <= n
    regularization : float
        tau in ``D + tau * mean(D)``; 1 keeps the cut from splitting off a few outliers.
    assign : {"kmeans", "discretize", "qr"}
    random_state : seed of k-means, and of the first row that "discretize" starts from; "qr" uses none
    """
    values, F = spectral_embedding(W, n_clusters, regularization)
    return Cut(assign_labels(unit_length_rows(F), n_clusters, assign, random_state), F, values)


def unit_length_rows(F: Dense) -> Dense:
    """Scale each row to length 1; zero rows stay."""
    lengths = np.linalg.norm(F, axis=1, keepdims=True)
    return F / np.where(lengths > 0, lengths, 1)


def assign_labels(F: Dense, n_clusters: int, how: str = "kmeans", random_state: Seed = None) -> Labels:
    """Read labels 0 .. n_clusters - 1 off the rows of an embedding; no label is left out."""
    check_choice("assign", how, ASSIGNERS)
    if n_clusters == 1:
        return np.zeros(len(F), np.int32)
    labels = _ASSIGN[how](F, n_clusters, random_state)
    return fill_empty_clusters(labels.astype(np.int32), F, n_clusters)


def _kmeans(F: Dense, n_clusters: int, random_state: Seed) -> NDArray[Any]:
    with warnings.catch_warnings():
        # fewer distinct rows than clusters: fill_empty_clusters sees to it
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(n_clusters, n_init=10, random_state=random_state).fit_predict(F)


def pivoted_kmeans(F: Dense, n_clusters: int) -> Labels:
    """k-means started from the rows that a pivoted QR picks as most unlike one another: no randomness."""
    _, pivots = scipy.linalg.qr(F.T, mode="r", pivoting=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = KMeans(n_clusters, init=F[pivots[:n_clusters]], n_init=1).fit_predict(F)
    return fill_empty_clusters(labels.astype(np.int32), F, n_clusters)


def _qr(F: Dense, n_clusters: int, _random_state: Seed) -> NDArray[Any]:
    """Damle, Minden and Ying: pivoted QR finds one representative row per cluster."""
    _, _, pivots = scipy.linalg.qr(F.T, pivoting=True, mode="economic")
    rotation = procrustes(np.eye(n_clusters, F.shape[1], dtype=F.dtype), F[pivots[:n_clusters]])
    return np.argmax(np.abs(F @ rotation[:n_clusters].T), axis=1)


def _discretize(F: Dense, n_clusters: int, random_state: Seed, max_iter: int = 50) -> NDArray[Any]:
    """Yu and Shi: rotate the embedding towards the nearest indicator matrix, by turns."""
    R = F[_spread_rows(F, n_clusters, check_random_state(random_state))].T
    last = -1.0
    for _ in range(max_iter):
        labels = np.argmax(F @ R, axis=1)
        indicator = np.eye(n_clusters, dtype=F.dtype)[labels]
        P, s, Qt = scipy.linalg.svd(F.T @ indicator, full_matrices=False)
        if abs(s.sum() - last) <= 1e-10 * s.sum():
            break
        last, R = s.sum(), P @ Qt
    return labels


def _spread_rows(F: Dense, count: int, rng: np.random.RandomState) -> list[int]:
    """Rows that are as orthogonal to one another as can be had greedily."""
    rows = [int(rng.randint(len(F)))]
    overlap = np.zeros(len(F), F.dtype)
    for _ in range(count - 1):
        overlap += np.abs(F @ F[rows[-1]])
        rows.append(int(np.argmin(overlap)))
    return rows


_ASSIGN = {"kmeans": _kmeans, "discretize": _discretize, "qr": _qr}
ASSIGNERS = tuple(_ASSIGN)


def fill_empty_clusters(labels: Labels, F: Dense, n_clusters: int) -> Labels:
    """Give each empty cluster the sample farthest from the centre of its own, larger, cluster."""
    labels = labels.copy()
    for empty in np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0):
        sizes = np.bincount(labels, minlength=n_clusters)
        sums = np.zeros((n_clusters, F.shape[1]))
        np.add.at(sums, labels, F)
        centres = sums / np.maximum(sizes, 1)[:, None]
        distance = np.linalg.norm(F - centres[labels], axis=1)
        distance[sizes[labels] == 1] = -1
        labels[np.argmax(distance)] = empty
    return labels
