"""Points are split in two where their means are far apart."""

import numpy as np
import pytest

from manyview.partition.blockmodel import split_in_two


def test_two_means_along_the_longest_direction():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [30, 1], [31, 0], [30, 0]])
    halves = split_in_two(X)
    np.testing.assert_array_equal(halves == halves[0], [True, True, True, False, False, False])
    across = split_in_two(X, 1)
    np.testing.assert_array_equal(across == across[1], [False, True, False, True, False, False])
    assert split_in_two(X[:3]).tolist() == [0, 0, 0]
    assert split_in_two(np.ones((5, 2))).tolist() == [0] * 5


@pytest.mark.parametrize("seed", range(5))
def test_each_half_is_nearer_to_its_own_mean(seed):
    t = np.random.default_rng(seed).lognormal(0, 1.5, 40)
    half = split_in_two(t[:, None])
    away = np.abs(t[:, None] - [t[half == 0].mean(), t[half == 1].mean()])
    np.testing.assert_array_equal(away.argmin(axis=1), half)
