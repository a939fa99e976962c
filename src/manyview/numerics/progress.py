"""Progress of long computations: loops report it, and a watcher shows it.

Loops are many calls below an estimator, and the terminal is far above it, so reports go through this module.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Progress:
    """A step of a computation, the share of it that is done, and the seconds it has taken so far."""

    step: str
    share: float
    seconds: float

    @property
    def seconds_left(self) -> float:
        """Seconds that the rest of the step will take at this pace; NaN before anything is done."""
        return self.seconds * (1 - self.share) / self.share if self.share > 0 else math.nan

    def __str__(self) -> str:
        left = "" if math.isnan(self.seconds_left) else f", {math.ceil(self.seconds_left)} s left"
        return f"{self.step} {self.share:.0%}{left}"


Watcher: TypeAlias = Callable[[Progress], object]

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Report every loop in this block to `watcher`."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def tell(progress: Progress) -> None:
    """Report to the watcher, if there is one."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(progress)


def tracked(step: str, items: Sequence[T]) -> Iterator[T]:
    """Yield the items, and report after each how many are done."""
    start = time.perf_counter()
    tell(Progress(step, 0.0, 0.0))
    for done, item in enumerate(items, start=1):
        yield item
        tell(Progress(step, done / len(items), time.perf_counter() - start))


def share_of_iterations(residual: float, first: float, tol: float, done: int, most: int) -> float:
    """Estimate how much of an iteration is done: most residuals shrink by a similar factor in each sweep."""
    share = done / most
    if 0 < tol < first and 0 < residual < first:
        share = max(share, math.log(first / residual) / math.log(first / tol))
    return min(share, 1.0)
