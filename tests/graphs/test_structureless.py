"""Data without clusters that have the covariances of the given ones."""

import numpy as np
import pytest
import scipy.sparse as sp

from manyview.graphs.affinity import adaptive_graph
from manyview.graphs.structureless import Rows, neighbor_graph


@pytest.fixture
def rows(rng):
    """Two clusters, seen in two views that are correlated."""
    Z = rng.standard_normal((400, 2)) + 8 * rng.integers(0, 2, (400, 1))
    return Rows.complete([Z @ rng.standard_normal((2, 3)), Z @ rng.standard_normal((2, 4)) + 5], 8)


def test_draws_keep_the_covariances_within_and_between_views(rows, rng):
    expected = np.cov(np.hstack(rows.tables).T)
    for drawn in rows.without_structure(4, rng):
        np.testing.assert_allclose(np.cov(np.hstack(drawn.tables).T), expected, atol=0.25 * expected.max())


def test_draws_have_no_clusters(rows, rng):
    def middle(table):  # share of the samples in the middle third of the longest direction
        t = (table - table.mean(axis=0)) @ np.linalg.svd(table - table.mean(axis=0))[2][0]
        return np.mean(np.abs(t) < np.abs(t).max() / 3)

    assert middle(rows.tables[0]) < 0.05
    assert all(middle(drawn.tables[0]) > 0.2 for drawn in rows.without_structure(4, rng))


def test_draws_are_gaussian_and_evenly_spread_by_turns(rng):
    square = Rows.complete([rng.uniform(-1, 1, (2000, 1))], 8)
    gaussian, even = square.without_structure(2, rng)
    spread = [np.abs(drawn.tables[0]).max() / drawn.tables[0].std() for drawn in (gaussian, even)]
    assert spread[0] > 3
    assert spread[1] == pytest.approx(np.sqrt(3), abs=0.05)


def test_samples_that_are_absent_stay_absent(rng):
    here = np.arange(0, 40, 2)
    rows = Rows((rng.standard_normal((40, 3)), rng.standard_normal((20, 4))), (np.arange(40), here), 40, (5, 5))
    part = rows.part(np.arange(10, 30))
    assert [len(table) for table in part.tables] == [20, 10]
    assert part.samples[1].tolist() == list(range(0, 20, 2))
    (drawn,) = part.without_structure(1, rng)
    views, joint = drawn.graphs()
    assert joint is None
    assert [W.shape for W in views] == [(20, 20)] * 2
    assert set(np.flatnonzero(views[1].sum(axis=1)).tolist()) <= set(range(0, 20, 2))


def test_constant_views_have_no_links():
    views, joint = Rows.complete([np.zeros((12, 2)), np.arange(24.0).reshape(12, 2)], 3).graphs()
    assert views[0].nnz == 0
    assert views[1].nnz > 0
    assert joint.nnz > 0


def test_graphs_are_those_of_the_rows_and_of_all_views_side_by_side(rng):
    tables = rng.standard_normal((15, 2)), rng.standard_normal((15, 3))
    rows = Rows(tables, (np.arange(15),) * 2, 15, (3, 4))
    views, joint = rows.graphs()
    for found, X, k in ((views[0], tables[0], 3), (views[1], tables[1], 4), (joint, np.hstack(tables), 4)):
        np.testing.assert_allclose(found.toarray(), adaptive_graph(X, k).toarray())
    assert Rows.complete(tables[:1], 3).graphs()[1] is None
    assert Rows.complete(tables, 5).neighbors == (5, 5)


def test_draws_are_the_loadings_times_random_numbers_of_the_seed(rng):
    """With all samples in all views, draws are X itself rotated: G U'X, G Gaussian or uniform with variance 1 / n."""
    X, Y = rng.standard_normal((9, 3)) + 5, rng.standard_normal((9, 2))
    drawn = list(Rows.complete([X, sp.csr_array(Y)], 3).without_structure(3, np.random.default_rng(7)))
    both = np.hstack([X, Y]) - np.hstack([X, Y]).mean(axis=0)
    U = np.linalg.svd(both, full_matrices=False)[0]
    again = np.random.default_rng(7)
    for draw, found in enumerate(drawn):
        G = again.uniform(-np.sqrt(3), np.sqrt(3), (9, 5)) if draw == 1 else again.standard_normal((9, 5))
        table = np.hstack(found.tables)
        assert table.shape == (9, 5)
        # U is known up to the signs and order of its columns: compare what does not depend on them
        projected = np.linalg.lstsq((U.T @ both).T, table.T, rcond=None)[0].T
        np.testing.assert_allclose(
            np.sort(np.linalg.norm(projected, axis=0)), np.sort(np.linalg.norm(G / 3, axis=0)), rtol=1e-6
        )


def test_directions_that_are_rounding_are_not_drawn_from(rng):
    X = rng.standard_normal((12, 2)) @ rng.standard_normal((2, 6))
    (drawn,) = Rows.complete([X], 3).without_structure(1, rng)
    assert np.linalg.matrix_rank(drawn.tables[0], tol=1e-6) == 2


def test_rows_without_values_or_neighbours_have_no_links():
    for X in (np.zeros((4, 2), np.float32), np.ones((1, 2), np.float32)):
        W = neighbor_graph(X, 3)
        assert (W.nnz, W.shape, W.dtype) == (0, (len(X), len(X)), np.float32)
    few = np.array([[0.0], [1], [3]])  # neighbours: fewer than asked for
    np.testing.assert_allclose(neighbor_graph(few, 9).toarray(), adaptive_graph(few, 2).toarray())
    assert neighbor_graph(np.arange(2.0)[:, None], 9).toarray().tolist() == [[0, 1], [1, 0]]
