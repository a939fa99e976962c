"""MATLAB files: the tables in cell arrays, or all matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from manyview.checks import InputError, quoted
from manyview.datasets.mat import CLASSES, cell_contents, load_mat
from manyview.io.reading import ID_KEYS, Table, TableOptions, pick


def read_matlab(path: Path, keys: tuple[str, ...], _: TableOptions) -> list[Table]:
    """Read the tables in the cell arrays of a .mat file or, if it has none, its matrices; or what has the key.

    A key is the name of a variable, or a cell such as ``X{2}``. Tables with the samples in their columns are turned
    round if the classes, the ids, or the side that they share tell.
    """
    content = {name: _pieces(name, variable) for name, variable in load_mat(path).items()}
    pieces = {cell: value for inner in content.values() for cell, value in inner.items()}
    if keys:
        key = pick(keys, [*content, *pieces], path)
        chosen = content.get(key) or {key: pieces[key]}
    else:
        cells = {cell: value for cell, value in pieces.items() if cell not in content}
        chosen = _matrices(cells) or _matrices(pieces)
    if not chosen:
        raise InputError(f"{path} holds no matrix there; its variables are {quoted(content)}.")
    ids = next((pieces[key] for key in ID_KEYS if key in pieces), None)
    vectors = (pieces[key] for key in (*ID_KEYS, *CLASSES) if key in pieces and _is_vector(pieces[key]))
    length = next((vector.size for vector in vectors), None)
    tables = _upright(chosen, length)
    return [Table(cell, value, f"{path}::{cell}", ids) for cell, value in tables.items()]


def _pieces(name: str, variable: Any) -> dict[str, Any]:
    """Return what is in a variable: itself, a column of text, or the contents of its cells."""
    contents = cell_contents(variable)
    if sp.issparse(variable) or variable.dtype != object:
        return {name: variable}
    if contents and all(not sp.issparse(value) and value.dtype.kind == "U" for value in contents):
        return {name: np.array(["".join(value.ravel()) for value in contents])}
    return {f"{name}{{{i}}}": value for i, value in enumerate(contents, 1)}


def _is_vector(value: Any) -> bool:
    return not sp.issparse(value) and max(value.shape, default=1) == value.size > 1


def _matrices(pieces: dict[str, Any]) -> dict[str, Any]:
    """Keep what can be a view: numbers, more than one row and column of them."""
    return {cell: value for cell, value in pieces.items() if value.dtype.kind in "biuf" and min(value.shape) > 1}


def _upright(tables: dict[str, Any], length: int | None) -> dict[str, Any]:
    """Turn tables round so that the side of the samples, which all have in common, comes first."""
    sides = next(iter(tables.values())).shape if length is None else (length,)
    for n in sides:
        if all(n in table.shape for table in tables.values()):
            return {cell: table if table.shape[0] == n else table.T for cell, table in tables.items()}
    return tables
