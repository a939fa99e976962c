"""Markers: the features planted in a cluster are found, with values that pandas and scipy confirm."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import false_discovery_control, mannwhitneyu

from manyview import InputError, Views
from manyview.evaluation import find_markers


@pytest.fixture
def planted(rng):
    X = pd.DataFrame(rng.normal(size=(90, 6)), columns=list("abcdef"))
    labels = np.repeat([0, 1, 2], 30)
    X.loc[labels == 1, "c"] += 3
    X.iloc[3:9, 4] = np.nan
    return Views({"first": X, "second": X[["a", "b"]].rename(columns=str.upper)}), labels


def test_planted_features_come_first(planted):
    views, labels = planted
    found = find_markers(labels, views)
    assert len(found) == 3 * 8
    first = found[found["cluster"] == 1].iloc[0]
    assert (first["view"], first["feature"]) == ("first", "c")
    assert first["auc"] > 0.95
    assert first["p_corrected"] < 1e-6
    assert found.groupby("cluster")["effect"].apply(lambda d: d.abs().is_monotonic_decreasing).all()


def test_the_numbers_are_those_of_pandas_and_scipy(planted):
    views, labels = planted
    found = find_markers(labels, views).set_index(["cluster", "view", "feature"])
    column = pd.Series(views.arrays[0][:, 4])
    inside, outside = column[labels == 0], column[labels != 0]
    row = found.loc[(0, "first", "e")]
    np.testing.assert_allclose(row["mean_inside"], inside.mean())
    np.testing.assert_allclose(row["mean_outside"], outside.mean())
    np.testing.assert_allclose(row["missing"], 6 / 30)
    np.testing.assert_allclose(row["above_median"], (inside.dropna() > column.median()).mean())
    np.testing.assert_allclose(row["p_value"], mannwhitneyu(inside.dropna(), outside).pvalue)
    np.testing.assert_allclose(found["p_corrected"], false_discovery_control(found["p_value"]))


def test_sparse_views_have_the_markers_of_dense_ones(rng):
    X = rng.poisson(0.5, (40, 300)).astype(float)
    labels = np.arange(40) % 4
    columns = ["effect", "auc", "mean_inside", "mean_outside", "above_median", "missing", "p_value"]
    dense, sparse = (find_markers(labels, Views([table])) for table in (X, sp.csr_array(X)))
    dense, sparse = (found.sort_values(["cluster", "feature"])[columns] for found in (dense, sparse))
    np.testing.assert_allclose(dense, sparse, atol=1e-12)


def test_only_the_top_with_the_same_p_values(planted):
    views, labels = planted
    every, top = find_markers(labels, views), find_markers(labels, views, top=2)
    pd.testing.assert_frame_equal(top, every.groupby("cluster").head(2).reset_index(drop=True))


def test_bad_input_is_refused(planted):
    views, labels = planted
    with pytest.raises(InputError, match="Got 89 labels for 90 samples"):
        find_markers(labels[1:], views)
    with pytest.raises(InputError, match="top=0"):
        find_markers(labels, views, top=0)
