"""predict and transform: new samples in the clusters of a fit."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from manyview import METHODS, MFMSC, OCBR, InputError, Views, clustering_accuracy, load_digits, make_views
from manyview.graphs.affinity import knn_graph
from manyview.methods.ocbr.recovery import Loadings, Recovery
from manyview.methods.placing import Linker
from manyview.partition.blockmodel import BlockModel
from manyview.preprocessing.corruption import corrupt_entries

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


@pytest.fixture(scope="module")
def data():
    return make_views(200, 4, (12, 20), noise=0.8, seed=0)


@pytest.fixture(scope="module")
def fitted(data):
    return {key: method(4).fit(named(data.views[:120])) for key, method in METHODS.items()}


def named(views):
    return Views(dict(zip(("a", "b"), views.arrays, strict=True)))


@pytest.mark.parametrize("key", METHODS)
def test_new_samples_join_the_clusters_of_their_kind(key, fitted, data):
    model, new = fitted[key], named(data.views[120:])
    labels = model.predict(new)
    assert (labels.dtype, labels.shape) == (np.int32, (80,))
    joined = np.r_[model.labels_, labels]
    assert clustering_accuracy(data.labels, joined) > 0.93
    assert model.transform(new).shape == (80, model.embedding_.shape[1])


@pytest.mark.parametrize("key", [key for key in METHODS if key != "paper-ocbr"])  # whose clusters cut neighbours apart
def test_samples_that_were_fitted_stay_where_they_are(key, fitted, data):
    model, old = fitted[key], named(data.views[:120])
    assert np.mean(model.predict(old) == model.labels_) > 0.98
    near = np.linalg.norm(model.transform(old) - model.embedding_, axis=1)
    spread = np.linalg.norm(model.embedding_ - model.embedding_.mean(axis=0), axis=1)
    assert np.median(near) < 0.5 * np.median(spread)


@pytest.mark.parametrize("key", METHODS)
@pytest.mark.parametrize("missing", ["view", "rows", "entries"])
def test_new_samples_may_lack_views_or_values(key, missing, fitted, data, rng):
    X, Y = (array.copy() for array in data.views[120:].arrays)
    if missing == "view":
        new = {"b": Y}
    elif missing == "rows":
        X[:40], Y[40:] = np.nan, np.nan
        new = [X, Y]
    else:
        new = [np.where(rng.random(table.shape) < 0.1, np.nan, table) for table in (X, Y)]
    labels = np.r_[fitted[key].labels_, fitted[key].predict(new)]
    assert clustering_accuracy(data.labels, labels) > 0.9


@pytest.mark.parametrize("key", METHODS)
def test_one_sample_is_placed_as_among_others(key, fitted, data):
    model, new = fitted[key], data.views[120:]
    together = model.predict(list(new.arrays))
    alone = [model.predict([array[i : i + 1] for array in new.arrays])[0] for i in range(5)]
    np.testing.assert_array_equal(alone, together[:5])


def test_views_are_matched_by_name_or_else_by_position(fitted, data):
    X, Y = data.views[120:].arrays
    model = fitted["ocbr"]
    expected = model.predict([X, Y])
    np.testing.assert_array_equal(model.predict({"b": Y, "a": X}), expected)
    np.testing.assert_array_equal(model.predict(Views({"b": Y, "a": X})), expected)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ({"a": np.zeros((3, 2))}, r"X \(view 'a'\) has 2 features, but OCBR is expecting \d+ features"),
        ({"c": np.zeros((3, 2))}, r"was fitted on the views 'a', 'b', but got 'c'"),
        ([np.zeros((3, 2))], r"but got 'view_0'\. Name the views as in the fit"),
        ({"a": np.full((3, 12), np.inf)}, "infinity"),
    ],
)
def test_what_does_not_fit_is_refused(new, message, fitted):
    with pytest.raises(InputError, match=message):
        fitted["ocbr"].predict(new)


def test_a_new_sample_must_be_in_some_view(fitted, data):
    X, Y = (array.copy() for array in data.views[:3].arrays)
    X[1] = Y[1] = np.nan
    with pytest.raises(InputError, match=r"1 sample\(s\) have no value in any view: '1'"):
        fitted["ocbr"].predict([X, Y])


def test_features_are_checked_by_name(data):
    X = pd.DataFrame(data.views.arrays[0][:, :3], columns=["p", "q", "r"])
    model = MFMSC(4).fit({"a": X})
    with pytest.raises(InputError, match="same order as in fit"):
        model.predict({"a": X[["q", "p", "r"]]})
    with pytest.raises(InputError, match="not in both: 's'"):
        model.predict({"a": X.rename(columns={"r": "s"})})


@every_method
def test_needs_a_fit(method, data):
    with pytest.raises(NotFittedError):
        method().predict(data.views)
    with pytest.raises(NotFittedError):
        method().transform(data.views)


def test_sparse_views(rng):
    truth = np.repeat(np.arange(3), 40)
    words = np.kron(np.eye(3), np.ones((40, 10))) * rng.poisson(3, (120, 30))
    order = rng.permutation(120)
    old, new = order[:80], order[80:]
    for method in (OCBR, MFMSC):
        model = method(3).fit([sp.csr_array(words[old])])
        labels = np.r_[model.labels_, model.predict([sp.csr_array(words[new])])]
        assert clustering_accuracy(truth[order], labels) == 1


@pytest.mark.parametrize("scaling", ["auto", "none"])
@every_method
def test_sparse_samples_join_clusters_of_dense_ones(method, scaling, blobs):
    X, Y = (array.copy() for array in blobs.views.arrays)
    X[0], Y[1], Y[2, 3] = np.nan, np.nan, np.nan
    model = method(3, scaling=scaling).fit([X, Y])
    expected = model.predict([X, Y])
    np.testing.assert_array_equal(model.predict([sp.csr_array(X), sp.csr_array(Y)]), expected)
    np.testing.assert_array_equal(model.predict([X, sp.csr_array(Y)]), expected)


@pytest.mark.parametrize("key", ["ocbr", "mfmsc"])
def test_other_labels_of_the_samples_fitted_place_new_ones_accordingly(key, data):
    model = METHODS[key](4).fit(data.views[:120])
    links = Linker(model._placing, 120).links(data.views[:120].arrays)
    names = np.array([2, 0, 3, 1], dtype=np.int32)
    z = names[model.labels_]
    blocks = BlockModel.of(links, [1.0] * len(links), 4).blocks(z)
    expected = names[model.predict(data.views[120:])]
    model._placing = model._placing.revised(z, blocks)
    assert np.mean(model.predict(data.views[120:]) == expected) > 0.95


def test_affinities_to_the_samples_fitted(data):
    W = [knn_graph(X, 10).toarray() for X in data.views.arrays]
    model = MFMSC(4, affinity="precomputed").fit([A[:120, :120] for A in W])
    labels = np.r_[model.labels_, model.predict([A[120:, :120] for A in W])]
    assert clustering_accuracy(data.labels, labels) > 0.95
    with pytest.raises(InputError, match=r"has 100 columns, but MFMSC was fitted on the affinities of 120 samples"):
        model.predict([A[120:, :100] for A in W])


def test_new_rows_are_recovered_as_those_fitted_were(rng):
    X = rng.standard_normal((300, 4)) @ rng.standard_normal((4, 40)) + 0.1 * rng.standard_normal((300, 40))
    gross = rng.random(X.shape) < 0.1
    X = np.where(gross, X + rng.uniform(-20, 20, X.shape), X)
    state = Recovery.start(X, 10, 0.2, 1.0, narrowest=3.0)
    for _ in range(100):
        state.sweep()
    found, expected = Loadings.of(state, 2.0).clean(X), state.cleaned(2.0)
    np.testing.assert_allclose(found, expected, atol=0.05 * np.abs(X).max())
    assert np.linalg.norm(found - expected) < 0.05 * np.linalg.norm(expected)
    hidden = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    completed = Loadings.of(state, 2.0).clean(hidden)
    assert np.linalg.norm((completed - expected)[np.isnan(hidden)]) < 0.2 * np.linalg.norm(expected[np.isnan(hidden)])


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_digits_in_halves_agree_with_a_joint_fit(noise):
    digits = load_digits()
    views = corrupt_entries(digits.views, noise, seed=0) if noise else digits.views
    order = np.random.default_rng(1).permutation(2000)
    joint = OCBR(10).fit(views)
    half = OCBR(10).fit(views[order[:1000]])
    assert clustering_accuracy(joint.labels_[order[1000:]], half.predict(views[order[1000:]])) > 0.93
