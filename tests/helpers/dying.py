"""Functions and tables that kill the worker process they run in, the first time; for tests of faults."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from manyview.io.row_tables import RowTable


def die_once(marker):
    """Kill this process, unless one was killed before."""
    if is_first(Path(marker)):
        os.kill(os.getpid(), signal.SIGKILL)


def is_first(marker):
    """Make a file; return whether there was none."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


@dataclass(frozen=True)
class Dying:
    """A function that kills the process before its first call is done."""

    function: Callable
    marker: str

    def __call__(self, *args, **kwargs):
        die_once(self.marker)
        return self.function(*args, **kwargs)


@dataclass(frozen=True)
class Deadly:
    """A function that always kills the process."""

    function: Callable

    def __call__(self, *args, **kwargs):
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class DyingTable(RowTable):
    """A table in memory; reading for the n-th time kills the process. Reads are counted by files in a folder."""

    X: np.ndarray
    folder: str | None = None
    dies_at: tuple[int, ...] = ()
    where: str = "a table"

    @property
    def shape(self):
        return self.X.shape

    def read(self, start, stop):
        if self.folder is not None and self._count() in self.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.X[start:stop]

    def _count(self):
        """Return how often the table was read before, by all processes."""
        count = 0
        while not is_first(Path(self.folder) / f"read-{count}"):
            count += 1
        return count
