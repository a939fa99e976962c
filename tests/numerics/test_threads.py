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


@pytest.mark.parametrize(("asked", "cores"), [("3", 3), ("", 5), ("0", 5), ("many", 5), (None, 5)])
def test_all_cores_are_those_that_the_environment_asks_for(asked, cores, monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 5)
    monkeypatch.setattr(threads, "idle_cores", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS")
    if asked is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
    with threads.limited_threads(-1, 10):
        assert threads.allowed_threads() == cores


def test_the_limit_ends_with_the_work_and_starts_above_what_is_small(monkeypatch):
    monkeypatch.setattr(threads, "idle_cores", lambda: 2)
    for entries, allowed in ((threads.ONE_THREAD_ENTRIES, 1), (threads.ONE_THREAD_ENTRIES + 1, 2)):
        with threads.limited_threads(2 if allowed == 2 else None, int(entries)):
            assert threads.allowed_threads() == allowed
    assert threads.allowed_threads() == 1


def test_blas_can_be_held_to_one_thread_within_the_limit():
    with threads.limited_threads(2, 10), threads.single_threaded_blas():
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}


def test_where_cores_cannot_be_counted_one_is_used(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads.os, "cpu_count", lambda: None)
    assert threads._cores() == 1
