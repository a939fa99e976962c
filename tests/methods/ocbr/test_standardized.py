"""Blocks of a standardised view are those of the whole table, standardised at once."""

import numpy as np
import pytest

from manyview.methods.ocbr import standardized
from manyview.methods.ocbr.standardized import ABSURD, Standardized, to_roots, without_absurd
from manyview.preprocessing.scaling import Standardizer


@pytest.fixture
def usual(rng):
    return (rng.standard_normal((50, 6)) * [1, 2, 3, 1e-3, 5, 0] + [0, 1, 2, 3, 50, 7]).astype(np.float32)


def with_entry(value):
    return lambda X: np.where(np.arange(X.size).reshape(X.shape) == 9, np.float32(value), X)


ROUNDING = {"rtol": 1e-4, "atol": 1e-3}  # of single precision, at a mean of 3,000 deviations
TABLES = {
    "usual": lambda X: X,
    "missing": with_entry(np.nan),
    "absurd": with_entry(1e9),
    "absurd below": with_entry(-1e9),
    "largest": with_entry(np.finfo(np.float32).max),
}


@pytest.mark.parametrize("roots", [False, True])
@pytest.mark.parametrize("case", TABLES)
def test_blocks_are_those_of_the_whole_table(case, roots, usual, monkeypatch):
    monkeypatch.setattr(standardized, "BLOCK_ENTRIES", 7 * 6)
    X = TABLES[case](usual)
    own = to_roots(X) if roots else X
    standardizer = Standardizer.fit(own, robust=True)
    at_once = standardizer.apply(own)
    table = Standardized(X, standardizer, roots=roots)
    assert table.is_usual == (np.nanmax(np.abs(at_once)) <= ABSURD)
    assert (table.shape, table.dtype) == (X.shape, np.float32)
    rows = slice(5, 30)
    out = np.empty((25, 6), np.float32)
    table.read(rows, out)
    for found in (out, table[rows]):
        np.testing.assert_allclose(found, without_absurd(at_once)[rows], **ROUNDING)
    np.testing.assert_allclose(table[:, 1:3], without_absurd(at_once)[:, 1:3], **ROUNDING)
    np.testing.assert_allclose(table[:9, np.arange(6) > 3], without_absurd(at_once)[:9, 4:], **ROUNDING)
    np.testing.assert_array_equal(table.raw(rows), at_once[rows])


def test_the_cases_are_what_they_are_called(usual):
    found = {case: Standardized(X := make(usual), Standardizer.fit(X, robust=True), roots=False).is_usual
             for case, make in TABLES.items()}  # fmt: skip
    assert found == {case: case in ("usual", "missing") for case in TABLES}
