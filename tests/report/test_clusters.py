"""Clusters, silhouettes and the certainty of samples, against values computed by hand or by others."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import silhouette_samples

from manyview.report.clusters import Membership, silhouettes, summarize_clusters, within_share

LABELS = np.array([0, 0, 1, 1])


# 0 -3- 1 -1- 2 -2- 3
CHAIN = sp.csr_array(np.array([[0, 3, 0, 0], [3, 0, 1, 0], [0, 1, 0, 2], [0, 0, 2, 0]], dtype=float))


def test_membership_names_the_likeliest_other_cluster():
    membership = Membership.of(np.array([[0.7, 0.2, 0.1], [0.1, 0.5, 0.4]]), np.array([0, 2]))
    np.testing.assert_allclose(membership.own, [0.7, 0.4])
    np.testing.assert_allclose(membership.next, [0.2, 0.5])
    np.testing.assert_array_equal(membership.other, [1, 1])


def test_a_single_cluster_has_no_other_one():
    membership = Membership.of(np.ones((2, 1)), np.array([0, 0]))
    assert membership.own.tolist() == [1, 1]
    assert membership.next.tolist() == [0, 0]


def test_links_between_clusters():
    clusters = summarize_clusters(CHAIN, LABELS, np.array([0.0, 1.0, 0.5, 0.5]))
    np.testing.assert_allclose(clusters.links, [[6 / 7, 1 / 7], [1 / 5, 4 / 5]])
    np.testing.assert_allclose(clusters.inside, [6 / 7, 4 / 5])
    np.testing.assert_array_equal(clusters.size, [2, 2])
    np.testing.assert_allclose(clusters.silhouette, [0.5, 0.5])
    np.testing.assert_allclose(clusters.quantiles[0], [0.05, 0.25, 0.5, 0.75, 0.95])
    assert within_share(CHAIN, LABELS) == pytest.approx(10 / 12)


def test_silhouettes_are_those_of_scikit_learn(rng):
    F = rng.standard_normal((40, 5))
    F /= np.linalg.norm(F, axis=1, keepdims=True)
    labels = np.r_[rng.integers(0, 4, 39), 4]  # the last is alone
    labels[:4] = range(4)
    np.testing.assert_allclose(silhouettes(F, labels), silhouette_samples(F, labels, metric="cosine"), atol=1e-12)
    assert np.isnan(silhouettes(F, np.zeros(40, int))).all()
