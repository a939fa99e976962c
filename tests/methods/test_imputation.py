"""Filling in missing values."""

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.missing_samples import drop_samples
from manyview import Views, make_views
from manyview.methods.imputation import fill_in
from manyview.views.presence import spread_rows


@pytest.fixture(scope="module")
def data():
    return make_views(150, 4, (12, 20), noise=0.5, seed=0)


def test_values_are_filled_in_from_the_samples_nearest_in_the_other_view(monkeypatch):
    monkeypatch.setattr("manyview.methods.imputation.DONORS", 2)
    X = np.array([[0.0], [0.1], [0.2], [5], [5.1], [5.2]])
    Y = np.array([[1.0, 0], [3, 0], [np.nan, np.nan], [7, 9], [9, np.nan], [np.nan, np.nan]])
    filled = fill_in(Views([X, Y])).arrays
    np.testing.assert_array_equal(filled[0], X)
    np.testing.assert_allclose(filled[1], [[1, 0], [3, 0], [2, 0], [7, 9], [9, 9], [8, 9]])


def test_a_value_that_no_neighbour_has_becomes_the_mean(monkeypatch):
    monkeypatch.setattr("manyview.methods.imputation.DONORS", 1)
    X = np.array([[0.0, 4], [1, np.nan], [1, np.nan], [9, 6]])
    np.testing.assert_allclose(fill_in(Views([X])).arrays[0][1:3, 1], 5)


def test_absent_rows_of_sparse_views_are_filled_in_too(rng):
    truth = np.repeat([0, 1], 15)
    counts = sp.csr_array(np.kron(np.eye(2), np.ones((15, 6))) * rng.poisson(5, (30, 12)))
    absent = spread_rows(counts[2:], np.arange(2, 30), 30)
    filled = fill_in(Views([truth[:, None] + rng.standard_normal((30, 1)) / 20, absent])).arrays[1]
    assert np.isfinite(filled.data).all()
    assert filled[:2, :6].sum() > 20
    assert filled[:2, 6:].sum() == 0
    np.testing.assert_allclose(filled[2:].toarray(), counts[2:].toarray())


def test_the_input_stays_as_it_is(data):
    tables = drop_samples(data.views, 0.2, 0)
    before = [table.copy() for table in tables]
    fill_in(Views(tables))
    for table, old in zip(tables, before, strict=True):
        np.testing.assert_array_equal(table, old)
