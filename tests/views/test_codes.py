"""Codes for missing values: what looks like one, and what does not."""

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import load_digits
from manyview.datasets import DIGITS_VIEWS, make_tumours
from manyview.views.codes import find_codes, without_codes


def with_values(column, value, times):
    column = np.array(column, dtype=float)
    column[:times] = value
    return column[:, None]


AGES = np.arange(18, 90)
COUNTS = np.arange(60) % 7


@pytest.mark.parametrize("code", [-99, -999, -9999, -99999, 999, 9999, 9999999])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_repeated_codes_far_from_the_rest_are_found(code, dtype):
    X = np.hstack([AGES[:, None], with_values(AGES, code, 3)]).astype(dtype)
    assert {key: at.tolist() for key, at in find_codes(X).items()} == {code: [1]}


def test_the_only_negative_value_of_a_wide_column_is_found():
    assert list(find_codes(with_values(np.arange(0, 10_000, 50), -999, 3))) == [-999]


def test_negative_codes_count_over_the_columns_and_positive_ones_do_not():
    sparse = np.tile(AGES[:, None], 3).astype(float)
    sparse[[0, 1, 2], [0, 1, 2]] = -999
    assert find_codes(sparse)[-999].tolist() == [0, 1, 2]
    sparse[[0, 1, 2], [0, 1, 2]] = 999
    assert not find_codes(sparse)


def test_two_codes_in_one_column():
    column = with_values(AGES, -999, 6)
    column[3:6] = 9999
    assert set(find_codes(column)) == {-999, 9999}


@pytest.mark.parametrize(
    "column",
    [
        with_values(AGES, -999, 2),  # not often
        with_values(np.arange(0, 2000, 25), 999, 5),  # inside
        with_values(np.linspace(-5000, 5000, 60), -9999, 5),  # not far
        with_values(np.linspace(-5000, 5000, 60), 9999, 5),
        with_values(COUNTS, 99, 2),  # a large count
        with_values(AGES, -998, 9),  # no known code
        with_values(AGES, 100, 9),
        with_values(np.zeros(60), 999, 9),  # two values: a code of something else
        np.full((60, 1), -999.0),
        np.full((60, 1), np.nan),
    ],
)
def test_what_is_no_code(column):
    assert not find_codes(column)


def test_missing_values_do_not_disturb():
    column = with_values(AGES, -999, 3)
    column[10:30] = np.nan
    assert list(find_codes(column)) == [-999]


def test_embedded_data_have_no_codes():
    for data in (load_digits(tuple(DIGITS_VIEWS)), make_tumours()):
        assert not any(find_codes(X) for X in data.views.arrays)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_codes_become_missing_and_the_given_table_stays(form):
    X = form(np.array([[1, -999.9], [9999, 2]], dtype=np.float32))
    done = without_codes(X, [-999.9, 9999])
    np.testing.assert_array_equal(done.toarray() if sp.issparse(done) else done, [[1, np.nan], [np.nan, 2]])
    assert X.max() == 9999
    assert without_codes(X, [7.0]) is X
    assert without_codes(X, []) is X
