"""Fixed random starts, so that every run gives the same result."""

from __future__ import annotations

import numpy as np

from manyview.typing import Dense


def fixed_directions(n: int, columns: int = 1) -> Dense:
    """Return random directions (n x columns), the same every time."""
    rng = np.random.default_rng(0)  # pragma: no mutate: any seed will do
    return rng.standard_normal((n, columns))
