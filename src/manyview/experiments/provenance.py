"""What a result was made with: versions, BLAS and its threads, the revision of the source, and the data."""

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


def versions() -> dict[str, str]:
    """Return the versions of Python and the packages that matter, and the system."""
    return {"system": f"{platform.system()} {platform.machine()}"} | environment.versions()


def blas() -> list[dict[str, Any]]:
    """Return the thread pools of this process: library, version, threads."""
    keys = ("internal_api", "version", "num_threads")
    return [{key: pool.get(key) for key in keys} for pool in threadpool_info()]


@cache
def git_revision() -> str | None:
    """Return the commit of the package's own source, with "-dirty" where files were changed; None outside a clone."""
    folder = Path(__file__).parent
    try:
        for words in (["ls-files", "--error-unmatch", str(folder.parent / "checks.py")], DESCRIBE):
            done = subprocess.run(
                ["git", "--no-optional-locks", "-C", str(folder), *words],
                capture_output=True,
                text=True,
                check=True,
                timeout=20,
            )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


DESCRIBE = ["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]


def checksum(arrays: Iterable[Any]) -> str:
    """sha256 over the shapes, types and bytes of arrays, the first 16 digits."""
    hashed = hashlib.sha256()
    for array in arrays:
        parts = (array.data, array.indices, array.indptr) if sp.issparse(array) else (np.asarray(array),)
        for part in parts:
            hashed.update(f"{part.dtype.str}{part.shape}".encode())
            hashed.update(np.ascontiguousarray(part).tobytes())
    return hashed.hexdigest()[:16]
