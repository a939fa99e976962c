"""Fits whose data cannot decide say so."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from manyview import MFMSC, OCBR, Views, assess_stability
from manyview.methods.cautions import warn_of_split_samples

methods = pytest.mark.parametrize("method", [OCBR, MFMSC])


def absent(table, rows):
    table = table.copy()
    table[rows] = np.nan
    return table


@methods
def test_views_that_share_no_sample(method, blobs):
    X, Y = blobs.views.arrays
    first = np.arange(60) < 30
    with pytest.warns(UserWarning, match=r"The views \('b'\) and \('a', 'c'\) share no sample, so nothing shows"):
        method(3).fit({"b": absent(X, first), "a": absent(Y, ~first), "c": absent(X, ~first)})


@methods
def test_one_sample_that_is_in_both_views_relates_them(method, blobs):
    X, Y = blobs.views.arrays
    first = np.arange(60) < 30
    model = method(3).fit([absent(X, first), absent(Y, np.arange(60) > 30)])
    assert len(model.labels_) == 60


@methods
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_equal_samples_in_different_clusters(method, kind, rng):
    X = np.repeat(rng.standard_normal((2, 4)), [25, 15], axis=0)
    with pytest.warns(
        UserWarning, match=r"\d+ of 40 samples have exactly the same values .* There are 2 distinct samples"
    ):
        method(3).fit([kind(X), kind(X[:, :2])])


@methods
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_equal_samples_in_one_cluster_are_no_matter(method, kind, rng):
    X = np.repeat(10 * rng.standard_normal((3, 4)), 20, axis=0)
    model = method(3).fit([kind(X), kind(X[:, :2])])
    assert sorted(np.bincount(model.labels_)) == [20, 20, 20]


def test_equal_in_one_view_only_is_not_equal(rng):
    X, Y = np.ones((40, 3)), rng.standard_normal((40, 4))
    assert len(set(MFMSC(3).fit([X, Y]).labels_)) == 3


def test_equal_samples_are_found_among_others_of_the_same_sum():
    X = np.array([[1.0, 2, 3], [3, 2, 1], [1, 2, 3], [0, 0, 9], [2, 2, 2], [1e308, 1e308, 1e308]])
    with pytest.warns(UserWarning, match=r"2 of 6 samples have .* There are 5 distinct samples"):
        warn_of_split_samples(Views([X]), np.array([0, 0, 1, 0, 1, 1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_split_samples(Views([X]), np.array([0, 1, 0, 1, 0, 1]))


def coded(n=60, code=-999.0):
    X = np.random.default_rng(0).normal(size=(n, 4))
    X[:6, 2] = code
    return X


def test_codes_for_missing_values_are_named_in_fit_and_predict():
    says = r"View 'a' has the value -999 in column 'age', far from all others there. .* add --missing -999"
    frame = pd.DataFrame(coded(), columns=["x", "y", "age", "z"])
    with pytest.warns(UserWarning, match=says):
        model = MFMSC(2).fit({"a": frame})
    with pytest.warns(UserWarning, match=says):
        model.predict({"a": frame})
    with pytest.warns(UserWarning, match="View 'view_0' has the value -999 in column '3', far"):
        MFMSC(2).fit([coded()])


def test_codes_of_landmarks_are_named():
    with pytest.warns(UserWarning, match="has the value -999 in column '3'"):
        MFMSC(2, strategy="landmarks", n_landmarks=50).fit([coded()])


def test_repeats_say_nothing_that_the_first_fit_has_said():
    with pytest.warns(UserWarning, match="has the value -999"):
        model = MFMSC(2).fit([coded()])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assess_stability(model, [coded()], 2)
