"""Weighted neighbour graphs, by kind, and affinities given by the user."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from manyview.checks import InputError, check_choice
from manyview.graphs.alignment import without_shifts
from manyview.graphs.batches import neighbors_of
from manyview.graphs.connection import connect
from manyview.graphs.laplacian import symmetrize
from manyview.graphs.neighbors import from_neighbors
from manyview.graphs.recall import graph_named
from manyview.preprocessing.scaling import Scaling, scale_views, without_extremes
from manyview.typing import Array, Dense, Indices
from manyview.views.container import Views


def knn_graph(X: Array, k: int, batch: Indices | None = None) -> sp.csr_array:
    """Link each sample to its k nearest with weight 1; a link in only one direction counts half."""
    n = X.shape[0]
    if n == 1:
        return sp.csr_array((1, 1), dtype=X.dtype)
    _, neighbors = neighbors_of(X, k, batch)
    return symmetrize(from_neighbors(np.ones(neighbors.shape, X.dtype), neighbors))


def adaptive_graph(X: Array, s: int, batch: Indices | None = None) -> sp.csr_array:
    r"""Graph of the s adaptive neighbours: each row solves, over the simplex,

    .. math:: \min_w \sum_k d_k w_k + \gamma \sum_k w_k^2, \qquad d_k = |x_j - x_k|^2,

    with the gamma for which exactly s weights are positive (see `adaptive_weights`); symmetrised by the mean.
    """  # noqa: D400
    n = X.shape[0]
    if n == 1:
        return sp.csr_array((1, 1), dtype=X.dtype)
    distances, neighbors = neighbors_of(X, s + 1, batch)
    weights = adaptive_weights(distances**2).astype(X.dtype)
    return symmetrize(from_neighbors(weights, neighbors[:, : weights.shape[1]]))


def adaptive_weights(d: Dense) -> Dense:
    r"""Weigh s adaptive neighbours, in closed form, from ascending squared distances (n x (s+1)).

    .. math:: w_k = (d_{s+1} - d_k) / (s\, d_{s+1} - \sum_{h \le s} d_h), \qquad k \le s.

    If all s + 1 distances are equal (ties, duplicates), the weights are 1/s. With no (s+1)-th sample to compare with (a
    single column), the weight is 1.
    """
    if d.shape[1] == 1:
        return np.ones_like(d)
    s = d.shape[1] - 1
    gaps = d[:, [s]] - d[:, :s]
    total = gaps.sum(axis=1, keepdims=True)
    tied = total <= 4 * s * np.finfo(d.dtype).eps * d[:, [s]]  # differences that are only rounding
    return np.where(tied, 1 / s, gaps / np.where(tied, 1, total)).astype(d.dtype)


def local_scaling_graph(X: Array, k: int, batch: Indices | None = None, scale_neighbor: int = 7) -> sp.csr_array:
    r"""Self-tuned affinity on the kNN graph, :math:`\exp(-|x_i - x_j|^2 / (\sigma_i \sigma_j))`.

    sigma_i is the distance of sample i to its `scale_neighbor`-th neighbour, so no bandwidth has to be set.
    """
    n = X.shape[0]
    if n == 1:
        return sp.csr_array((1, 1), dtype=X.dtype)
    distances, neighbors = neighbors_of(X, k, batch)
    sigma = distances[:, min(scale_neighbor, distances.shape[1]) - 1]
    positive = sigma[sigma > 0]
    # a sample with that many duplicates has no scale of its own, so it takes the smallest of all
    sigma = np.where(sigma > 0, sigma, positive.min() if len(positive) else 1)
    with np.errstate(over="ignore"):  # exp(-inf) is 0, as intended
        weights = np.exp(-(distances / sigma[:, None]) * (distances / sigma[neighbors])).astype(X.dtype)
    floor = np.finfo(weights.dtype).tiny  # a neighbour stays a neighbour, however far away
    return symmetrize(from_neighbors(np.maximum(weights, floor), neighbors), "max")


GRAPHS = {"knn": knn_graph, "adaptive": adaptive_graph, "self_tuning": local_scaling_graph}


def build_graph(X: Array, kind: str, n_neighbors: int, batch: Indices | None = None) -> sp.csr_array:
    """Build the graph called `kind`: "knn", "adaptive" or "self_tuning"."""
    return GRAPHS[check_choice("affinity", kind, tuple(GRAPHS))](X, n_neighbors, batch)


PRECOMPUTED = "precomputed"


def linked_graph(X: Array, kind: str, n_neighbors: int, n_clusters: int, batch: Indices | None = None) -> sp.csr_array:
    """Build the graph called `kind`, and `connect` it if it has more components than the clusters wanted.

    If batches are separated in the data, their shifts and scales are taken off first.
    """
    X = without_shifts(X, batch, n_clusters)
    W = build_graph(X, kind, n_neighbors, batch)
    pieces = connected_components(W)[0]
    # X shows which components belong together; W does not
    return connect(W, X) if pieces > n_clusters else W


def view_graphs(
    views: Views, affinity: str, n_neighbors: int, n_clusters: int, scaling: Scaling
) -> tuple[list[sp.csr_array], dict[str, str]]:
    """Return one graph per view, and the scaling of each view; "precomputed" takes the views themselves as graphs."""
    if affinity == PRECOMPUTED:
        return [as_graph(A, name) for name, A in views.items()], dict.fromkeys(views.names, "none")
    tables, used = scale_views(views, scaling)
    graphs = []
    for name, X in zip(views.names, tables, strict=True):
        with graph_named(name):
            graphs.append(linked_graph(X, affinity, n_neighbors, n_clusters, views.batch))
    return graphs, used


def as_graph(A: Array, name: str) -> sp.csr_array:
    """Return an affinity matrix as a graph, or raise with the reason why it is not one.

    It must be square, non-negative, and symmetric up to rounding. The diagonal is dropped.
    """
    how = "With affinity='precomputed', a view is an affinity matrix (samples by samples)"
    if A.shape[0] != A.shape[1]:
        raise InputError(f"View {name!r} has shape {A.shape}, which is not square. {how}.")
    W = sp.csr_array(A)
    if W.nnz and W.data.min() < 0:
        raise InputError(f"View {name!r} contains the negative value {W.data.min():g}. {how} without negative numbers.")
    off = float(abs(W - W.T).max()) if W.nnz else 0.0
    if off > 100 * np.finfo(W.dtype).eps * W.data.max(initial=0):
        raise InputError(
            f"View {name!r} is not symmetric: an entry and its mirror differ by {off:g}. {how}; "
            "(A + A.T) / 2 makes it symmetric."
        )
    W = symmetrize(without_extremes(W) if W.nnz else W)
    W.setdiag(0)
    W.eliminate_zeros()
    return W
