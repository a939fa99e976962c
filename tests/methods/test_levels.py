"""Coarser and finer partitions of fitted models."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from manyview import METHODS, MFMSC, OCBR, InputError, load, make_views, save

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


@pytest.fixture(scope="module")
def blobs():
    return make_views(60, 3, (5, 8), noise=0.3, separation=20, seed=1)


@every_method
def test_the_fit_is_one_of_the_levels(method, blobs):
    model = method(3, max_clusters=5).fit(blobs.views)
    np.testing.assert_array_equal(model.cut(3), model.labels_)
    assert [len(np.unique(model.cut(k))) for k in (1, 2, 4, 5)] == [1, 2, 4, 5]
    with pytest.raises(InputError, match="n_clusters=6 is more than the 5 of the finest level"):
        model.cut(6)


def test_levels_are_of_the_last_fit(blobs):
    model = MFMSC(3).fit(blobs.views)
    assert len(model.cut(2)) == 60
    assert len(model.fit(blobs.views[:40]).cut(2)) == 40


def test_levels_need_a_fit():
    with pytest.raises(NotFittedError):
        OCBR(3).cut(2)


@pytest.mark.parametrize("computed", [False, True])
def test_saved_models_keep_their_levels(computed, blobs, tmp_path):
    model = OCBR(3).fit(blobs.views)
    expected = model.cut(5) if computed else OCBR(3).fit(blobs.views).cut(5)
    np.testing.assert_array_equal(load(save(model, tmp_path / "model")).cut(5), expected)


def test_landmarks_go_coarser_for_all_samples(blobs):
    model = MFMSC(3, strategy="landmarks", n_landmarks=30).fit(blobs.views)
    assert len(np.unique(list(zip(model.labels_, model.cut(2), strict=True)), axis=0)) == 3
    assert len(np.unique(model.cut(2))) == 2
    assert len(model.cut(2)) == 60
    assert len(model.on_landmarks().cut(2)) == 30
    with pytest.raises(InputError, match="n_clusters=4 is more than the 3 of the finest level"):
        model.cut(4)


def test_the_largest_number_of_clusters_to_try(blobs):
    model = OCBR("auto", max_clusters=4).fit(blobs.views)
    assert model.selection_.candidates.tolist() == [2, 3, 4]
    with pytest.raises(InputError, match="max_clusters=1 is too small"):
        OCBR("auto", max_clusters=1).fit(blobs.views)
