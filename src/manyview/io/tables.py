"""Readers of tables: one view per file (CSV, TSV, npy), or several in one (npz). Nothing is ever unpickled."""

from __future__ import annotations

import csv
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from manyview.checks import InputError, quoted
from manyview.views import Views

ID_KEYS = ("sample_ids", "ids")
LABEL_KEYS = ("labels", "label", "y", "target")


@dataclass(frozen=True)
class Table:
    """A table as read: its name, its values, and the samples' ids where the file has them."""

    name: str
    values: Any
    ids: NDArray[Any] | None = None


def read_views(paths: Iterable[str | Path]) -> Views:
    """Read one or several files as views of the same samples, matched by id where they have ids."""
    by_file = [(Path(path), _read(Path(path))) for path in paths]
    tables = _align(_with_unique_names(by_file))
    ids = next((table.ids for table in tables if table.ids is not None), None)
    return Views({table.name: table.values for table in tables}, sample_ids=ids)


def read_labels(path: str | Path, sample_ids: NDArray[Any] | None, n_samples: int) -> NDArray[Any]:
    """Read one label per sample: the last column of a table, a 1-D npy, or "labels" in an npz."""
    path = Path(path)
    labels, ids = _LABEL_READERS[_format(path)](path)
    if ids is not None and sample_ids is not None:
        labels = _reorder(Table(path.stem, labels, ids), sample_ids, str(path)).values
    if labels.ndim != 1 or len(labels) != n_samples:
        raise InputError(f"{path} holds labels of shape {labels.shape} for {n_samples} samples; give one per sample.")
    if pd.isna(labels).any():
        raise InputError(f"{path} has {int(pd.isna(labels).sum())} missing labels; give one per sample.")
    return labels


def _format(path: Path) -> str:
    if not path.is_file():
        raise InputError(f"{path} is {'a folder' if path.is_dir() else 'not there'}; give the path of a table file.")
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"{path} is of an unknown type {suffix!r}; known are {quoted(FORMATS)}.")
    return suffix


def _read(path: Path) -> list[Table]:
    return FORMATS[_format(path)](path)


# Text ----------------------------------------------------------------------------------------------


def _read_frame(path: Path) -> pd.DataFrame:
    """Read a delimited text file; the first line is a header unless all of it are numbers."""
    separator = "," if path.suffix.lower() == ".csv" else "\t"
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = next(csv.reader(file, delimiter=separator), [])
        header = None if first and all(map(_is_number, first)) else 0
        frame = pd.read_csv(path, sep=separator, header=header, encoding="utf-8-sig")
    except pd.errors.EmptyDataError:
        raise InputError(f"{path} is empty; give a table with a line per sample.") from None
    except (pd.errors.ParserError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read as a table: {_one_line(error)}") from error
    if frame.empty:
        raise InputError(f"{path} has a header but no samples; give a line per sample.")
    return frame


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column)


def _split_ids(frame: pd.DataFrame, path: Path) -> tuple[pd.DataFrame, NDArray[Any] | None]:
    """Take the first column as ids when it is not numeric."""
    first = frame.iloc[:, 0]
    if _is_numeric(first):
        return frame, None
    if first.isna().any():
        raise InputError(f"{path} has no id in line {int(first.isna().argmax()) + 2}; give every sample an id.")
    return frame.iloc[:, 1:], first.astype(str).to_numpy(dtype=object)


def _read_text(path: Path) -> list[Table]:
    frame, ids = _split_ids(_read_frame(path), path)
    if frame.shape[1] == 0:
        raise InputError(f"{path} has ids but no feature columns; is the delimiter right for {path.suffix!r}?")
    return [Table(path.stem, frame, ids)]


def _labels_from_text(path: Path) -> tuple[NDArray[Any], NDArray[Any] | None]:
    frame = _read_frame(path)
    ids = frame.iloc[:, 0].astype(str).to_numpy(dtype=object) if frame.shape[1] > 1 else None
    return frame.iloc[:, -1].to_numpy(), ids


# numpy ---------------------------------------------------------------------------------------------


def _load(path: Path) -> NDArray[Any] | dict[str, NDArray[Any]]:
    """Read an npy file, or all arrays of an npz; one that is damaged or pickled is named."""
    what = f"{path}"
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return loaded
            arrays = {}
            for key in loaded.files:
                what = f"{path}, array {key!r},"
                arrays[key] = loaded[key]
            return arrays
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{what} cannot be read as a numpy file: {_one_line(error)}") from error


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    loaded = _load(path)
    if isinstance(loaded, np.ndarray):
        raise InputError(f"{path} is an npy file by content; give it the ending .npy.")
    return loaded


def _read_npy(path: Path) -> list[Table]:
    return [Table(path.stem, _single_array(path))]


def _single_array(path: Path) -> NDArray[Any]:
    loaded = _load(path)
    if not isinstance(loaded, np.ndarray):
        raise InputError(f"{path} is an npz file by content; give it the ending .npz.")
    return loaded


def _read_npz(path: Path) -> list[Table]:
    """Every 2-D array is a view; "sample_ids" or "ids" name the samples; other arrays are left alone."""
    arrays = _arrays(path)
    ids = next((arrays[key].astype(str).astype(object) for key in ID_KEYS if key in arrays), None)
    tables = [Table(key, value, ids) for key, value in arrays.items() if value.ndim == 2]
    if not tables:
        raise InputError(f"{path} holds no 2-D array; its arrays are {quoted(arrays)}.")
    return tables


def _labels_from_npz(path: Path) -> tuple[NDArray[Any], NDArray[Any] | None]:
    arrays = _arrays(path)
    found = next((arrays[key] for key in LABEL_KEYS if key in arrays), None)
    if found is None:
        raise InputError(f"{path} holds no labels: none of its arrays {quoted(arrays)} is called {quoted(LABEL_KEYS)}.")
    return found, None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


FORMATS: dict[str, Callable[[Path], list[Table]]] = {
    ".csv": _read_text,
    ".tsv": _read_text,
    ".npy": _read_npy,
    ".npz": _read_npz,
}
_LABEL_READERS: dict[str, Callable[[Path], tuple[NDArray[Any], NDArray[Any] | None]]] = {
    ".csv": _labels_from_text,
    ".tsv": _labels_from_text,
    ".npy": lambda path: (_single_array(path), None),
    ".npz": _labels_from_npz,
}


# Putting tables together -----------------------------------------------------------------------------


def _with_unique_names(by_file: list[tuple[Path, list[Table]]]) -> list[Table]:
    """Call views after their file or array; where that is not unique, after the file's folder or the file as well."""
    counts = Counter(table.name for _, tables in by_file for table in tables)

    def named(path: Path, table: Table) -> Table:
        if counts[table.name] == 1:
            return table
        where = path.stem if table.name != path.stem else path.parent.name
        return replace(table, name=f"{where}/{table.name}")

    return [named(path, table) for path, tables in by_file for table in tables]


def _align(tables: list[Table]) -> list[Table]:
    """Bring tables that have ids into the order of the first of them."""
    with_ids = [table for table in tables if table.ids is not None]
    if not with_ids:
        return tables
    reference = with_ids[0].ids
    assert reference is not None
    return [table if table.ids is None else _reorder(table, reference, f"View {table.name!r}") for table in tables]


def _reorder(table: Table, reference: NDArray[Any], what: str) -> Table:
    """Return the table's rows in the order of the reference's ids; the ids must be the same ones."""
    positions: pd.Index[Any] = pd.Index(np.asarray(table.ids))
    repeated = positions[positions.duplicated()].unique()
    if len(repeated):
        raise InputError(f"{what} has duplicated sample ids: {quoted(repeated)}; keep one row per sample.")
    wanted = pd.Index(reference).astype(str)
    missing, extra = wanted.difference(positions), positions.difference(wanted)
    if len(missing) or len(extra):
        raise InputError(
            f"{what} names other samples than the first view: {len(missing)} missing ({quoted(missing, 3) or 'none'}), "
            f"{len(extra)} that are not in the first ({quoted(extra, 3) or 'none'}). Give the same samples everywhere."
        )
    order = positions.get_indexer(wanted)
    values = table.values.iloc[order] if isinstance(table.values, pd.DataFrame) else table.values[order]
    return replace(table, values=values, ids=np.asarray(reference))
