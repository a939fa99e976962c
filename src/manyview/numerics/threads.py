"""How many threads the linear algebra may use.

Threads that share a busy core wait for one another: two BLAS threads have made a fit of 0.8 s take 17 s. Small problems
gain nothing from them, so they get one.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

ONE_THREAD_ENTRIES = 5e7  # up to so many entries of all views together, one thread is used


def limited_threads(n_jobs: int | None, entries: int) -> AbstractContextManager[Any]:
    """Limit the threads of BLAS and OpenMP: to `n_jobs`; -1 is no limit; None decides by the number of entries."""
    if n_jobs is None:
        n_jobs = 1 if entries <= ONE_THREAD_ENTRIES else -1
    return _controller().limit(limits=None if n_jobs == -1 else n_jobs)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
