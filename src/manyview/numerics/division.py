"""Division by numbers that may be 0."""

from __future__ import annotations

from typing import Any

import numpy as np


def or_one(divisor: Any) -> Any:
    """Return the divisor with 1 in place of 0 and of negative numbers, in its own precision."""
    divisor = np.asarray(divisor)
    return np.where(divisor > 0, divisor, 1).astype(divisor.dtype)


def inverse_or_zero(values: Any) -> Any:
    """Return 1 / values, and 0 for values that are not positive, in their own precision."""
    values = np.asarray(values)
    return np.where(values > 0, 1 / or_one(values), 0).astype(values.dtype)


def shares(values: Any) -> Any:
    """Scale values to add up to 1; equal shares if all are 0."""
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))


def unit_length_rows(F: Any) -> Any:
    """Scale each row to length 1; zero rows stay."""
    return F / or_one(np.linalg.norm(F, axis=1, keepdims=True))
