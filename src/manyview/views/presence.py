"""Which samples a view contains: a row of NaN is a sample that is absent from it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from manyview.typing import Array, Indices, Mask, is_sparse


def present_rows(table: Array) -> Mask:
    """Return whether each row has any value that is not missing.

    Parameters
    ----------
    table : array or CSR array (n_samples, n_features)
        A view.
    """
    missing = np.isnan(table.data if is_sparse(table) else table)
    if not missing.any():
        return np.ones(table.shape[0], dtype=bool)
    if not is_sparse(table):
        return np.logical_not(missing.all(axis=1))
    stored = np.diff(table.indptr)
    rows = np.repeat(np.arange(table.shape[0]), stored)
    return (stored == 0) | (np.bincount(rows[missing], minlength=table.shape[0]) < stored)


def spread_rows(table: Array, rows: Indices, n_samples: int) -> Array:
    """Return a table of `n_samples` rows: row ``rows[i]`` is row i of `table`, and all other samples are absent.

    Parameters
    ----------
    table : array or CSR array (m, n_features)
        The rows of the samples that are present.
    rows : array (m,) of int
        Which sample each row belongs to.
    n_samples : int
        Number of rows of the result.
    """
    source = np.full(n_samples, table.shape[0])
    source[rows] = np.arange(table.shape[0])
    if is_sparse(table):
        nothing = sp.csr_array(([np.nan], ([0], [0])), shape=(1, table.shape[1]), dtype=table.dtype)
        return sp.csr_array(sp.vstack([table, nothing])[source])
    return np.vstack([table, np.full((1, table.shape[1]), np.nan, dtype=table.dtype)])[source]


def count_missing(array: Array) -> int:
    """Count NaN; an absent row of a sparse view lacks all of its features, whatever it stores."""
    if not is_sparse(array):
        return int(np.isnan(array).sum())
    present = present_rows(array)
    return int(np.isnan(array[present].data).sum()) + int((~present).sum()) * int(array.shape[1])
