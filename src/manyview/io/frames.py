"""DataFrames as read from files: find the column of sample ids, and convert values to numbers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.checks import InputError, quoted, shown
from manyview.io.guards import check_sparse, refusing
from manyview.io.raw_tables import RawTable, TableOptions, pick
from manyview.io.words import may_name_samples
from manyview.views.codes import without_codes
from manyview.views.container import Views

# what people write with numbers: 5 %, <0.1, $3, 12'345, 1.234,56
_DECORATION = r"[\s%\u2030$\u20ac\u00a3\u00a5<>\u2264\u2265~'\u2019]|(?<=\d)\.(?=\d{3}\.)"

IF_SOME_NUMBERS = "correct it, or give it with --missing if it means a missing value"
IF_TEXT = (
    "write the column as plain numbers, leave out columns of text with --drop-text, or name it with --id-column if it "
    "holds sample ids"
)

# Sample ids --------------------------------------------------------------------------------------


def with_ids(table: RawTable, keys: Sequence[str], options: TableOptions) -> RawTable:
    """Separate the sample ids from a DataFrame; with a key, keep only the column of that name."""
    frame = table.values
    if frame.empty:
        raise InputError(f"{table.where} contains no samples; give one line per sample.")
    if options.id_column == "auto" and _names_rows(frame.index):
        table = replace(table, ids=frame.index)
    else:
        at = id_column(frame.columns, options, table.where)
        at = _found_id_column(frame, at) if options.id_column == "auto" else at
        if at is not None:
            table = take_ids(table, at)
    if keys:
        names = [str(name) for name in table.values.columns]
        key = pick(keys, names, table.where)
        table = replace(table, name=key, values=table.values.iloc[:, [names.index(key)]])
    return table


def take_ids(table: RawTable, at: int) -> RawTable:
    """Make the column at this position the ids of a DataFrame."""
    frame = table.values
    others = np.arange(frame.shape[1]) != at if at else slice(1, None)  # a slice copies nothing
    return replace(table, ids=frame.iloc[:, at], values=frame.iloc[:, others])


def id_column(names: Sequence[Any], options: TableOptions, where: str) -> int | None:
    """Return the position of the requested id column, or the one suggested by the column names; otherwise None."""
    asked = options.id_column
    if asked == "none":
        return None
    if asked == "auto":
        return 0 if may_name_samples(names[0]) else None
    if asked in list(names) and isinstance(asked, str):
        return list(names).index(asked)
    if str(asked).isdecimal() and 1 <= int(asked) <= len(names):
        return int(asked) - 1
    raise InputError(
        f"{where} has no column id_column={asked!r}. Choose from: {quoted(names)}; or give its number, counted from 1."
    )


def _names_rows(index: pd.Index[Any]) -> bool:
    """Return whether an index holds ids rather than row numbers."""
    return not (isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1)


def _found_id_column(frame: pd.DataFrame, likely: int | None) -> int | None:
    """Return the likely id column if its values can be ids; otherwise the first column of text that can be one."""
    if frame.shape[1] == 1:
        return None
    if likely is not None and can_name_samples(frame.iloc[:, likely]):
        return likely
    texts = (i for i in _text_columns(frame) if _mostly_text(frame.iloc[:, i]))
    return next((i for i in texts if i == 0 or may_name_samples(frame.columns[i])), None)


def can_name_samples(column: pd.Series[Any]) -> bool:
    """Return whether the values are text, or whole numbers without duplicates."""
    numbers = _numbers(column)
    if numbers.isna().any():
        return getattr(column.dtype, "kind", "O") == "O"
    return bool((numbers % 1 == 0).all()) and column.is_unique


def _mostly_text(column: pd.Series[Any]) -> bool:
    """Return whether most values are text; numbers with commas, units of money or %, and a few typos, are not."""
    plain = column.astype(str).str.replace(",", ".").str.replace(_DECORATION, "", regex=True)
    return bool(_numbers(plain).isna().mean() > 0.5)


def normalize_ids(ids: Any) -> pd.Series[str]:
    """Return ids as text without surrounding blanks; whole numbers lose their decimals, so that 1.0 equals 1."""
    return pd.Series(ids).astype(str).str.strip().str.replace(r"^([+-]?\d+)\.0+$", r"\1", regex=True)


def check_ids(table: RawTable) -> RawTable:
    """Normalize the ids of a table; refuse missing and duplicated ones."""
    if table.ids is None:
        return table
    ids = pd.Series(np.ravel(np.asarray(table.ids)))
    n_rows = (*table.values.shape, 0)[0]
    if len(ids) != n_rows:
        raise InputError(f"{table.where} has {len(ids)} sample ids for {n_rows} rows; give one id per row.")
    text = normalize_ids(ids)
    unnamed = np.flatnonzero(ids.isna() | (text == ""))
    if len(unnamed):
        raise InputError(f"{table.where}, {table.locate(int(unnamed[0]))}, has no sample id; give every sample an id.")
    repeated = text[text.duplicated()].unique()
    if len(repeated):
        raise InputError(f"{table.where} has duplicated sample ids: {quoted(repeated)}; keep one row per sample.")
    return replace(table, ids=text.to_numpy(dtype=object))


# Numbers -------------------------------------------------------------------------------------------


def holds_numbers(table: RawTable) -> bool:
    """Return whether a table contains any number."""
    frame = table.values
    if not isinstance(frame, pd.DataFrame):
        return True
    texts = _text_columns(frame)
    return len(texts) < frame.shape[1] or any(_numbers(frame.iloc[:, i]).notna().any() for i in texts)


def to_numeric(table: RawTable, options: TableOptions) -> RawTable:
    """Return the table with its values as a floating-point or CSR array; refuse values that are not finite numbers."""
    values = table.values
    if isinstance(values, pd.DataFrame):
        values = _numeric_frame(table, options)
    if sp.issparse(values):
        check_sparse(values, table.where)
    with refusing(table.where, "a table of numbers"):
        try:
            gate = Views({table.name: values})
        except InputError as error:
            raise InputError(f"{table.where} is not a table of numbers. {error}") from error
    if gate.n_samples == 0:
        raise InputError(f"{table.where} contains no samples; give one row per sample.")
    numbers = missing_numbers(options)
    if sp.issparse(values) and 0 in numbers:
        raise InputError(f"{table.where} is sparse, so its zeros cannot be missing values; leave out the code 0.")
    table = replace(table, values=without_codes(gate.arrays[0], numbers))
    if gate.feature_names[0] is not None:
        table = replace(table, features=_named(gate.feature_names[0]))
    _check_finite(table)
    return table


def mark_missing(frame: pd.DataFrame, options: TableOptions) -> pd.DataFrame:
    """Return a DataFrame of any types with the user's codes for missing values, if any, marked as missing."""
    if not options.missing:
        return frame
    words, numbers = [str(code).strip() for code in options.missing], missing_numbers(options)
    texts, frame = set(_text_columns(frame)), frame.copy(deep=False)
    for i in range(frame.shape[1]):
        column = frame.iloc[:, i]
        missing = (_numbers(column) if i in texts else column).isin(numbers)
        if i in texts:
            missing |= column.astype(str).str.strip().isin(words)
        if missing.any():
            frame.isetitem(i, column.mask(missing).to_numpy())
    return frame


def missing_numbers(options: TableOptions) -> list[float]:
    """Return the numbers among the user's codes for missing values."""
    return [number for number in map(_number, options.missing) if not math.isnan(number)]


def _named(features: NDArray[Any]) -> NDArray[Any]:
    """Return column names with a name for those that are blank, so that tables and pictures can show them."""
    names = [f"unnamed {i + 1}" if not str(name).strip() else name for i, name in enumerate(features)]
    return np.array(names, dtype=object)


def _numeric_frame(table: RawTable, options: TableOptions) -> pd.DataFrame:
    frame, dropped = mark_missing(table.values, options).copy(deep=False), []
    for i in _text_columns(frame):
        column = frame.iloc[:, i]
        numbers = _numbers(column)
        if options.drop_text_columns and numbers.isna().all():
            dropped.append(i)
            continue
        wrong = np.flatnonzero(numbers.isna() & column.notna())
        if len(wrong):
            some = numbers.notna().any()
            what_to_do = IF_SOME_NUMBERS if some else IF_TEXT
            _raise_not_a_number(table, int(wrong[0]), frame.columns[i], column.iloc[wrong[0]], what_to_do)
        frame.isetitem(i, numbers.to_numpy())
    if dropped:
        warnings.warn(f"{table.where}: dropped text columns {quoted(frame.columns[dropped])}.", stacklevel=2)
    return frame.iloc[:, np.setdiff1d(np.arange(frame.shape[1]), dropped)] if dropped else frame


def _text_columns(frame: pd.DataFrame) -> list[int]:
    """Return the positions of columns whose dtype is not numeric; columns of objects may still hold numbers."""
    return [i for i, dtype in enumerate(frame.dtypes) if getattr(dtype, "kind", "O") not in "biufc"]


def _numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as numbers, with NaN for values that are not numbers."""
    if getattr(column.dtype, "kind", "O") in "biuf":
        return column
    return column.astype(object).map(_number).astype(float)


def _number(value: Any) -> float:
    """Return a value as a finite number, otherwise NaN; `pandas.to_numeric` before 3.0 crashes on 4e4924939249."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) and "_" not in str(value) else math.nan


def _check_finite(table: RawTable) -> None:
    array, sparse = table.values, sp.issparse(table.values)
    infinite = np.isinf(array.data if sparse else array)
    if not infinite.any():
        return
    if sparse:
        at = int(infinite.argmax())
        row, column, value = np.searchsorted(array.indptr, at, side="right") - 1, array.indices[at], array.data[at]
    else:
        row, column = np.argwhere(infinite)[0]
        value = array[row, column]
    _raise_not_a_number(
        table,
        int(row),
        int(column) + 1 if table.features is None else table.features[column],
        float(value),
        "remove it, or leave its cell empty",
    )


def _raise_not_a_number(table: RawTable, row: int, column: object, value: object, what_to_do: str) -> None:
    where = f"{table.where}, {table.locate(row)}, column {shown(column)}"
    raise InputError(f"{where}: {shown(value)} is not a finite number; {what_to_do}.")
