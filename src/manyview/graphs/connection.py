"""Linking the components of a graph."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import pairwise_distances_argmin_min

from manyview.preprocessing.scaling import without_extremes
from manyview.typing import Array, Mask


def connect(W: sp.csr_array, X: Array) -> sp.csr_array:
    """Link the components of a graph through their nearest samples, until it is connected.

    Borůvka's algorithm: in each round every component except the largest is linked to its nearest sample outside, so
    the number of components at least halves. The links get the smallest weight in W.
    """
    count, member_of = connected_components(W)
    weight = W.data.min() if W.nnz else W.dtype.type(1)
    X = without_extremes(X)
    while count > 1:
        largest = np.bincount(member_of).argmax()
        links = np.array([_nearest_outside(X, member_of == c) for c in range(count) if c != largest])
        extra = sp.coo_array((np.full(len(links), weight), links.T), shape=W.shape).tocsr()
        extra.data[:] = weight  # two components may have chosen the same link
        W = sp.csr_array(W + extra.maximum(extra.T))
        count, member_of = connected_components(W)
    return W


def _nearest_outside(X: Array, inside: Mask) -> tuple[int, int]:
    members, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    nearest, distances = pairwise_distances_argmin_min(X[members], X[others])
    at = int(distances.argmin())
    return int(members[at]), int(others[nearest[at]])
