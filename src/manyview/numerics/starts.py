"""Fixed random starts, so that every run gives the same result."""

from __future__ import annotations

import numpy as np

from manyview.typing import Dense


def fixed_directions(n: int, columns: int = 1) -> Dense:
    """Return random directions (n x columns), the same every time."""
    return np.random.default_rng(0).standard_normal((n, columns))
