"""OCBR on batches with shifts between them."""

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import OCBR, Views, adjusted_rand_index, make_views
from manyview.methods.ocbr.consensus import make_layers
from manyview.methods.ocbr.settings import Settings
from manyview.methods.ocbr.shifts import _all_samples, without_shifts
from manyview.preprocessing import corrupt_entries


@pytest.fixture(scope="module")
def groups():
    return make_views(300, 3, (20, 30), noise=1.0, separation=5.0, seed=0)


def shift(views, batch, size, seed=0):
    rng = np.random.default_rng(seed)
    return Views([X + size * rng.normal(size=(3, X.shape[1]))[batch] for X in views.arrays])


@pytest.fixture(scope="module")
def batch():
    return np.random.default_rng(1).integers(0, 3, 300)


def test_the_clusters_do_not_depend_on_how_large_the_shifts_are(groups, batch):
    found = [OCBR(3).fit_predict(shift(groups.views, batch, size), batch=batch) for size in (2, 10, 50)]
    assert adjusted_rand_index(groups.labels, found[0]) > 0.95
    for labels in found[1:]:
        assert adjusted_rand_index(labels, found[0]) == 1


@pytest.mark.parametrize("seed", range(3))
def test_batches_may_lack_groups(seed):
    data, rng = make_views(400, 4, (20, 30), noise=1.0, separation=5.0, seed=seed), np.random.default_rng(seed)
    batch = rng.integers(0, 3, 400)
    batch = np.where(batch == data.labels, (batch + 1) % 3, batch)  # batch b lacks group b
    found = OCBR(4).fit_predict(shift(data.views, batch, 4), batch=batch)
    assert adjusted_rand_index(data.labels, found) > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_clusters_do_not_depend_on_the_scales_of_batches_that_lack_groups(seed):
    data, rng = make_views(400, 4, (20, 30), noise=1.0, separation=5.0, seed=seed), np.random.default_rng(seed)
    batch = rng.integers(0, 3, 400)
    batch = np.where(batch == data.labels, (batch + 1) % 3, batch)
    views = Views([X * 3.0 ** batch[:, None] for X in shift(data.views, batch, 4).arrays])
    assert adjusted_rand_index(data.labels, OCBR(4).fit_predict(views, batch=batch)) > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_batches_that_fit_turned_around_as_well_move_as_little_as_possible(seed):
    data, rng = make_views(450, 3, (20, 30), noise=1.0, separation=5.0, seed=seed), np.random.default_rng(seed)
    batch = rng.integers(0, 3, 450)
    batch = np.where(batch == data.labels, (batch + 1) % 3, batch)  # each pair of batches shares one group
    found = OCBR(3).fit_predict(shift(data.views, batch, 1.5), batch=batch)
    assert adjusted_rand_index(data.labels, found) > 0.9


def test_errors_do_not_pass_for_shifts(groups, batch):
    views = corrupt_entries(shift(groups.views, batch, 4), fraction=0.05, seed=0)
    views.arrays[0][0, 0] = 1e12
    assert adjusted_rand_index(groups.labels, OCBR(3).fit_predict(views, batch=batch)) > 0.8  # 0.88 without shifts


def test_only_views_whose_batches_stand_apart_are_moved(groups, batch):
    first, second = groups.views.arrays
    views = Views([shift(Views([first]), batch, 4).arrays[0], second]).with_batch(batch)
    _, treated = OCBR(3)._prepare(views)
    layers = make_layers(treated, None, Settings(), views.batch)
    moved = without_shifts(layers, treated, 3)
    assert moved.rows[1] is layers.rows[1]
    centres = [np.array([R[batch == b].mean(axis=0) for b in range(3)]) for R in (layers.rows[0], moved.rows[0])]
    assert np.ptp(centres[1], axis=0).max() < np.ptp(centres[0], axis=0).max() / 5
    assert without_shifts(layers, treated, 3).batch is layers.batch


def test_counts_in_a_dense_table_are_moved_and_sparse_ones_are_not(batch):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 300)
    rates = rng.gamma(0.5, 2, (3, 40))[labels] * np.exp(2 * rng.normal(size=(3, 40)))[batch]
    views = Views([rng.poisson(rates).astype(float)]).with_batch(batch)
    _, treated = OCBR(3, kinds={"view_0": "counts"})._prepare(views)
    layers = make_layers(treated, None, Settings(), views.batch)
    assert without_shifts(layers, treated, 3).rows[0] is not layers.rows[0]


def test_dense_views_are_put_side_by_side_and_sparse_ones_are_left_out(rng):
    X, some = rng.standard_normal((4, 2)), np.array([0, 2, 3])
    table = _all_samples([X[some], sp.csr_array(X), X], [some, np.arange(4), np.arange(4)], 4)
    np.testing.assert_array_equal(table[:, 2:], X)
    np.testing.assert_array_equal(table[some, :2], X[some])
    assert not table[1, :2].any()
