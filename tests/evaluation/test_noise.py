"""Shuffled data keep the values of every feature and the views of every sample, and nothing else."""

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import Views, make_views
from manyview.evaluation.noise import shuffle_columns


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_features_keep_their_values_and_samples_their_views(rng, make):
    X = rng.poisson(0.7, (40, 6)).astype(float)
    X[5], X[6, 2] = np.nan, np.nan
    views = Views({"x": make(X), "y": rng.normal(size=(40, 3))})
    before = views.arrays[0].copy()
    shuffled = shuffle_columns(views, rng)
    dense = shuffled.arrays[0] if make is np.asarray else shuffled.arrays[0].toarray()
    np.testing.assert_array_equal(np.sort(dense, axis=0), np.sort(X, axis=0))
    np.testing.assert_array_equal(shuffled.present, views.present)
    assert not np.array_equal(dense, X, equal_nan=True)
    assert len(np.unique(dense[np.isfinite(dense).all(axis=1)], axis=0)) > 10
    np.testing.assert_array_equal(*(a if make is np.asarray else a.toarray() for a in (before, views.arrays[0])))


def test_the_seed_decides():
    data = make_views(40, 2, (3, 4), seed=0)
    one, two = (shuffle_columns(data.views, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one.arrays[0], two.arrays[0])
