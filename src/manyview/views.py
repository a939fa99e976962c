"""The `Views` container and `check_views`, the one gate that every input passes.

A *view* is a table, samples by features. All views hold the same samples in the same order. NaN is a value that is
missing. A sample is *absent* from a view when all of its values there are: a row of NaN or, in a sparse view, where
zeros are not stored, a row that stores nothing but NaN.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.checks import InputError, InputTypeError, quoted

Array: TypeAlias = Any
"""A dense 2-D floating-point array or a scipy CSR array: what the gate lets through."""

LARGEST_EXACT_INTEGER = 2**53  # float64 holds every integer up to here


class Views:
    """Feature tables of the same samples.

    Parameters
    ----------
    data : mapping of name to table, sequence of tables, one table, or Views
        A table is a 2-D array, a DataFrame or a scipy sparse matrix, samples by features. A bare
        table counts as one view. float32 stays float32; everything else becomes float64. Nothing
        is copied unless the type has to change, and nothing is ever written to. NaN stands for a missing
        value, a row of NaN for a sample that is absent from the view.
    names : sequence of str, optional
        Names of the views; by default the mapping's keys, else "view_0", "view_1", ...
    sample_ids : sequence, optional
        Names of the samples; by default the index of the DataFrames, if they have one of their own.

    Attributes
    ----------
    arrays : tuple of float arrays or CSR arrays, each (n_samples, n_features of that view)
    names : tuple of str
    sample_ids : array or None
    feature_names : tuple, one entry per view: array of column names or None

    Notes
    -----
    ``views[rows]`` selects samples by slice, mask or index, and ``len(views)`` is the number of
    samples, so that `sklearn.model_selection` can split a `Views`. Iterate over ``views.arrays``
    or ``views.items()`` for the tables; ``views.select(names)`` takes some of the views.
    """

    arrays: tuple[Array, ...]
    names: tuple[str, ...]
    sample_ids: NDArray[Any] | None
    feature_names: tuple[NDArray[Any] | None, ...]

    def __init__(
        self,
        data: object,
        names: Sequence[str] | None = None,
        sample_ids: Sequence[object] | NDArray[Any] | None = None,
    ) -> None:
        tables, own_names = _split(data)
        chosen = own_names if names is None else [str(name) for name in names]
        _check_names(chosen, len(tables))
        arrays = tuple(_as_array(table, name) for table, name in zip(tables, chosen, strict=True))
        _check_same_samples(arrays, chosen)
        self.arrays, self.names = arrays, tuple(chosen)
        known = data if isinstance(data, Views) else None
        given = known.sample_ids if known is not None and sample_ids is None else sample_ids
        self.sample_ids = _sample_ids(tables, chosen, given, arrays[0].shape[0])
        self.feature_names = known.feature_names if known else tuple(_feature_names(table) for table in tables)

    @classmethod
    def _of(
        cls,
        arrays: Iterable[Array],
        names: Iterable[str],
        sample_ids: NDArray[Any] | None,
        feature_names: Iterable[NDArray[Any] | None],
    ) -> Views:
        """Assemble from parts that have passed the gate before."""
        new = cls.__new__(cls)
        new.arrays, new.names = tuple(arrays), tuple(names)
        new.sample_ids, new.feature_names = sample_ids, tuple(feature_names)
        return new

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.arrays[0].shape[0])

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.arrays)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, and of features over all views."""
        return self.n_samples, sum(int(array.shape[1]) for array in self.arrays)

    @property
    def present(self) -> NDArray[np.bool_]:
        """Whether each sample (row) has any value in each view (column)."""
        return np.column_stack([present_rows(array) for array in self.arrays])

    @property
    def n_missing(self) -> dict[str, int]:
        """Number of values that are missing from each view, those of absent samples included."""
        return {name: _count_missing(array) for name, array in self.items()}

    def items(self) -> Iterable[tuple[str, Array]]:
        """Pairs of name and table."""
        return zip(self.names, self.arrays, strict=True)

    def select(self, names: Iterable[str]) -> Views:
        """Return the views of these names, in this order."""
        names = [names] if isinstance(names, str) else list(names)
        unknown = [name for name in names if name not in self.names]
        if unknown:
            raise InputError(f"No view is called {quoted(unknown)}. Choose from: {quoted(self.names)}.")
        _check_names(names, len(names))
        where = [self.names.index(name) for name in names]
        return Views._of(
            (self.arrays[i] for i in where), names, self.sample_ids, (self.feature_names[i] for i in where)
        )

    def replace(self, arrays: Iterable[Array]) -> Views:
        """Return the same samples, views and features with other values in the tables."""
        return Views._of(arrays, self.names, self.sample_ids, self.feature_names)

    def __len__(self) -> int:
        return self.n_samples

    def __getitem__(self, rows: Any) -> Views:
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]  # scikit-learn indexes samples as X[rows, ...]
        if isinstance(rows, str):
            raise InputError(f"views[...] selects samples; use views.select({rows!r}) for a view.")
        if isinstance(rows, tuple):
            raise InputError(f"views[{rows!r}] has {len(rows)} indices; views[...] selects samples only.")
        if not isinstance(rows, slice):
            rows = np.atleast_1d(np.asarray(rows))  # one sample is still a table
            rows = rows if rows.size else rows.astype(int)
        ids = None if self.sample_ids is None else self.sample_ids[rows]
        return self._of((array[rows] for array in self.arrays), self.names, ids, self.feature_names)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {array.shape[1]}" for name, array in self.items())
        return f"Views({self.n_samples} samples; features {sizes})"


def check_views(data: object, *, allow_empty: bool = False) -> Views:
    """Return `data` as `Views` of numbers, NaN where missing, each sample present somewhere, or raise `InputError`.

    A view from which all samples are absent is refused as well, unless `allow_empty`.
    """
    views = data if isinstance(data, Views) else Views(data)
    if views.n_samples == 0:
        raise InputError(
            f"Found array with 0 sample(s) (shape={views.arrays[0].shape}) while a minimum of 1 is required."
        )
    incomplete = False
    for i, name in enumerate(views.names):
        incomplete |= _check_values(views.arrays[i], name, views.feature_names[i])
    if incomplete:
        _check_present(views, allow_empty)
    return views


def present_rows(table: Array) -> NDArray[np.bool_]:
    """Whether each row holds any value that is not missing."""
    missing = np.isnan(table.data if sp.issparse(table) else table)
    if not missing.any():
        return np.ones(table.shape[0], dtype=bool)
    if not sp.issparse(table):
        return ~missing.all(axis=1)
    stored = np.diff(table.indptr)
    rows = np.repeat(np.arange(table.shape[0]), stored)
    return (stored == 0) | (np.bincount(rows[missing], minlength=table.shape[0]) < stored)


def spread_rows(table: Array, rows: NDArray[np.integer[Any]], n_samples: int) -> Array:
    """Return a table of `n_samples` rows: row ``rows[i]`` is row i of `table`, samples in no row are absent."""
    source = np.full(n_samples, table.shape[0])
    source[rows] = np.arange(table.shape[0])
    if sp.issparse(table):
        nothing = sp.csr_array(([np.nan], ([0], [0])), shape=(1, table.shape[1]), dtype=table.dtype)
        return sp.csr_array(sp.vstack([table, nothing], format="csr")[source])
    return np.vstack([table, np.full((1, table.shape[1]), np.nan, dtype=table.dtype)])[source]


def is_table(data: object) -> bool:
    """Whether `data` is one table, as opposed to a collection of them."""
    return sp.issparse(data) or hasattr(data, "__array__") or hasattr(data, "to_numpy")


def _split(data: object) -> tuple[list[Any], list[str]]:
    """Split whatever the user gave into tables and their names."""
    if isinstance(data, Views):
        return list(data.arrays), list(data.names)
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
    """Whether `data` is one table written as a list of rows, each a list of numbers."""
    rows = data if isinstance(data, list | tuple) else ()
    return bool(rows) and all(isinstance(row, list | tuple) and all(map(np.isscalar, row)) for row in rows)


def _check_names(names: Sequence[str], n_views: int) -> None:
    if n_views == 0:
        raise InputError("Got no views; give at least one 2-D table of samples by features.")
    if len(names) != n_views:
        raise InputError(f"Got {len(names)} names for {n_views} views; give one name per view.")
    repeated = sorted({name for name in names if list(names).count(name) > 1})
    if repeated:
        raise InputError(f"View name {quoted(repeated)} is used more than once; give each view its own name.")


def _check_same_samples(arrays: Sequence[Array], names: Sequence[str]) -> None:
    first = arrays[0].shape[0]
    for array, name in zip(arrays, names, strict=True):
        if array.shape[0] != first:
            raise InputError(
                f"View {name!r} has {array.shape[0]} samples but view {names[0]!r} has {first}; "
                "all views must hold the same samples in the same order."
            )


def _is_dataframe(table: object) -> bool:
    return hasattr(table, "columns") and hasattr(table, "to_numpy")


def _feature_names(table: object) -> NDArray[Any] | None:
    return np.asarray(table.columns, dtype=object) if _is_dataframe(table) else None  # type: ignore[attr-defined]


def _sample_ids(
    tables: Sequence[Any],
    names: Sequence[str],
    given: Sequence[object] | NDArray[Any] | None,
    n_samples: int,
) -> NDArray[Any] | None:
    """Ids given by the user, else the DataFrames' index; views that name other samples are refused."""
    if given is not None:
        if len(given) != n_samples:
            raise InputError(f"Got {len(given)} sample_ids for {n_samples} samples; give one per sample.")
        return np.asarray(given)
    ids, owner = None, ""
    for table, name in zip(tables, names, strict=True):
        own = _own_index(table)
        if own is None:
            continue
        if ids is None:
            ids, owner = own, name
        elif not np.array_equal(ids, own):
            at = int(np.flatnonzero(ids != own)[0])
            raise InputError(
                f"Sample {at} is {own[at]!r} in view {name!r} but {ids[at]!r} in view {owner!r}; "
                "bring the tables into the same order, e.g. with table.loc[ids]."
            )
    return ids


def _own_index(table: object) -> NDArray[Any] | None:
    """Return the index of a pandas DataFrame, unless it only counts the rows from 0."""
    pandas = sys.modules.get("pandas")  # a DataFrame can only come from a pandas that is loaded
    if pandas is None or not isinstance(table, pandas.DataFrame):
        return None
    if isinstance(table.index, pandas.RangeIndex) and table.index.start == 0 and table.index.step == 1:
        return None
    return np.asarray(table.index)


def _as_array(table: Any, name: str) -> Array:
    """One table as a floating-point array or CSR array."""
    if sp.issparse(table):
        _check_numeric_dtype(table.dtype, name)
        values: Array = sp.csr_array(table)
        if not values.has_canonical_format:  # scipy sorts and merges entries in place, some day: in a copy, then
            values = values.copy()
            values.sum_duplicates()
    elif _is_dataframe(table):
        values = _from_dataframe(table, name)
    else:
        values = _from_array(table, name)
    if values.ndim != 2:
        raise InputError(
            f"View {name!r} is {values.ndim}-D with shape {values.shape}; a view is a 2-D table of samples by "
            "features. Reshape your data: array.reshape(-1, 1) makes one feature, array.reshape(1, -1) one sample."
        )
    if values.shape[1] == 0:
        raise InputError(
            f"View {name!r} has 0 feature(s) (shape={values.shape}) while a minimum of 1 is required. "
            "Leave this view out, or check how the file was read."
        )
    return _as_float(values, name)


def _from_dataframe(table: Any, name: str) -> NDArray[Any]:
    columns = list(table.columns)
    bad = [c for c, dtype in zip(columns, table.dtypes, strict=True) if getattr(dtype, "kind", "O") not in "biufc"]
    if bad:
        raise InputError(
            f"View {name!r} has non-numeric columns: {quoted(bad)}. Drop them, encode them as numbers, "
            "or make the column of sample names the index."
        )
    dtypes = [_numpy_dtype(dtype) for dtype in table.dtypes]
    common = np.result_type(*dtypes) if columns else np.dtype(float)
    _check_numeric_dtype(common, name)
    if common.kind == "f":  # a nullable column's missing value becomes NaN
        for i in (i for i, dtype in enumerate(dtypes) if dtype.kind in "iu"):
            _check_exact(table.iloc[:, i].dropna().to_numpy(dtypes[i]), name)
        return np.asarray(table.to_numpy(dtype=common, na_value=np.nan))
    has_missing = bool(np.any(np.asarray(table.isna())))
    return np.asarray(table.to_numpy(dtype=float, na_value=np.nan) if has_missing else table.to_numpy(dtype=common))


def _numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the numpy type in a pandas one: nullable and sparse types wrap it."""
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
    """Numbers that hide in an object array; anything else is named with its place."""
    for place, value in np.ndenumerate(values):
        where = f"View {name!r} holds {value!r} (a {type(value).__name__}) at {_place(place)}"
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
    if dtype.kind not in "biuf":
        raise InputError(f"View {name!r} has dtype {dtype}, which is not numeric; give numbers only.")


def _as_float(values: Array, name: str) -> Array:
    """float32 stays; half precision becomes float32; everything else becomes float64, without loss."""
    dtype = values.dtype.newbyteorder("=")
    if dtype in (np.float32, np.float64):
        return values.astype(dtype, copy=False)
    if dtype.kind in "iu":
        _check_exact(values.data if sp.issparse(values) else values, name)
    with np.errstate(over="ignore"):  # an infinity made here is reported by _check_finite
        return values.astype(np.float32 if dtype == np.float16 else np.float64)


def _check_exact(values: NDArray[Any], name: str) -> None:
    """Refuse integers that a float64 would round."""
    if values.dtype.itemsize < 8 or values.size == 0:
        return
    extreme = max(int(values.max()), -int(values.min()))
    if extreme > LARGEST_EXACT_INTEGER:
        raise InputError(
            f"View {name!r} holds an integer of size {extreme}, beyond the {LARGEST_EXACT_INTEGER} that a "
            "float64 can hold exactly (integer overflow on cast). If the column is an identifier, drop it; "
            "otherwise rescale it."
        )


def _count_missing(array: Array) -> int:
    """Count NaN; an absent row of a sparse view lacks all of its features, whatever it stores."""
    if not sp.issparse(array):
        return int(np.isnan(array).sum())
    present = present_rows(array)
    return int(np.isnan(array[present].data).sum()) + int((~present).sum()) * int(array.shape[1])


def _check_values(array: Array, name: str, feature_names: NDArray[Any] | None) -> bool:
    """Refuse infinities; return whether values are missing."""
    stored = array.data if sp.issparse(array) else array
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(stored.sum(dtype=np.float64)):  # one cheap pass settles the usual case
            return False
    infinite = np.isinf(stored)
    if infinite.any():
        columns = array.indices[infinite] if sp.issparse(array) else np.nonzero(infinite)[1]
        first = int(columns.min())
        label = first if feature_names is None else f"{feature_names[first]!r}"
        raise InputError(
            f"View {name!r} contains {int(infinite.sum())} infinity values in {len(np.unique(columns))} column(s), "
            f"the first in column {label}. Replace them, by NaN where the value is not known, before clustering."
        )
    return bool(np.isnan(stored).any())


def _check_present(views: Views, allow_empty: bool) -> None:
    present = views.present
    empty = [name for i, name in enumerate(views.names) if not present[:, i].any()]
    if empty and not allow_empty:
        raise InputError(f"View {quoted(empty)} holds nothing but NaN. Leave this view out.")
    nowhere = np.flatnonzero(~present.any(axis=1))
    if len(nowhere):
        which = nowhere if views.sample_ids is None else views.sample_ids[nowhere]
        raise InputError(
            f"{len(nowhere)} sample(s) have no value in any view: {quoted(which)}. Leave them out: nothing is known "
            "about them."
        )
