"""What produced a result: versions, BLAS and its threads, the revision of the source, and checksums of the data."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_info

from manyview import environment

GIT_DESCRIBE = ("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def versions() -> dict[str, str]:
    """Return the system and the versions of Python and of the packages that affect results."""
    return {"system": f"{platform.system()} {platform.machine()}"} | environment.versions()


def blas() -> list[dict[str, Any]]:
    """Return the thread pools of this process: library, version, number of threads."""
    keys = ("internal_api", "version", "num_threads")
    return [{key: pool.get(key) for key in keys} for pool in threadpool_info()]


@cache
def git_revision() -> str | None:
    """Return the commit of the package's source, with "-dirty" if files have changed; None outside a clone."""
    folder = Path(__file__).parent
    try:
        _git(folder, "ls-files", "--error-unmatch", str(folder.parent / "checks.py"))  # is it this clone?
        return _git(folder, *GIT_DESCRIBE) or None
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *words: str) -> str:
    command = ["git", "--no-optional-locks", "-C", str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()


def checksum(arrays: Iterable[Any]) -> str:
    """Return the first 16 digits of the sha256 of the arrays' types, shapes and bytes."""
    hashed = hashlib.sha256()
    for array in arrays:
        parts = (array.data, array.indices, array.indptr) if sp.issparse(array) else (np.asarray(array),)
        for part in parts:
            hashed.update(f"{part.dtype.str}{part.shape}".encode())
            hashed.update(np.ascontiguousarray(part).tobytes())
    return hashed.hexdigest()[:16]
