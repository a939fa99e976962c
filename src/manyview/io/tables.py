"""Views, labels and metadata from files of any known format, matched by sample id."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.checks import InputError, check_choice, helped_by, quoted
from manyview.io.excel import read_excel
from manyview.io.frames import check_ids, holds_numbers, mark_missing, normalize_ids, to_numeric
from manyview.io.guards import reading
from manyview.io.isolated import isolated
from manyview.io.matching import MissingSamples, find_rows, match_samples, missing_samples, no_overlap_error
from manyview.io.matlab import CLASSES, read_matlab
from manyview.io.numpy_files import read_npy, read_npz
from manyview.io.parquet import read_parquet
from manyview.io.raw_tables import RawTable, Reader, TableOptions, stem
from manyview.io.shared_ids import find_shared_ids
from manyview.io.singlecell import read_singlecell
from manyview.io.text import read_text
from manyview.methods.cautions import warn_of_codes_in_frame
from manyview.typing import Indices
from manyview.views.container import Views

SAMPLES = ("all", "common")
AUTOMATIC = TableOptions()
LABEL = "label"  # name of the label column; without one of that name, the last column is used


@dataclass(frozen=True)
class Format:
    """How to read files with a given extension, the keys of labels or metadata in them, and the key of a column."""

    read: Reader
    about_samples: tuple[str, ...] = ()
    column: str | None = None


FORMATS: dict[str, Format] = {
    ".csv": Format(read_text, column="COLUMN"),
    ".tsv": Format(read_text, column="COLUMN"),
    ".txt": Format(read_text, column="COLUMN"),
    ".csv.gz": Format(read_text, column="COLUMN"),
    ".tsv.gz": Format(read_text, column="COLUMN"),
    ".txt.gz": Format(read_text, column="COLUMN"),
    ".parquet": Format(read_parquet, column="COLUMN"),
    ".npy": Format(read_npy),
    ".npz": Format(read_npz, about_samples=("labels", "label", "y", "target")),
    ".mat": Format(isolated(read_matlab), about_samples=CLASSES),
    ".xlsx": Format(isolated(read_excel)),
    ".h5ad": Format(isolated(read_singlecell), about_samples=("obs",), column="obs/COLUMN"),
    ".h5mu": Format(isolated(read_singlecell), about_samples=("obs",), column="obs/COLUMN"),
}
"""Ending to format."""

SIGNATURES: dict[bytes, tuple[str, ...]] = {
    b"PK\x03\x04": (".npz", ".xlsx"),
    b"\x93NUMPY": (".npy",),
    b"PAR1\x15": (".parquet",),
    b"\x89HDF": (".h5ad", ".h5mu", ".mat"),
    b"MATLAB 5.0 MAT-file": (".mat",),
    b"MATLAB 7.3 MAT-file": (".mat",),
    b"\x1f\x8b": (".csv.gz", ".tsv.gz", ".txt.gz"),
}
"""First bytes of a file to its possible endings."""


@dataclass(frozen=True)
class LoadedViews:
    """Views as read from files.

    Attributes
    ----------
    views : Views
        The views, of the same samples in the same order.
    unmatched : dict of str to MissingSamples
        The samples missing from each view, by view name; complete views are not listed.
    """

    views: Views
    unmatched: dict[str, MissingSamples]


@helped_by("files")
def read_views(paths: Iterable[str | Path], *, samples: str = "all", options: TableOptions = AUTOMATIC) -> LoadedViews:
    """Read views of the same samples from one or more files, matched by sample id if there are ids.

    Parameters
    ----------
    paths : each a path, ``path::key`` for one table in a file, or ``name=path`` to name the view
        If a file of that full name exists, that file is read.
    samples : "all" or "common", default="all"
        Whether to keep all samples, marked absent in views that lack them, or only those present in every file.
    options : TableOptions, optional
        How to read text files and sheets.
    """
    check_choice("samples", samples, SAMPLES)
    sources = [parse_source(path) for path in paths]
    if not sources:
        raise InputError("Got no files; give at least one table of samples by features.")
    twice = [source for source in sources if source.name is None and sources.count(source) > 1]
    if twice:
        raise InputError(
            f"{twice[0].path} is given twice; leave one out, or name the views if you mean it: NAME={twice[0].path}."
        )
    by_source = [(source, _read_views_of(source, options)) for source in sources]
    tables = _with_unique_names(by_source)
    if options.id_column == "auto":
        tables = [check_ids(table) for table in find_shared_ids(tables)]
    tables = [to_numeric(table, options) for table in tables]
    matched = match_samples(tables, samples)
    views = Views(matched.arrays, names=[table.name for table in tables], sample_ids=matched.ids)
    views.feature_names = tuple(table.features for table in tables)
    return LoadedViews(views, matched.unmatched)


def label_column(table: RawTable) -> pd.Series:
    """Return the column of labels: the one named "label", as in the results of this package, otherwise the last one.

    If that is a choice among several columns, a warning names it, and says how to choose another.
    """
    names = [str(name) for name in table.values.columns]
    if LABEL in names or len(names) == 1:
        return table.values.iloc[:, names.index(LABEL) if LABEL in names else 0]
    column = FORMATS[_checked_ending(Path(table.file))].column
    how = f"name another as {table.file}::{column}" if column else f"call the one you mean {LABEL!r}"
    warnings.warn(
        f"{table.where} has no column {LABEL!r}; its last column, {names[-1]!r}, was read as the labels. If that is "
        f"wrong, {how}.",
        stacklevel=2,
    )
    return table.values.iloc[:, -1]


@helped_by("files")
def read_labels(
    path: str | Path, sample_ids: NDArray[Any] | None, n_samples: int, *, options: TableOptions = AUTOMATIC
) -> NDArray[Any]:
    """Read one label per sample: a table's column "label", otherwise its last one, or "labels" in an npz or .mat file.

    Parameters
    ----------
    path : str or Path
        The file, or ``path::key``.
    sample_ids : array or None
        Sample ids to match the labels by; None matches them by position.
    n_samples : int
        Number of samples.
    options : TableOptions, optional
        How to read text files and sheets.
    """
    table, rows = _read_about(path, sample_ids, n_samples, options)
    if (rows < 0).any():
        missing = missing_samples(rows, np.asarray(sample_ids))
        raise InputError(f"{table.where} has no label for {missing} of the {n_samples} samples; give one per sample.")
    labels = label_column(table).to_numpy()[rows]
    if pd.isna(labels).any():
        raise InputError(f"{table.where} has {int(pd.isna(labels).sum())} missing labels; give one per sample.")
    return labels


@helped_by("files")
def read_metadata(
    path: str | Path, sample_ids: NDArray[Any] | None, n_samples: int, *, options: TableOptions = AUTOMATIC
) -> pd.DataFrame:
    """Read a table about the samples, with columns of any type; missing samples get NaN, with a warning.

    Parameters
    ----------
    path : str or Path
        The file, or ``path::key``.
    sample_ids : array or None
        Sample ids to match the rows by; None matches them by position.
    n_samples : int
        Number of samples.
    options : TableOptions, optional
        How to read text files and sheets.
    """
    table, rows = _read_about(path, sample_ids, n_samples, options)
    frame = mark_missing(table.values, options).reset_index(drop=True).reindex(rows)
    warn_of_codes_in_frame(frame, table.where)
    if (rows < 0).any():
        missing = missing_samples(rows, np.asarray(sample_ids))
        warnings.warn(f"{table.where} has no row for {missing} of the {n_samples} samples.", stacklevel=2)
    return frame.set_axis(pd.RangeIndex(n_samples) if sample_ids is None else pd.Index(sample_ids), axis=0)


@helped_by("files")
def check_files(*paths: str | Path | None) -> None:
    """Raise if a path, or ``path::key``, is not a file of a known type; None is left out.

    Parameters
    ----------
    *paths : str, Path or None
        The paths.
    """
    for path in paths:
        if path is not None:
            _checked_ending(parse_source(path).path)


# Files ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """A file, and optionally the key of a table in it and the name of the view."""

    path: Path
    key: str | None = None
    name: str | None = None


def parse_source(text: str | Path) -> Source:
    """Parse ``name=path::key``; if it is ambiguous, take the first meaning whose file exists."""
    readings = list(_possible_sources(str(text)))
    return next((source for source in readings if source.path.exists()), readings[-1])


def _possible_sources(text: str) -> Iterator[Source]:
    """Yield the possible meanings of ``name=path::key``, starting with a file of that full name."""
    name, equals, rest = text.partition("=")
    for name_, words in ((None, text), (name, rest)) if name and equals else ((None, text),):
        path, colons, key = words.partition("::")
        yield Source(Path(words), name=name_)
        if colons:
            yield Source(Path(path), key, name_)


def _checked_ending(path: Path) -> str:
    """Return a file's extension, checked against its first bytes."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "is not a file" if path.exists() else "was not found"
        raise InputError(f"{path} {what}; give the path of a table file.")
    ending = "".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else path.suffixes[-1:]).lower()
    if ending not in FORMATS:
        raise InputError(f"{path} has an unknown type {ending!r}; known types are {quoted(FORMATS, len(FORMATS))}.")
    with reading(path, "a file"), path.open("rb") as file:
        start = file.read(max(map(len, SIGNATURES)))
    if not start:
        raise InputError(f"{path} is empty; give a table with one line per sample.")
    endings = next((endings for sign, endings in SIGNATURES.items() if start.startswith(sign)), (ending,))
    if ending not in endings:
        raise InputError(f"{path} has the content of a file of type {quoted(endings)}; rename it accordingly.")
    return ending


def _read(source: Source, options: TableOptions, about_samples: bool = False) -> list[RawTable]:
    """Read the table that a source names; by default the views, or the labels or metadata."""
    form = FORMATS[_checked_ending(source.path)]
    default = form.about_samples if about_samples else ()
    return form.read(source.path, default if source.key is None else (source.key,), options)


def _read_views_of(source: Source, options: TableOptions) -> list[RawTable]:
    """Return the tables of a file; if there are several, those with numbers."""
    tables = _read(source, options)
    text = [table.where for table in tables if not holds_numbers(table)]
    if text and len(text) < len(tables):
        warnings.warn(f"Ignored {quoted(text)}: no numbers found.", stacklevel=2)
        tables = [table for table in tables if table.where not in text]
    return [check_ids(table) for table in tables]


def _with_unique_names(by_source: list[tuple[Source, list[RawTable]]]) -> list[RawTable]:
    """Name views as requested, or after their file or key; if that is not unique, add the folder or file."""
    counts = Counter(table.name for source, tables in by_source for table in tables if source.name is None)

    def named(source: Source, table: RawTable, alone: bool) -> RawTable:
        if source.name is not None:
            return replace(table, name=source.name if alone else f"{source.name}/{table.name}")
        if counts[table.name] == 1:
            return table
        own = stem(source.path)
        where = own if table.name != own else source.path.resolve().parent.name
        return replace(table, name=f"{where}/{table.name}")

    return [named(source, table, len(tables) == 1) for source, tables in by_source for table in tables]


def read_table(
    path: str | Path, *, options: TableOptions = AUTOMATIC, sample_ids: NDArray[Any] | None = None
) -> RawTable:
    """Read a table about samples as a DataFrame of any types, with the sample ids if it has any.

    With `sample_ids`, a column that contains them is recognised as the ids, whatever its name.
    """
    source = parse_source(path)
    tables = _read(source, options, about_samples=True)
    if len(tables) > 1:
        keys = [table.where.removeprefix(f"{source.path}::") for table in tables]
        raise InputError(
            f"{source.path} contains several tables; choose one with {source.path}::KEY; the keys are {quoted(keys)}."
        )
    table = _as_frame(tables[0])
    if sample_ids is not None and options.id_column == "auto":
        (table,) = find_shared_ids([table], sample_ids)
    table = check_ids(table)
    if table.values.shape[1] == 0:
        raise InputError(f"{table.where} contains only sample ids; add a column.")
    return table


def _read_about(
    path: str | Path, sample_ids: NDArray[Any] | None, n_samples: int, options: TableOptions
) -> tuple[RawTable, Indices]:
    """Return a table about the samples as a DataFrame, and the row of each sample in it, -1 if it is missing."""
    table = read_table(path, options=options, sample_ids=sample_ids)
    ids = None if sample_ids is None else normalize_ids(sample_ids).to_numpy()
    rows = find_rows(table, ids, n_samples)
    if ids is not None and (rows < 0).all():
        raise no_overlap_error(table, ids)
    return table, rows


def _as_frame(table: RawTable) -> RawTable:
    values = table.values
    if isinstance(values, pd.DataFrame):
        return table
    if sp.issparse(values) or values.ndim not in (1, 2):
        raise InputError(f"{table.where} is not a table (shape {values.shape}); give one value per sample.")
    values = values.astype(values.dtype.newbyteorder("="), copy=False)  # pandas cannot select from other byte orders
    column = values.ravel() if 1 in values.shape else values
    return replace(table, values=pd.DataFrame(column, columns=[table.name] if column.ndim == 1 else None))
