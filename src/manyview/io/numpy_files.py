"""npy files, and npz files with several arrays or a sparse matrix. Nothing is unpickled."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manyview.checks import InputError, quoted
from manyview.io.guards import check_size, reading
from manyview.io.raw_tables import ID_KEYS, RawTable, TableOptions, pick

SPARSE_KEYS = {"format", "shape", "data"}  # some of those that scipy.sparse.save_npz writes


def read_npy(path: Path, keys: tuple[str, ...], _: TableOptions) -> list[RawTable]:
    """Read an npy file, which has no keys."""
    if keys:
        raise InputError(f"{path} contains one array; leave out '::{keys[0]}'.")
    with reading(path, "a numpy file"), path.open("rb") as file:
        return [RawTable(path.stem, _decodable(np.lib.format.read_array(file, allow_pickle=False)), str(path))]


def read_npz(path: Path, keys: tuple[str, ...], _: TableOptions) -> list[RawTable]:
    """Read the 2-D arrays of an npz file, or the array named by a key; "sample_ids" or "ids" hold the sample ids."""
    with reading(path, "a numpy file"):
        with zipfile.ZipFile(path) as archive:
            check_size(path, sum(info.file_size for info in archive.infolist()))
        with np.load(path, allow_pickle=False) as arrays:
            if set(arrays.files) >= SPARSE_KEYS:
                return [RawTable(path.stem, sp.load_npz(path), str(path))]
            ids = next((_texts(_array(arrays, key, path)) for key in ID_KEYS if key in arrays), None)
            chosen = [pick(keys, arrays.files, path)] if keys else [key for key in arrays.files if key not in ID_KEYS]
            tables = [RawTable(key, _array(arrays, key, path), f"{path}::{key}", ids) for key in chosen]
    if keys:
        return tables
    tables = [table for table in tables if table.values.ndim == 2]
    if not tables:
        raise InputError(f"{path} contains no 2-D array; its arrays are {quoted(arrays.files)}.")
    return tables


def _array(arrays: Any, key: str, path: Path) -> NDArray[Any]:
    with reading(f"{path}::{key}", "an array"):
        return _decodable(np.asarray(arrays[key]))


def _decodable(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array; raise if it holds text that cannot be decoded, which numpy notices only when it is used."""
    if array.dtype.kind == "U":
        array.tolist()
    return array


def _texts(ids: NDArray[Any]) -> NDArray[Any]:
    return np.char.decode(ids, "utf-8") if ids.dtype.kind == "S" else ids
