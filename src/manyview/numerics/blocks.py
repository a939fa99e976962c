"""Parts of a large table, some rows or columns at a time, so that temporary copies stay small."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from manyview.typing import Dense, Mask

Key: TypeAlias = slice | tuple[slice, slice | Mask]
COLUMN_ENTRIES = 2**22  # values of a table that are copied at a time for a statistic of its columns


class Lazy(ABC):
    """A table that is computed only where it is looked at."""

    shape: tuple[int, ...]

    @abstractmethod
    def __getitem__(self, key: Key, /) -> Dense:
        """Return some rows, or some rows and columns."""


class Difference(Lazy):
    """A - B."""

    def __init__(self, A: Dense, B: Dense) -> None:
        self.A, self.B, self.shape = A, B, A.shape

    def __getitem__(self, key: Key, /) -> Dense:
        """Return some rows, or some rows and columns."""
        return self.A[key] - self.B[key]


class Scaled(Lazy):
    """The columns of X, each times its factor."""

    def __init__(self, X: Dense, factors: Dense) -> None:
        self.X, self.factors, self.shape = X, factors.astype(X.dtype), X.shape

    def __getitem__(self, key: Key, /) -> Dense:
        """Return some rows, or some rows and columns."""
        return self.X[key] * self.factors[key[1] if isinstance(key, tuple) else slice(None)]


Table: TypeAlias = Dense | Lazy


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
