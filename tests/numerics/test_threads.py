"""Threads of the linear algebra."""

import pytest
from threadpoolctl import threadpool_info

from manyview.numerics import threads


@pytest.mark.parametrize(
    ("n_jobs", "entries", "idle", "used"),
    [
        (None, 10, 8, 1),
        (None, 1e9, 8, 8),
        (None, 1e9, 1, 1),
        (4, 10, 8, 4),
        (4, 10, 2, 2),
        (-1, 10, 3, 3),
        (1, 1e9, 8, 1),
    ],
)
def test_no_more_threads_than_asked_for_and_than_cores_are_idle(n_jobs, entries, idle, used, monkeypatch):
    monkeypatch.setattr(threads, "idle_cores", lambda: idle)
    with threads.limited_threads(n_jobs, entries):
        blas = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert blas
    assert max(blas) <= used
