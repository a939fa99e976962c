"""Tables with columns of their own types: what names the columns, what names the samples, and what is a number."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from manyview.checks import InputError, quoted
from manyview.io.guards import reading
from manyview.io.reading import Table, TableOptions, pick, shown
from manyview.views.container import Views

MISSING = frozenset({
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
})  # fmt: skip
"""Words for a value that is missing: those that pandas knows."""

_NAMES_SAMPLES = re.compile(
    r"#?\s*((sample|subject|patient|participant|individual|donor|specimen|case|cell|object|item|row|obs|observation)s?)?"
    r"[\s_.-]*((id|identifier|name|index|key|code|barcode|no|nr|number)s?)?|unnamed: 0",
    re.IGNORECASE,
)


# Names of columns ----------------------------------------------------------------------------------


def has_header(rows: Sequence[Sequence[str]], option: str) -> bool:
    """Whether the first of some rows names the columns, going by what stands below it."""
    if option != "auto":
        return option == "yes"
    first, rest = rows[0], rows[1:]
    if len(first) == 1:
        return not _is_value(first[0]) and first not in rest  # a word that comes again is a value
    if not all(map(_is_value, first[1:])):
        return True
    return not _is_number(first[0]) and (_may_name_samples(first[0]) or _are_values(rest))


def _are_values(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first column of some rows holds no text."""
    return bool(rows) and all(_is_value(row[0]) for row in rows)


def _is_value(cell: str) -> bool:
    return cell.strip() in MISSING or _is_number(cell)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _may_name_samples(column: object) -> bool:
    return isinstance(column, str) and _NAMES_SAMPLES.fullmatch(column.strip()) is not None


# Names of samples ----------------------------------------------------------------------------------


def with_ids(table: Table, keys: Sequence[str], options: TableOptions) -> Table:
    """Take the names of the samples out of a DataFrame; with a key, keep the column of that name only."""
    frame = table.values
    if frame.empty:
        raise InputError(f"{table.where} holds no samples; give a line per sample.")
    if options.id_column == "auto" and _names_rows(frame.index):
        table = replace(table, ids=frame.index)
    else:
        at = id_column(frame.columns, options, table.where)
        at = _found_id_column(frame, at) if options.id_column == "auto" else at
        if at is not None:
            others = np.arange(frame.shape[1]) != at if at else slice(1, None)  # a slice copies nothing
            table = replace(table, ids=frame.iloc[:, at], values=frame.iloc[:, others])
    if keys:
        names = [str(name) for name in table.values.columns]
        key = pick(keys, names, table.where)
        table = replace(table, name=key, values=table.values.iloc[:, [names.index(key)]])
    return table


def id_column(names: Sequence[Any], options: TableOptions, where: str) -> int | None:
    """Return the position of the column that names the samples, as far as the names of the columns tell."""
    asked = options.id_column
    if asked == "none":
        return None
    if asked == "auto":
        return 0 if _may_name_samples(names[0]) else None
    if asked in list(names) and isinstance(asked, str):
        return list(names).index(asked)
    if str(asked).isdecimal() and 1 <= int(asked) <= len(names):
        return int(asked) - 1
    raise InputError(
        f"{where} has no column id_column={asked!r}. Choose from: {quoted(names)}; or give its number, from 1."
    )


def _names_rows(index: pd.Index[Any]) -> bool:
    """Whether an index does more than count the rows."""
    return not (isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1)


def _found_id_column(frame: pd.DataFrame, likely: int | None) -> int | None:
    """Return the likely column if it can name samples; else the first if it is text, or one that is called so."""
    if frame.shape[1] == 1:
        return None
    if likely is not None and _can_name_samples(frame.iloc[:, likely]):
        return likely
    texts = (i for i in _text_columns(frame) if _mostly_text(frame.iloc[:, i]))
    return next((i for i in texts if i == 0 or _may_name_samples(frame.columns[i])), None)


def _can_name_samples(column: pd.Series[Any]) -> bool:
    """Whether the values are text, or whole numbers that tell the samples apart."""
    numbers = _numbers(column)
    if numbers.isna().any():
        return getattr(column.dtype, "kind", "O") == "O"
    return bool((numbers % 1 == 0).all()) and column.is_unique


def _mostly_text(column: pd.Series[Any]) -> bool:
    """Whether a column is text; numbers with decimal commas, or with a slip of the pen among them, are not."""
    return bool(_numbers(column.astype(str).str.replace(",", ".")).isna().mean() > 0.5)


def comparable(ids: Any) -> pd.Series[str]:
    """Return ids as text, without blanks around it, whole numbers without decimals."""
    return pd.Series(ids).astype(str).str.strip().str.replace(r"^([+-]?\d+)\.0+$", r"\1", regex=True)


def clean_ids(table: Table) -> Table:
    """Make the ids comparable, and refuse a table that does not name each sample once."""
    if table.ids is None:
        return table
    ids = pd.Series(np.ravel(np.asarray(table.ids)))
    n_rows = (*table.values.shape, 0)[0]
    if len(ids) != n_rows:
        raise InputError(f"{table.where} has {len(ids)} sample ids for {n_rows} rows; give one each.")
    text = comparable(ids)
    unnamed = np.flatnonzero(ids.isna() | (text == ""))
    if len(unnamed):
        raise InputError(f"{table.where}, {table.place(int(unnamed[0]))}, has no sample id; give every sample one.")
    repeated = text[text.duplicated()].unique()
    if len(repeated):
        raise InputError(f"{table.where} has duplicated sample ids: {quoted(repeated)}; keep one row per sample.")
    return replace(table, ids=text.to_numpy(dtype=object))


# Numbers -------------------------------------------------------------------------------------------


def holds_numbers(table: Table) -> bool:
    """Whether there is a number anywhere in a table."""
    frame = table.values
    if not isinstance(frame, pd.DataFrame):
        return True
    texts = _text_columns(frame)
    return len(texts) < frame.shape[1] or any(_numbers(frame.iloc[:, i]).notna().any() for i in texts)


def numeric(table: Table, options: TableOptions) -> Table:
    """Return the table with a floating-point or CSR array, or name the first value that is not a finite number."""
    values = table.values
    if isinstance(values, pd.DataFrame):
        values = _numeric_frame(table, options)
    if sp.issparse(values) and values.format in ("csr", "csc"):
        with reading(table.where, "a sparse matrix"):
            values.check_format(full_check=True)  # a place outside the matrix would be read from anywhere in memory
    try:
        gate = Views({table.name: values})
    except InputError as error:
        raise InputError(f"{table.where} is no table of numbers. {error}") from error
    if gate.n_samples == 0:
        raise InputError(f"{table.where} holds no samples; give a row per sample.")
    table = replace(table, values=gate.arrays[0])
    if gate.feature_names[0] is not None:
        table = replace(table, features=gate.feature_names[0])
    _check_finite(table)
    return table


def _numeric_frame(table: Table, options: TableOptions) -> pd.DataFrame:
    frame, dropped = table.values.copy(deep=False), []
    for i in _text_columns(frame):
        column = frame.iloc[:, i]
        numbers = _numbers(column)
        if options.drop_text_columns and numbers.isna().all():
            dropped.append(i)
            continue
        wrong = np.flatnonzero(numbers.isna() & column.notna())
        if len(wrong):
            _refuse(table, int(wrong[0]), frame.columns[i], column.iloc[wrong[0]])
        frame.isetitem(i, numbers)
    if dropped:
        warnings.warn(f"{table.where}: left out text columns {quoted(frame.columns[dropped])}.", stacklevel=2)
    return frame.iloc[:, np.setdiff1d(np.arange(frame.shape[1]), dropped)] if dropped else frame


def _text_columns(frame: pd.DataFrame) -> list[int]:
    """Positions of the columns whose type is not a number's; objects may be numbers all the same."""
    return [i for i, dtype in enumerate(frame.dtypes) if getattr(dtype, "kind", "O") not in "biufc"]


def _numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as numbers, NaN where it holds none."""
    if getattr(column.dtype, "kind", "O") in "biuf":
        return column
    return column.astype(object).map(_number).astype(float)


def _number(value: Any) -> float:
    """Return a value as a finite number, else NaN; `pandas.to_numeric` before 3.0 crashes on 4e4924939249."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) and "_" not in str(value) else math.nan


def _check_finite(table: Table) -> None:
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
    _refuse(table, int(row), int(column) + 1 if table.features is None else table.features[column], float(value))


def _refuse(table: Table, row: int, column: object, value: object) -> None:
    raise InputError(
        f"{table.where}, {table.place(row)}, column {shown(column)}: {shown(value)} is not a finite number; leave the "
        "column out, encode it as numbers, or name it as the id column if it names the samples."
    )
