"""Free cores, as the system tells them."""

import os

import pytest

from manyview import environment


@pytest.mark.parametrize(("running", "idle"), [(1, 8), (3, 6), (8, 1), (40, 1)])
def test_idle_cores_are_those_that_no_other_task_runs_on(running, idle, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(environment, "_running_tasks", lambda: running)
    assert environment.idle_cores() == idle


def test_one_odd_look_does_not_change_the_number(monkeypatch):
    looks = iter([1, 1, 30, 1, 1])
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(environment, "_running_tasks", lambda: next(looks))
    assert environment.idle_cores() == 4


def test_where_the_system_does_not_tell_all_cores_count(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(environment.Path, "read_text", lambda _: (_ for _ in ()).throw(OSError))
    assert environment.idle_cores() == 4
