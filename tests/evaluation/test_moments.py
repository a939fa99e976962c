"""Moments of features by cluster, against values computed by hand."""

import numpy as np
import scipy.sparse as sp

from manyview.evaluation.moments import table_moments

LABELS = np.array([0, 0, 1, 1])


COLUMN = np.array([[0.0], [2.0], [10.0], [12.0]])


def test_moments_by_hand():
    moments = table_moments(COLUMN, LABELS)
    np.testing.assert_allclose(moments.inside(), [[1], [11]])
    np.testing.assert_allclose(moments.outside(), [[11], [1]])
    np.testing.assert_allclose(moments.effects(), [[-10 / np.sqrt(2)], [10 / np.sqrt(2)]])
    np.testing.assert_allclose(moments.explained(), [1 - 4 / 104])
    np.testing.assert_allclose(moments.spread(), [np.sqrt(104 / 4)])


def test_missing_values_count_for_nothing():
    X = np.r_[COLUMN, [[np.nan]]]
    with_missing, without = table_moments(X, np.r_[LABELS, 1]), table_moments(COLUMN, LABELS)
    for what in ("inside", "outside", "effects", "explained", "spread"):
        np.testing.assert_allclose(getattr(with_missing, what)(), getattr(without, what)())


def test_sparse_tables_have_the_moments_of_dense_ones(rng):
    X = rng.poisson(1.0, (30, 4)).astype(float)
    X[3, 2] = np.nan
    labels = np.arange(30) % 3
    stored = sp.csr_array(X)
    absent = sp.csr_array(([np.nan], ([0], [0])), shape=(1, 4))
    sparse = table_moments(sp.csr_array(sp.vstack([stored, absent])), np.r_[labels, 0])
    dense = table_moments(X, labels)
    for what in ("inside", "outside", "effects", "explained", "spread"):
        np.testing.assert_allclose(getattr(sparse, what)(), getattr(dense, what)())


def test_extreme_features_have_finite_effects():
    X = np.c_[1e300 * COLUMN, np.full(4, 5.0), [1.0, 1.0, 2.0, 2.0], np.full(4, np.nan), 1e9 + COLUMN]
    moments = table_moments(X, LABELS)
    effects = moments.effects()
    assert np.isfinite(effects).all()
    np.testing.assert_allclose(effects[1], [10 / np.sqrt(2), 0, 100 * 2, 0, 10 / np.sqrt(2)], rtol=1e-6)
    np.testing.assert_array_equal(np.isnan(moments.explained()), [False, True, False, True, False])
