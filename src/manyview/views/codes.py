"""Codes for missing values, such as -999: finding what looks like one, and replacing codes by NaN."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from manyview.typing import Array, Dense, Indices, is_sparse

CODES = np.array([sign * (10.0**digits - 1) for digits in range(2, 8) for sign in (-1, 1)])
"""Numbers that often stand for missing values: 99, 999, ... and their negatives; exact in single precision, too."""
FEWEST = 3  # times that a number must occur to be taken for a code


def find_codes(X: Dense) -> dict[float, Indices]:
    """Return the numbers that look like codes for missing values, and the columns in which they do.

    Such a number is a known code, occurs several times, and is far from the other values of its column: farther than
    these are from each other, or the only negative value. Positive codes must repeat within a column, because a large
    count may be 99; negative ones, within the table.

    Parameters
    ----------
    X : array (n_samples, n_features)
        A dense table, NaN where missing.
    """
    found: dict[float, dict[int, int]] = {}
    for extremes, sign in ((np.fmin.reduce(X, axis=0), -1), (np.fmax.reduce(X, axis=0), 1)):
        for j in np.flatnonzero(np.isin(extremes, CODES[sign * CODES > 0])):
            count = int((X[:, j] == extremes[j]).sum())
            if (sign < 0 or count >= FEWEST) and _is_far(X[:, j], float(extremes[j])):
                found.setdefault(float(extremes[j]), {})[int(j)] = count
    return {code: np.array(list(counts)) for code, counts in found.items() if sum(counts.values()) >= FEWEST}


def _is_far(column: Dense, code: float) -> bool:
    """Return whether an extreme value of a column is far from the others; other codes do not count."""
    others = column[~np.isin(column, CODES) & ~np.isnan(column)]
    if not len(others) or others.min() == others.max():
        return False
    low, high = float(others.min()), float(others.max())
    return max(low - code, code - high) > high - low or code < 0 <= low


def without_codes(X: Array, codes: Sequence[float]) -> Array:
    """Return a table with NaN instead of these numbers; the same table if it has none of them.

    Parameters
    ----------
    X : array or CSR array
        A table of floats.
    codes : sequence of float
        The numbers.
    """
    if not codes:
        return X
    stored = X.data if is_sparse(X) else X
    missing = np.isin(stored, np.asarray(codes, dtype=stored.dtype))
    if not missing.any():
        return X
    X = X.copy()
    (X.data if is_sparse(X) else X)[missing] = np.nan
    return X
