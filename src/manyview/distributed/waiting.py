"""Waiting for tasks on a cluster, as long as it has workers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import dask
from dask.utils import parse_timedelta
from distributed import CancelledError, Client, Future, wait

from manyview.checks import InputError

NO_WORKERS = "distributed.scheduler.no-workers-timeout"  # Dask's own setting; it has no default
PATIENCE = 300  # seconds without any worker, if that is not set
LOOK_EVERY = 2  # seconds until failed tasks and lost workers are noticed
FETCH_WITHIN = 60  # seconds for a result to arrive; then check whether a worker still has it

FAILED = ("error", "cancelled")  # a task whose result is "lost" with its worker will be computed again


def wait_until_done(client: Client, futures: Sequence[Future]) -> int | None:
    """Wait until all tasks are finished, or one of them has failed; return which one that is.

    Dask itself waits forever if all workers are lost. This raises if there has been none for some minutes.
    """
    last_seen = time.monotonic()
    pending = list(futures)
    while pending:
        with suppress(TimeoutError, CancelledError), client.as_current():  # what has become of each, its status tells
            wait(pending, timeout=LOOK_EVERY)
        failed = next((i for i, future in enumerate(futures) if future.status in FAILED), None)
        if failed is not None:
            return failed
        pending = [future for future in pending if future.status != "finished"]
        if not pending or worker_threads(client):
            last_seen = time.monotonic()
        elif time.monotonic() - last_seen > patience():
            raise InputError(
                f"The cluster has had no worker for {patience():g} s. Start workers, then try again; Dask's setting "
                f"{NO_WORKERS} says how long to wait."
            )
    return None


def fetch(client: Client, future: Future) -> Any:
    """Return the result of a task; it is computed again if the worker that has it dies meanwhile."""
    seconds = FETCH_WITHIN
    while wait_until_done(client, [future]) is None:
        with suppress(TimeoutError):
            return future.result(timeout=seconds)
        seconds *= 2  # it may be large, or the network slow
    return future.result()  # raises


def worker_threads(client: Client) -> dict[str, int]:
    """Return the number of threads of each worker there is."""
    try:
        return dict(client.nthreads())
    except (OSError, RuntimeError) as error:
        raise InputError(f"The Dask scheduler does not answer any more ({type(error).__name__}: {error}).") from error


def patience() -> float:
    """Return how many seconds to wait for workers, when all are lost."""
    seconds: float = parse_timedelta(dask.config.get(NO_WORKERS, None) or PATIENCE)
    return seconds
