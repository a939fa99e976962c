"""Data of the low-rank methods' tests."""

import numpy as np
import pytest


@pytest.fixture
def tables(rng):
    """Two views of 24 samples in two planes, with a few entries spoilt."""
    codes = np.kron(np.eye(2), np.ones((12, 2))) * rng.standard_normal((24, 4))
    views = [codes @ rng.standard_normal((4, d)) for d in (5, 7)]
    return [np.where(rng.random(X.shape) < 0.1, 4.0, X) for X in views]
