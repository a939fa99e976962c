"""Robust deviations, by hand."""

import numpy as np

from manyview.numerics.robust import GAUSSIAN, column_deviations, robust_deviation

R = np.array([[-1.0, 0.0, 4.0], [2.0, 0.0, -5.0], [-3.0, 0.0, 600.0]])


def test_the_deviation_is_that_of_gaussian_values_with_the_same_median_magnitude(rng):
    assert robust_deviation(R) == GAUSSIAN * 2
    few = np.where(rng.random(100_000) < 0.01, 1e9, 7 * rng.standard_normal(100_000))
    np.testing.assert_allclose(robust_deviation(few), 7, rtol=0.03)


def test_each_column_has_its_own_deviation_and_one_of_zeros_that_of_the_table():
    np.testing.assert_allclose(column_deviations(R), GAUSSIAN * np.array([2, 2, 5]))


def test_what_was_not_observed_does_not_count():
    observed = np.array([[True, True, True], [False, True, True], [True, True, False]])
    np.testing.assert_allclose(column_deviations(R, observed), GAUSSIAN * np.array([2, 1, 4.5]))
