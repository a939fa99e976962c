"""Survival, against lifelines."""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manyview import InputError
from manyview.evaluation import compare_survival
from manyview.evaluation.survival import check_survival

lifelines = pytest.importorskip("lifelines", reason="needs the extra manyview[survival]")


@pytest.fixture
def patients(rng):
    labels = np.repeat([0, 1, 2], 50)
    time = rng.exponential(np.array([5.0, 10, 20])[labels]).round(1)
    event = (rng.random(150) < 0.7).astype(float)
    time[4], event[60] = np.nan, np.nan
    return labels, time, event


def known(labels, time, event):
    here = ~np.isnan(time) & ~np.isnan(event)
    return labels[here], time[here], event[here]


def test_curves_and_medians_are_those_of_lifelines(patients):
    found = compare_survival(*patients)
    labels, time, event = known(*patients)
    for k, curve in enumerate(found.curves):
        theirs = lifelines.KaplanMeierFitter().fit(time[labels == k], event[labels == k])
        np.testing.assert_allclose(curve.survival, theirs.survival_function_["KM_estimate"])
        np.testing.assert_allclose(np.c_[curve.lower, curve.upper], theirs.confidence_interval_)
        np.testing.assert_allclose(curve.median, theirs.median_survival_time_)
        assert (curve.n, curve.events) == ((labels == k).sum(), event[labels == k].sum())
    assert found.missing == 2


def test_log_rank_tests_are_those_of_lifelines(patients):
    found = compare_survival(*patients)
    labels, time, event = known(*patients)
    overall = lifelines.statistics.multivariate_logrank_test(time, labels, event)
    np.testing.assert_allclose([found.statistic, found.p_value], [overall.test_statistic, overall.p_value])
    pairs = lifelines.statistics.pairwise_logrank_test(time, labels, event)
    assert [(pair.first, pair.second) for pair in found.pairs] == [(0, 1), (0, 2), (1, 2)]
    np.testing.assert_allclose([pair.p_value for pair in found.pairs], pairs.p_value)
    assert all(pair.p_corrected >= pair.p_value for pair in found.pairs)


def test_restricted_means_are_those_of_lifelines(patients):
    found = compare_survival(*patients)
    labels, time, event = known(*patients)
    assert found.horizon == min(time[labels == k].max() for k in range(3))
    for k, curve in enumerate(found.curves):
        theirs = lifelines.KaplanMeierFitter().fit(time[labels == k], event[labels == k])
        expected = lifelines.utils.restricted_mean_survival_time(theirs, t=found.horizon)
        np.testing.assert_allclose(curve.mean, expected)
        assert curve.mean_lower < curve.mean < curve.mean_upper


def test_the_interval_of_the_restricted_mean_without_censoring(rng):
    """It is the mean of the times cut off at the horizon, and its standard error."""
    labels, time = np.repeat([0, 1], 400), rng.exponential(10, 800)
    found = compare_survival(labels, time, np.ones(800))
    for k, curve in enumerate(found.curves):
        cut = np.minimum(time[labels == k], found.horizon)
        np.testing.assert_allclose(curve.mean, cut.mean())
        np.testing.assert_allclose(curve.mean_upper - curve.mean, 1.959964 * cut.std() / 20, rtol=1e-6)


def test_numbers_at_risk(patients):
    found = compare_survival(*patients)
    labels, time, _ = known(*patients)
    assert found.shown[0] == 0
    for k, curve in enumerate(found.curves):
        assert curve.at_risk.tolist() == [int((time[labels == k] >= t).sum()) for t in found.shown]


def test_a_cluster_without_known_survival_is_named(patients):
    labels, time, event = patients
    found = compare_survival(labels, np.where(labels == 1, np.nan, time), event)
    assert found.without == [1]
    assert [curve.cluster for curve in found.curves] == [0, 2]
    assert list(found.to_frame()["cluster"]) == [0, 2]


@pytest.mark.parametrize(
    ("time", "event", "says"),
    [
        ([1, -2, 3], [1, 0, 1], "'time' include -2; times must be 0 or more"),
        ([1, np.inf, 3], [1, 0, 1], "'time' include inf"),
        ([1, 2, 3], [1, 2, 5], "'event' include '2', '5'; give 1 for an event"),
        ([1, 2, 3], ["dead", "alive", "dead"], "'event' holds 'dead', which is not a number"),
        ([1, 2, 3], [0, 0, 0], "holds no event"),
        ([1, 2], [1, 0, 1], "give one of each per sample"),
    ],
)
def test_bad_columns_are_refused(time, event, says):
    with pytest.raises(InputError, match=says):
        check_survival(time, event)


def test_true_and_false_are_events():
    _, event = check_survival(pd.Series([1.0, 2]), pd.Series([True, False]))
    assert event.tolist() == [1, 0]


def test_one_cluster_cannot_be_compared():
    with pytest.raises(InputError, match="known in 1 cluster"):
        compare_survival([0, 0], [1, 2], [1, 0])


def test_without_lifelines_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "lifelines", None)
    with pytest.raises(InputError, match=r"manyview\[survival\]"):
        check_survival([1.0], [1])


@pytest.mark.skipif("MANYVIEW_DATA" not in os.environ, reason="needs the research data sets: set MANYVIEW_DATA")
@pytest.mark.parametrize("name", ["tcga_kidney737", "tcga_brca398", "tcga_lgg267"])
def test_tumours_as_lifelines_has_them(name):
    with np.load(Path(os.environ["MANYVIEW_DATA"]) / "omics" / f"{name}.npz", allow_pickle=False) as archive:
        patients = archive["labels"], archive["time"], archive["event"].astype(float)
    labels, time, event = known(*patients)
    theirs = lifelines.statistics.multivariate_logrank_test(time, labels, event)
    np.testing.assert_allclose(compare_survival(*patients).p_value, theirs.p_value)
