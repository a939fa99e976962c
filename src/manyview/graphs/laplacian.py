"""Degrees, Laplacians and the normalised adjacency of a graph, and its samples in another order."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from manyview.checks import check_choice
from manyview.numerics.division import inverse_or_zero
from manyview.typing import Dense, Indices


def symmetrize(W: sp.csr_array, how: str = "mean") -> sp.csr_array:
    """Make a graph undirected: the "mean" of both directions, or their "max"."""
    check_choice("how", how, ("mean", "max"))
    return sp.csr_array((W + W.T) * W.dtype.type(0.5) if how == "mean" else W.maximum(W.T))


def degrees(W: sp.csr_array) -> Dense:
    """Row sums."""
    return np.asarray(W.sum(axis=1)).ravel()


def laplacian(W: sp.csr_array, kind: str = "unnormalized") -> sp.csr_array:
    """Graph Laplacian: "unnormalized" D - W, or "normalized" I - D^-1/2 W D^-1/2."""
    check_choice("kind", kind, ("unnormalized", "normalized"))
    if kind == "unnormalized":
        return sp.csr_array(sp.diags_array(degrees(W)) - W)
    return sp.csr_array(sp.eye_array(W.shape[0], dtype=W.dtype) - normalized_adjacency(W))


def normalized_adjacency(W: sp.csr_array, degree_regularization: float = 0.0) -> sp.csr_array:
    r"""Return ``D_tau^-1/2 W D_tau^-1/2`` with ``D_tau = D + tau * mean(D)``.

    `degree_regularization` is tau. With tau > 0, cutting off a few weakly linked samples is no longer cheap. A sample
    without links gets a zero row.
    """
    d = degrees(W)
    root = np.sqrt(inverse_or_zero(d + degree_regularization * d.mean()))
    # with both factors at once, rounding is the same on both sides of the diagonal, so S is exactly symmetric
    scale = np.repeat(root, np.diff(W.indptr)) * root[W.indices]
    return sp.csr_array((W.data * scale, W.indices, W.indptr), W.shape)


def reordered(W: sp.csr_array, order: Indices) -> sp.csr_array:
    """Return a graph with its samples in this order."""
    place = np.empty(len(order), W.indices.dtype)
    place[order] = np.arange(len(order))
    rows = W[order]
    moved = sp.csr_array((rows.data, place[rows.indices], rows.indptr), shape=W.shape)
    moved.sort_indices()
    return moved
