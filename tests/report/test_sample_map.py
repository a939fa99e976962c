"""The map: which samples are drawn, and where."""

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import MFMSC
from manyview.report.sample_map import choose_samples, lay_out_samples, spectral_coordinates

# 0 -3- 1 -1- 2 -2- 3
CHAIN = sp.csr_array(np.array([[0, 3, 0, 0], [3, 0, 1, 0], [0, 1, 0, 2], [0, 0, 2, 0]], dtype=float))


def test_the_sample_is_proportional_and_keeps_small_clusters():
    labels = np.repeat([0, 1, 2], [9000, 970, 30])
    rows = choose_samples(labels, 1000, seed=0)
    counts = np.bincount(labels[rows])
    assert len(rows) <= 1000
    assert counts.tolist() == [50 + 850 * 9000 // 10000, 50 + 850 * 970 // 10000, 30]
    assert np.all(np.diff(rows) > 0)
    np.testing.assert_array_equal(rows, choose_samples(labels, 1000, seed=0))
    assert not np.array_equal(rows, choose_samples(labels, 1000, seed=1))
    np.testing.assert_array_equal(choose_samples(labels, 10000, seed=0), np.arange(10000))


def test_more_clusters_than_points_leave_the_map_small():
    assert len(choose_samples(np.repeat(np.arange(30), 10), 20, seed=0)) <= 20


def test_the_map_keeps_clusters_together(blobs):
    model = MFMSC(3).fit(blobs.views)
    coordinates = spectral_coordinates(model.affinity_, 3)
    np.testing.assert_allclose(np.linalg.norm(coordinates, axis=1), 1)
    picture = lay_out_samples(coordinates, np.arange(60), seed=0)
    assert "t-SNE" in picture.how
    assert picture.places.min() == 0
    assert picture.places.max() == 1
    distance = np.linalg.norm(picture.places[:, None] - picture.places[None], axis=-1) + 9 * np.eye(60)
    assert np.mean(model.labels_[distance.argmin(axis=1)] == model.labels_) > 0.95


def test_a_handful_of_samples_is_drawn_without_tsne():
    picture = lay_out_samples(spectral_coordinates(CHAIN, 2), np.arange(4), seed=0)
    assert picture.places.shape == (4, 2)
    assert "t-SNE" not in picture.how


@pytest.mark.parametrize("n_points", [1, 2, 3])
def test_samples_that_are_all_alike(n_points):
    """t-SNE crashes the process where all points are one."""
    F = np.repeat(np.eye(4)[:n_points], 40, axis=0)
    drawn = lay_out_samples(F, np.arange(len(F)), seed=0)
    assert np.isfinite(drawn.places).all()


def test_samples_in_one_place_lie_in_the_middle():
    drawn = lay_out_samples(np.ones((2, 3)), np.arange(2), seed=0)
    np.testing.assert_array_equal(drawn.places, 0.5)
