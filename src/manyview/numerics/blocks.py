"""Parts of a large table, some rows or columns at a time, so that temporary copies stay small."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from manyview.typing import Dense, Mask

Key: TypeAlias = slice | tuple[slice, slice | Mask]
ROW_ENTRIES = 2**18  # values of a table that are copied at a time, some rows
COLUMN_ENTRIES = 2**22  # values of a table that are copied at a time for a statistic of its columns


class Lazy(ABC):
    """A table that is computed only where it is looked at."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @abstractmethod
    def __getitem__(self, key: Key, /) -> Dense:
        """Return some rows, or some rows and columns."""

    def read(self, rows: slice, out: Dense) -> None:
        """Write some rows to `out`."""
        out[:] = self[rows]


class Difference(Lazy):
    """A - B."""

    def __init__(self, A: Table, B: Table) -> None:
        self.A, self.B, self.shape, self.dtype = A, B, A.shape, A.dtype

    def __getitem__(self, key: Key, /) -> Dense:
        """Return some rows, or some rows and columns."""
        return self.A[key] - self.B[key]


class Scaled(Lazy):
    """The columns of X, each times its factor."""

    def __init__(self, X: Table, factors: Dense) -> None:
        self.X, self.factors, self.shape, self.dtype = X, factors.astype(X.dtype), X.shape, X.dtype

    def __getitem__(self, key: Key, /) -> Dense:
        """Return some rows, or some rows and columns."""
        return self.X[key] * self.factors[columns_of(key)]


Table: TypeAlias = Dense | Lazy


def columns_of(key: Key) -> slice | Mask:
    """Return which columns of a table are looked at."""
    return key[1] if isinstance(key, tuple) else slice(None)


def read_rows(X: Table, rows: slice, out: Dense) -> None:
    """Write some rows of a table to `out`: fresh memory for each block costs more time than simple sums."""
    if isinstance(X, Lazy):
        X.read(rows, out)
    else:
        out[:] = X[rows]


def row_blocks(n_rows: int, n_columns: int, most_entries: int) -> list[slice]:
    """Return slices that cover all rows, each of at most so many entries, or of one row."""
    step = max(1, most_entries // max(n_columns, 1))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def per_column(statistic: Callable[[Dense], Dense], X: Table) -> Dense:
    """Return a statistic, or a stack of several, of each column; its last axis runs over the columns."""
    return np.concatenate([statistic(X[:, columns]) for columns in column_blocks(X)], axis=-1)


def column_blocks(X: Table) -> list[slice]:
    """Return slices that cover all columns of a table, each of at most `COLUMN_ENTRIES` entries, or of one column."""
    n_rows, n_columns = X.shape
    return row_blocks(n_columns, n_rows, COLUMN_ENTRIES)


def largest_magnitudes(X: Table) -> Dense:
    """Return the largest magnitude of each column's values but NaN; NaN if there are none."""
    blocks = row_blocks(X.shape[0], X.shape[1], ROW_ENTRIES)
    return reduce(np.fmax, (np.fmax.reduce(np.abs(X[rows]), axis=0) for rows in blocks))


def standard_deviations(X: Table) -> Dense:
    """Return the standard deviation of each column's values but NaN, in double precision; 0 if there are none."""
    blocks = row_blocks(X.shape[0], X.shape[1], ROW_ENTRIES)
    count, total, squares = np.zeros((3, X.shape[1]))
    for rows in blocks:
        part = X[rows].astype(np.float64)
        count += (~np.isnan(part)).sum(axis=0)
        total += np.nansum(part, axis=0)
    mean = total / np.maximum(count, 1)
    for rows in blocks:
        away = X[rows] - mean
        squares += np.nansum(away * away, axis=0)
    return np.sqrt(squares / np.maximum(count, 1))
