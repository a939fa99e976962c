"""Samples in cells, by hand and against all distances."""

import numpy as np
import pytest

from manyview.graphs import cells
from manyview.graphs.cells import Cells, find_centres, k_means, nearest_centres

CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [3.0, 0.0], [100.0, 0.0]])
X = np.array([[9.0, 1.0], [0.0, 1.0], [11.0, 0.0], [4.0, 0.0], [-1.0, 0.0]])


@pytest.mark.parametrize("entries", [1, 2**20])
def test_the_nearest_centre_of_each_row(entries, rng, monkeypatch):
    monkeypatch.setattr(cells, "BLOCK_ENTRIES", entries)
    assert nearest_centres(X, CENTRES).tolist() == [1, 0, 1, 2, 0]
    A, B = rng.standard_normal((50, 4)), rng.standard_normal((9, 4))
    np.testing.assert_array_equal(nearest_centres(A, B), ((A[:, None] - B) ** 2).sum(axis=2).argmin(axis=1))


def test_rows_are_sorted_by_cell():
    sorted_rows = Cells.of(X, CENTRES)
    assert sorted_rows.rows.tolist() == [1, 4, 0, 2, 3]
    assert sorted_rows.own.tolist() == [0, 0, 1, 1, 2]
    assert sorted_rows.sizes.tolist() == [2, 2, 1, 0]
    np.testing.assert_array_equal(sorted_rows.X, X[[1, 4, 0, 2, 3]])
    assert sorted_rows.members(np.array([2, 0])).tolist() == [4, 0, 1]


def test_cells_around_a_cell_are_the_nearest_and_hold_enough_rows():
    sorted_rows = Cells.of(X, CENTRES)
    assert sorted_rows.around(0, 2, 0).tolist() == [0, 2]
    assert sorted_rows.around(0, 1, 3).tolist() == [0, 2]
    assert sorted_rows.around(0, 1, 4).tolist() == [0, 2, 1]
    assert sorted_rows.around(3, 1, 1).tolist() == [3, 1]


def test_centres_move_to_the_mean_of_their_rows_and_stay_without_rows(monkeypatch):
    monkeypatch.setattr(cells, "TRAINING_STEPS", 1)
    np.testing.assert_allclose(k_means(X, CENTRES.copy()), [[-0.5, 0.5], [10.0, 0.5], [4.0, 0.0], [100.0, 0.0]])


def test_cells_are_as_many_as_said_and_follow_the_rows(rng):
    A = np.repeat([[0.0], [50.0]], [900, 100], axis=0) + rng.standard_normal((1000, 1))
    centres = find_centres(A)
    assert len(centres) == round(1000**0.6)
    away = np.abs(A - centres[nearest_centres(A, centres)])
    assert away.mean() < 0.2
    np.testing.assert_array_equal(centres, find_centres(A))
