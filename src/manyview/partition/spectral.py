"""Spectral embedding, the normalised cut, and the assignment of labels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from manyview.graphs.laplacian import normalized_adjacency, reordered
from manyview.numerics.division import or_one, unit_length_rows
from manyview.numerics.eigenvectors import top_eigenvectors
from manyview.numerics.rows import ascending
from manyview.typing import Dense, Indices, Labels, Seed


@dataclass(frozen=True)
class Cut:
    """A partition of a graph: labels (n,), the embedding (n x k) they come from, and its eigenvalues."""

    labels: Labels
    embedding: Dense
    eigenvalues: Dense


def spectral_embedding(
    W: sp.csr_array, k: int, degree_regularization: float = 0.0, near: Labels | None = None
) -> tuple[Dense, Dense]:
    """Top k eigenvalues and eigenvectors of the (degree-regularised) normalised adjacency of W.

    With labels `near`, samples of the same label are put next to one another in memory, which makes products with a
    large graph several times as fast.
    """
    order = np.arange(W.shape[0]) if near is None else ascending(near)
    S = normalized_adjacency(W, degree_regularization)
    values, vectors = top_eigenvectors(S if near is None else reordered(S, order), min(k, len(order)), tol=1e-6)
    embedding = np.empty(vectors.shape, W.dtype)
    embedding[order] = vectors
    return values.astype(W.dtype), embedding


def affinity_features(W: sp.csr_array, rank: int, degree_regularization: float = 0.0) -> Dense:
    """Return features (n x rank) whose products approximate the normalised affinity.

    For methods that need features when only affinities are given.
    """
    values, F = spectral_embedding(W, rank, degree_regularization)
    return F * np.sqrt(np.maximum(values, 0))


def normalized_cut(
    W: sp.csr_array,
    n_clusters: int,
    *,
    degree_regularization: float = 0.0,
    random_state: Seed = None,
) -> Cut:
    """Cut a graph into `n_clusters` groups, none of them empty.

    Rows of the embedding are scaled to unit length (Ng, Jordan and Weiss) before k-means finds the labels. Time O(nnz
    c) per Lanczos step, memory O(nnz + n c).

    Parameters
    ----------
    W : sparse symmetric affinity (n, n)
    n_clusters : int, 1 <= n_clusters <= n
    degree_regularization : float
        tau in ``D + tau * mean(D)``; 1 keeps the cut from splitting off a few outliers.
    random_state : seed of k-means
    """
    values, F = spectral_embedding(W, n_clusters, degree_regularization)
    return Cut(kmeans_labels(unit_length_rows(F), n_clusters, random_state), F, values)


def kmeans_labels(F: Dense, n_clusters: int, random_state: Seed = None) -> Labels:
    """Find labels 0 .. n_clusters - 1 by k-means on the rows of an embedding; no label is left out."""
    if n_clusters == 1:
        return np.zeros(len(F), np.int32)
    return _fit_kmeans(KMeans(n_clusters, n_init=10, random_state=random_state), F)


def pivoted_kmeans(F: Dense, n_clusters: int) -> Labels:
    """Run k-means from rows that are as different from each other as possible; no randomness."""
    return _fit_kmeans(KMeans(n_clusters, init=F[different_rows(F, n_clusters)], n_init=1), F)


def different_rows(F: Dense, k: int) -> Indices:
    """Return k rows: the one least similar to the mean row, then those that a pivoted QR picks.

    The QR alone would begin with the longest row. If all rows have the same length, rounding would decide which that
    is, and the order of the samples or their precision would change the answer.
    """
    first = np.argmin(F @ F.mean(axis=0))
    length = np.linalg.norm(F, axis=1)
    longest_first = F.T.copy()
    longest_first[:, first] *= 2 * length.max() / or_one(length[first])
    _, pivots = scipy.linalg.qr(longest_first, mode="r", pivoting=True)
    return pivots[:k]


def _fit_kmeans(kmeans: KMeans, F: Dense) -> Labels:
    with warnings.catch_warnings():
        # fewer distinct rows than clusters: fill_empty_clusters handles it
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = kmeans.fit_predict(F)
    return number_by_size(fill_empty_clusters(labels.astype(np.int32), F, kmeans.n_clusters))


def number_by_size(labels: Labels) -> Labels:
    """Return labels numbered from the largest cluster to the smallest; ties are ordered by their first sample."""
    _, first, member_of, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    number = np.empty(len(sizes), np.int32)
    number[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return number[member_of]


def fill_empty_clusters(labels: Labels, F: Dense, n_clusters: int) -> Labels:
    """Give each empty cluster the sample that is farthest from the centre of its own, larger cluster."""
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
