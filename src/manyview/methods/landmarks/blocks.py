"""Rows of several views in blocks, and running functions on them: here one block after another, in this process.

`Rows` and `Results` are all that the landmark strategy knows about where rows are. `manyview.distributed` has the same
interface on a cluster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from manyview.checks import InputError
from manyview.numerics.progress import tracked
from manyview.partition.membership import Assigned
from manyview.typing import Indices
from manyview.views import Views, check_views

BLOCK_ENTRIES = 2**22  # values in a block, over all views
T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True)
class Block:
    """Some rows of all views, checked, and the position of the first row among all samples."""

    views: Views
    start: int

    @property
    def positions(self) -> Indices:
        """Position of each row among all samples."""
        return np.arange(self.start, self.start + self.views.n_samples)


class Results(ABC, Generic[T]):
    """The results of a function for each block, kept where the block is."""

    @abstractmethod
    def map(self, function: Callable[[T], S]) -> Results[S]:
        """Run another function on each."""

    @abstractmethod
    def total(self) -> T:
        """Add them up, in any order."""

    @abstractmethod
    def total_of(self, function: Callable[[T], S]) -> S:
        """Add up what another function returns for each."""

    @abstractmethod
    def __iter__(self) -> Iterator[T]:
        """Fetch them one by one, in the order of the rows."""


class Rows(ABC):
    """All samples, in blocks; and their ids, if known and in this process."""

    sample_ids: NDArray[Any] | None

    @abstractmethod
    def each(self, function: Callable[[Block], T]) -> Results[T]:
        """Run a function on every block."""

    @abstractmethod
    def join(self, assigned: Results[Assigned]) -> Assigned:
        """Return what all blocks were assigned to, in arrays of the same kind as the user's tables."""


@dataclass(frozen=True)
class LocalResults(Results[T]):
    """Results in the memory of this process."""

    values: Sequence[T]

    def map(self, function: Callable[[T], S]) -> LocalResults[S]:
        """Run another function on each."""
        return LocalResults([function(value) for value in self.values])

    def total(self) -> T:
        """Add them up."""
        return reduce(add, self.values)

    def total_of(self, function: Callable[[T], S]) -> S:
        """Add up what another function returns for each."""
        return reduce(add, map(function, self.values))

    def __iter__(self) -> Iterator[T]:
        return iter(self.values)


@dataclass(frozen=True)
class LocalRows(Rows):
    """Tables that are read block by block: anything with a shape that can be sliced, such as `numpy.memmap`."""

    tables: Mapping[str, Any]
    sample_ids: NDArray[Any] | None = None
    block_entries: int = BLOCK_ENTRIES

    @cached_property
    def n_samples(self) -> int:
        """Number of samples."""
        lengths = {name: int(table.shape[0]) for name, table in self.tables.items()}
        first, n = next(iter(lengths.items()))
        for name, length in lengths.items():
            if length != n:
                raise InputError(
                    f"View {name!r} has {length} samples but view {first!r} has {n}; all views must hold the same "
                    "samples in the same order."
                )
        return n

    def each(self, function: Callable[[Block], T]) -> LocalResults[T]:
        """Run a function on every block, one after another."""
        blocks = tracked("blocks of rows", range(0, self.n_samples, self._step))
        return LocalResults([function(self._block(start)) for start in blocks])

    def join(self, assigned: Results[Assigned]) -> Assigned:
        """Return what all blocks were assigned to."""
        parts = [(part.labels, part.confidence, part.second) for part in assigned]
        return Assigned(*map(np.concatenate, zip(*parts, strict=True)))

    @property
    def n_entries(self) -> int:
        """Number of entries of all tables."""
        return self.n_samples * self._width

    @property
    def _width(self) -> int:
        return sum(int(table.shape[1]) for table in self.tables.values())

    @property
    def _step(self) -> int:
        """Number of rows in a block."""
        return max(1, self.block_entries // max(self._width, 1))

    def _block(self, start: int) -> Block:
        stop = min(start + self._step, self.n_samples)
        return make_block({name: rows_of(table, start, stop) for name, table in self.tables.items()}, start)


def rows_of(table: Any, start: int, stop: int) -> Any:
    """Return some rows of a table, numbered from 0: whether tables name the same samples is known before."""
    return table.iloc[start:stop].reset_index(drop=True) if hasattr(table, "iloc") else table[start:stop]


def make_block(tables: Mapping[str, Any], start: int) -> Block:
    """Check the rows of a block."""
    return Block(check_views(Views(tables), allow_empty=True), start)


def stack(parts: Iterable[Views]) -> Views:
    """Return the rows of several `Views` with the same features as one."""
    import scipy.sparse as sp

    parts = list(parts)
    tables = zip(*(part.arrays for part in parts), strict=True)
    arrays = [sp.vstack(same, format="csr") if sp.issparse(same[0]) else np.vstack(same) for same in tables]
    ids = [part.sample_ids for part in parts]
    known: NDArray[Any] | None = None if any(some is None for some in ids) else np.concatenate(ids)  # type: ignore[arg-type]
    return Views._of(arrays, parts[0].names, known, parts[0].feature_names, None)
