"""What all readers share: errors that name the file, optional libraries, and limits on memory."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manyview.checks import InputError
from manyview.environment import available_memory
from manyview.views.conversion import check_indices


def require(module: str, extra: str) -> Any:
    """Import an optional library, or say which extra installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise InputError(f'This file needs {module}: pip install "manyview[{extra}]" ({one_line(error)}).') from error


@contextmanager
def reading(where: str | Path, kind: str) -> Iterator[None]:
    """Turn any exception on a bad file into a one-line error that names the file; silence library warnings."""
    with refusing(where, kind), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def refusing(where: str | Path, kind: str) -> Iterator[None]:
    """Turn any exception on a bad file into a one-line error that names the file."""
    try:
        yield
    except InputError:
        raise
    except MemoryError as error:
        raise InputError(f"{where} does not fit into memory.") from error
    except Exception as error:  # libraries raise many types of errors on damaged files
        raise InputError(f"{where} cannot be read as {kind}: {one_line(error)}") from error


_allowed = math.inf


def limit_memory(n_bytes: float) -> None:
    """Treat no more than this as free, in a process with a memory limit."""
    global _allowed
    _allowed = n_bytes


def free_memory() -> float:
    """Return the number of bytes that this process may still allocate."""
    return min(available_memory(), _allowed)


def check_size(where: str | Path, n_bytes: int) -> None:
    """Refuse data that are larger than the free memory, before they are allocated."""
    free = free_memory()
    if n_bytes > free:
        raise InputError(
            f"{where} would take {n_bytes / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB of memory are free; "
            "give a smaller file."
        )


def open_hdf5(path: str | Path) -> Any:
    """Open an HDF5 file for reading; refuse one that takes anything from other files."""
    file = require("h5py", "hdf5").File(path, "r")
    try:
        check_own_values(file, path)
    except BaseException:
        file.close()
        raise
    return file


def check_own_values(item: Any, where: str | Path) -> None:
    """Refuse an HDF5 object that takes values from other files; links are looked at, but not followed."""
    h5py = require("h5py", "hdf5")
    waiting, seen = [item], set()
    while waiting:
        item = waiting.pop()
        address = h5py.h5o.get_info(item.id).addr
        if address in seen:
            continue
        seen.add(address)
        if isinstance(item, h5py.Group):
            links = {name: item.get(name, getlink=True) for name in item}
            foreign = any(isinstance(link, h5py.ExternalLink) for link in links.values())
            waiting += [item[name] for name, link in links.items() if isinstance(link, h5py.HardLink)]
        else:
            foreign = isinstance(item, h5py.Dataset) and bool(item.external or item.is_virtual)
        if foreign:
            raise InputError(f"{where} takes values from other files ({item.name}); give a file that holds its values.")


def declared_bytes(item: Any) -> int:
    """Return the size in memory of an HDF5 dataset, or of all datasets in a group."""
    if hasattr(item, "nbytes"):
        return int(item.nbytes)
    sizes: list[int] = []
    item.visititems(lambda _, inner: sizes.append(int(getattr(inner, "nbytes", 0))))
    return sum(sizes)


MOST = {"rows": 10**6, "columns": 2**25}  # of a sparse matrix that is nearly empty; hashed words have 2**20 columns
PER_ENTRY = 100


def check_sparse(matrix: Any, where: str | Path) -> None:
    """Refuse a sparse matrix with an index out of range, which would read arbitrary memory, or nearly without entries.

    One number for each of a billion empty rows or columns would fill the memory.
    """
    stored = matrix.data.size  # nnz of diagonals is what could be in them, in old versions of scipy
    for (what, most), size in zip(MOST.items(), matrix.shape, strict=True):
        if size > max(most, PER_ENTRY * stored):
            raise InputError(
                f"{where} claims {size:,} {what}, but holds only {stored:,} entries; write the file again."
            )
    with reading(where, "a sparse matrix"):
        check_indices(matrix)


def one_line(error: BaseException, limit: int = 200) -> str:
    """Return the message of an error on one line, shortened if it is long."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= limit else f"{text[:limit]}..."
