"""Samples that lack values: distances over what is shared, filling in, and OCBR, which needs no filling in."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances

from manyview import METHODS, OCBR, Views, adjusted_rand_index, clustering_accuracy, load_digits, make_views
from manyview.missing import Partial, fill_in, nearest_shared, shared_graph, shared_weights, spread_graph
from manyview.views import spread_rows

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def drop_samples(views, share, seed):
    """Take that share of the samples out of each of two views, never the same ones."""
    rng = np.random.default_rng(seed)
    order, size = rng.permutation(views.n_samples), round(share * views.n_samples)
    X, Y = (array.copy() for array in views.arrays)
    X[order[:size]] = np.nan
    Y[order[size : 2 * size]] = np.nan
    return [X, Y]


@pytest.fixture(scope="module")
def data():
    return make_views(150, 4, (12, 20), noise=0.5, seed=0)


# Distances ---------------------------------------------------------------------------------------


def test_distances_of_complete_samples_are_those_side_by_side(rng):
    tables = [rng.standard_normal((7, 3)), rng.standard_normal((7, 2))]
    whole = Partial(tables, np.ones((7, 2), bool))
    expected = pairwise_distances(np.hstack(tables), metric="sqeuclidean")
    np.testing.assert_allclose(whole.squared_distances(whole), expected, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_distances_by_hand(form):
    X, Y = np.array([[0.0], [3], [9]]), np.array([[1.0], [9], [2]])
    present = np.array([[True, True], [True, False], [False, True]])
    part = Partial([form(X), form(Y)], present)
    expected = [[0, 9 + 1, 1 + 1], [9 + 1, 0 + 1, np.inf], [1 + 1, np.inf, 0 + 1]]
    np.testing.assert_allclose(part.squared_distances(part), expected)


def test_neighbours_are_the_same_in_blocks(rng, monkeypatch):
    part = Partial([rng.standard_normal((50, 3))], np.ones((50, 1), bool))
    whole = nearest_shared(part, part, 4, same=True)
    monkeypatch.setattr("manyview.missing.BLOCK_ENTRIES", 150)
    for one, other in zip(nearest_shared(part, part, 4, same=True), whole, strict=True):
        np.testing.assert_allclose(one, other)
    assert (whole[1] != np.arange(50)[:, None]).all()
    assert (np.diff(whole[0], axis=1) >= 0).all()


def test_samples_that_share_no_view_get_no_link():
    weights = shared_weights(np.array([[1.0, 2, np.inf], [np.inf, np.inf, np.inf], [1, 2, 4]]))
    np.testing.assert_allclose(weights, [[1, 0], [0, 0], [3 / 5, 2 / 5]])
    apart = Partial([np.zeros((2, 1)), np.zeros((2, 1))], np.eye(2, dtype=bool))
    assert shared_graph(apart, 1).sum() == 0


def test_a_graph_of_some_samples_becomes_one_of_all():
    W = spread_graph(sp.csr_array(np.array([[0.0, 2], [2, 0]])), np.array([3, 1]), 4)
    expected = np.zeros((4, 4))
    expected[3, 1] = expected[1, 3] = 2
    np.testing.assert_array_equal(W.toarray(), expected)


# Filling in --------------------------------------------------------------------------------------


def test_values_are_filled_in_from_the_samples_nearest_in_the_other_view(monkeypatch):
    monkeypatch.setattr("manyview.missing.DONORS", 2)
    X = np.array([[0.0], [0.1], [0.2], [5], [5.1], [5.2]])
    Y = np.array([[1.0, 0], [3, 0], [np.nan, np.nan], [7, 9], [9, np.nan], [np.nan, np.nan]])
    filled = fill_in(Views([X, Y])).arrays
    np.testing.assert_array_equal(filled[0], X)
    np.testing.assert_allclose(filled[1], [[1, 0], [3, 0], [2, 0], [7, 9], [9, 9], [8, 9]])


def test_a_value_that_no_neighbour_has_becomes_the_mean(monkeypatch):
    monkeypatch.setattr("manyview.missing.DONORS", 1)
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


# Methods -----------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("what", ["samples", "entries"])
def test_every_method_takes_missing_values(method, what, data, rng):
    if what == "samples":
        tables = drop_samples(data.views, 0.2, 0)
    else:
        tables = [np.where(rng.random(X.shape) < 0.1, np.nan, X) for X in data.views.arrays]
    model = method(4).fit(tables)
    assert adjusted_rand_index(data.labels, model.labels_) > 0.9
    assert sum(model.n_missing_.values()) > 0
    assert (model.imputation_ is None) == (method is OCBR)


@every_method
def test_complete_data_need_no_imputation(method, data):
    model = method(4).fit(data.views)
    assert model.imputation_ is None
    assert set(model.n_missing_.values()) == {0}


def test_samples_absent_from_views_have_no_node_and_no_errors_there(data):
    model = OCBR(4).fit(drop_samples(data.views, 0.2, 0))
    absent = np.flatnonzero(~model._present[:, 0])
    assert len(absent) == 30
    assert model.graphs_[0][absent].nnz == 0
    assert model.corruption_[0][absent].nnz == 0
    assert not model.bases_[0][absent].any()
    assert np.isnan(model.reconstructions_[0][absent]).all()
    assert np.isfinite(np.delete(model.reconstructions_[0], absent, axis=0)).all()
    np.testing.assert_allclose(model.bases_[0].T @ model.bases_[0], np.eye(model.bases_[0].shape[1]), atol=1e-8)


def test_low_rank_completes_what_was_not_observed(rng):
    truth = np.repeat(rng.standard_normal((4, 30)) * 3, 40, axis=0)
    X = truth + 0.1 * rng.standard_normal(truth.shape)
    hidden = rng.random(X.shape) < 0.2
    model = OCBR(4).fit([np.where(hidden, np.nan, X)])
    error = np.abs(model.reconstructions_[0] - truth)[hidden]
    mean_filling = np.abs(truth - truth.mean(axis=0))[hidden]
    assert error.mean() < 0.3 * mean_filling.mean()
    assert not model.corruption_[0].toarray()[hidden].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(dtype, data):
    tables = [X.astype(dtype) for X in drop_samples(data.views, 0.2, 0)]
    model = OCBR(4).fit(tables)
    assert (model.embedding_.dtype, model.affinity_.dtype) == (dtype, dtype)


@pytest.mark.parametrize(
    "params", [{"graph": "joint"}, {"graph": "sum"}, {"graph_weight": 0.7}, {"consensus_weight": 1}]
)
def test_all_terms_can_do_with_absent_samples(params, data):
    model = OCBR(4, **params).fit(drop_samples(data.views, 0.2, 0))
    assert adjusted_rand_index(data.labels, model.labels_) > 0.9


def test_sparse_views_may_lack_samples(rng):
    truth = np.repeat(np.arange(3), 30)
    words = np.kron(np.eye(3), np.ones((30, 10))) * rng.poisson(4, (90, 30))
    absent = spread_rows(sp.csr_array(words[:80]), np.arange(80), 90)
    assert adjusted_rand_index(truth, OCBR(3).fit([absent, words]).labels_) == 1


def test_digits_with_three_in_ten_samples_missing_from_each_view():
    digits = load_digits()
    labels = OCBR(10).fit(drop_samples(digits.views, 0.3, 3)).labels_
    assert clustering_accuracy(digits.labels, labels) > 0.88
