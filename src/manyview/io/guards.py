"""What all readers share: errors that name the file, optional libraries, and limits on memory."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manyview.checks import InputError
from manyview.environment import available_memory


def require(module: str, extra: str) -> Any:
    """Import an optional library, or say which extra installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise InputError(f'This file needs {module}: pip install "manyview[{extra}]" ({one_line(error)}).') from error


@contextmanager
def reading(where: str | Path, kind: str) -> Iterator[None]:
    """Turn any exception on a bad file into a one-line error that names the file; silence warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except InputError:
            raise
        except MemoryError as error:
            raise InputError(f"{where} does not fit into memory.") from error
        except Exception as error:  # libraries raise many types of errors on damaged files
            raise InputError(f"{where} cannot be read as {kind}: {one_line(error)}") from error


def check_size(where: str | Path, n_bytes: int) -> None:
    """Refuse data that are larger than the free memory, before they are allocated."""
    free = available_memory()
    if n_bytes > free:
        raise InputError(
            f"{where} would take {n_bytes / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB of memory are free; "
            "give a smaller file."
        )


def open_hdf5(path: str | Path) -> Any:
    """Open an HDF5 file for reading."""
    return require("h5py", "hdf5").File(path, "r")


def declared_bytes(item: Any) -> int:
    """Return the size in memory of an HDF5 dataset, or of all datasets in a group."""
    if hasattr(item, "nbytes"):
        return int(item.nbytes)
    sizes: list[int] = []
    item.visititems(lambda _, inner: sizes.append(int(getattr(inner, "nbytes", 0))))
    return sum(sizes)


def one_line(error: BaseException, limit: int = 200) -> str:
    """Return the message of an error on one line, shortened if it is long."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= limit else f"{text[:limit]}..."
