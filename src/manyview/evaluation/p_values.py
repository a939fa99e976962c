"""p-values corrected for the number of tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import false_discovery_control

from manyview.typing import Dense


def adjust_p_values(p_values: ArrayLike) -> Dense:
    """Return Benjamini-Hochberg adjusted p-values; NaN (not tested) stays NaN and does not count as a test."""
    p = np.asarray(p_values, dtype=float)
    adjusted = np.full(p.shape, np.nan)
    tested = ~np.isnan(p)
    if tested.any():
        adjusted[tested] = false_discovery_control(p[tested])
    return adjusted
