"""Every method on data with missing values and samples."""

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.missing_samples import drop_samples
from manyview import METHODS, OCBR, adjusted_rand_index, clustering_accuracy, load_digits, make_views
from manyview.views.presence import spread_rows

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


@pytest.fixture(scope="module")
def data():
    return make_views(150, 4, (12, 20), noise=0.5, seed=0)


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
    absent = np.flatnonzero(~model._reconstruction.present[:, 0])
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


@pytest.mark.parametrize("params", [{"graph": "joint"}, {"graph": "sum"}, {"graph": "blend"}])
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
