"""All numbers of a report together."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from manyview import MAASC, MFMSC, OCBR, InputError, Views, make_views
from manyview.evaluation.markers import feature_name
from manyview.preprocessing.corruption import corrupt_entries
from manyview.report.clusters import Membership
from manyview.report.data import compute_report_data, find_doubtful, fitted_views
from manyview.report.html import page_data
from manyview.report.words import highlights


def test_the_least_likely_labels_come_first():
    P = np.array([[0.9, 0.1], [0.6, 0.4], [0.55, 0.45], [0.2, 0.8]])
    assert find_doubtful(Membership.of(P, np.array([0, 0, 1, 1]))).tolist() == [2, 1, 3, 0]


def test_doubtful_samples_are_those_of_the_membership(blobs):
    model = OCBR(3).fit(blobs.views)
    data = compute_report_data(model, blobs.views)
    least = np.sort(model.membership_[np.arange(len(model.labels_)), model.labels_])[:20]
    np.testing.assert_allclose(data.membership.own[data.doubtful], least)


def test_listed_samples_are_always_on_the_map(blobs):
    views = corrupt_entries(blobs.views, 0.1, seed=0)
    data = compute_report_data(OCBR(3).fit(views), views, max_points=10)
    listed = set(data.doubtful) | {entry.row for entry in data.suspects.entries}
    assert listed <= set(data.sample_map.rows)
    assert len(data.sample_map.rows) < 60


def test_other_views_than_those_fitted_are_refused(blobs):
    model = MFMSC(3).fit(blobs.views)
    with pytest.raises(InputError, match="give the views it was fitted on"):
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
    assert data.n_doubtful == 0
    assert data.agreement.views[0].acc is None


def test_with_landmarks_tables_count_all_samples(rng):
    made = make_views(600, 3, (8, 6), separation=8, seed=0)
    ids = np.array([f"s{i}" for i in range(600)])
    views = Views(list(made.views.arrays), sample_ids=ids)
    model = OCBR(3, strategy="landmarks", n_landmarks=100).fit(views)
    about = pd.DataFrame({"site": np.where(rng.random(600) < 0.3, "east", "west")}, index=ids)
    data = compute_report_data(model, views, metadata=about)
    assert (data.n_samples, data.n_described) == (600, 100)
    np.testing.assert_array_equal(data.clusters.size, np.bincount(model.labels_))
    np.testing.assert_array_equal(data.ids, ids[model.landmarks_])
    assert sum(data.tree.sizes) == 600
    marker = next(one for one in data.features.markers if (one.cluster, one.view) == (0, "view_0"))
    column = [feature_name(views, 0, j) for j in range(8)].index(marker.feature)
    assert marker.mean_inside == pytest.approx(views.arrays[0][model.labels_ == 0, column].mean())
    page = {column["name"]: column for column in page_data(model, views, data, "", {})["columns"]}
    assert sum(page["site"]["counts"]) == sum(page["cluster"]["counts"]) == 600
    drawn = model.landmarks_[data.sample_map.rows]
    named = [page["site"]["labels"][code] for code in page["site"]["codes"]]
    np.testing.assert_array_equal(named, about["site"].to_numpy()[drawn])
    assert page["cluster"]["codes"] == model.labels_[drawn].tolist()
    assert "100 of 600 samples are landmarks" in " ".join(highlights(model, data))
