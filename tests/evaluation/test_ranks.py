"""Rank tests, against scipy."""

import numpy as np
from scipy.stats import mannwhitneyu

from manyview.evaluation.ranks import compare_ranks


def test_every_feature_and_cluster_as_scipy_has_it(rng):
    X = rng.poisson(2.0, (50, 4)).astype(float)  # with ties
    X[rng.random(X.shape) < 0.1] = np.nan
    labels = rng.integers(0, 3, 50)
    found = compare_ranks(X, labels)
    for k in range(3):
        for j in range(4):
            x, y = (column[~np.isnan(column)] for column in (X[labels == k, j], X[labels != k, j]))
            U, p = mannwhitneyu(x, y, method="asymptotic")
            np.testing.assert_allclose(found.auc[k, j], U / (len(x) * len(y)))
            np.testing.assert_allclose(found.p_value[k, j], p)


def test_features_without_a_comparison_have_no_test():
    X = np.array([[1.0, np.nan, 1], [1, np.nan, 2], [1, 3, np.nan], [1, 4, np.nan]])
    found = compare_ranks(X, np.array([0, 0, 1, 1]))
    assert np.isnan(found.auc).all()
    assert np.isnan(found.p_value).all()
