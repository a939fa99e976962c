"""The one loop: runs a method's sweeps, keeps the trace, stops, warns and calls back.

A method gives a function that does one sweep over its variables and returns what it measured;
nothing else decides when to stop, prints or warns.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sklearn.exceptions import ConvergenceWarning

from manyview.numerics.progress import Progress, share_of_iterations, tell

Status: TypeAlias = Literal["converged", "max_iter", "stopped", "diverged"]
Record: TypeAlias = dict[str, float]
Sweep: TypeAlias = Callable[[int], Mapping[str, float]]
Callback: TypeAlias = Callable[[dict[str, Any]], object]

ADVICE = "Raise max_iter or inspect history_."


@dataclass(frozen=True)
class Outcome:
    """How a run of the loop ended, and its trace: one record per sweep."""

    status: Status
    history: tuple[Record, ...] = ()

    @property
    def n_iter(self) -> int:
        """Number of sweeps done."""
        return len(self.history)

    @property
    def converged(self) -> bool:
        """Whether the residual fell to the tolerance."""
        return self.status == "converged"


def run(
    sweep: Sweep, *, max_iter: int, tol: float, name: str, callback: Callback | None = None, advice: str = ADVICE
) -> Outcome:
    """Sweep until the residual is at most `tol`, or `max_iter` sweeps are done.

    Parameters
    ----------
    sweep : callable
        ``sweep(i)`` does the i-th sweep (from 0) and returns its measurements; "residual" is compared with `tol`.
        Everything it returns goes to the trace, with "iteration" (from 1) and "seconds" of this sweep.
    max_iter, tol : int (at least 1), float
    name : str
        Name of the method, for warnings.
    callback : callable, optional
        Called with each record, which also has the name of the "step", the "share" of it that is done and the
        "seconds_left", both estimated from the residuals; the run stops after the sweep if it returns True.
    advice : str
        What the warning about too few sweeps advises.
    """
    history: list[Record] = []
    status: Status = "max_iter"
    begin = time.perf_counter()
    for i in range(max_iter):
        start = time.perf_counter()
        measured = dict(sweep(i))
        record: Record = {"iteration": i + 1, **measured, "seconds": time.perf_counter() - start}
        history.append(record)
        share = share_of_iterations(record["residual"], history[0]["residual"], tol, i + 1, max_iter)
        progress = Progress(name, share, time.perf_counter() - begin)
        tell(progress)
        told = {"step": name, **record, "share": share, "seconds_left": progress.seconds_left}
        asked_to_stop = callback is not None and callback(told) is True
        if not math.isfinite(record["residual"]):
            status = "diverged"
        elif record["residual"] <= tol:
            status = "converged"
        elif asked_to_stop:
            status = "stopped"
        else:
            continue
        break
    _warn(status, history, tol, name, advice)
    return Outcome(status, tuple(history))


def _warn(status: Status, history: list[Record], tol: float, name: str, advice: str) -> None:
    residual, done = history[-1]["residual"], len(history)
    if status == "max_iter":
        message = f"{name} stopped after {done} iterations with residual {residual:.1e} (tol={tol:g}). {advice}"
    elif status == "diverged":
        message = f"{name} diverged at iteration {done} (residual {residual}). Inspect history_."
    else:
        return
    warnings.warn(message, ConvergenceWarning, stacklevel=4)
