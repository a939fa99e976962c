"""What every estimator in METHODS must do; a new one is covered by being registered."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from manyview import (
    METHODS,
    MFMSC,
    InputError,
    Views,
    adjusted_rand_index,
    get_method,
    make_views,
)

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
unconverged_is_fine = pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning")
split_samples_are_fine = pytest.mark.filterwarnings("ignore:.* samples have exactly the same values:UserWarning")


CLASSIFIERS_ONLY = "asks whatever has predict_proba for the tags of classifiers, which clusterers have not"
EXPECTED_TO_FAIL = {f"check_estimator_sparse_{form}": CLASSIFIERS_ONLY for form in ("array", "matrix")}


@parametrize_with_checks([method() for method in METHODS.values()], expected_failed_checks=lambda _: EXPECTED_TO_FAIL)
@split_samples_are_fine
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# Input -------------------------------------------------------------------------------------------


def as_input(kind, views):
    X, Y = views.arrays
    ids = [f"s{i}" for i in range(len(X))]
    return {
        "list": [X, Y],
        "tuple": (X, Y),
        "dict": {"view_0": X, "view_1": Y},
        "Views": views,
        "frames": [pd.DataFrame(X, index=ids), pd.DataFrame(Y, index=ids)],
        "nested lists": [X.tolist(), Y.tolist()],
    }[kind]


@every_method
@pytest.mark.parametrize("kind", ["list", "tuple", "dict", "Views", "frames", "nested lists"])
def test_every_form_of_input_finds_the_clusters(method, kind, blobs):
    model = method(n_clusters=3).fit(as_input(kind, blobs.views))
    assert adjusted_rand_index(blobs.labels, model.labels_) == 1
    assert model.view_names_ == ("view_0", "view_1")
    assert model.n_views_ == 2


@every_method
@pytest.mark.parametrize("form", ["csr", "coo", "csc"])
def test_sparse_views_find_the_clusters(method, form, rng):
    truth = np.repeat(np.arange(3), 20)
    words = np.kron(np.eye(3), np.ones((20, 8)))
    tables = [words * rng.poisson(4, words.shape), words * rng.poisson(4, words.shape)]
    model = method(n_clusters=3).fit([sp.coo_array(table).asformat(form) for table in tables])
    assert adjusted_rand_index(truth, model.labels_) == 1


@every_method
@pytest.mark.parametrize("wrap", [np.asarray, pd.DataFrame])
def test_one_bare_table_finds_the_clusters(method, wrap, blobs):
    model = method(n_clusters=3).fit(wrap(blobs.views.arrays[0]))
    assert adjusted_rand_index(blobs.labels, model.labels_) == 1


@every_method
def test_names_and_ids_survive_to_the_results(method, blobs):
    ids = [f"patient {i}" for i in range(60)]
    X, Y = blobs.views.arrays
    model = method(n_clusters=3).fit({"rna": pd.DataFrame(X, index=ids), "atac": Y})
    assert model.view_names_ == ("rna", "atac")
    assert model.sample_ids_.tolist() == ids
    frame = model.to_frame()
    assert (frame.index.tolist(), frame.index.name) == (ids, "sample")
    assert frame.columns.tolist() == ["label", "confidence", "second"]
    np.testing.assert_array_equal(frame["label"], model.labels_)


@every_method
def test_labels_are_likely_where_nobody_can_miss_them(method, blobs):
    model = method(n_clusters=3).fit(blobs.views)
    new = model.predict_proba(blobs.views)
    for P in (model.membership_, new):
        assert P.shape == (60, 3)
        np.testing.assert_allclose(P.sum(axis=1), 1)
        np.testing.assert_array_equal(P.argmax(axis=1), model.labels_)
    frame = model.to_frame(blobs.views)
    np.testing.assert_array_equal(frame["label"], model.predict(blobs.views))
    np.testing.assert_allclose(frame["confidence"], new.max(axis=1))


@every_method
def test_without_ids_the_frame_counts_the_samples(method, blobs):
    frame = method(n_clusters=3).fit(blobs.views).to_frame()
    assert frame.index.equals(pd.RangeIndex(60))


@every_method
def test_to_frame_needs_a_fit(method):
    with pytest.raises(NotFittedError):
        method().to_frame()


@every_method
@pytest.mark.parametrize(
    ("n_clusters", "message"),
    [
        (0, "n_clusters=0 is too small; give a whole number of at least 1"),
        (-2, "n_clusters=-2 is too small"),
        (2.0, "n_clusters=2.0 is a float; give a whole number"),
        ("3", "n_clusters='3' is a str"),
        (None, "n_clusters=None is a NoneType"),
        (True, "n_clusters=True is a bool"),
        (61, "n_samples=60 is fewer than n_clusters=61; choose fewer clusters or give more samples"),
    ],
)
def test_wrong_numbers_of_clusters_are_refused(method, n_clusters, message, blobs):
    with pytest.raises(InputError, match=message):
        method(n_clusters=n_clusters).fit(blobs.views)


@every_method
@pytest.mark.parametrize("bad", [[], [np.zeros(3)], [np.full((9, 2), np.nan)], {"a": np.eye(3), "b": np.eye(4)}, None])
def test_the_gate_guards_every_estimator(method, bad):
    with pytest.raises(InputError):
        method(n_clusters=2).fit(bad)


def degenerate(name):
    X = np.random.default_rng(0).standard_normal((24, 4))
    half = np.arange(24)[:, None] < 12
    return {
        "constant feature": [np.hstack([X, np.full((24, 1), 7.0)]), X],
        "constant view": [np.ones((24, 3)), X],
        "all constant": [np.ones((24, 3)), np.zeros((24, 2))],
        "duplicate rows": [np.repeat(X[:4], 6, axis=0)] * 2,
        "one distinct row": [np.repeat(X[:1], 24, axis=0)] * 2,
        "zero rows": [X * half, X * half],
        "sparse zero rows": [sp.csr_array(X * half), sp.csr_array(X * half)],
        "all zero, sparse": [sp.csr_array((24, 5)), X],
        "huge": [X * 1e300, X],
        "largest": [np.clip(X, -1, 1) * np.finfo(float).max, X],
        "tiny": [X * 1e-300, X],
        "denormal": [X * 1e-320, X],
        "huge, sparse": [sp.csr_array(X * 1e300), X],
        "denormal, sparse": [sp.csr_array(X * 1e-320), X],
        "all magnitudes": [X * [1e300, 1e-300, 1, 0]] * 2,
        "huge, float32": [(X * 1e37).astype(np.float32), X.astype(np.float32)],
        "an outlier": [np.vstack([X[:-1], np.full((1, 4), 1e300)])] * 2,
        "one feature": [X[:, :1], X[:, 1:2]],
        "booleans": [X > 0, X < 0.5],
        "float16": [X.astype(np.float16)] * 2,
    }[name]


DEGENERATE = [
    "constant feature", "constant view", "all constant", "duplicate rows", "one distinct row", "zero rows",
    "sparse zero rows", "all zero, sparse", "huge", "largest", "tiny", "denormal", "huge, sparse",
    "denormal, sparse", "all magnitudes", "huge, float32", "an outlier", "one feature", "booleans", "float16",
]  # fmt: skip


@every_method
@pytest.mark.parametrize("name", DEGENERATE)
@unconverged_is_fine
@split_samples_are_fine
def test_degenerate_data_give_every_label_and_a_finite_embedding(method, name):
    model = method(n_clusters=3).fit(degenerate(name))
    assert model.labels_.dtype.kind == "i"
    assert np.unique(model.labels_).tolist() == [0, 1, 2]
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.affinity_.data).all()


@every_method
@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_the_unit_of_a_view_does_not_matter(method, size, blobs):
    X, Y = blobs.views.arrays
    model = method(n_clusters=3).fit([X * size, Y])
    assert adjusted_rand_index(blobs.labels, model.labels_) == 1


def noncanonical(table):
    """Store a sparse table with every entry in two halves, and the columns in reverse."""
    rows, columns = np.nonzero(table)
    order = np.lexsort((-np.repeat(columns, 2), np.repeat(rows, 2)))
    ends = np.concatenate([[0], np.cumsum(2 * np.count_nonzero(table, axis=1))])
    return sp.csr_array(
        (np.repeat(table[rows, columns] / 2, 2)[order], np.repeat(columns, 2)[order], ends), table.shape
    )


@every_method
@pytest.mark.parametrize("kind", ["dense", "float32", "integer", "frame", "sparse", "noncanonical sparse"])
@unconverged_is_fine
def test_inputs_are_never_modified(method, kind, rng):
    table = rng.integers(-5, 6, (30, 6)) * 2.0
    make = {
        "dense": np.array,
        "float32": lambda t: t.astype(np.float32),
        "integer": lambda t: t.astype(int),
        "frame": pd.DataFrame,
        "sparse": sp.csr_array,
        "noncanonical sparse": noncanonical,
    }[kind]
    given, kept = make(table), make(table)
    method(n_clusters=3).fit([given, given])
    for part in ("data", "indices", "indptr") if sp.issparse(given) else ():
        np.testing.assert_array_equal(getattr(given, part), getattr(kept, part))
    np.testing.assert_array_equal(*(t.toarray() if sp.issparse(t) else t for t in (given, kept)))


@every_method
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@unconverged_is_fine
def test_results_keep_the_dtype(method, dtype, kind, blobs):
    model = method(n_clusters=3).fit([kind(X.astype(dtype)) for X in blobs.views.arrays])
    assert (model.embedding_.dtype, model.affinity_.dtype) == (dtype, dtype)


# Results -----------------------------------------------------------------------------------------


@every_method
def test_fitted_attributes(method, blobs):
    model = method(n_clusters=3).fit(blobs.views)
    assert model.labels_.shape == (60,)
    assert model.embedding_.shape[0] == 60
    assert model.affinity_.shape == (60, 60)
    iterates = hasattr(model, "max_iter")
    assert model.n_iter_ == len(model.history_) >= iterates
    assert iterates or model.history_ == []
    assert model.converged_
    assert all({"iteration", "residual"} <= set(record) for record in model.history_)
    np.testing.assert_array_equal(method(n_clusters=3).fit_predict(blobs.views), model.labels_)


@every_method
@unconverged_is_fine
def test_same_seed_same_labels(method, blobs):
    noisy = [X + np.random.default_rng(0).standard_normal(X.shape) * 8 for X in blobs.views.arrays]
    first, second = (method(n_clusters=4, random_state=5).fit(noisy).labels_ for _ in range(2))
    np.testing.assert_array_equal(first, second)


@every_method
def test_clusters_are_numbered_by_size(method):
    unequal = make_views(90, 3, (5, 8), noise=0.3, separation=20, seed=1)
    rows = np.concatenate([np.flatnonzero(unequal.labels == k)[:size] for k, size in ((0, 10), (1, 30), (2, 20))])
    sizes = np.bincount(method(n_clusters=3).fit(unequal.views[rows]).labels_)
    assert sizes[0] > sizes[1] > sizes[2]


@every_method
def test_permuting_samples_permutes_the_labels(method, blobs, rng):
    order = rng.permutation(60)
    labels = method(n_clusters=3).fit(blobs.views).labels_
    assert adjusted_rand_index(labels[order], method(n_clusters=3).fit(blobs.views[order]).labels_) == 1


@every_method
def test_permuting_views_leaves_the_clusters(method, blobs):
    labels = method(n_clusters=3).fit(blobs.views).labels_
    swapped = method(n_clusters=3).fit(blobs.views.select(["view_1", "view_0"]))
    assert adjusted_rand_index(labels, swapped.labels_) == 1
    assert swapped.view_names_ == ("view_1", "view_0")


@every_method
@unconverged_is_fine
def test_one_cluster_and_as_many_as_samples(method, blobs):
    few = blobs.views[:10]
    assert not method(n_clusters=1).fit(few).labels_.any()
    assert sorted(method(n_clusters=10).fit(few).labels_) == list(range(10))
    assert method(n_clusters=1).fit(few[0]).labels_.tolist() == [0]


@every_method
def test_clones_and_refits_start_afresh(method, blobs):
    model = method(n_clusters=3)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    first = model.fit(blobs.views).labels_
    model.fit([blobs.views.arrays[0][:30]])
    assert (model.n_views_, model.labels_.shape) == (1, (30,))
    np.testing.assert_array_equal(model.fit(blobs.views).labels_, first)


# In scikit-learn's company -----------------------------------------------------------------------


def agreement(model, X, y):
    return adjusted_rand_index(y, model.fit_predict(X))


@every_method
def test_grid_search_over_views_finds_the_number_of_clusters(method, blobs):
    search = GridSearchCV(method(), {"n_clusters": [2, 3, 5]}, scoring=agreement, cv=2, error_score="raise")
    search.fit(blobs.views, blobs.labels)
    assert (search.best_params_, search.best_score_) == ({"n_clusters": 3}, 1)


@every_method
def test_pipeline_passes_views_on(method, blobs):
    halve = FunctionTransformer(lambda views: views.replace(X / 2 for X in views.arrays))
    pipeline = Pipeline([("halve", halve), ("cluster", method(n_clusters=3))])
    assert adjusted_rand_index(blobs.labels, pipeline.fit_predict(blobs.views)) == 1
    assert isinstance(pipeline[:-1].transform(blobs.views), Views)


# Parameters --------------------------------------------------------------------------------------


@every_method
def test_every_parameter_has_a_rule(method):
    assert set(method._rules) == set(method().get_params())


@every_method
def test_parameters_are_checked_before_any_work(method, blobs, monkeypatch):
    monkeypatch.setattr(method, "_prepare", lambda *_: pytest.fail("work was begun"))
    for name in method().get_params():
        with pytest.raises(InputError, match=f"{name}="):
            method(**{name: object()}).fit(blobs.views)


@every_method
def test_a_fit_that_fails_leaves_the_model_as_it_was(method, blobs):
    model = method(n_clusters=3).fit(blobs.views)
    before = dict(vars(model))
    with pytest.raises(InputError):
        model.set_params(n_clusters=100).fit(blobs.views)
    assert {name: value for name, value in vars(model).items() if name != "n_clusters"} == {
        name: value for name, value in before.items() if name != "n_clusters"
    }


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, "all"])
def test_wrong_numbers_of_threads_are_refused(n_jobs, blobs):
    with pytest.raises(InputError, match="give a number of threads, -1, or None"):
        MFMSC(3, n_jobs=n_jobs).fit(blobs.views)


@every_method
def test_labels_do_not_depend_on_the_number_of_threads(method, blobs):
    one, two = (method(n_clusters=3, n_jobs=n_jobs).fit(blobs.views).labels_ for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


# The registry ------------------------------------------------------------------------------------


def test_methods_are_found_by_key():
    assert all(get_method(key) is method for key, method in METHODS.items())
    with pytest.raises(InputError, match=r"method='magic'.*'mfmsc'"):
        get_method("magic")
