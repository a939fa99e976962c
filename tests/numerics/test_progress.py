"""Whoever watches is told of every step; time left follows from the pace so far."""

import math

import pytest

from manyview import OCBR, make_views
from manyview.numerics import progress
from manyview.numerics.loop import run
from manyview.numerics.progress import Progress, share_of_iterations, tracked, watched_by


def test_the_time_left_follows_from_the_pace():
    assert Progress("placing", 0.25, 2.0).seconds_left == pytest.approx(6)
    assert str(Progress("placing", 0.25, 2.0)) == "placing 25%, 6 s left"
    assert math.isnan(Progress("placing", 0.0, 0.0).seconds_left)
    assert str(Progress("placing", 0.0, 0.0)) == "placing 0%"


def test_items_are_tracked_only_while_somebody_watches():
    told = []
    with watched_by(told.append):
        assert list(tracked("reading", [5, 6])) == [5, 6]
    assert list(tracked("reading", [7])) == [7]
    assert [(one.step, one.share) for one in told] == [("reading", 0), ("reading", 0.5), ("reading", 1)]
    assert told[0].seconds == 0


def test_the_seconds_are_those_since_the_first_item(monkeypatch):
    clock = iter([100.0, 101.5, 104.0])
    monkeypatch.setattr(progress.time, "perf_counter", lambda: next(clock))
    told = []
    with watched_by(told.append):
        assert list(tracked("reading", [5, 6])) == [5, 6]
    assert [one.seconds for one in told] == [0, 1.5, 4]


@pytest.mark.parametrize(
    ("residual", "tol", "share"),
    [(0.1, 0.01, 0.5), (0.01, 0.01, 1), (2.0, 0.01, 0.1), (0.1, 0, 0.1), (0.001, 0.01, 1), (0.5, 1.0, 0.1)],
)
def test_the_share_of_an_iteration_is_read_off_its_residual(residual, tol, share):
    assert share_of_iterations(residual, 1.0, tol, 1, 10) == pytest.approx(share)


def test_a_callback_learns_how_far_the_loop_is():
    seen = []
    run(lambda i: {"residual": 10.0**-i}, max_iter=9, tol=1e-4, name="Test", callback=seen.append)
    assert all(0 <= record["seconds_left"] < 60 for record in seen)
    assert [record["share"] for record in seen] == pytest.approx([1 / 9, 0.25, 0.5, 0.75, 1])
    assert (seen[-1]["step"], seen[-1]["seconds_left"]) == ("Test", 0)


def test_a_fit_tells_its_steps():
    told = []
    data = make_views(300, 3, (5, 4), separation=8, seed=0)
    with watched_by(told.append):
        OCBR(3, strategy="landmarks", n_landmarks=150).fit(data.views)
    assert {one.step for one in told} >= {"blocks of rows", "OCBR", "partition"}
    assert all(0 <= one.share <= 1 for one in told)
