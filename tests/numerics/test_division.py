"""Division where the divisor may be 0."""

import numpy as np
import pytest

from manyview.numerics.division import inverse_or_zero, or_one, shares, unit_length_rows

VALUES = np.array([4.0, 0.0, -2.0, 0.5])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_divisors_that_are_not_positive_become_one_and_their_inverses_zero(dtype):
    values = VALUES.astype(dtype)
    np.testing.assert_array_equal(or_one(values), [4, 1, 1, 0.5])
    np.testing.assert_array_equal(inverse_or_zero(values), [0.25, 0, 0, 2])
    assert or_one(values).dtype == inverse_or_zero(values).dtype == dtype


def test_shares_add_up_to_one():
    np.testing.assert_allclose(shares(np.array([1.0, 3.0])), [0.25, 0.75])
    np.testing.assert_allclose(shares(np.zeros(4)), 0.25)


def test_rows_of_length_one_and_zero_rows():
    np.testing.assert_allclose(unit_length_rows(np.array([[3.0, 4.0], [0, 0]])), [[0.6, 0.8], [0, 0]])


def test_each_row_gets_the_length_1_and_rows_of_zeros_stay():
    F = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0]])
    np.testing.assert_allclose(unit_length_rows(F), [[0.6, 0.8], [0.0, 0.0], [0.0, -1.0]])
