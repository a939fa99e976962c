"""Taking some of the samples, or some of the views."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from manyview import InputError, Views

X = np.arange(12.0).reshape(4, 3)
Y = np.arange(8.0).reshape(4, 2)
FRAME = pd.DataFrame(X, index=list("abcd"), columns=["p", "q", "r"])

ROWS = {
    "slice": slice(1, 3),
    "mask": np.array([True, False, False, True]),
    "list of bools": [True, False, False, True],
    "series": pd.Series([False, True, True, False]),
    "indices": np.array([3, 0, 0]),
    "range": range(2),
    "one": 2,
    "numpy scalar": np.int64(-1),
    "none": [],
}


@pytest.mark.parametrize("kind", ROWS)
def test_rows_select_samples_in_every_view(kind):
    rows = ROWS[kind]
    views = Views({"a": sp.csr_array(X), "b": Y}, sample_ids=list("abcd"))[rows]
    wanted = np.arange(4)[
        np.asarray(rows, dtype=int if kind == "none" else None) if not isinstance(rows, slice) else rows
    ]
    wanted = np.atleast_1d(wanted)
    assert len(views) == len(wanted)
    np.testing.assert_array_equal(views.arrays[0].toarray(), X[wanted])
    np.testing.assert_array_equal(views.arrays[1], Y[wanted])
    np.testing.assert_array_equal(views.sample_ids, np.array(list("abcd"))[wanted])


def test_rows_select_as_scikit_learn_does_it():
    np.testing.assert_array_equal(Views([X])[np.array([2, 1]), ...].arrays[0], X[[2, 1]])


@pytest.mark.parametrize("wrong", [(1, 2), (slice(None), 0)])
def test_two_indices_are_refused(wrong):
    with pytest.raises(InputError, match="has 2 indices"):
        Views([X])[wrong]


def test_a_view_is_not_had_by_index():
    with pytest.raises(InputError, match=r"use views.select\('a'\)"):
        Views({"a": X})["a"]


def test_a_sample_that_does_not_exist_is_an_index_error():
    with pytest.raises(IndexError):
        Views([X])[99]


def test_select_takes_views_in_the_order_asked_for():
    views = Views({"a": FRAME, "b": Y, "c": X})
    chosen = views.select(["c", "a"])
    assert chosen.names == ("c", "a")
    assert chosen.feature_names[1].tolist() == ["p", "q", "r"]
    assert chosen.sample_ids.tolist() == list("abcd")
    assert views.select("b").names == ("b",)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["z"], "No view is called 'z'. Choose from: 'a', 'b'"),
        ([], "no views"),
        (["a", "a"], "'a' is used more than once"),
    ],
)
def test_select_refuses_unknown_repeated_and_no_names(names, message):
    with pytest.raises(InputError, match=message):
        Views({"a": X, "b": Y}).select(names)
