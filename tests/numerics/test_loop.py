import math
import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning

from manyview.numerics.loop import Outcome, run

ADDED = ("step", "share", "seconds_left")  # what a callback is told and the trace does not keep


def halving(i):
    return {"residual": 0.5**i, "objective": 10.0 - i}


def test_converges_when_the_residual_reaches_the_tolerance():
    outcome = run(halving, max_iter=50, tol=0.25, name="Test")
    assert (outcome.status, outcome.converged, outcome.n_iter) == ("converged", True, 3)


def test_the_trace_has_a_record_per_sweep_with_all_that_was_measured():
    history = run(halving, max_iter=50, tol=0.25, name="Test").history
    assert [record["iteration"] for record in history] == [1, 2, 3]
    assert [record["residual"] for record in history] == [1, 0.5, 0.25]
    assert [record["objective"] for record in history] == [10, 9, 8]
    assert all(0 <= record["seconds"] < 60 for record in history)


def test_max_iter_warns_with_method_limit_residual_and_tolerance():
    with pytest.warns(
        ConvergenceWarning,
        match=r"^Test stopped after 4 iterations with residual 1\.2e-01 \(tol=0\.001\)\. Raise max_iter or inspect",
    ):
        outcome = run(halving, max_iter=4, tol=1e-3, name="Test")
    assert (outcome.status, outcome.converged, outcome.n_iter) == ("max_iter", False, 4)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_residual_that_is_not_finite_ends_the_run_with_a_warning(value):
    def sweep(i):
        return {"residual": value if i == 2 else 1.0}

    with pytest.warns(ConvergenceWarning, match=rf"Test diverged at iteration 3 \(residual {value}\)"):
        outcome = run(sweep, max_iter=50, tol=1e-3, name="Test")
    assert (outcome.status, outcome.converged, outcome.n_iter) == ("diverged", False, 3)


def test_callback_sees_every_record_and_can_stop_without_a_warning():
    seen = []

    def callback(record):
        seen.append(record)
        return record["iteration"] == 2

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outcome = run(halving, max_iter=50, tol=0, name="Test", callback=callback)
    assert (outcome.status, outcome.converged, outcome.n_iter) == ("stopped", False, 2)
    told = [{name: value for name, value in record.items() if name not in ADDED} for record in seen]
    assert tuple(told) == outcome.history


@pytest.mark.parametrize("answer", [None, False, 1, "stop"])
def test_only_true_stops(answer):
    outcome = run(halving, max_iter=50, tol=0.1, name="Test", callback=lambda record: answer)
    assert outcome.status == "converged"


def test_convergence_counts_before_the_wish_to_stop():
    assert run(halving, max_iter=5, tol=1, name="Test", callback=lambda record: True).status == "converged"


def test_an_outcome_without_sweeps():
    assert Outcome("converged").n_iter == 0
