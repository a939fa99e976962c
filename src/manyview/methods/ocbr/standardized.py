"""A view in standardised columns, computed anew for each block of rows: kept, it would take the memory of the view."""

from __future__ import annotations

import numpy as np

from manyview.numerics.blocks import Key, Lazy, columns_of, row_blocks
from manyview.numerics.division import inverse_or_zero
from manyview.preprocessing.scaling import Standardizer
from manyview.typing import Dense, Mask

ABSURD = 1e4  # deviations; clean tables have values up to some thousand of them, in features that hardly vary
BLOCK_ENTRIES = 2**15  # values in a block of rows


class Standardized(Lazy):
    """The columns of X, or their square roots, standardised; NaN where a value is missing or absurd.

    Most tables have no absurd values. `is_usual` says so: limits need not be applied to any block then.
    """

    def __init__(self, X: Dense, standardizer: Standardizer, *, roots: bool) -> None:
        self.X, self.standardizer, self.roots = X, standardizer, roots
        self.shape, self.dtype = X.shape, X.dtype
        with np.errstate(over="ignore"):  # in columns of denormal numbers
            self.factor = inverse_or_zero(standardizer.sd) / standardizer.largest
        self.shift = standardizer.mean * inverse_or_zero(standardizer.sd)
        self.is_usual = self._has_usual_units() and self._has_only_usual_values()

    def __getitem__(self, key: Key, /) -> Dense:
        """Return some rows, or some rows and columns."""
        if not self.is_usual:
            return without_absurd(self.raw(key))
        columns = columns_of(key)
        A: Dense = self._own(key) * self.factor[columns]
        A -= self.shift[columns]
        return A

    def raw(self, key: Key) -> Dense:
        """Return some rows, or some rows and columns, with absurd values as they are."""
        return self.standardizer.of_columns(columns_of(key)).apply(self._own(key))

    def read(self, rows: slice, out: Dense) -> None:
        """Write some rows to `out`."""
        if self.is_usual:
            self._map(rows, out)
        else:
            out[:] = self[rows]

    def _own(self, key: Key) -> Dense:
        return to_roots(self.X[key]) if self.roots else self.X[key]

    def _map(self, rows: slice, out: Dense) -> None:
        """Standardise usual values, in two steps instead of the five of `apply`."""
        np.multiply(self._own(rows), self.factor, out=out)
        out -= self.shift

    def _has_usual_units(self) -> bool:
        """Return whether the factors of columns that vary have all digits."""
        info = np.finfo(self.dtype)
        usual = (self.factor >= info.tiny) & (self.factor <= info.max)
        return bool((usual | (self.standardizer.sd == 0)).all())

    def _has_only_usual_values(self) -> bool:
        blocks = row_blocks(self.shape[0], self.shape[1], BLOCK_ENTRIES)
        out = np.empty((blocks[0].stop if blocks else 0, self.shape[1]), self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):  # from an outlier far beyond the limit
            for rows in blocks:
                part = out[: rows.stop - rows.start]
                self._map(rows, part)
                if np.fmax.reduce(np.abs(part, out=part), axis=None, initial=0) > ABSURD:
                    return False
        return True


def without_absurd(Y: Dense) -> Dense:
    """Return a standardised table with NaN for values that are too extreme to have been measured."""
    absurd = is_absurd(Y)
    return np.where(absurd, np.nan, Y).astype(Y.dtype) if absurd.any() else Y


def is_absurd(Y: Dense) -> Mask:
    """Return which values of a standardised table are too extreme to have been measured."""
    return (Y > ABSURD) | (Y < -ABSURD)


def to_roots(X: Dense) -> Dense:
    """Return square roots; negative entries, which a composition cannot have, count as 0."""
    return np.sqrt(np.maximum(X, 0))
