"""Products and order of rows."""

import numpy as np
import pytest

from manyview.numerics.rows import ascending, column_products, row_products


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_are_those_of_each_row_and_column(rng, dtype):
    A, B = rng.standard_normal((2, 6, 4)).astype(dtype)
    np.testing.assert_allclose(row_products(A, B), np.diag(A @ B.T), rtol=1e-4)
    np.testing.assert_allclose(column_products(A, B), np.diag(A.T @ B), rtol=1e-4)
    assert row_products(A, B).dtype == column_products(A, B).dtype == dtype


@pytest.mark.parametrize("shape", [(1000,), (3, 1000)])
def test_equal_values_stay_in_the_order_they_have(rng, shape):
    values = rng.integers(0, 4, shape).astype(float)
    for row, order in zip(np.atleast_2d(values), np.atleast_2d(ascending(values)), strict=True):
        assert order.tolist() == sorted(range(1000), key=row.__getitem__)
