"""Data without structure that resemble the given data: whatever a method finds in them is due to chance."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from manyview.typing import Array, Indices
from manyview.views.container import Views


def shuffle_columns(views: Views, rng: np.random.Generator) -> Views:
    """Permute the values of every feature among the samples, each feature separately.

    Every feature keeps its values, and every sample its views.
    """
    shuffled = {}
    for name, X, present in zip(views.names, views.arrays, views.present.T, strict=True):
        rows = np.flatnonzero(present)
        shuffled[name] = _shuffle_sparse(X, rows, rng) if sp.issparse(X) else _shuffle_dense(X, rows, rng)
    return Views(shuffled)


def _shuffle_dense(X: Array, rows: Indices, rng: np.random.Generator) -> Array:
    shuffled = X.copy()
    shuffled[rows] = rng.permuted(X[rows], axis=0)
    return shuffled


def _shuffle_sparse(X: Array, rows: Indices, rng: np.random.Generator) -> Array:
    """Assign the entries of each column to random rows; absent samples stay absent."""
    absent = np.setdiff1d(np.arange(X.shape[0]), rows)
    columns = sp.csc_array(X[rows])
    for start, end in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        columns.indices[start:end] = rng.permutation(len(rows))[: end - start]
    columns.has_sorted_indices = False
    back = np.argsort(np.r_[rows, absent])
    return sp.csr_array(sp.vstack([sp.csr_array(columns), X[absent]], format="csr")[back])
