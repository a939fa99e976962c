"""Columns of a table about the samples: numbers, or categories as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from manyview.typing import Dense, Mask

if TYPE_CHECKING:
    import pandas as pd

MOST_LEVELS = 12  # whole numbers with at most this many values are categories, such as classes or batches
LARGEST_WHOLE = 2.0**53  # above this, floats are not exact


def numbers_of(values: pd.Series) -> Dense | None:
    """Return a column of numbers, with NaN for missing and infinite values; None if it holds categories."""
    numbers = _finite(values)
    if numbers is None:
        return None
    levels = np.unique(numbers[~np.isnan(numbers)])
    return None if len(levels) <= MOST_LEVELS and np.all(_is_whole(levels)) else numbers


def texts_of(values: pd.Series) -> pd.Series:
    """Return categories as text, with missing ones as NaN; whole numbers are written without decimals."""
    import pandas as pd

    numbers = _finite(values)
    if numbers is not None and np.all(np.isnan(numbers) | _is_whole(numbers)):
        values = pd.Series(numbers).astype("Int64")
    return values.astype(object).map(str, na_action="ignore").reset_index(drop=True)


def _is_whole(numbers: Dense) -> Mask:
    return (numbers == np.round(numbers)) & (np.abs(numbers) < LARGEST_WHOLE)


def _finite(values: pd.Series) -> Dense | None:
    """Return the values if their type is numeric, with NaN in place of infinite ones."""
    if values.dtype.kind not in "iuf":
        return None
    numbers = values.to_numpy(dtype=float, na_value=np.nan)
    return np.where(np.isfinite(numbers), numbers, np.nan)
