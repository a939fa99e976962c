"""Robust statistics: estimates that a few outliers do not change."""

from __future__ import annotations

import numpy as np

from manyview.numerics.blocks import Table, column_blocks
from manyview.typing import Dense, Mask

GAUSSIAN = 1.4826  # standard deviation over median magnitude, of Gaussian values


def robust_deviation(R: Dense) -> float:
    """Return the standard deviation of R about 0, taken to be Gaussian apart from some outliers."""
    return GAUSSIAN * float(np.median(np.abs(R)))


def column_deviations(R: Table, observed: Mask | None = None) -> Dense:
    """Return the robust deviation of each column; that of the whole table where a column's is 0."""
    median = np.median if observed is None else np.nanmedian

    def sizes(columns: slice) -> Dense:
        size = np.abs(R[:, columns])
        return size if observed is None else np.where(observed[:, columns], size, np.nan)

    each = GAUSSIAN * np.concatenate([median(sizes(columns), axis=0) for columns in column_blocks(R)])
    return each if (each > 0).all() else np.where(each > 0, each, GAUSSIAN * median(sizes(slice(None))))
