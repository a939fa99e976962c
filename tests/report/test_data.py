"""All numbers of a report together."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from manyview import MAASC, MFMSC, OCBR, InputError, Views
from manyview.preprocessing.corruption import corrupt_entries
from manyview.report.clusters import measure_membership
from manyview.report.data import compute_report_data, find_doubtful, fitted_views

LABELS = np.array([0, 0, 1, 1])


# 0 -3- 1 -1- 2 -2- 3
CHAIN = sp.csr_array(np.array([[0, 3, 0, 0], [3, 0, 1, 0], [0, 1, 0, 2], [0, 0, 2, 0]], dtype=float))


def test_the_least_certain_come_first_and_stability_before_the_margin():
    membership = measure_membership(CHAIN, LABELS)
    assert find_doubtful(membership).tolist() == [2, 1, 0, 3]
    unstable = SimpleNamespace(samples=np.array([0.9, 0.9, 0.9, 0.2]))
    assert find_doubtful(membership, unstable).tolist() == [3, 2, 1, 0]


def test_listed_samples_are_always_on_the_map(blobs):
    views = corrupt_entries(blobs.views, 0.1, seed=0)
    data = compute_report_data(OCBR(3).fit(views), views, max_points=10)
    listed = set(data.doubtful) | {entry.row for entry in data.suspects.entries}
    assert listed <= set(data.sample_map.rows)
    assert len(data.sample_map.rows) < 60


def test_other_views_than_those_fitted_are_refused(blobs):
    model = MFMSC(3).fit(blobs.views)
    with pytest.raises(InputError, match="give the views that it was fitted on"):
        fitted_views(model, blobs.views[:50])
    with pytest.raises(NotFittedError):
        fitted_views(MFMSC(3), blobs.views)
    assert isinstance(fitted_views(model, list(blobs.views.arrays)), Views)


def test_precomputed_affinities_have_no_features(blobs):
    W = [np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 50) for X in blobs.views.arrays]
    views = Views(W)
    data = compute_report_data(MAASC(3, affinity="precomputed").fit(views), views)
    assert data.features is None
    assert data.agreement.views[0].acc == 1


def test_one_cluster_has_no_doubtful_samples(blobs):
    data = compute_report_data(MFMSC(1).fit(blobs.views), blobs.views)
    assert data.n_loose == 0
    assert data.agreement.views[0].acc is None
