import numpy as np
import pytest

from manyview.numerics import blocks
from manyview.numerics.blocks import (
    Difference,
    Scaled,
    column_blocks,
    largest_magnitudes,
    per_column,
    read_rows,
    row_blocks,
    standard_deviations,
)


@pytest.mark.parametrize(("n", "d", "most"), [(10, 3, 9), (10, 3, 1000), (7, 0, 3), (5, 100, 10), (0, 4, 8)])
def test_blocks_cover_all_rows_once_and_are_small(n, d, most):
    blocks = row_blocks(n, d, most)
    rows = np.arange(n)
    assert np.array_equal(np.concatenate([rows[:0], *(rows[block] for block in blocks)]), rows)
    assert all(0 < block.stop - block.start <= max(1, most // max(d, 1)) for block in blocks)


def test_a_statistic_of_some_columns_at_a_time_is_that_of_all(rng, monkeypatch):
    X = rng.standard_normal((20, 7))
    together = per_column(lambda part: np.stack([part.max(axis=0), part.min(axis=0)]), X)
    monkeypatch.setattr(blocks, "COLUMN_ENTRIES", 60)
    assert [block.stop - block.start for block in column_blocks(X)] == [3, 3, 1]
    apart = per_column(lambda part: np.stack([part.max(axis=0), part.min(axis=0)]), X)
    np.testing.assert_array_equal(apart, together)
    np.testing.assert_array_equal(apart, [X.max(axis=0), X.min(axis=0)])


def test_a_difference_is_that_of_the_parts_looked_at(rng):
    A, B = rng.standard_normal((2, 6, 4))
    D = Difference(A, B)
    assert D.shape == (6, 4)
    np.testing.assert_array_equal(D[2:5], (A - B)[2:5])
    np.testing.assert_array_equal(D[:, 1:3], (A - B)[:, 1:3])


def test_scaled_columns_are_scaled_wherever_they_are_looked_at(rng):
    X, factors = rng.standard_normal((6, 4)).astype(np.float32), np.array([1.0, -2.0, 0.5, 3.0])
    S = Scaled(X, factors)
    assert (S.shape, S[:2].dtype) == ((6, 4), np.float32)
    np.testing.assert_allclose(S[2:5], (X * factors)[2:5])
    np.testing.assert_allclose(S[:3, factors > 0.9], (X * factors)[:3, [0, 3]])


def test_rows_of_any_table_are_written_where_asked(rng):
    X, out = rng.standard_normal((6, 4)), np.empty((3, 4))
    for table, expected in ((X, X), (Scaled(X, np.full(4, 2.0)), 2 * X)):
        read_rows(table, slice(2, 5), out)
        np.testing.assert_array_equal(out, expected[2:5])


@pytest.mark.parametrize("most", [5, 2**18])
def test_deviations_and_magnitudes_leave_missing_values_out(rng, monkeypatch, most):
    monkeypatch.setattr(blocks, "ROW_ENTRIES", most)
    X = rng.normal([0, 1e4, 5, 0], 1, (50, 4)).astype(np.float32)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 3] = np.nan
    expected = np.nanstd(X[:, :3].astype(np.float64), axis=0)
    np.testing.assert_allclose(standard_deviations(X), [*expected, 0], rtol=1e-10)
    np.testing.assert_array_equal(largest_magnitudes(X), [*np.nanmax(np.abs(X[:, :3]), axis=0), np.nan])
