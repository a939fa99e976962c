"""MATLAB files of all versions."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.checks import InputError, quoted
from manyview.io.guards import check_own_values, check_size, declared_bytes, open_hdf5, reading
from manyview.io.raw_tables import ID_KEYS, RawTable, TableOptions, pick
from manyview.typing import Indices

TABLES = ("X", "fea", "data", "views")
CLASSES = ("Y", "y", "gt", "gnd", "label", "labels", "truth", "truelabel")
HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
HDF5_OFFSET = 512  # MATLAB 7.3 puts its own header first
DEEPEST = 8  # cells inside cells


def read_matlab(path: Path, keys: tuple[str, ...], _: TableOptions) -> list[RawTable]:
    """Read the tables in the cell arrays of a .mat file or, if there are none, its matrices; or the variable of a key.

    A key is the name of a variable, or a cell such as ``X{2}``. Tables with samples in columns are transposed if the
    number of classes or ids, or the dimension shared by all tables, shows it.
    """
    content = {name: _pieces(name, variable) for name, variable in load_mat(path).items()}
    pieces = {cell: value for inner in content.values() for cell, value in inner.items()}
    if keys:
        key = pick(keys, [*content, *pieces], path)
        chosen = content.get(key) or {key: pieces[key]}
    else:
        cells = {cell: value for cell, value in pieces.items() if cell not in content}
        chosen = _matrices(cells) or _matrices(pieces)
        left = [cell for cell, value in cells.items() if cell not in chosen and math.prod(value.shape)]
        if chosen and left:
            warnings.warn(
                f"{path}: left out {quoted(left)}: text, a single row or column, or cells inside cells.", stacklevel=2
            )
    if not chosen:
        raise InputError(f"{path} contains no matrix; its variables are {quoted(content)}.")
    ids = next((pieces[key] for key in ID_KEYS if key in pieces), None)
    vectors = (pieces[key] for key in (*ID_KEYS, *CLASSES) if key in pieces and _is_vector(pieces[key]))
    length = next((vector.size for vector in vectors), None)
    tables = _upright(chosen, length)
    return [RawTable(cell, value, f"{path}::{cell}", ids) for cell, value in tables.items()]


def _pieces(name: str, variable: Any) -> dict[str, Any]:
    """Return the parts of a variable: itself, a column of text, or the contents of its cells."""
    contents = cell_contents(variable)
    if sp.issparse(variable) or variable.dtype != object:
        return {name: variable}
    if contents and all(not sp.issparse(value) and value.dtype.kind == "U" for value in contents):
        return {name: np.array(["".join(value.ravel()) for value in contents])}
    return {f"{name}{{{i}}}": value for i, value in enumerate(contents, 1)}


def _is_vector(value: Any) -> bool:
    return not sp.issparse(value) and max(value.shape, default=1) == value.size > 1


def _matrices(pieces: dict[str, Any]) -> dict[str, Any]:
    """Keep the matrices of numbers with more than one row and column."""
    return {cell: value for cell, value in pieces.items() if value.dtype.kind in "biuf" and min(value.shape) > 1}


def _upright(tables: dict[str, Any], length: int | None) -> dict[str, Any]:
    """Transpose tables so that the dimension they share, the samples, comes first."""
    sides = next(iter(tables.values())).shape if length is None else (length,)
    for n in sides:
        if all(n in table.shape for table in tables.values()):
            return {cell: table if table.shape[0] == n else table.T for cell, table in tables.items()}
    return tables


def read_labelled(path: str | Path) -> tuple[list[Any], Indices]:
    """Read a multi-view data set in its usual layout: a cell array of tables, and the class of each sample.

    The tables are called X, fea, data or views, the classes Y, gt, gnd, label, ... Tables with samples in columns are
    transposed.
    """
    content = load_mat(path)
    cells, classes = _first(content, TABLES, path), _first(content, CLASSES, path)
    labels = np.unique(unwrap(classes).ravel(), return_inverse=True)[1]
    tables = [_samples_first(table, len(labels), f"{path}, view {i}") for i, table in enumerate(cell_contents(cells))]
    return tables, labels


def load_mat(path: str | Path) -> dict[str, Any]:
    """Return the variables of a .mat file: arrays, sparse matrices, text, and cell arrays as object arrays."""
    with reading(path, "a .mat file"):
        return _load_hdf5(path) if _is_hdf5(path) else _load_v5(path)


def cell_contents(variable: Any) -> list[Any]:
    """Return the contents of a cell array, or the variable itself if it is not one."""
    if sp.issparse(variable) or variable.dtype != object:
        return [variable]
    return [unwrap(cell) for cell in variable.ravel()]


def unwrap(cell: Any) -> Any:
    """Take a table out of the cell that contains it."""
    while not sp.issparse(cell) and cell.dtype == object and cell.size == 1:
        cell = cell.ravel()[0]
    return cell


def _first(content: dict[str, Any], names: tuple[str, ...], path: str | Path) -> Any:
    found = next((content[name] for name in names if name in content), None)
    if found is None:
        raise InputError(f"{path} contains {quoted(content)}, but none of {quoted(names, 10)}.")
    return found


def _samples_first(table: Any, n: int, where: str) -> Any:
    if table.shape[0] == n:
        return table
    if table.ndim == 2 and table.shape[1] == n:
        return table.T
    raise InputError(f"{where} has shape {table.shape}, but there are {n} labels; one dimension must be the samples.")


# File versions -----------------------------------------------------------------------------------


def _is_hdf5(path: str | Path) -> bool:
    """Return whether the file is of version 7.3, which is HDF5."""
    with open(path, "rb") as file:
        start = file.read(HDF5_OFFSET + len(HDF5_SIGNATURE))
    return HDF5_SIGNATURE in (start[: len(HDF5_SIGNATURE)], start[HDF5_OFFSET:])


def _load_v5(path: str | Path) -> dict[str, Any]:
    import scipy.io  # not at the top: keeps `import manyview` fast

    declared = [shape for _, shape, kind in scipy.io.whosmat(path) if kind != "sparse"]
    check_size(path, 8 * sum(math.prod(shape) for shape in declared))
    content = scipy.io.loadmat(path)
    return {name: value for name, value in content.items() if not name.startswith("__")}


def _load_hdf5(path: str | Path) -> dict[str, Any]:
    with open_hdf5(path) as file:
        return {name: _from_hdf5(item, f"{path}::{name}") for name, item in file.items() if not name.startswith("#")}


def _from_hdf5(item: Any, where: str, depth: int = 0) -> Any:
    """Return one variable, transposed because MATLAB stores columns first; a struct becomes an empty cell array."""
    if depth > DEEPEST:
        raise InputError(f"{where} has cells nested more than {DEEPEST} deep; put the tables in one cell array.")
    check_own_values(item, where)  # items reached only by reference are not found from the root
    check_size(where, declared_bytes(item))
    if "MATLAB_sparse" in item.attrs:
        return _sparse_from_hdf5(item)
    if not hasattr(item, "dtype"):
        return np.empty((0, 0), dtype=object)
    if item.attrs.get("MATLAB_empty", 0):
        return np.empty((0, 0))
    values = np.asarray(item[()]).T
    if values.dtype == object:
        return _cells_from_hdf5(item, values, where, depth + 1)
    return _text(values) if item.attrs.get("MATLAB_class") == b"char" else values


def _cells_from_hdf5(item: Any, references: NDArray[Any], where: str, depth: int) -> NDArray[Any]:
    cells = np.empty(references.shape, dtype=object)
    for place, reference in np.ndenumerate(references):
        cells[place] = _from_hdf5(item.file[reference], where, depth)
    return cells


def _sparse_from_hdf5(item: Any) -> Any:
    """Return a sparse matrix, stored by column; a matrix without entries has no data."""
    columns = np.asarray(item["jc"]).astype(np.int64)
    values, rows = (np.asarray(item[key]) if key in item else np.empty(0) for key in ("data", "ir"))
    shape = int(item.attrs["MATLAB_sparse"]), len(columns) - 1
    return sp.csc_array((values, rows.astype(np.int64), columns), shape=shape)


def _text(codes: NDArray[Any]) -> NDArray[np.str_]:
    """Return rows of UTF-16 code units as text."""
    return np.array([np.ascontiguousarray(row, dtype="<u2").tobytes().decode("utf-16-le") for row in codes])
