"""Degrees, Laplacians and the normalised adjacency of a graph."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from manyview.checks import check_choice
from manyview.typing import Dense


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
