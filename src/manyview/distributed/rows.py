"""Rows on the workers of a cluster: the same interface as `methods.landmarks.blocks`, with futures instead of values.

Code and models are sent to workers as separate tasks, so that the scheduler can send them again if a worker dies; each
stage reads the blocks again, from the files or the user's own tasks. Stored results that get lost are recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, TypeVar
from weakref import WeakSet

import numpy as np
from dask.delayed import delayed
from distributed import CancelledError, Client, Future, KilledWorker

from manyview.checks import InputError
from manyview.distributed.clusters import large_models
from manyview.distributed.waiting import fetch, wait_until_done, worker_threads
from manyview.methods.landmarks.blocks import Block, Results, Rows
from manyview.numerics.threads import limited_threads
from manyview.partition.membership import Assigned

FAN_IN = 16  # results added up in one task
T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True)
class Part:
    """A partition: its number, and the samples from `start` up to `stop`; `read` returns the block, on a worker."""

    number: int
    start: int
    stop: int
    read: Any  # dask.delayed.Delayed of a Block


@dataclass(eq=False)
class DaskRows(Rows):
    """All samples, in partitions.

    Attributes
    ----------
    client : distributed.Client
        Of the cluster.
    parts : list of Part
        The partitions, in the order of the samples.
    sample_ids : None
        Ids of samples stay on the workers.
    """

    client: Client
    parts: Sequence[Part]
    sample_ids: None = None
    _futures: WeakSet[Future] = field(default_factory=WeakSet)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.parts[-1].stop

    def each(self, function: Callable[[Block], T]) -> DaskResults[T]:
        """Run a function on every partition."""
        sent = self.send(function)
        call = delayed(run, pure=False)
        with large_models():
            futures = self.client.compute([call(sent, part.read) for part in self.parts], optimize_graph=False)
        return DaskResults(self, self.track(futures), self.parts)

    def join(self, assigned: Results[Assigned]) -> Assigned:
        """Return dask arrays of what the blocks were assigned to, which stays on the workers."""
        import dask.array as da

        assert isinstance(assigned, DaskResults)
        self.wait_for(assigned.futures, assigned.parts)
        kept = [delayed(future) for future in assigned.futures]

        def joined(name: str, dtype: type) -> Any:
            values = zip((delayed(getattr)(one, name) for one in kept), self.parts, strict=True)
            return da.concatenate([da.from_delayed(one, (part.stop - part.start,), dtype) for one, part in values])

        return Assigned(joined("labels", np.int32), joined("confidence", np.float32), joined("second", np.int32))

    def send(self, function: Any) -> Future:
        """Send something that all partitions need, once."""
        with large_models():
            return self.track([self.client.submit(itself, function, pure=False)])[0]

    def track(self, futures: Sequence[Future]) -> list[Future]:
        """Remember tasks, to cancel them if necessary."""
        self._futures.update(futures)
        return list(futures)

    def wait_for(self, futures: Sequence[Future], parts: Sequence[Part] = ()) -> None:
        """Wait until all are done; cancel everything at the first error, or when interrupted.

        Errors name the partition, if there is one for each.
        """
        try:
            failed = wait_until_done(self.client, futures)
            if failed is not None:
                explain(futures[failed], parts[failed] if parts else None)
        except BaseException:
            self.cancel()
            raise

    def by_worker(self, futures: Sequence[Future]) -> list[list[Future]]:
        """Return finished results in lists, one for each thread of the worker that has them."""
        holders, threads = self.client.who_has(futures), worker_threads(self.client)
        held: dict[str, list[Future]] = {}
        for future in futures:
            held.setdefault(min(holders[future.key], default=""), []).append(future)
        lists = [own[i :: threads.get(at, 1)] for at, own in held.items() for i in range(threads.get(at, 1))]
        return [some for some in lists if some]

    def cancel(self) -> None:
        """Cancel all tasks."""
        self.client.cancel(list(self._futures), force=True)


@dataclass(frozen=True)
class DaskResults(Results[T]):
    """Results that stay on the workers."""

    rows: DaskRows
    futures: Sequence[Future]
    parts: Sequence[Part] = ()  # if there is a result for each

    def map(self, function: Callable[[T], S]) -> DaskResults[S]:
        """Run another function on each, where it is."""
        sent = self.rows.send(function)
        futures = [self.rows.client.submit(run, sent, future, pure=False) for future in self.futures]
        return DaskResults(self.rows, self.rows.track(futures), self.parts)

    def total_of(self, function: Callable[[T], S]) -> S:
        """Run another function on each and add up, in one task per worker, so that no result is moved."""
        self.rows.wait_for(self.futures, self.parts)
        sent = self.rows.send(function)
        here = self.rows.by_worker(self.futures)
        sums = [self.rows.client.submit(run_and_add_up, sent, some, pure=False) for some in here]
        return DaskResults[S](self.rows, self.rows.track(sums)).total()

    def total(self) -> T:
        """Add them up, first on each worker and then across workers, `FAN_IN` at a time, and fetch the sum."""
        level = list(self.futures)
        self.rows.wait_for(level, self.parts)
        while len(level) > 1:
            groups = in_groups(self.rows.by_worker(level))
            if len(groups) == len(level):  # one for each worker is left
                groups = in_groups([level])
            level = self.rows.track([self.rows.client.submit(add_up, group, pure=False) for group in groups])
            self.rows.wait_for(level)
        result: T = fetch(self.rows.client, level[0])
        return result

    def __iter__(self) -> Iterator[T]:
        for future in self.futures:
            yield fetch(self.rows.client, future)


def explain(future: Future, part: Part | None) -> None:
    """Raise the error of a task as one that names the partition, if it is known."""
    where = "A task" if part is None else f"Partition {part.number} (samples {part.start} to {part.stop - 1})"
    try:
        future.result()
    except InputError as error:
        raise InputError(str(error) if part is None else f"{where}: {error}") from error
    except KilledWorker as error:
        raise InputError(
            f"{where} ended its worker {error.allowed_failures + 1} times; the worker probably ran out of memory. Use "
            "smaller partitions, or workers with more memory."
        ) from error
    except CancelledError as error:
        raise InputError(
            "Tasks were cancelled: the connection to the Dask scheduler is lost, or somebody cancelled them there. "
            "Check the scheduler, then try again."
        ) from error
    except Exception as error:
        raise InputError(f"{where} cannot be computed ({type(error).__name__}: {error}).") from error


def in_groups(lists: Iterable[Sequence[T]]) -> list[Sequence[T]]:
    """Divide each list into groups of at most `FAN_IN`."""
    return [one[i : i + FAN_IN] for one in lists for i in range(0, len(one), FAN_IN)]


def run(function: Callable[[T], S], value: T) -> S:
    """Call a function on a worker, with one thread."""
    with limited_threads(1, 0):
        return function(value)


def run_and_add_up(function: Callable[[T], S], values: Sequence[T]) -> S:
    """Call a function with each of several values, and add up the results."""
    return reduce(add, (run(function, value) for value in values))


def itself(value: T) -> T:
    """Return what was sent."""
    return value


def add_up(values: Sequence[T]) -> T:
    """Add up several results."""
    return reduce(add, values)
