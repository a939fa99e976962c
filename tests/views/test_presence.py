"""Missing values, and samples that are absent from a view."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from manyview import InputError, Views, check_views
from manyview.views.presence import spread_rows

X = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize("dtype", ["Int64", "Float32", "boolean"])
def test_missing_values_of_nullable_columns_are_nan(dtype):
    frame = pd.DataFrame({"x": [1, 0], "y": pd.array([1, None], dtype)})
    np.testing.assert_array_equal(check_views(frame).arrays[0], [[1, 1], [0, np.nan]])


@pytest.mark.parametrize(("dtype", "expected"), [(int, np.float64), (np.float32, np.float32), (float, np.float64)])
def test_masked_values_are_missing(dtype, expected):
    masked = np.ma.array(np.arange(6).reshape(3, 2).astype(dtype), mask=[[1, 0], [0, 0], [0, 0]])
    (array,) = check_views(masked).arrays
    np.testing.assert_array_equal(array, [[np.nan, 1], [2, 3], [4, 5]])
    assert array.dtype == expected


def test_samples_are_present_where_they_have_a_value():
    dense = np.array([[np.nan, np.nan], [np.nan, 1], [0, 0]])
    sparse = sp.csr_array(([np.nan, 2.0, np.nan], ([0, 1, 1], [0, 0, 1])), shape=(3, 2))
    views = Views({"dense": dense, "sparse": sparse})
    np.testing.assert_array_equal(views.present, [[False, False], [True, True], [True, True]])
    assert views.n_missing == {"dense": 3, "sparse": 3}


def test_a_sample_with_no_value_anywhere_is_refused_by_name():
    table = X.copy()
    table[1] = np.nan
    with pytest.raises(InputError, match=r"1 sample\(s\) have no value in any view: '1'. Remove them"):
        check_views([table, table])
    with pytest.raises(InputError, match=r"no value in any view: 's1'"):
        check_views(Views([table], sample_ids=[f"s{i}" for i in range(len(X))]))
    assert check_views([table, X]).present.sum() == 2 * len(X) - 1


@pytest.mark.parametrize("empty", [np.full(X.shape, np.nan), spread_rows(sp.csr_array((0, 3)), [], len(X))])
def test_a_view_without_values_is_refused_unless_asked_for(empty):
    with pytest.raises(InputError, match=r"View .b. contains only NaN\. Remove this view"):
        check_views({"a": X, "b": empty})
    assert not check_views({"a": X, "b": empty}, allow_empty=True).present[:, 1].any()


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_rows_are_spread_and_the_others_absent(kind):
    spread = spread_rows(kind(np.array([[1.0, 2], [3, 0]])), np.array([3, 1]), 4)
    dense = spread.toarray() if sp.issparse(spread) else spread
    np.testing.assert_array_equal(dense[[1, 3]], [[3, 0], [1, 2]])
    np.testing.assert_array_equal(Views([spread]).present[:, 0], [False, True, False, True])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_spread_rows_keep_their_precision_down_to_one_column(kind, dtype):
    spread = spread_rows(kind(np.array([[5], [0]], dtype)), np.array([0, 2]), 4)
    assert (spread.dtype, spread.shape) == (dtype, (4, 1))
    assert Views([spread]).present.tolist() == [[True], [False], [True], [False]]
    assert Views([spread]).n_missing == {"view_0": 2}
