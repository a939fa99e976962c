"""Columns that were clustered themselves are found by name or by value."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from manyview import Views
from manyview.evaluation.overlap import _correlations, clustered_columns


@pytest.fixture
def views(rng):
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=["TP53", "EGFR", "KRAS", "MYC"])
    return Views({"rna": X, "atac": rng.normal(size=(60, 700))})


def test_by_name_whatever_the_case(views):
    frame = pd.DataFrame({"tp53": ["high", "low"] * 30, "age": np.arange(60) / 7})
    assert clustered_columns(frame, views) == {"tp53": ["rna"]}


def test_by_value_in_other_units_and_with_gaps(views, rng):
    copy = 1e6 - 300 * views.arrays[1][:, 650]
    copy[rng.random(60) < 0.3] = np.nan
    frame = pd.DataFrame({"score": copy, "noise": rng.normal(size=60)})
    assert clustered_columns(frame, views) == {"score": ["atac"]}


def test_correlations_are_those_of_pandas(rng):
    Y, X = (np.where(rng.random(shape) < 0.2, np.nan, rng.normal(size=shape)) for shape in ((50, 3), (50, 4)))
    expected = pd.concat([pd.DataFrame(Y), pd.DataFrame(X)], axis=1).corr().abs().to_numpy()[:3, 3:]
    np.testing.assert_allclose(_correlations(Y, X), expected)


def test_sparse_views_are_compared_by_name_only(rng):
    X = rng.poisson(1.0, (30, 3)).astype(float)
    assert clustered_columns(pd.DataFrame({"a": X[:, 0] + 0.5}), Views([sp.csr_array(X)])) == {}
    assert clustered_columns(None, Views([X])) == {}
