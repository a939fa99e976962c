"""Neighbour graphs, affinities and Laplacians, sparse throughout.

A graph is a scipy CSR array W (n x n), symmetric, non-negative, with an empty diagonal.
Memory is O(n k) beside the features; the neighbour search takes O(n^2 d) time, in blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.neighbors import NearestNeighbors

from manyview.checks import InputError, check_choice
from manyview.scaling import Scaling, scale_views
from manyview.views import Array, Views

Dense = NDArray[np.floating[Any]]
Indices = NDArray[np.integer[Any]]


def nearest_neighbors(X: Array, k: int) -> tuple[Dense, Indices]:
    """Distances and indices (n x k) of the k nearest other samples, nearest first.

    A sample is never its own neighbour, also when it has duplicates. With fewer than k other
    samples, all of them are returned. Distances are in units of `comparable`.
    """
    k = max(1, min(k, X.shape[0] - 1))
    return NearestNeighbors(n_neighbors=k).fit(comparable(X)).kneighbors()


def comparable(X: Array) -> Array:
    """Return X; over its largest magnitude, if squared distances would overflow or vanish (1e300, 1e-300)."""
    largest = float(abs(X).max())
    if largest == 0 or 1e-100 < largest < 1e100:
        return X
    return sp.csr_array((X.data / largest, X.indices, X.indptr), X.shape) if sp.issparse(X) else X / largest


def knn_graph(X: Array, k: int) -> sp.csr_array:
    """Link each sample to its k nearest with weight 1; a link that only one side wants counts half."""
    n = X.shape[0]
    if n == 1:
        return sp.csr_array((1, 1), dtype=X.dtype)
    _, neighbors = nearest_neighbors(X, k)
    return symmetrize(from_neighbors(np.ones(neighbors.shape, X.dtype), neighbors))


def adaptive_graph(X: Array, s: int) -> sp.csr_array:
    r"""Graph of the s adaptive neighbours: each row solves, over the simplex,

    .. math:: \min_w \sum_k d_k w_k + \gamma \sum_k w_k^2, \qquad d_k = |x_j - x_k|^2,

    with the gamma for which exactly s weights are positive (see `adaptive_weights`); symmetrised by the mean.
    """  # noqa: D400
    n = X.shape[0]
    if n == 1:
        return sp.csr_array((1, 1), dtype=X.dtype)
    distances, neighbors = nearest_neighbors(X, s + 1)
    weights = adaptive_weights(distances**2).astype(X.dtype)
    return symmetrize(from_neighbors(weights, neighbors[:, : weights.shape[1]]))


def adaptive_weights(d: Dense) -> Dense:
    r"""Weigh s adaptive neighbours, in closed form, from ascending squared distances (n x (s+1)).

    .. math:: w_k = (d_{s+1} - d_k) / (s\, d_{s+1} - \sum_{h \le s} d_h), \qquad k \le s.

    Where all s + 1 distances are equal (ties, duplicates) the weights are 1/s. With no s+1st
    sample to compare with (a single column), the weight is 1.
    """
    if d.shape[1] == 1:
        return np.ones_like(d)
    s = d.shape[1] - 1
    gaps = d[:, [s]] - d[:, :s]
    total = gaps.sum(axis=1, keepdims=True)
    tied = total <= 4 * s * np.finfo(d.dtype).eps * d[:, [s]]  # differences that are rounding only
    return np.where(tied, 1 / s, gaps / np.where(tied, 1, total)).astype(d.dtype)


def local_scaling_graph(X: Array, k: int, scale_neighbor: int = 7) -> sp.csr_array:
    r"""Self-tuned affinity on the kNN graph, :math:`\exp(-|x_i - x_j|^2 / (\sigma_i \sigma_j))`.

    sigma_i is the distance of sample i to its `scale_neighbor`-th neighbour, so no bandwidth has to be set.
    """
    n = X.shape[0]
    if n == 1:
        return sp.csr_array((1, 1), dtype=X.dtype)
    distances, neighbors = nearest_neighbors(X, k)
    sigma = distances[:, min(scale_neighbor, distances.shape[1]) - 1]
    positive = sigma[sigma > 0]
    # a sample with that many duplicates has no scale of its own: it takes the smallest one there is
    sigma = np.where(sigma > 0, sigma, positive.min() if len(positive) else 1)
    with np.errstate(over="ignore"):  # exp(-inf) is the 0 that is meant
        weights = np.exp(-(distances / sigma[:, None]) * (distances / sigma[neighbors])).astype(X.dtype)
    floor = np.finfo(weights.dtype).tiny  # a neighbour stays a neighbour, however far
    return symmetrize(from_neighbors(np.maximum(weights, floor), neighbors), "max")


GRAPHS = {"knn": knn_graph, "adaptive": adaptive_graph, "self_tuning": local_scaling_graph}


def build_graph(X: Array, kind: str, n_neighbors: int) -> sp.csr_array:
    """Build the graph called `kind`: "knn", "adaptive" or "self_tuning"."""
    return GRAPHS[check_choice("affinity", kind, tuple(GRAPHS))](X, n_neighbors)


PRECOMPUTED = "precomputed"


def linked_graph(X: Array, kind: str, n_neighbors: int, n_clusters: int) -> sp.csr_array:
    """Build the graph called `kind`, and `connect` it if it falls into more pieces than clusters are wanted."""
    W = build_graph(X, kind, n_neighbors)
    pieces = connected_components(W, directed=False)[0]
    # which of the pieces belong together is in X, not in W
    return connect(W, X) if pieces > n_clusters else W


def view_graphs(
    views: Views, affinity: str, n_neighbors: int, n_clusters: int, scaling: Scaling
) -> tuple[list[sp.csr_array], dict[str, str]]:
    """One graph per view, and the scaling each view got; "precomputed" takes the views themselves as graphs."""
    if affinity == PRECOMPUTED:
        return [as_graph(A, name) for name, A in views.items()], dict.fromkeys(views.names, "none")
    tables, used = scale_views(views, scaling)
    return [linked_graph(X, affinity, n_neighbors, n_clusters) for X in tables], used


def as_graph(A: Array, name: str) -> sp.csr_array:
    """Return a view that is an affinity matrix as a graph, or say what keeps it from being one.

    It has to be square, non-negative, and symmetric up to rounding. The diagonal is left out.
    """
    how = "With affinity='precomputed' a view is an affinity matrix, samples by samples"
    if A.shape[0] != A.shape[1]:
        raise InputError(f"View {name!r} has shape {A.shape}, which is not square. {how}.")
    W = sp.csr_array(A)
    if W.nnz and W.data.min() < 0:
        raise InputError(f"View {name!r} holds the negative value {W.data.min():g}. {how}, of no negative numbers.")
    off = float(abs(W - W.T).max()) if W.nnz else 0.0
    if off > 100 * np.finfo(W.dtype).eps * W.data.max(initial=0):
        raise InputError(
            f"View {name!r} is not symmetric: an entry and its mirror differ by {off:g}. {how}; "
            "(A + A.T) / 2 makes it symmetric."
        )
    W = symmetrize(comparable(W) if W.nnz else W)
    W.setdiag(0)
    W.eliminate_zeros()
    return W


def from_neighbors(weights: Dense, neighbors: Indices) -> sp.csr_array:
    """Directed graph from the weights (n x k) of each sample's neighbours."""
    n, k = neighbors.shape
    row_ends = np.arange(0, n * k + 1, k)
    W = sp.csr_array((weights.ravel(), neighbors.ravel(), row_ends), shape=(n, n), copy=True)
    W.sort_indices()  # now, in a copy: scipy would do it some day, in arrays that others share
    return W


def symmetrize(W: sp.csr_array, how: str = "mean") -> sp.csr_array:
    """Make a graph undirected: "mean" of both directions, their "max", or "mutual" (their min)."""
    check_choice("how", how, ("mean", "max", "mutual"))
    if how == "mean":
        return sp.csr_array((W + W.T) * W.dtype.type(0.5))
    return sp.csr_array(W.maximum(W.T) if how == "max" else W.minimum(W.T))


def degrees(W: sp.csr_array) -> Dense:
    """Row sums."""
    return np.asarray(W.sum(axis=1)).ravel()


def laplacian(W: sp.csr_array, kind: str = "unnormalized") -> sp.csr_array:
    """Graph Laplacian: "unnormalized" D - W, "normalized" I - D^-1/2 W D^-1/2, or "random_walk" I - D^-1 W."""
    check_choice("kind", kind, ("unnormalized", "normalized", "random_walk"))
    if kind == "unnormalized":
        return sp.csr_array(sp.diags_array(degrees(W)) - W)
    identity = sp.eye_array(W.shape[0], dtype=W.dtype)
    if kind == "normalized":
        return sp.csr_array(identity - normalized_adjacency(W))
    return sp.csr_array(identity - sp.diags_array(_inverse(degrees(W))) @ W)


def normalized_adjacency(W: sp.csr_array, regularization: float = 0.0) -> sp.csr_array:
    r"""Return ``D_tau^-1/2 W D_tau^-1/2`` with ``D_tau = D + tau * mean(D)``.

    `regularization` is tau. With tau > 0, a few weakly linked samples no longer make a cheap cut.
    A sample without links gets a zero row.
    """
    d = degrees(W)
    root = np.sqrt(_inverse(d + regularization * d.mean()))
    # both factors at once: rounding is then the same on both sides of the diagonal, and S exactly symmetric
    scale = np.repeat(root, np.diff(W.indptr)) * root[W.indices]
    return sp.csr_array((W.data * scale, W.indices, W.indptr), W.shape)


def _inverse(d: Dense) -> Dense:
    return np.where(d > 0, 1 / np.where(d > 0, d, 1), 0).astype(d.dtype)


def connect(W: sp.csr_array, X: Array) -> sp.csr_array:
    """Link the components of a graph through their nearest samples, until it is connected.

    Borůvka's algorithm: in each round every component but the largest is linked to the sample
    nearest to it outside, so the number of components at least halves. The links get the smallest weight in W.
    """
    count, member_of = connected_components(W, directed=False)
    weight = W.data.min() if W.nnz else W.dtype.type(1)
    X = comparable(X)
    while count > 1:
        largest = np.bincount(member_of).argmax()
        links = np.array([_nearest_outside(X, member_of == c) for c in range(count) if c != largest])
        extra = sp.coo_array((np.full(len(links), weight), links.T), shape=W.shape).tocsr()
        extra.data[:] = weight  # two components may have chosen the same link
        W = sp.csr_array(W + extra.maximum(extra.T))
        count, member_of = connected_components(W, directed=False)
    return W


def _nearest_outside(X: Array, inside: NDArray[np.bool_]) -> tuple[int, int]:
    members, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    nearest, distances = pairwise_distances_argmin_min(X[members], X[others])
    at = int(distances.argmin())
    return int(members[at]), int(others[nearest[at]])
