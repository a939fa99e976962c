"""Converts whatever the user gave to floating-point tables, names and sample ids, without loss."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.checks import InputError, InputTypeError, a_type_of, quoted, shown
from manyview.typing import Array, is_sparse

LARGEST_EXACT_INTEGER = 2**53  # float64 represents every integer up to here exactly
WHOLE, REAL, NUMERIC = "iu", "biuf", "biufc"  # kinds of numpy types: whole numbers, those of views, all numbers


def is_table(data: object) -> bool:
    """Return whether `data` is one table, as opposed to a collection of tables.

    Parameters
    ----------
    data : object
        Anything that `fit` accepts.
    """
    return is_sparse(data) or hasattr(data, "__array__") or hasattr(data, "to_numpy")


def split_tables(data: object) -> tuple[list[Any], list[str]]:
    """Split whatever the user gave into tables and their names."""
    if is_table(data) or _is_nested_rows(data):
        return [data], ["view_0"]
    if isinstance(data, Mapping):
        return list(data.values()), [str(name) for name in data]
    if isinstance(data, list | tuple):
        return list(data), [f"view_{i}" for i in range(len(data))]
    raise InputTypeError(
        f"Got views of type {type(data).__name__}; give a list, tuple or dict of 2-D tables "
        "(arrays, DataFrames, scipy sparse matrices), a Views object, or one 2-D table."
    )


def _is_nested_rows(data: object) -> bool:
    """Return whether `data` is one table written as a list of rows, each a list of numbers."""
    rows = data if isinstance(data, list | tuple) else ()
    return bool(rows) and all(isinstance(row, list | tuple) and all(map(np.isscalar, row)) for row in rows)


def check_names(names: Sequence[str], n_views: int) -> None:
    """Refuse no views at all, and names that are too few, too many or repeated."""
    if n_views == 0:
        raise InputError("Got no views; give at least one 2-D table of samples by features.")
    if len(names) != n_views:
        raise InputError(f"Got {len(names)} names for {n_views} views; give one name per view.")
    repeated = sorted({name for name in names if list(names).count(name) > 1})
    if repeated:
        raise InputError(f"View name {quoted(repeated)} is used more than once; give each view its own name.")


def check_same_samples(arrays: Sequence[Array], names: Sequence[str]) -> None:
    """Refuse views with different numbers of samples."""
    first = arrays[0].shape[0]
    for array, name in zip(arrays, names, strict=True):
        if array.shape[0] != first:
            raise InputError(
                f"View {name!r} has {array.shape[0]} samples but view {names[0]!r} has {first}; "
                "all views must have the same samples in the same order."
            )


def _is_dataframe(table: object) -> bool:
    return hasattr(table, "columns") and hasattr(table, "to_numpy")


def feature_names_of(table: object) -> NDArray[Any] | None:
    """Return the columns of a DataFrame, otherwise None."""
    return np.asarray(table.columns, dtype=object) if _is_dataframe(table) else None  # type: ignore[attr-defined]


def sample_ids_of(
    tables: Sequence[Any],
    names: Sequence[str],
    given: Sequence[object] | NDArray[Any] | None,
    n_samples: int,
) -> NDArray[Any] | None:
    """Return ids given by the user, otherwise the DataFrames' index; views with different sample ids are refused."""
    if given is not None:
        if len(given) != n_samples:
            raise InputError(f"Got {len(given)} sample_ids for {n_samples} samples; give one per sample.")
        return np.asarray(given)
    indexes = {
        name: index for table, name in zip(tables, names, strict=True) if (index := _index_of(table)) is not None
    }
    own = {name: np.asarray(index) for name, index in indexes.items() if not _counts_rows(index)}
    owner, ids = next(iter(own.items()), ("", None))
    for name, index in indexes.items():
        if ids is not None and (name in own or _is_shuffled(ids)):
            _check_same_order(np.asarray(index), name, ids, owner)
    return ids


def _check_same_order(index: NDArray[Any], name: str, ids: NDArray[Any], owner: str) -> None:
    if not np.array_equal(ids, index):
        at = int(np.flatnonzero(ids != index)[0])
        raise InputError(
            f"Sample {at} is {str(index[at])!r} in view {name!r} but {str(ids[at])!r} in view {owner!r}; "
            "put the tables in the same order, e.g. with table.loc[ids]."
        )


def _index_of(table: object) -> Any:
    """Return the index of a pandas DataFrame, otherwise None."""
    pandas = sys.modules.get("pandas")  # if pandas is not loaded, the table cannot be a DataFrame
    return table.index if pandas is not None and isinstance(table, pandas.DataFrame) else None


def _counts_rows(index: Any) -> bool:
    return isinstance(index, sys.modules["pandas"].RangeIndex) and index.start == 0 and index.step == 1


def _is_shuffled(ids: NDArray[Any]) -> bool:
    """Return whether the ids are row numbers in another order: then tables that only count their rows differ."""
    return ids.dtype.kind in WHOLE and np.array_equal(np.sort(ids), np.arange(len(ids)))


def as_array(table: Any, name: str) -> Array:
    """Return one table as a floating-point array or CSR array."""
    if is_sparse(table):
        _check_numeric_dtype(table.dtype, name)
        _check_two_dimensions(table, name)  # before scipy 1.15, 1-D ones cannot become CSR
        values: Array = _canonical(_from_sparse(table, name))
    elif _is_dataframe(table) and hasattr(table, "iloc"):
        values = _from_dataframe(table, name)
    else:
        values = _from_array(table.to_numpy() if _is_dataframe(table) else table, name)  # polars, for example
    _check_two_dimensions(values, name)
    if values.shape[1] == 0:
        raise InputError(
            f"View {name!r} has 0 feature(s) (shape={values.shape}) while a minimum of 1 is required. "
            "Remove this view, or check how the file was read."
        )
    return _as_float(values, name)


def _check_two_dimensions(table: Any, name: str) -> None:
    if table.ndim != 2:
        raise InputError(
            f"View {name!r} is {table.ndim}-D with shape {table.shape}; a view is a 2-D table of samples by "
            "features. Reshape your data: array.reshape(-1, 1) makes one feature, array.reshape(1, -1) one sample."
        )


def _from_sparse(table: Any, name: str) -> sp.csr_array:
    try:
        checked = table if hasattr(table, "check_format") else table.tocoo()
        check_indices(checked)
        return sp.csr_array(checked)
    except (ValueError, IndexError) as error:
        raise InputError(f"View {name!r} is not a valid sparse matrix: {error}. Make it again.") from error


def check_indices(matrix: Any) -> None:
    """Raise ValueError if a CSR, CSC, BSR or COO matrix has an index out of range: scipy would use memory beyond it."""
    if matrix.format == "dia":  # has no indices
        return
    if not hasattr(matrix, "check_format"):
        if any(
            len(at) and not 0 <= at.min() <= at.max() < size
            for at, size in zip(matrix.coords, matrix.shape, strict=True)
        ):
            raise ValueError("it has an index out of range")
        return
    if (np.diff(matrix.indptr.astype(np.int64)) < 0).any():  # scipy counts a negative number of entries as none
        raise ValueError("the numbers of entries of its rows or columns are negative")
    matrix.check_format(full_check=True)


def _canonical(matrix: sp.csr_array) -> sp.csr_array:
    """Return a matrix with sorted entries and no duplicates; a copy if it must change, because others may share it."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _from_dataframe(table: Any, name: str) -> NDArray[Any]:
    columns = list(table.columns)
    bad = [c for c, dtype in zip(columns, table.dtypes, strict=True) if getattr(dtype, "kind", "O") not in NUMERIC]
    if bad:
        raise InputError(
            f"View {name!r} has non-numeric columns: {quoted(bad)}. Drop them, encode them as numbers, "
            "or make the column of sample names the index."
        )
    dtypes = [_numpy_dtype(dtype) for dtype in table.dtypes]
    common = np.result_type(*dtypes) if columns else np.dtype(float)
    _check_numeric_dtype(common, name)
    if common.kind != "f" and not np.asarray(table.isna()).any():
        return np.asarray(table.to_numpy(dtype=common))
    for i in (i for i, dtype in enumerate(dtypes) if dtype.kind in WHOLE):
        _check_exact(table.iloc[:, i].dropna().to_numpy(dtypes[i]), name)
    exact = common if common.kind == "f" else np.dtype(float)
    return np.asarray(table.to_numpy(dtype=exact, na_value=np.nan))  # a nullable column's missing value becomes NaN


def _numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the numpy type behind a pandas type: nullable and sparse types wrap one."""
    return np.dtype(getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", dtype)))


def _from_array(table: Any, name: str) -> NDArray[Any]:
    if np.ma.is_masked(table):
        _check_numeric_dtype(table.dtype, name)
        table = table.astype(np.result_type(table.dtype, np.float32)).filled(np.nan)
    try:
        values = np.asarray(table)
    except ValueError as error:  # rows of different lengths
        raise InputError(f"View {name!r} is not a rectangular table: {error}") from error
    if values.dtype == object:
        values = _from_objects(values, name)
    _check_numeric_dtype(values.dtype, name)
    return values


def _from_objects(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the numbers in an object array; raise for anything else, naming its position."""
    for place, value in np.ndenumerate(values):
        where = f"View {name!r} contains {shown(value)} ({a_type_of(value)}) at {_place(place)}"
        if isinstance(value, str | bytes):
            raise InputError(f"{where}, which is text; give numbers only.")
        try:
            float(value)
        except OverflowError as error:
            raise InputError(f"{where}, too large for a float: {error}. Rescale the column.") from error
        except (TypeError, ValueError) as error:
            raise InputTypeError(f"{where}; give numbers only: {error}.") from error
    return values.astype(float)


def _place(index: tuple[int, ...]) -> str:
    return f"row {index[0]}, column {index[1]}" if len(index) == 2 else f"index {index}"


def _check_numeric_dtype(dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind == "c":
        raise InputError(
            f"View {name!r} has complex dtype {dtype}. Complex data not supported; use the real and the "
            "imaginary part (or modulus and phase) as separate columns."
        )
    if dtype.kind not in REAL:
        raise InputError(f"View {name!r} has dtype {dtype}, which is not numeric; give numbers only.")


def _as_float(values: Array, name: str) -> Array:
    """float32 stays; half precision becomes float32; everything else becomes float64, without loss."""
    dtype = values.dtype.newbyteorder("=")
    if dtype in (np.float32, np.float64):
        return values.astype(dtype, copy=False)
    if dtype.kind in WHOLE:
        _check_exact(values.data if is_sparse(values) else values, name)
    with np.errstate(over="ignore"):  # an infinity made here is reported by _check_finite
        return values.astype(np.float32 if dtype == np.float16 else np.float64)


def _check_exact(values: NDArray[Any], name: str) -> None:
    """Refuse integers that a float64 would round."""
    if values.dtype.itemsize < 8 or values.size == 0:
        return
    extreme = max(int(values.max()), -int(values.min()))
    if extreme > LARGEST_EXACT_INTEGER:
        raise InputError(
            f"View {name!r} contains an integer of size {extreme}, beyond the {LARGEST_EXACT_INTEGER} that a "
            "float64 can hold exactly (integer overflow on cast). If the column is an identifier, drop it; "
            "otherwise rescale it."
        )
