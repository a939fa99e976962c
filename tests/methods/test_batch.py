"""`fit(views, batch=...)`, in all methods."""

import numpy as np
import pytest

from manyview import METHODS, OCBR, InputError, Views, adjusted_rand_index, assess_stability, load, make_views, save

TAKES = ("mfmsc", "maasc", "ccamsc", "cotraining", "ocbr")


@pytest.fixture(scope="module")
def shifted():
    """Three groups in two views; three batches, far from each other in both."""
    data, rng = make_views(240, 3, (12, 16), noise=0.5, seed=0), np.random.default_rng(0)
    batch = rng.integers(0, 3, 240)
    views = Views([X + 2 * X.std() * rng.normal(size=(3, X.shape[1]))[batch] for X in data.views.arrays])
    return views, data.labels, np.array(["x", "y", "z"])[batch]


@pytest.mark.parametrize("key", TAKES)
def test_clusters_do_not_become_batches(shifted, key):
    views, labels, batch = shifted
    without, found = METHODS[key](3).fit_predict(views), METHODS[key](3).fit_predict(views, batch=batch)
    assert adjusted_rand_index(labels, found) > adjusted_rand_index(labels, without) + 0.3


@pytest.mark.parametrize("key", [key for key in METHODS if key not in TAKES])
def test_methods_without_neighbours_refuse_batches(shifted, key):
    views, _, batch = shifted
    with pytest.raises(InputError, match="cannot use batch: it is not based on neighbours"):
        METHODS[key](3).fit(views, batch=batch)


def test_affinities_refuse_batches(rng):
    A = rng.random((20, 20))
    with pytest.raises(InputError, match="MFMSC cannot use batch: affinities have no neighbours"):
        METHODS["mfmsc"](2, affinity="precomputed").fit(A + A.T, batch=[0, 1] * 10)


def test_a_fit_that_is_refused_changes_nothing(shifted):
    views, _, batch = shifted
    model = OCBR(3).fit(views, batch=batch)
    before = model.labels_
    with pytest.raises(InputError, match="batch has 3 values for 240 samples"):
        model.fit(views, batch=batch[:3])
    assert model.labels_ is before
    assert model.batch_.shape == (240,)
    assert model.fit(views).batch_ is None


def test_samples_may_lack_views_and_the_number_of_clusters_is_chosen_across_batches(shifted):
    views, labels, batch = shifted
    first = views.arrays[0].copy()
    first[:20] = np.nan
    model = OCBR("auto").fit([first, views.arrays[1]], batch=batch)
    assert model.n_clusters_ == 3
    assert adjusted_rand_index(labels, model.labels_) > 0.9


def test_repeats_and_saved_models_know_the_batches(shifted, tmp_path):
    views, _, batch = shifted
    model = OCBR(3).fit(views, batch=batch)
    assert assess_stability(model, views, 2, noise_repeats=0).corrected > 0.9
    again = load(save(model, tmp_path / "model"))
    np.testing.assert_array_equal(again.batch_, model.batch_)
    np.testing.assert_array_equal(again.predict(views), model.predict(views))
