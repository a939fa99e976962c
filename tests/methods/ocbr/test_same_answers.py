"""OCBR gives the same answer where nothing that matters has changed."""

import numpy as np
import pytest

from manyview import OCBR, Views, adjusted_rand_index, clustering_accuracy
from manyview.datasets import make_unequal_views, make_views

DATA = make_unequal_views(300, 4, (15, 25), ratio=10, seed=3)


@pytest.fixture(scope="module")
def labels():
    return OCBR(4).fit(DATA.views).labels_


def test_in_single_precision(labels):
    single = [X.astype(np.float32) for X in DATA.views.arrays]
    assert adjusted_rand_index(labels, OCBR(4).fit(single).labels_) >= 0.99


def test_with_the_samples_in_another_order(labels, rng):
    order = rng.permutation(300)
    assert adjusted_rand_index(labels[order], OCBR(4).fit(DATA.views[order]).labels_) >= 0.99


def test_with_the_views_in_another_order(labels):
    assert adjusted_rand_index(labels, OCBR(4).fit(DATA.views.arrays[::-1]).labels_) >= 0.99


@pytest.mark.parametrize("seed", range(4))
def test_where_clusters_overlap_and_rounding_could_decide(seed, rng):
    views = make_views(200, 8, (20, 30), separation=2, seed=seed).views
    order = rng.permutation(200)
    changed = Views([X[order].astype(np.float32) for X in views.arrays[::-1]])
    labels = OCBR(8).fit(views).labels_
    assert adjusted_rand_index(labels[order], OCBR(8).fit(changed).labels_) >= 0.99


def test_with_a_view_of_noise_or_a_view_given_four_times(labels, rng):
    X, Y = DATA.views.arrays
    accuracy = clustering_accuracy(DATA.labels, labels)
    for views in ([X, Y, rng.standard_normal((300, 20))], [X, Y, X, X, X]):
        found = OCBR(4).fit(Views(views)).labels_
        assert abs(clustering_accuracy(DATA.labels, found) - accuracy) < 0.02
