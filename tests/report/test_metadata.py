"""Columns of metadata become categories or steps."""

import numpy as np
import pandas as pd
import pytest

from manyview import InputError
from manyview.report.metadata import colour_column, match_metadata, number_column


def test_words_become_categories_the_most_frequent_first():
    column = colour_column("c", pd.Series(["b", "a", "b", None, "c"]))
    assert column.labels == ["b", "a", "c"]
    assert column.codes.tolist() == [0, 1, 0, -1, 2]
    assert not column.ordered


def test_rare_categories_are_put_together():
    texts = [f"v{i:02d}" for i in range(25)] + ["v07"]
    column = colour_column("c", pd.Series(texts))
    assert column.labels[0] == "v07"
    assert column.labels[-1] == "other (5 values)"
    assert column.codes[24] == 20
    assert column.values[24] == "v24"


def test_few_whole_numbers_are_categories_in_order_and_booleans_too():
    assert colour_column("c", pd.Series([10, 9, 9, np.nan])).labels == ["9", "10"]
    assert colour_column("c", pd.Series([True, False, True])).labels == ["True", "False"]
    assert colour_column("c", pd.Series(["u", "v", "v", None], dtype="category")).labels == ["v", "u"]
    assert colour_column("c", pd.Series([3, 1, None], dtype="Int64")).codes.tolist() == [1, 0, -1]


def test_numbers_fall_into_steps_between_the_tails():
    values = np.r_[np.linspace(0, 8, 801), 1e6, np.nan, np.inf]
    column = colour_column("c", pd.Series(values))
    assert column.ordered
    assert len(column.labels) == 8
    assert column.codes[[0, 450, 801, 802, 803]].tolist() == [0, 4, 7, -1, -1]
    assert column.labels[0].startswith("below ")
    assert np.all(np.diff(column.codes[:802]) >= 0)


@pytest.mark.parametrize("values", [[np.nan, np.nan], [2.5, 2.5], []])
def test_degenerate_numbers_make_one_step(values):
    column = number_column("c", np.array(values))
    assert len(column.labels) == 1
    assert set(column.codes) <= {-1, 0}


def test_metadata_is_matched_by_id():
    ids = np.array(["a", "b", "c"])
    matched = match_metadata(pd.DataFrame({"x": [3, 1]}, index=["c", "a"]), ids, 3)
    np.testing.assert_array_equal(matched["x"], [1, np.nan, 3])
    matched = match_metadata(pd.DataFrame({"x": [5, 6]}), None, 2)
    assert matched["x"].tolist() == [5, 6]


@pytest.mark.parametrize(
    ("index", "ids", "message"),
    [
        (["x", "y"], np.array(["a", "b"]), "No row of the metadata matches a sample id: its rows are 'x', 'y'"),
        (["a", "a"], np.array(["a", "b"]), "several rows for 'a'"),
        (["a", "b"], None, "2 rows for 3 samples"),
    ],
)
def test_metadata_that_does_not_fit_is_refused(index, ids, message):
    with pytest.raises(InputError, match=message):
        match_metadata(pd.DataFrame({"x": [1, 2]}, index=index), ids, 3)


def test_huge_whole_numbers():
    column = colour_column("big", pd.Series([1e300, -1e300, 0.0, np.nan]))
    assert column.ordered
    assert column.codes.tolist()[-1] == -1
