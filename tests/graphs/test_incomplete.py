"""Graphs of samples that lack views."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances

from manyview.graphs.incomplete import IncompleteSamples, nearest_shared, shared_graph, shared_weights, spread_graph


def test_distances_of_complete_samples_are_those_side_by_side(rng):
    tables = [rng.standard_normal((7, 3)), rng.standard_normal((7, 2))]
    whole = IncompleteSamples(tables, np.ones((7, 2), bool))
    expected = pairwise_distances(np.hstack(tables), metric="sqeuclidean")
    np.testing.assert_allclose(whole.squared_distances(whole), expected, atol=1e-12)


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


def test_samples_that_share_no_view_get_no_link():
    weights = shared_weights(np.array([[1.0, 2, np.inf], [np.inf, np.inf, np.inf], [1, 2, 4]]))
    np.testing.assert_allclose(weights, [[1, 0], [0, 0], [3 / 5, 2 / 5]])
    apart = IncompleteSamples([np.zeros((2, 1)), np.zeros((2, 1))], np.eye(2, dtype=bool))
    assert shared_graph(apart, 1).sum() == 0


def test_a_graph_of_some_samples_becomes_one_of_all():
    W = spread_graph(sp.csr_array(np.array([[0.0, 2], [2, 0]])), np.array([3, 1]), 4)
    expected = np.zeros((4, 4))
    expected[3, 1] = expected[1, 3] = 2
    np.testing.assert_array_equal(W.toarray(), expected)
