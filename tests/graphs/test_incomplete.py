"""Graphs of samples that lack views."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances

from manyview.graphs.affinity import adaptive_weights
from manyview.graphs.incomplete import (
    IncompleteSamples,
    SharedIndex,
    nearest_shared,
    shared_graph,
    shared_weights,
    spread_graph,
    with_zero_rows,
)

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array])


def distance(views, present, i, others, others_present, j):
    """Return d(i, j) as defined in the module, one view at a time."""
    shared = present[i] & others_present[j]
    if not shared.any():
        return np.inf
    known = sum(((X[i] - Y[j]) ** 2).sum() for X, Y, both in zip(views, others, shared, strict=True) if both)
    return known + (~shared).sum()


def random_samples(n, rng):
    """Rows of three views, of which each sample lacks some, but not all."""
    present = rng.random((n, 3)) < 0.6
    present[np.arange(n), rng.integers(3, size=n)] = True
    return [rng.standard_normal((n, d)) for d in (2, 4, 1)], present


@FORMS
def test_distances_are_those_of_the_definition(form, rng):
    (X, here), (Y, there) = random_samples(9, rng), random_samples(12, rng)
    expected = [[distance(X, here, i, Y, there, j) for j in range(12)] for i in range(9)]
    some, others = IncompleteSamples(list(map(form, X)), here), IncompleteSamples(list(map(form, Y)), there)
    np.testing.assert_allclose(some.squared_distances(others), expected, atol=1e-12)
    assert (len(some), some.complete) == (9, False)
    np.testing.assert_allclose(some[3:5].squared_distances(others), expected[3:5], atol=1e-12)


@FORMS
@pytest.mark.parametrize("k", [1, 3, 50])
def test_links_go_to_the_nearest_by_the_definition(form, k, rng):
    (X, here), (Y, there) = random_samples(9, rng), random_samples(12, rng)
    others = IncompleteSamples(list(map(form, Y)), there)
    links = SharedIndex(others, 9).links(IncompleteSamples(list(map(form, X)), here), k).toarray()
    for i in range(9):
        d = np.array([distance(X, here, i, Y, there, j) for j in range(12)])
        nearest = np.argsort(d)[: k + 1]
        nearest = nearest[np.isfinite(d[nearest])]
        far = np.full(min(k + 1, 12) - len(nearest), d[nearest[-1]])
        weights = adaptive_weights(np.r_[d[nearest], far][None])[0]
        expected = np.zeros(12)
        expected[nearest[: len(weights)]] = weights[: len(nearest)]
        np.testing.assert_allclose(links[i], expected, atol=1e-9)


def test_graphs_link_the_nearest_by_the_definition(rng):
    X, here = random_samples(14, rng)
    samples = IncompleteSamples(X, here)
    d = np.array([[distance(X, here, i, X, here, j) for j in range(14)] for i in range(14)])
    np.fill_diagonal(d, np.inf)
    nearest = np.argsort(d, axis=1)[:, :4]
    directed = np.zeros((14, 14))
    np.put_along_axis(directed, nearest[:, :3], shared_weights(np.take_along_axis(d, nearest, axis=1)), axis=1)
    np.testing.assert_allclose(shared_graph(samples, 3).toarray(), (directed + directed.T) / 2, atol=1e-9)


@FORMS
def test_rows_of_absent_samples_become_zero_and_the_table_stays(form, rng):
    table = form(rng.standard_normal((4, 3)))
    before = table.copy()
    kept = with_zero_rows(table, np.array([True, False, True, False]))
    as_dense = kept.toarray() if sp.issparse(kept) else kept
    np.testing.assert_array_equal(as_dense[[1, 3]], 0)
    np.testing.assert_array_equal(as_dense[[0, 2]], (before.toarray() if sp.issparse(before) else before)[[0, 2]])
    assert abs(table - before).sum() == 0
    assert with_zero_rows(table, np.ones(4, bool)) is table


@FORMS
def test_links_keep_the_precision_of_the_tables(form, rng):
    X, here = random_samples(9, rng)
    samples = IncompleteSamples([form(table.astype(np.float32)) for table in X], here)
    assert samples.Z.dtype == samples.squares.dtype == np.float32
    assert SharedIndex(samples, 9).links(samples, 2).dtype == shared_graph(samples, 2).dtype == np.float32


def test_distances_of_complete_samples_are_those_side_by_side(rng):
    tables = [rng.standard_normal((7, 3)), rng.standard_normal((7, 2))]
    whole = IncompleteSamples(tables, np.ones((7, 2), bool))
    expected = pairwise_distances(np.hstack(tables), metric="sqeuclidean")
    np.testing.assert_allclose(whole.squared_distances(whole), expected, atol=1e-12)
    d, _ = nearest_shared(whole, whole, 3, same=True)
    np.testing.assert_allclose(d, np.sort(expected, axis=1)[:, 1:4], atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_distances_by_hand(form):
    X, Y = np.array([[0.0], [3], [9]]), np.array([[1.0], [9], [2]])
    present = np.array([[True, True], [True, False], [False, True]])
    part = IncompleteSamples([form(X), form(Y)], present)
    expected = [[0, 9 + 1, 1 + 1], [9 + 1, 0 + 1, np.inf], [1 + 1, np.inf, 0 + 1]]
    np.testing.assert_allclose(part.squared_distances(part), expected)


def test_neighbours_are_the_same_in_blocks(rng, monkeypatch):
    part = IncompleteSamples([rng.standard_normal((50, 3))], np.ones((50, 1), bool))
    whole = nearest_shared(part, part, 4, same=True)
    monkeypatch.setattr("manyview.graphs.incomplete.BLOCK_ENTRIES", 150)
    for one, other in zip(nearest_shared(part, part, 4, same=True), whole, strict=True):
        np.testing.assert_allclose(one, other)
    assert (whole[1] != np.arange(50)[:, None]).all()
    assert (np.diff(whole[0], axis=1) >= 0).all()


def test_complete_and_incomplete_samples_are_searched_side_by_side(rng):
    X, here = random_samples(20, rng)
    here[:8] = True
    samples = IncompleteSamples(X, here)
    others = IncompleteSamples(random_samples(12, rng)[0], np.ones((12, 3), bool))
    d, nearest = SharedIndex(others, 20).nearest(samples, 4)
    expected = samples.squared_distances(others)
    np.testing.assert_allclose(d, np.sort(expected, axis=1)[:, :4], atol=1e-9)
    np.testing.assert_array_equal(nearest, np.argsort(expected, axis=1)[:, :4])


def test_samples_that_share_no_view_get_no_link():
    weights = shared_weights(np.array([[1.0, 2, np.inf], [np.inf, np.inf, np.inf], [1, 2, 4]]))
    np.testing.assert_allclose(weights, [[1, 0], [0, 0], [3 / 5, 2 / 5]])
    apart = IncompleteSamples([np.zeros((2, 1)), np.zeros((2, 1))], np.eye(2, dtype=bool))
    assert shared_graph(apart, 1).sum() == 0


def test_a_graph_of_some_samples_becomes_one_of_all():
    W = spread_graph(sp.csr_array(np.array([[0, 2], [2, 0]], np.float32)), np.array([3, 1]), 4)
    assert W.dtype == np.float32
    expected = np.zeros((4, 4))
    expected[3, 1] = expected[1, 3] = 2
    np.testing.assert_array_equal(W.toarray(), expected)


def test_an_index_knows_how_many_samples_it_is_for(rng):
    samples = IncompleteSamples([rng.standard_normal((6, 2))], np.ones((6, 1), dtype=bool))
    assert SharedIndex(samples, 9).index.n_queries == 9


@pytest.mark.parametrize("absent", [0, 3])
def test_of_few_samples_all_others_are_neighbours(absent, rng):
    X, here = rng.standard_normal((7, 2)), np.ones((7, 2), bool)
    here[:absent, 1] = False
    samples = IncompleteSamples([X, X[:, :1]], here)
    assert nearest_shared(samples, samples, 50, same=True)[1].shape == (7, 6)
    assert nearest_shared(samples, samples, 50)[1].shape == (7, 7)
    assert nearest_shared(samples, samples, 0)[1].shape == nearest_shared(samples, samples, 0, same=True)[1].shape
