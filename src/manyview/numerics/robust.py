"""Robust statistics: estimates that a few outliers do not change."""

from __future__ import annotations

import numpy as np

from manyview.typing import Dense, Mask

GAUSSIAN = 1.4826  # standard deviation over median magnitude, of Gaussian values


def robust_deviation(R: Dense) -> float:
    """Return the standard deviation of R about 0, taken to be Gaussian apart from some outliers."""
    return GAUSSIAN * float(np.median(np.abs(R)))


def column_deviations(R: Dense, observed: Mask | None = None) -> Dense:
    """Return the robust deviation of each column; that of the whole table where a column's is 0."""
    size = np.abs(R) if observed is None else np.where(observed, np.abs(R), np.nan)
    median = np.median if observed is None else np.nanmedian
    each = GAUSSIAN * median(size, axis=0)
    return each if (each > 0).all() else np.where(each > 0, each, GAUSSIAN * median(size))
