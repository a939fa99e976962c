"""Tables that stay in their files and are read in blocks of rows: npy, Parquet and AnnData.

They hold only a path and a shape, so they can be sent to other processes, which open the file themselves.
"""

from __future__ import annotations

import glob
import os
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from manyview.checks import InputError, quoted
from manyview.io.addresses import TABLES, find_tables
from manyview.io.frames import missing_numbers
from manyview.io.guards import open_hdf5, reading, require
from manyview.io.raw_tables import TableOptions, pick, stem
from manyview.io.words import may_name_samples
from manyview.views.codes import without_codes

AUTOMATIC = TableOptions()
NUMBERS = ("int", "uint", "float", "double", "half", "bool")


class RowTable(ABC):
    """A table in a file: ``table[start:stop]`` reads these rows, as an array, CSR array or DataFrame of sample ids."""

    where: str
    shape: tuple[int, int]
    missing: tuple[float, ...] = ()  # numbers that mean a missing value

    def __getitem__(self, rows: slice) -> Any:
        start, stop, _ = rows.indices(self.shape[0])
        with reading(self.where, f"rows {start + 1} to {stop} of a table"):
            values = self.read(start, stop)
        if isinstance(values, pd.DataFrame):
            return values.mask(values.isin(self.missing)) if self.missing else values
        return without_codes(values, self.missing)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype=dtype)

    @abstractmethod
    def read(self, start: int, stop: int) -> Any:
        """Read rows from `start` up to `stop`."""

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the files that the table is in."""
        return (self.where.partition("::")[0],)

    @property
    def has_ids(self) -> bool:
        """Whether the file names its samples."""
        return False

    @property
    def piece_ends(self) -> tuple[int, ...]:
        """Row numbers at which the pieces of the file end that must be read whole; empty if any rows can be read."""
        return ()

    def read_ids(self, start: int, stop: int) -> NDArray[Any]:
        """Read the sample ids of some rows, which are their numbers if the file names no samples."""
        return np.arange(start, stop)


@dataclass(frozen=True)
class NpyRows(RowTable):
    """A memory-mapped npy file."""

    where: str
    shape: tuple[int, int]
    missing: tuple[float, ...] = ()

    @classmethod
    def open(cls, path: str) -> NpyRows:
        """Read the header of a file."""
        with reading(path, "a numpy file"):
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        if array.ndim != 2:
            raise InputError(
                f"{path} contains an array of shape {array.shape}; a view is a table of samples by features."
            )
        return cls(path, array.shape)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Read rows."""
        return np.array(np.load(self.where, mmap_mode="r", allow_pickle=False)[start:stop])


# Parquet ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ParquetRows(RowTable):
    """One or more Parquet files with the same columns, read one after another.

    Attributes
    ----------
    paths : the files
    groups : file and number of each row group
    ends : rows up to the end of each row group
    features : the columns of numbers
    ids : the column of sample ids, None if there is none
    """

    paths: tuple[str, ...]
    groups: tuple[tuple[int, int], ...]
    ends: tuple[int, ...]
    features: tuple[str, ...]
    ids: str | None
    missing: tuple[float, ...] = ()

    @property
    def where(self) -> str:  # type: ignore[override]
        """The file, or the first and how many more there are."""
        more = len(self.paths) - 1
        return f"{self.paths[0]}{f' and {more} more' if more else ''}"

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Number of rows, and of columns of numbers."""
        return self.ends[-1], len(self.features)

    @classmethod
    def open(cls, paths: Sequence[str], options: TableOptions = AUTOMATIC) -> ParquetRows:
        """Read the metadata of the files, and refuse files whose columns differ."""
        columns: dict[str, str] | None = None
        groups, sizes = [], []
        for i, path in enumerate(paths):
            with reading(path, "a Parquet file"), require("pyarrow.parquet", "parquet").ParquetFile(path) as file:
                own = {field.name: str(field.type) for field in file.schema_arrow}
                sizes += [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
                groups += [(i, g) for g in range(file.num_row_groups)]
            columns = own if columns is None else columns
            _check_same_columns(columns, own, paths[0], path)
        if not sum(sizes) or columns is None:
            raise InputError(f"{paths[0]} contains no samples; give one row per sample.")
        ids = _id_column(columns, options, paths[0])
        features = tuple(name for name in columns if name != ids)
        texts = [f"{name} ({columns[name]})" for name in features if not columns[name].startswith(NUMBERS)]
        if texts:
            raise InputError(
                f"{paths[0]} has columns that are not numbers: {quoted(texts)}. Remove them, or name the column of "
                "sample ids with --id-column."
            )
        return cls(tuple(paths), tuple(groups), tuple(np.cumsum(sizes).tolist()), features, ids)

    def read(self, start: int, stop: int) -> pd.DataFrame:
        """Read rows, from all row groups that contain any of them."""
        frame = self._read(start, stop, self.features)
        return frame if self.ids is not None else frame.reset_index(drop=True)

    def _read(self, start: int, stop: int, features: tuple[str, ...]) -> pd.DataFrame:
        parts = []
        for g in range(bisect_right(self.ends, start), len(self.ends)):
            first = self.ends[g - 1] if g else 0
            if first >= stop:
                break
            path, number = self.paths[self.groups[g][0]], self.groups[g][1]
            group = _row_group(path, file_stamp(path), number, features, self.ids)
            parts.append(group.iloc[max(start - first, 0) : stop - first])
        return pd.concat(parts) if len(parts) > 1 else parts[0]

    @property
    def piece_ends(self) -> tuple[int, ...]:
        """Row groups are read whole."""
        return self.ends

    @property
    def files(self) -> tuple[str, ...]:
        """All of the files."""
        return self.paths

    @property
    def has_ids(self) -> bool:
        """Whether there is a column of sample ids."""
        return self.ids is not None

    def read_ids(self, start: int, stop: int) -> NDArray[Any]:
        """Read the sample ids of some rows, and nothing else."""
        return np.asarray(self._read(start, stop, ()).index) if self.has_ids else super().read_ids(start, stop)


def file_stamp(path: str) -> tuple[int, int]:
    """Return the size and time of a file, which show whether it was rewritten."""
    with reading(path, "a file"):
        status = os.stat(path)
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=4)  # consecutive blocks share a row group
def _row_group(
    path: str,
    stamp: tuple[int, int],  # noqa: ARG001 - a rewritten file is read again
    number: int,
    features: tuple[str, ...],
    ids: str | None,
) -> pd.DataFrame:
    with reading(path, f"a Parquet file, in row group {number}"):
        with require("pyarrow.parquet", "parquet").ParquetFile(path) as file:
            table = file.read_row_group(number, columns=[*features, *([] if ids is None else [ids])])
        columns = [table.column(name).to_numpy() for name in features]
        dtype = np.float32 if all(column.dtype in (np.float32, np.float16) for column in columns) else np.float64
        values = np.empty((table.num_rows, len(features)), dtype)
        for i, column in enumerate(columns):
            values[:, i] = column
    index = None if ids is None else pd.Index(table.column(ids).to_pandas(), name="sample")
    return pd.DataFrame(values, columns=list(features), index=index)


def _check_same_columns(columns: Mapping[str, str], own: Mapping[str, str], first: str, path: str) -> None:
    odd = [name for name in columns if name not in own] or [name for name in own if name not in columns]
    if odd:
        raise InputError(f"{path} and {first} differ in their columns: {quoted(odd)} is not in both.")
    differing = next((name for name in columns if own[name] != columns[name]), None)
    if differing is not None:
        raise InputError(
            f"{path} and {first} differ in column {differing!r}: {own[differing]} and {columns[differing]}; write them "
            "with the same type."
        )
    if list(own) != list(columns):
        raise InputError(f"{path} has the columns of {first} in a different order; write them in the same order.")


def _id_column(columns: Mapping[str, str], options: TableOptions, where: str) -> str | None:
    names, asked = list(columns), options.id_column
    if asked == "none":
        return None
    if asked != "auto":
        if asked not in names:
            raise InputError(f"{where} has no column id_column={asked!r}. Choose from: {quoted(names)}.")
        return str(asked)
    likely = [name for name in names if name.startswith("__index_level_")]
    likely += [name for name in names if may_name_samples(name) and not columns[name].startswith(("float", "double"))]
    return likely[0] if likely else None


# AnnData ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AnnDataRows(RowTable):
    """A table of an AnnData file, by its address; dense or CSR."""

    path: str
    key: str
    shape: tuple[int, int]
    missing: tuple[float, ...] = ()

    @property
    def where(self) -> str:  # type: ignore[override]
        """File and address."""
        return f"{self.path}::{self.key}"

    @classmethod
    def open(cls, path: str, key: str = "X") -> AnnDataRows:
        """Read the shape of a table."""
        with reading(path, "an AnnData file"), open_hdf5(path) as file:
            values = _stored(file, key, path)
            return cls(path, key, (int(values.shape[0]), int(values.shape[1])))

    def read(self, start: int, stop: int) -> Any:
        """Read rows; dense rows come with their sample ids."""
        with open_hdf5(self.path) as file:
            values = _stored(file, self.key, self.path)[start:stop]
            if not isinstance(values, np.ndarray):
                return values
        return pd.DataFrame(values, index=pd.Index(self.read_ids(start, stop), name="sample"))

    @property
    def has_ids(self) -> bool:
        """AnnData always names its samples."""
        return True

    def read_ids(self, start: int, stop: int) -> NDArray[Any]:
        """Read the sample ids of some rows."""
        with reading(self.where, "an AnnData file"), open_hdf5(self.path) as file:
            obs = file["obs"]
            return np.asarray(obs[obs.attrs["_index"]].asstr()[start:stop])


def _stored(file: Any, key: str, path: str) -> Any:
    """Return what can be sliced: an HDF5 dataset, or anndata's sparse one."""
    tables = find_tables(file, {}, lambda group, part: group.get(part), TABLES)
    place = tables[pick([key], tables, path)]
    item = place.owner[place.part][place.name] if place.name else place.owner[place.part]
    if hasattr(item, "shape"):
        return item
    if str(item.attrs.get("encoding-type")) != "csr_matrix":
        raise InputError(f"{path}::{key} is stored by columns; store it as CSR to read it by rows.")
    return require("anndata.io", "singlecell").sparse_dataset(item)


# Views -----------------------------------------------------------------------------------------------

ENDINGS = (".npy", ".parquet", ".h5ad")
"""File types that can be read in blocks of rows."""


def can_read_by_rows(words: Iterable[str]) -> bool:
    """Return whether all of these files, as given on the command line, can be read in blocks of rows."""
    return all(_without_key(word)[0].endswith(ENDINGS) for word in words)


def open_row_tables(words: Sequence[str], options: TableOptions = AUTOMATIC) -> dict[str, RowTable]:
    """Open views that stay in their files.

    Parameters
    ----------
    words : each ``path``, ``name=path`` or ``path::key``; a path may be a pattern such as ``rna/*.parquet``
        Parquet files that match one pattern, or that are given the same view name, form one view.
    options : `id_column` of Parquet files, and `missing`
    """
    files: dict[str, list[str]] = {}
    keys: dict[str, str] = {}
    for word in words:
        pattern, key = _without_key(word)
        name, _, rest = pattern.rpartition("=") if not Path(pattern).exists() else ("", "", pattern)
        found = sorted(glob.glob(rest)) if glob.has_magic(rest) else [rest]
        missing = next((path for path in found if not Path(path).is_file()), None if found else rest)
        if missing is not None:
            raise InputError(f"{missing} was not found; give the path of a table file, or a pattern of such paths.")
        name = name or (Path(rest).parent.name if len(found) > 1 else stem(Path(rest)))
        files.setdefault(name, []).extend(found)
        keys[name] = key
    if not files:
        raise InputError("Got no files; give at least one table of samples by features.")
    return {name: _open(name, paths, keys[name], options) for name, paths in files.items()}


def naming_table(tables: Mapping[str, RowTable]) -> RowTable:
    """Return the first view that names its samples, otherwise the first of all."""
    return next((table for table in tables.values() if table.has_ids), next(iter(tables.values())))


def group_by_folder(words: Sequence[str]) -> list[str]:
    """Name Parquet files after their folders, if they have no names and come from several folders.

    So ``rna/*.parquet protein/*.parquet`` are two views, even if the shell has expanded the patterns.
    """
    plain = [Path(word).parent for word in words if word.endswith(".parquet") and "=" not in word]
    if len(plain) < len(words) or len(set(plain)) < 2:
        return list(words)
    return [f"{Path(word).parent.name}={word}" for word in words]


def _open(name: str, paths: Sequence[str], key: str, options: TableOptions) -> RowTable:
    if key and not paths[0].endswith(".h5ad"):
        raise InputError(f"{paths[0]}::{key} is read in blocks of rows, always the whole table; leave out ::{key}.")
    missing = tuple(missing_numbers(options))
    if all(path.endswith(".parquet") for path in paths):
        return replace(ParquetRows.open(paths, options), missing=missing)
    if len(paths) > 1:
        raise InputError(f"View {name!r} has {len(paths)} files; only Parquet files can be split into several.")
    if not paths[0].endswith(ENDINGS):
        raise InputError(f"{paths[0]} cannot be read in blocks of rows; give files of type {quoted(ENDINGS)}.")
    if paths[0].endswith(".h5ad"):
        return replace(AnnDataRows.open(paths[0], key or "X"), missing=missing)
    return replace(NpyRows.open(paths[0]), missing=missing)


def _without_key(word: str) -> tuple[str, str]:
    path, _, key = str(word).partition("::")
    return path, key
