"""Baselines on full Gaussian affinities."""

from manyview import clustering_accuracy
from manyview.reproduction.gaussian import GaussianBaseline


def test_gaussian_baselines_find_plain_clusters(blobs):
    views = list(blobs.views.arrays)
    for params in ({}, {"method": "maasc"}, {"method": "cotraining"}, {"views": [1], "scaling": "none"}):
        assert clustering_accuracy(blobs.labels, GaussianBaseline(3, **params).fit_predict(views)) == 1
