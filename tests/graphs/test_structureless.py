"""Data without clusters that have the covariances of the given ones."""

import numpy as np
import pytest

from manyview.graphs.structureless import Rows


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
