"""Multi-view data in a .mat file, as they are passed around: a cell array of tables, and the classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from manyview.checks import InputError, quoted
from manyview.datasets.record import Dataset
from manyview.views import Views

TABLES = ("X", "fea", "data", "views")
CLASSES = ("Y", "y", "gt", "gnd", "label", "labels", "truth", "truelabel")


def read_mat(path: str | Path, name: str, description: str = "") -> Dataset:
    """Read a cell array of tables (X, fea, data or views) and classes (Y, gt, gnd, label, ...).

    A table with the samples in its columns is turned round.
    """
    import scipy.io  # kept out of `import manyview`

    try:
        content = scipy.io.loadmat(path)
    except NotImplementedError as error:
        raise InputError(f"{path} is a MATLAB 7.3 file; save it with `save(..., '-v7')` to have it read.") from error
    except Exception as error:  # scipy raises many kinds on files that are none
        raise InputError(f"{path} cannot be read as a .mat file: {error}") from error
    cells, classes = _first(content, TABLES, path), _first(content, CLASSES, path)
    labels = np.unique(_unwrap(classes).ravel(), return_inverse=True)[1]
    tables = [_upright(_unwrap(cell), len(labels), f"{path}, view {i}") for i, cell in enumerate(cells.ravel())]
    return Dataset(name, Views(tables), labels, description)


def _first(content: dict[str, Any], names: tuple[str, ...], path: str | Path) -> Any:
    found = next((content[name] for name in names if name in content), None)
    if found is None:
        own = [name for name in content if not name.startswith("__")]
        raise InputError(f"{path} holds {quoted(own)}, but none of {quoted(names, 10)}.")
    return found


def _unwrap(cell: Any) -> Any:
    """Take a table out of the cell that holds it."""
    while not sp.issparse(cell) and cell.dtype == object and cell.size == 1:
        cell = cell.ravel()[0]
    return cell


def _upright(table: Any, n: int, where: str) -> Any:
    if table.shape[0] == n:
        return table
    if table.ndim == 2 and table.shape[1] == n:
        return table.T
    raise InputError(f"{where} has shape {table.shape}, but there are {n} labels; one side must be the samples.")
