import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

from manyview import MFMSC, OCBR, InputError, Views, adjusted_rand_index, clustering_accuracy, load, make_views, save
from manyview.methods.landmarks import strategy
from manyview.partition.difference import describe_difference

both = pytest.mark.parametrize("method", [MFMSC, OCBR])


@pytest.fixture(scope="module")
def data():
    return make_views(1500, 4, (12, 8), noise=1.0, separation=8, seed=2)


@pytest.fixture(scope="module", params=[MFMSC, OCBR])
def fitted(request, data):
    return request.param(4, strategy="landmarks", n_landmarks=200).fit(data.views)


def test_all_samples_are_placed_by_a_few(fitted, data):
    assert len(fitted.landmarks_) == 200
    assert fitted.labels_.shape == (1500,)
    assert clustering_accuracy(data.labels, fitted.labels_) > 0.99
    assert fitted.converged_


@both
@pytest.mark.parametrize("seed", range(4))
def test_clusters_are_numbered_by_their_sizes_among_all_samples(method, seed):
    """Those of 200 landmarks are in another order, and numbered by it until all samples are known."""
    data = make_views(1500, 4, (12, 8), noise=1.0, separation=8, seed=2)
    model = method(4, strategy="landmarks", n_landmarks=200, random_state=seed).fit(data.views)
    sizes = np.bincount(model.labels_)
    assert (np.diff(sizes) <= 0).all()
    np.testing.assert_array_equal(model.cut(4), model.labels_)
    assert (model.membership_.argmax(axis=1) == model.labels_[model.landmarks_]).mean() > 0.98
    assert (model.predict(data.views) == model.labels_).mean() > 0.98


def test_alternatives_speak_of_the_clusters_as_they_are_numbered():
    data = make_views(2000, 6, (6, 6), noise=1.0, separation=2.0, seed=1)
    model = OCBR(6, strategy="landmarks", n_landmarks=300).fit(data.views)
    assert model.alternatives_
    labels = model.on_landmarks().labels_
    for other in model.alternatives_:
        assert other.difference == describe_difference(labels, other.labels)


def test_new_samples_get_the_labels_that_they_had_in_the_fit(fitted, data):
    others = np.setdiff1d(np.arange(1500), fitted.landmarks_)
    np.testing.assert_array_equal(fitted.predict(data.views[others]), fitted.labels_[others])


def test_all_samples_have_a_confidence_and_a_second_cluster(fitted, data):
    """Those of samples that are no landmarks are what the model says about them as new ones."""
    others = np.setdiff1d(np.arange(1500), fitted.landmarks_)
    frame, again = fitted.to_frame(), fitted.to_frame(data.views[others])
    assert frame["confidence"].between(0.2, 1).all()
    assert (frame["second"] != frame["label"]).all()
    np.testing.assert_array_equal(frame["second"][others], again["second"])
    np.testing.assert_allclose(frame["confidence"][others], again["confidence"], rtol=1e-4)
    own = fitted.predict_proba(data.views)[fitted.landmarks_, fitted.labels_[fitted.landmarks_]]
    assert (frame["confidence"][fitted.landmarks_] < own + 1e-6).mean() > 0.9  # no landmark is a neighbour of itself


def test_confidence_tells_right_labels_from_wrong_ones():
    """In groups that overlap, about as in a fit of all samples."""
    views = make_views(3000, 4, (12, 8), noise=1.0, separation=3, seed=2)
    frame = OCBR(4, strategy="landmarks", n_landmarks=600).fit(views.views).to_frame()
    names = pd.Series(views.labels).groupby(frame["label"]).agg(lambda true: true.mode()[0])
    right = frame["label"].map(names) == views.labels
    assert frame["confidence"][right].mean() > frame["confidence"][~right].mean() + 0.1
    together = OCBR(4, strategy="exact").fit(views.views).to_frame()
    assert frame["confidence"].mean() == pytest.approx(together["confidence"].mean(), abs=0.05)


def test_the_landmarks_are_a_model_of_their_own(fitted):
    alone = fitted.on_landmarks()
    assert len(alone.to_frame()) == 200
    np.testing.assert_array_equal(alone.labels_, fitted.labels_[fitted.landmarks_])
    assert alone.affinity_.shape == (200, 200)
    assert len(alone.embedding_) == 200


def test_a_saved_model_predicts_the_same(fitted, data, tmp_path):
    again = load(save(fitted, tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(data.views[:100]), fitted.predict(data.views[:100]))
    np.testing.assert_array_equal(again.landmarks_, fitted.landmarks_)
    pd.testing.assert_frame_equal(again.to_frame(), fitted.to_frame())


@both
def test_blocks_do_not_change_the_labels(method, data, monkeypatch):
    model = method(4, strategy="landmarks", n_landmarks=150)
    whole = model.fit_predict(data.views)
    monkeypatch.setattr(strategy, "LocalRows", lambda tables, _: strategy_rows(tables, 137))
    assert adjusted_rand_index(whole, model.fit_predict(data.views)) >= 0.999


def strategy_rows(tables, rows, rows_class=strategy.LocalRows):
    return rows_class(tables, block_entries=20 * rows)


@both
def test_memory_mapped_tables_of_any_type_are_read_in_blocks(method, data, tmp_path):
    tables = {}
    for name, X in data.views.items():
        np.save(tmp_path / f"{name}.npy", np.rint(50 * X).astype(np.int16))
        tables[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    model = method(4, strategy="landmarks", n_landmarks=200).fit(tables)
    assert clustering_accuracy(data.labels, model.labels_) > 0.99


@both
def test_samples_may_lack_values_and_views(method, data):
    X, Y = (array.copy() for array in data.views.arrays)
    X[::5] = np.nan
    Y[1::7, 2] = np.nan
    model = method(4, strategy="landmarks", n_landmarks=300).fit([X, Y])
    assert clustering_accuracy(data.labels, model.labels_) > 0.97
    assert model.n_missing_ == {"view_0": 300 * 12, "view_1": len(Y[1::7])}


@both
def test_sparse_views(method, rng):
    truth = np.repeat(np.arange(3), 300)
    words = np.kron(np.eye(3), np.ones((300, 8)))
    tables = [sp.csr_array(words * rng.poisson(4, words.shape)) for _ in range(2)]
    model = method(3, strategy="landmarks", n_landmarks=120).fit(tables)
    assert adjusted_rand_index(truth, model.labels_) > 0.99


@both
def test_auto_fits_all_samples_up_to_a_size(method, data, monkeypatch):
    assert method(4).fit(data.views[:300]).landmarks_ is None
    monkeypatch.setattr(strategy, "EXACT_UP_TO", 1000)
    assert len(method(4, n_landmarks=200).fit(data.views).landmarks_) == 200
    assert method(4, strategy="exact").fit(data.views[::5]).landmarks_ is None


def test_landmarks_for_all_samples_are_an_exact_fit(data):
    few = data.views[:200]
    model = MFMSC(4, strategy="landmarks", n_landmarks=200).fit(few)
    assert model.landmarks_ is None
    np.testing.assert_array_equal(model.labels_, MFMSC(4).fit_predict(few))


def test_seeds_draw_other_landmarks(data):
    drawn = [MFMSC(4, strategy="landmarks", n_landmarks=99, random_state=seed).fit(data.views) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(drawn[0].landmarks_, drawn[1].landmarks_)
    assert not np.array_equal(drawn[0].landmarks_, drawn[2].landmarks_)


@pytest.mark.parametrize(
    ("params", "tables", "message"),
    [
        ({"n_landmarks": 3}, {}, "n_landmarks=3 is fewer than n_clusters=4"),
        ({"n_landmarks": 1}, {}, "n_landmarks=1 is too small"),
        ({"strategy": "some"}, {}, "Unknown strategy='some'. Choose one of: 'auto', 'exact', 'landmarks'"),
        ({"affinity": "precomputed"}, {}, "cannot be combined with affinity='precomputed'"),
        ({}, {"b": np.full((1500, 2), np.nan)}, "View 'b' contains only NaN"),
        ({}, {"b": np.ones((1499, 2))}, "View 'b' has 1499 samples but view 'view_0' has 1500"),
        ({}, {"b": np.full((1500, 2), np.inf)}, "View 'b' contains .* infinity values"),
    ],
)
def test_what_cannot_be_done_is_said(params, tables, message, data):
    with pytest.raises(InputError, match=message):
        MFMSC(4, **{"strategy": "landmarks", "n_landmarks": 50, **params}).fit(dict(data.views.items()) | tables)


def test_a_fit_that_fails_leaves_the_model_as_it_was(data):
    model = MFMSC(4, strategy="landmarks", n_landmarks=50).fit(data.views)
    before = model.labels_
    with pytest.raises(InputError):
        model.fit(Views([data.views.arrays[0], np.full((1500, 2), np.nan)]))
    assert model.labels_ is before


@both
def test_many_samples_are_placed_by_an_approximate_search_and_its_recall_is_told(method, data, monkeypatch):
    exact = method(4, strategy="landmarks", n_landmarks=400).fit(data.views)
    assert exact.neighbor_recall_ == {}
    monkeypatch.setattr("manyview.graphs.neighbors.EXACT_UP_TO", 500)  # more than landmarks, fewer than samples
    approximate = method(4, strategy="landmarks", n_landmarks=400).fit(data.views)
    assert set(approximate.neighbor_recall_) == {"placing"}
    assert 0.95 <= approximate.neighbor_recall_["placing"] <= 1
    assert adjusted_rand_index(exact.labels_, approximate.labels_) > 0.99
    monkeypatch.setattr(strategy, "LocalRows", lambda tables, _: strategy_rows(tables, 137))
    in_blocks = method(4, strategy="landmarks", n_landmarks=400).fit(data.views)
    np.testing.assert_array_equal(in_blocks.labels_, approximate.labels_)


def test_a_revision_that_does_not_settle_says_what_may_help(data, monkeypatch):
    monkeypatch.setattr("manyview.methods.landmarks.fitting.ROUNDS", 1)
    with pytest.warns(ConvergenceWarning, match=r"revision of landmarks stopped after 1 .* a larger n_landmarks may"):
        assert not OCBR(4, strategy="landmarks", n_landmarks=100).fit(data.views).converged_


def test_frames_are_matched_by_their_index_as_in_other_fits(data, monkeypatch):
    """In every block of rows; a table that only counts its rows goes with one that names them."""
    monkeypatch.setattr(strategy, "LocalRows", lambda tables, _ids=None: strategy_rows(tables, 137))
    counted, other = (pd.DataFrame(X) for X in data.views.arrays)
    named = other.set_axis([f"s{i}" for i in range(1500)], axis=0)
    model = MFMSC(4, strategy="landmarks", n_landmarks=150)
    np.testing.assert_array_equal(model.fit([counted, named]).sample_ids_, named.index)
    np.testing.assert_array_equal(model.labels_, model.fit(data.views).labels_)
    with pytest.raises(InputError, match=r"Sample 0 is '0' in view 'view_0' but '.*' in view 'view_1'"):
        model.fit([counted, other.sample(frac=1, random_state=0)])


@both
def test_landmarks_are_drawn_and_linked_within_the_limit_of_threads(method, data, monkeypatch):
    seen = []
    drawn = strategy.draw_landmarks
    monkeypatch.setattr(strategy, "draw_landmarks", lambda *words: seen.append(openmp_threads()) or drawn(*words))
    with threadpool_limits(4, "openmp"):
        method(4, strategy="landmarks", n_landmarks=150, n_jobs=1).fit(data.views)
    assert seen == [1]


def openmp_threads():
    return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp")
