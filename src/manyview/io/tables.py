"""Views, labels and metadata from users' files of any known format, matched by the samples' ids."""

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

from manyview.checks import InputError, check_choice, quoted
from manyview.io.excel import read_excel
from manyview.io.frames import clean_ids, comparable, holds_numbers, numeric
from manyview.io.guards import reading
from manyview.io.matching import Absent, absent, find_rows, match, no_overlap
from manyview.io.matlab import CLASSES, read_matlab
from manyview.io.numpy_files import read_npy, read_npz
from manyview.io.parquet import read_parquet
from manyview.io.reading import Reader, Table, TableOptions, stem
from manyview.io.singlecell import read_singlecell
from manyview.io.text import read_text
from manyview.typing import Indices
from manyview.views.container import Views

KEEP = ("all", "common")
AUTOMATIC = TableOptions()


@dataclass(frozen=True)
class Format:
    """How files of one ending are read, and the keys of labels or metadata in them."""

    read: Reader
    about_samples: tuple[str, ...] = ()


FORMATS: dict[str, Format] = {
    ".csv": Format(read_text),
    ".tsv": Format(read_text),
    ".txt": Format(read_text),
    ".csv.gz": Format(read_text),
    ".tsv.gz": Format(read_text),
    ".txt.gz": Format(read_text),
    ".parquet": Format(read_parquet),
    ".npy": Format(read_npy),
    ".npz": Format(read_npz, about_samples=("labels", "label", "y", "target")),
    ".mat": Format(read_matlab, about_samples=CLASSES),
    ".xlsx": Format(read_excel),
    ".h5ad": Format(read_singlecell, about_samples=("obs",)),
    ".h5mu": Format(read_singlecell, about_samples=("obs",)),
}
"""Ending to format."""

STARTS: dict[bytes, tuple[str, ...]] = {
    b"PK\x03\x04": (".npz", ".xlsx"),
    b"\x93NUMPY": (".npy",),
    b"PAR1\x15": (".parquet",),
    b"\x89HDF": (".h5ad", ".h5mu", ".mat"),
    b"MATLAB 5.0 MAT-file": (".mat",),
    b"MATLAB 7.3 MAT-file": (".mat",),
    b"\x1f\x8b": (".csv.gz", ".tsv.gz", ".txt.gz"),
}
"""First bytes of a file to the endings that it may have."""


@dataclass(frozen=True)
class Loaded:
    """Views as read from files.

    Attributes
    ----------
    views : the views, of the same samples in the same order
    unmatched : the samples of other views that a view lacks, by its name; views that lack none are not in it
    """

    views: Views
    unmatched: dict[str, Absent]


def read_views(paths: Iterable[str | Path], *, keep: str = "all", options: TableOptions = AUTOMATIC) -> Loaded:
    """Read views of the same samples from one file or several, matched by the samples' ids where there are ids.

    Parameters
    ----------
    paths : each a path, ``path::key`` for something in a file, or ``name=path`` to name the view
        A file that exists by the whole of such a name is taken as it is.
    keep : "all" or "common"
        Whether to keep the samples of any file, absent from the views that lack them, or those of all files only.
    options : how to read text and sheets
    """
    check_choice("keep", keep, KEEP)
    sources = [find_source(path) for path in paths]
    if not sources:
        raise InputError("Got no files; give at least one table of samples by features.")
    by_source = [(source, _read_views_of(source, options)) for source in sources]
    tables = [numeric(table, options) for table in _with_unique_names(by_source)]
    arrays, ids, unmatched = match(tables, keep)
    views = Views(arrays, names=[table.name for table in tables], sample_ids=ids)
    views.feature_names = tuple(table.features for table in tables)
    return Loaded(views, unmatched)


def read_labels(
    path: str | Path, sample_ids: NDArray[Any] | None, n_samples: int, *, options: TableOptions = AUTOMATIC
) -> NDArray[Any]:
    """Read one label per sample: the last column of a table, a vector, or "labels" and the like in an npz or .mat."""
    table, rows = _read_about(path, sample_ids, n_samples, options)
    if (rows < 0).any():
        lacking = absent(rows, np.asarray(sample_ids))
        raise InputError(f"{table.where} has no label for {lacking} of the {n_samples} samples; give one per sample.")
    labels = table.values.iloc[rows, -1].to_numpy()
    if pd.isna(labels).any():
        raise InputError(f"{table.where} has {int(pd.isna(labels).sum())} missing labels; give one per sample.")
    return labels


def read_metadata(
    path: str | Path, sample_ids: NDArray[Any] | None, n_samples: int, *, options: TableOptions = AUTOMATIC
) -> pd.DataFrame:
    """Read a table about the samples, columns of any type, a row per sample; what it lacks is NaN, with a warning."""
    table, rows = _read_about(path, sample_ids, n_samples, options)
    frame = table.values.reset_index(drop=True).reindex(rows)
    if (rows < 0).any():
        lacking = absent(rows, np.asarray(sample_ids))
        warnings.warn(f"{table.where} says nothing of {lacking} of the {n_samples} samples.", stacklevel=2)
    return frame.set_axis(pd.RangeIndex(n_samples) if sample_ids is None else pd.Index(sample_ids), axis=0)


# Files ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """A file, and if given what in it is meant, and what to call it."""

    path: Path
    key: str | None = None
    name: str | None = None


def find_source(text: str | Path) -> Source:
    """Take ``name=path::key`` apart, as far as the file is not called so."""
    readings = list(_readings(str(text)))
    return next((source for source in readings if source.path.exists()), readings[-1])


def _readings(text: str) -> Iterator[Source]:
    """Give all ways to read ``name=path::key``, the plainest first."""
    name, equals, rest = text.partition("=")
    for name_, words in ((None, text), (name, rest)) if name and equals else ((None, text),):
        path, colons, key = words.partition("::")
        yield Source(Path(words), name=name_)
        if colons:
            yield Source(Path(path), key, name_)


def _ending(path: Path) -> str:
    """Return how the file's name ends, checked against what is in it."""
    if not path.is_file():
        what = "a folder" if path.is_dir() else "not a file" if path.exists() else "not there"
        raise InputError(f"{path} is {what}; give the path of a table file.")
    ending = "".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else path.suffixes[-1:]).lower()
    if ending not in FORMATS:
        raise InputError(f"{path} is of an unknown type {ending!r}; known are {quoted(FORMATS, len(FORMATS))}.")
    with reading(path, "a file"), path.open("rb") as file:
        start = file.read(max(map(len, STARTS)))
    if not start:
        raise InputError(f"{path} is empty; give a table with a line per sample.")
    endings = next((endings for sign, endings in STARTS.items() if start.startswith(sign)), (ending,))
    if ending not in endings:
        raise InputError(f"{path} is by its content a file of type {quoted(endings)}; give it the right ending.")
    return ending


def _read(source: Source, options: TableOptions, about_samples: bool = False) -> list[Table]:
    """Read what a source asks for; by default the views in it, or what it says about the samples."""
    form = FORMATS[_ending(source.path)]
    default = form.about_samples if about_samples else ()
    return form.read(source.path, default if source.key is None else (source.key,), options)


def _read_views_of(source: Source, options: TableOptions) -> list[Table]:
    """Return the tables of a file; of several, those that hold numbers."""
    tables = _read(source, options)
    text = [table.where for table in tables if not holds_numbers(table)]
    if text and len(text) < len(tables):
        warnings.warn(f"Left out {quoted(text)}: no numbers in there.", stacklevel=2)
        tables = [table for table in tables if table.where not in text]
    return [clean_ids(table) for table in tables]


def _with_unique_names(by_source: list[tuple[Source, list[Table]]]) -> list[Table]:
    """Call views as asked, or after their file or key; where that is not unique, after the folder or file as well."""
    counts = Counter(table.name for source, tables in by_source for table in tables if source.name is None)

    def named(source: Source, table: Table, alone: bool) -> Table:
        if source.name is not None:
            return replace(table, name=source.name if alone else f"{source.name}/{table.name}")
        if counts[table.name] == 1:
            return table
        own = stem(source.path)
        where = own if table.name != own else source.path.resolve().parent.name
        return replace(table, name=f"{where}/{table.name}")

    return [named(source, table, len(tables) == 1) for source, tables in by_source for table in tables]


def _read_about(
    path: str | Path, sample_ids: NDArray[Any] | None, n_samples: int, options: TableOptions
) -> tuple[Table, Indices]:
    """Return a table about the samples, as a DataFrame, and the row of each sample in it, -1 for those it lacks."""
    source = find_source(path)
    tables = _read(source, options, about_samples=True)
    if len(tables) > 1:
        keys = [table.where.removeprefix(f"{source.path}::") for table in tables]
        raise InputError(f"{source.path} holds several tables; pick one with {source.path}::KEY, of {quoted(keys)}.")
    table = clean_ids(_as_frame(tables[0]))
    if table.values.shape[1] == 0:
        raise InputError(f"{table.where} says nothing about the samples but their ids; give a column for it.")
    ids = None if sample_ids is None else comparable(sample_ids).to_numpy()
    rows = find_rows(table, ids, n_samples)
    if ids is not None and (rows < 0).all():
        raise no_overlap(table, ids)
    return table, rows


def _as_frame(table: Table) -> Table:
    values = table.values
    if isinstance(values, pd.DataFrame):
        return table
    if sp.issparse(values) or values.ndim not in (1, 2):
        raise InputError(f"{table.where} is no table of columns (shape {values.shape}); give a value per sample.")
    column = values.ravel() if 1 in values.shape else values
    return replace(table, values=pd.DataFrame(column, columns=[table.name] if column.ndim == 1 else None))
