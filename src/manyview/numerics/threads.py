"""How many threads the linear algebra may use.

Threads that share a busy core wait for each other: two BLAS threads once made a fit of 0.8 s take 17 s. So there are
never more threads than idle cores when the work begins. Small problems gain nothing from several threads, so they get
one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from threadpoolctl import ThreadpoolController

from manyview.environment import idle_cores

ONE_THREAD_ENTRIES = 5e7  # of all views together: up to this many, one thread is used

_allowed: ContextVar[int] = ContextVar("allowed", default=1)


@contextmanager
def limited_threads(n_jobs: int | None, entries: int) -> Iterator[None]:
    """Limit the threads of BLAS and OpenMP to `n_jobs` (-1: all cores), and to the cores that are idle.

    None means one thread for a small number of entries, otherwise all idle cores.
    """
    if n_jobs is None:
        n_jobs = 1 if entries <= ONE_THREAD_ENTRIES else -1
    if n_jobs != 1:
        n_jobs = min(_cores() if n_jobs == -1 else n_jobs, idle_cores())
    token = _allowed.set(n_jobs)
    try:
        with _controller().limit(limits=n_jobs):
            yield
    finally:
        _allowed.reset(token)


def allowed_threads() -> int:
    """Return how many threads may be used now, for libraries that are loaded later and have their own limit."""
    return _allowed.get()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit each call of BLAS to one thread, for code that brings threads of its own."""
    with _controller().limit(limits=1):
        yield


def _cores() -> int:
    """Return the number of cores, or the number of threads set in the environment."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return int(limit) if limit.isdecimal() and int(limit) else os.cpu_count() or 1


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
