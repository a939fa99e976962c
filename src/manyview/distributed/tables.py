"""Tables of which each worker has or reads a part: dask arrays, dask dataframes, and files."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
from dask.delayed import delayed
from distributed import Client
from numpy.typing import NDArray

from manyview.checks import InputError, a_type_of, quoted
from manyview.distributed.clusters import current_client
from manyview.distributed.ids import check_unique_ids
from manyview.distributed.rows import DaskRows, Part
from manyview.distributed.waiting import worker_threads
from manyview.io.raw_tables import TableOptions
from manyview.io.row_tables import RowTable, naming_table, open_row_tables
from manyview.methods.landmarks.blocks import Block, make_block
from manyview.views.conversion import split_tables

PART_ENTRIES = 2**24  # values in a partition of files, over all views
PARTS_PER_WORKER, SMALLEST_PART = 4, 1000


def as_rows(X: object, client: Client | None = None) -> DaskRows:
    """Return dask arrays or dataframes as rows on the cluster. `fit` does this automatically.

    Views are aligned by position. If dataframes have a text index, it names the samples: it must be the same in all
    views, and no id may appear twice. Views whose partitions differ are rechunked to those of the first, with a
    warning.

    Parameters
    ----------
    X : list, tuple or dict of dask arrays or dataframes, or one of them
        The views.
    client : distributed.Client, optional
        The client of the cluster; by default the one started last.
    """
    client = client or current_client()
    if is_collection(X):
        views: dict[str, Any] = {"view_0": X}
    else:
        tables, names = split_tables(X)
        views = dict(zip(names, tables, strict=True))
    split = {name: _split(name, table) for name, table in views.items()}
    chunks = _common_chunks({name: values for name, (values, _) in split.items()})
    aligned = {name: (values.rechunk((chunks, -1)), _rechunk(ids, chunks)) for name, (values, ids) in split.items()}
    features = {name: _feature_names(table) for name, table in views.items()}
    blocks = {name: values.to_delayed().ravel() for name, (values, _) in aligned.items()}
    ids = {name: ids.to_delayed().ravel() for name, (_, ids) in aligned.items() if ids is not None}
    ends = np.cumsum(chunks)
    make = delayed(block_of_arrays, pure=False)
    parts = []
    for i, (start, stop) in enumerate(zip(ends - chunks, ends, strict=True)):
        tables_here = {name: column[i] for name, column in blocks.items()}
        ids_here = {name: column[i] for name, column in ids.items()}
        parts.append(Part(i, int(start), int(stop), make(tables_here, ids_here, features, int(start), int(stop))))
    rows = DaskRows(client, parts)
    if ids:
        check_unique_ids(rows, list(next(iter(ids.values()))), "the index")
    return rows


def is_collection(X: object) -> bool:
    """Return whether this is one dask array or dataframe."""
    return hasattr(X, "dask") or hasattr(X, "__dask_graph__")


def open_files(
    views: Mapping[str, str | Sequence[str]] | Sequence[str],
    *,
    id_column: str = "auto",
    client: Client | None = None,
) -> DaskRows:
    """Return Parquet, npy or AnnData files as rows on the cluster, for `fit`. Workers read them.

    Parameters
    ----------
    views : dict or list of str
        For each view its name and a path, a pattern such as ``"rna/*.parquet"``, or a list of paths; or paths and
        patterns alone. Parquet files of one view are read one after another. Workers must be able to access the same
        paths.
    id_column : str, default="auto"
        The column of sample ids in Parquet files, or "none". If files name their samples, the names must be the same in
        all views, and no id may appear twice.
    client : distributed.Client, optional
        The client of the cluster; by default the one started last.

    Returns
    -------
    DaskRows
    """
    client = client or current_client()
    named = views.items() if isinstance(views, Mapping) else [("", views)]
    words = [
        f"{name}={path}" if name else str(path)
        for name, paths in named
        for path in ([paths] if isinstance(paths, str) else paths)
    ]
    return file_rows(open_row_tables(words, TableOptions(id_column=id_column)), client)


def file_rows(tables: Mapping[str, RowTable], client: Client, part_rows: int | None = None) -> DaskRows:
    """Return files as rows on the cluster; workers read them, so they must be able to access the same paths."""
    n_samples = next(iter(tables.values())).shape[0]
    for name, table in tables.items():
        if table.shape[0] != n_samples:
            first = next(iter(tables))
            raise InputError(
                f"View {name!r} has {table.shape[0]} samples but view {first!r} has {n_samples}; all views must hold "
                "the same samples in the same order."
            )
    width = sum(table.shape[1] for table in tables.values())
    step = part_rows or rows_per_part(n_samples, width, len(worker_threads(client)))
    check_pieces(tables, PART_ENTRIES // max(width, 1))
    make = delayed(block_of_files, pure=False)
    sent = delayed(dict(tables), pure=False)
    stops = cut_rows(n_samples, step, next(iter(tables.values())).piece_ends)
    parts = [
        Part(i, start, stop, make(sent, start, stop))
        for i, (start, stop) in enumerate(zip([0, *stops], stops, strict=False))
    ]
    rows = DaskRows(client, parts)
    named = naming_table(tables)
    if named.has_ids:
        read = delayed(read_ids, pure=False)
        check_unique_ids(rows, [read(named, part.start, part.stop) for part in parts], named.where)
    return rows


def rows_per_part(n_samples: int, width: int, n_workers: int) -> int:
    """Return the number of rows in a partition: it fits in memory easily, and each worker gets a few partitions."""
    evenly = -(-n_samples // (PARTS_PER_WORKER * max(n_workers, 1)))
    return max(1, min(PART_ENTRIES // max(width, 1), max(evenly, SMALLEST_PART)))


def check_pieces(tables: Mapping[str, RowTable], most: int) -> None:
    """Warn of files that workers have to read several times, because their row groups do not fit into a partition."""
    for name, table in tables.items():
        largest = int(np.diff((0, *table.piece_ends)).max(initial=0))
        if largest > most:
            warnings.warn(
                f"View {name!r} has row groups of {largest} rows; a partition has at most {most}, so workers read them "
                f"several times. Write row groups of at most {most} rows.",
                stacklevel=3,
            )


def cut_rows(n_samples: int, step: int, ends: Sequence[int]) -> list[int]:
    """Return where partitions of at most `step` rows end: at the ends of the file's own pieces, as far as possible."""
    stops = [0]
    while stops[-1] < n_samples:
        start = stops[-1]
        before = bisect_right(ends, start + step)
        end = ends[before - 1] if before else 0
        stops.append(end if end > start else min(start + step, n_samples))
    return stops[1:]


def read_ids(table: RowTable, start: int, stop: int) -> NDArray[Any]:
    """Read the ids of a partition."""
    return table.read_ids(start, stop)


# On workers ------------------------------------------------------------------------------------------


def block_of_files(tables: Mapping[str, RowTable], start: int, stop: int) -> Block:
    """Read a partition from files."""
    return make_block({name: table[start:stop] for name, table in tables.items()}, start)


def block_of_arrays(
    tables: Mapping[str, Any],
    ids: Mapping[str, NDArray[Any]],
    features: Mapping[str, Sequence[Any] | None],
    start: int,
    stop: int,
) -> Block:
    """Assemble a partition from the chunks of all views."""
    framed = {
        name: framed_rows(table, ids.get(name), features[name], stop - start, name) for name, table in tables.items()
    }
    return make_block(framed, start)


def framed_rows(table: Any, ids: NDArray[Any] | None, features: Sequence[Any] | None, n_rows: int, name: str) -> Any:
    """Return the rows of a view in one partition, with names if there are any; refuse a chunk of another shape."""
    if len(table.shape) != 2 or table.shape[0] != n_rows or (features is not None and table.shape[1] != len(features)):
        width = "" if features is None else f" by {len(features)}"
        raise InputError(
            f"View {name!r} has shape {table.shape} here, but {n_rows}{width} was announced; give partitions of the "
            "same columns."
        )
    if ids is None and features is None:
        return table
    columns = None if features is None else list(features)
    return pd.DataFrame(table, index=None if ids is None else pd.Index(ids), columns=columns)


def check_frame(
    frame: pd.DataFrame, expected: Mapping[Any, str], view: str, partition_info: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Refuse a partition whose columns or types are not those of the others."""
    number = "?" if partition_info is None else partition_info.get("number", "?")
    own = {name: str(dtype) for name, dtype in frame.dtypes.items()}
    odd = [name for name in expected if name not in own] + [name for name in own if name not in expected]
    if odd:
        raise InputError(f"Partition {number} of view {view!r} differs in its columns: {quoted(odd)} not in all.")
    name = next((name for name in expected if own[name] != expected[name]), None)
    if name is not None:
        raise InputError(
            f"Partition {number} of view {view!r} has column {name!r} of type {own[name]}; it is {expected[name]} in "
            "the others. Write them with the same type."
        )
    return frame


# Collections -----------------------------------------------------------------------------------------


def _split(name: str, table: Any) -> tuple[da.Array, da.Array | None]:
    """Return the values of a view as a dask array, and its sample ids if it has any."""
    if isinstance(table, da.Array):
        if table.ndim != 2:
            raise InputError(f"View {name!r} is {table.ndim}-D; a view is a 2-D table of samples by features.")
        if np.isnan(table.shape[0]):
            table = table.compute_chunk_sizes()
        return table.rechunk((table.chunks[0], -1)), None
    if not hasattr(table, "map_partitions"):
        raise InputError(
            f"View {name!r} is {a_type_of(table)}; with Dask, give all views as dask arrays or dataframes."
        )
    texts = [f"{column} ({dtype})" for column, dtype in table.dtypes.items() if dtype.kind not in "biuf"]
    if texts:
        raise InputError(f"View {name!r} has non-numeric columns: {quoted(texts)}. Drop them, or make one the index.")
    expected = {column: str(dtype) for column, dtype in table.dtypes.items()}
    checked = table.map_partitions(check_frame, expected, name, meta=table._meta)
    values = checked.to_dask_array(lengths=True)
    named = table._meta.index.dtype.kind not in "iuf"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that text becomes objects
        return values, table.index.to_dask_array(lengths=values.chunks[0]) if named else None


def _common_chunks(views: Mapping[str, da.Array]) -> tuple[int, ...]:
    """Return the rows of each partition, as in the first view; warn of views that have to be rechunked."""
    first = next(iter(views))
    chunks: tuple[int, ...] = tuple(size for size in views[first].chunks[0] if size > 0)
    for name, values in views.items():
        if values.shape[0] != views[first].shape[0]:
            raise InputError(
                f"View {name!r} has {values.shape[0]} samples but view {first!r} has {views[first].shape[0]}; all "
                "views must hold the same samples in the same order."
            )
        if values.chunks[0] != chunks and name != first:
            warnings.warn(
                f"View {name!r} has other partitions than view {first!r}: its rows are moved between workers. Give "
                "all views the same partitions to avoid that.",
                stacklevel=4,
            )
    if not chunks:
        raise InputError(f"View {first!r} holds no samples; give one row per sample.")
    return chunks


def _rechunk(ids: da.Array | None, chunks: tuple[int, ...]) -> da.Array | None:
    return None if ids is None else ids.rechunk((chunks,))


def _feature_names(table: Any) -> list[Any] | None:
    return list(table.columns) if hasattr(table, "columns") else None
