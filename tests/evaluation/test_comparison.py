"""Comparison of results."""

import numpy as np
import pandas as pd
import pytest

from manyview import InputError
from manyview.evaluation import adjusted_rand_index, compare_results


def result(labels, start=0):
    return pd.Series(labels, index=[f"s{i}" for i in range(start, start + len(labels))])


def test_the_same_clusters_under_other_numbers_agree():
    found = compare_results({"a": result([0, 0, 1, 1, 2]), "b": result([2, 2, 0, 0, 1])})
    assert found.agreement[["ari", "nmi", "acc", "moved"]].to_numpy().tolist() == [[1, 1, 1, 0]]
    assert not found.moved().any()


def test_samples_that_moved_are_found():
    a, b = result([0, 0, 0, 1, 1, 1]), result([1, 1, 0, 0, 0, 2])
    found = compare_results({"a": a, "b": b})
    assert found.matches == [{0: 1, 1: 0}]
    assert found.moved().ravel().tolist() == [False, False, True, False, False, True]
    assert found.agreement.loc[0, "moved"] == 2
    assert found.agreement.loc[0, "ari"] == pytest.approx(adjusted_rand_index(a, b))
    assert found.flows[0].to_numpy().tolist() == [[1, 2, 0], [2, 0, 1]]


def test_three_results_have_three_pairs_and_two_flows(rng):
    results = {name: result(rng.integers(0, 3, 40)) for name in "abc"}
    found = compare_results(results)
    assert found.agreement[["first", "second"]].to_numpy().tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert len(found.flows) == 2
    assert found.moved().shape == (40, 2)
    np.testing.assert_array_equal(found.moved().sum(axis=0), found.agreement["moved"].iloc[[0, 2]])


def test_only_shared_samples_are_compared():
    found = compare_results({"a": result([0, 0, 1, 1]), "b": result([0, 1, 1, 1], start=2)})
    assert len(found.labels) == 2
    assert found.others == {"a": 2, "b": 2}


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="share no sample"):
        compare_results({"a": result([0, 1]), "b": result([0, 1], start=9)})
    with pytest.raises(InputError, match="at least two"):
        compare_results({"a": result([0, 1])})
