"""Products that find the nearest of many candidates, against all distances one by one."""

import numpy as np
import pytest

from manyview.graphs import comparison
from manyview.graphs.comparison import nearest_of, select, shortlist, within


def all_squares(Q, X):
    return ((Q[:, None].astype(np.float64) - X[None]) ** 2).sum(axis=2)


@pytest.fixture
def tables(rng):
    return rng.standard_normal((2, 700, 5)).astype(np.float32)


@pytest.mark.parametrize("k", [1, 5, 40])  # 40: more than a quarter of the usual buckets
@pytest.mark.parametrize("width", [1, 100, 4096])
def test_the_nearest_candidates_are_found(tables, k, width, monkeypatch):
    monkeypatch.setattr(comparison, "CANDIDATES", width)
    Q, X = tables
    candidates = np.arange(0, 700, 3)
    found = nearest_of(Q, X, candidates, X[0], k)
    squares = all_squares(Q, X[candidates])
    order = np.argsort(squares, axis=1)[:, :k]
    np.testing.assert_array_equal(found.positions, candidates[order])
    np.testing.assert_allclose(found.squares, np.take_along_axis(squares, order, axis=1), rtol=1e-4)
    np.testing.assert_array_equal(found.farthest, found.squares[:, -1])


def test_a_query_is_not_its_own_neighbour_and_its_duplicates_are_at_distance_0(tables):
    X = np.repeat(tables[0][:50], 2, axis=0)
    found = nearest_of(X, X, np.arange(100), X[0], 3, np.arange(100))
    assert (found.positions != np.arange(100)[:, None]).all()
    np.testing.assert_array_equal(found.positions[:, 0], np.arange(100) ^ 1)
    assert not found.squares[:, 0].any()


def test_distances_do_not_suffer_from_a_far_origin(tables):
    Q, X = (table + np.float32(1000) for table in tables)
    found = nearest_of(Q, X, np.arange(700), X[0], 4)
    np.testing.assert_allclose(found.squares, np.sort(all_squares(Q, X), axis=1)[:, :4], rtol=1e-3, atol=1e-6)


def test_ties_do_not_fill_the_memory(rng):
    X = np.zeros((5000, 3), np.float32)
    X[4000:] = rng.standard_normal((1000, 3))
    query, _ = shortlist(X[:200], X, np.arange(5000), X[0], 6)
    assert len(query) <= 200 * 6 * 5  # of each product, at most as many as wanted
    assert (np.bincount(query, minlength=200) >= 6).all()
    assert not nearest_of(X[:200], X, np.arange(5000), X[0], 5, np.arange(200)).squares.any()


def test_what_is_within_the_bound_of_its_row():
    D = np.array([[3.0, 1.0, 2.0], [5.0, 5.0, 4.0]])
    query, column = within(D, np.array([2.0, 3.0]), 1)
    assert list(zip(query, column, strict=True)) == [(0, 1), (0, 2)]


def test_of_more_ties_than_wanted_the_least_are_kept(monkeypatch):
    monkeypatch.setattr(comparison, "CROWD", 1)
    query, column = within(np.array([[3.0, 1.0, 2.0], [5.0, 5.0, 4.0]]), np.array([9.0, 9.0]), 1)
    assert list(zip(query, column, strict=True)) == [(0, 1), (1, 2)]


def test_what_is_known_takes_part_in_the_selection(tables):
    Q, X = tables
    known = nearest_of(Q, X, np.arange(300), X[0], 4)
    query, position = (part.ravel() for part in np.indices((700, 400)))
    found = select(Q, X, query, position + 300, 4, known)
    np.testing.assert_array_equal(found.positions, nearest_of(Q, X, np.arange(700), X[0], 4).positions)


def test_of_many_ties_in_a_long_row_the_least_are_kept(rng, monkeypatch):
    monkeypatch.setattr(comparison, "CROWD", 2)
    D = rng.random((5, 3000))
    query, column = within(D, np.full(5, 2.0), 7)
    assert query.tolist() == np.repeat(np.arange(5), 7).tolist()
    np.testing.assert_array_equal(np.sort(column.reshape(5, 7)), np.sort(np.argsort(D)[:, :7]))


def test_as_many_ties_as_a_crowd_are_all_kept(monkeypatch):
    monkeypatch.setattr(comparison, "CROWD", 2)
    D = np.tile([0.0, 0.0, 1.0], (4, 1))
    for bound, kept in ((0.5, 8), (1.5, 4)):  # eight pairs are no more than twice one for each of four queries
        assert len(within(D, np.full(4, bound), 1)[0]) == kept
