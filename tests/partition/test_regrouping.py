"""Regrouping: pieces lie within clusters, the nearest are joined, and several mistakes are undone at once."""

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import adjusted_rand_index
from manyview.graphs.affinity import adaptive_graph
from manyview.partition import regrouping
from manyview.partition.blockmodel import BlockModel
from manyview.partition.regrouping import cut_in_pieces, how_often, join_nearest, regroup


def line_of_groups(sizes, seed=0):
    """Groups along a line, far apart, and the model of their neighbour graph."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    X = 10.0 * truth[:, None] * [1.0, 0.0] + rng.standard_normal((len(truth), 2))
    return truth, X, BlockModel.of([adaptive_graph(X, 8)], [1.0], len(sizes))


def test_pieces_lie_within_clusters_and_are_numbered(rng):
    z = np.repeat([0, 1, 2], [3, 30, 40])  # the first is too small to be cut
    pieces = cut_in_pieces(z, rng.standard_normal((73, 5)), 3)
    assert np.unique(pieces).tolist() == list(range(pieces.max() + 1))
    for k, most in ((0, 1), (1, 8), (2, 8)):
        here = np.unique(pieces[z == k])
        assert 1 <= len(here) <= most
        assert not np.isin(here, pieces[z != k]).any()


def test_pieces_are_the_quadrants_of_a_cluster():
    X = np.array([[x, y] for x in (-3.0, -2.9, 2.9, 3.0) for y in (-1.0, 1.0)])
    pieces = cut_in_pieces(np.zeros(8, dtype=int), X, 2)
    expected = 2 * (X[:, 0] > 0) + (X[:, 1] > 0)
    assert adjusted_rand_index(expected, pieces) == 1


def test_pieces_of_one_group_are_joined():
    truth, _, model = line_of_groups((40, 30, 20))
    pieces = 2 * truth + np.arange(90) % 2
    assert adjusted_rand_index(truth, join_nearest(model, pieces)) == 1


def test_two_mistakes_are_undone_at_once():
    truth, X, model = line_of_groups((60, 60, 12, 10))
    wrong = np.where(truth == 3, 2, truth)  # the two small groups are taken for one
    wrong[(truth == 0) & (X[:, 1] > 0)] = 3  # and a large one is cut in two
    found = regroup(model, wrong, X)
    assert adjusted_rand_index(truth, found.labels) == 1
    assert found.objective == pytest.approx(model.evaluate(found.labels)[0])


def test_clusters_that_cannot_be_cut_are_not_regrouped(rng):
    A = rng.random((6, 6))
    model = BlockModel.of([sp.csr_array(A + A.T)], [1.0], 3)
    assert regroup(model, np.repeat([0, 1, 2], 2), rng.standard_normal((6, 2))) is None


def test_many_clusters_are_cut_less_often(monkeypatch):
    _, _, model = line_of_groups((10, 10))
    monkeypatch.setattr(regrouping, "MOST_WORK", 8**3)
    assert how_often(model) == 2  # eight pieces at most
    monkeypatch.setattr(regrouping, "MOST_WORK", 1)
    assert how_often(model) == 0
    assert regroup(model, np.repeat([0, 1], 10), np.ones((20, 1))) is None
