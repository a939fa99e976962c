"""Connecting to a cluster: a local one, or a scheduler that runs elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import dask
from dask.utils import parse_timedelta
from distributed import Client, LocalCluster, get_client
from distributed.comm.core import connect as open_connection
from distributed.security import Security
from distributed.utils import LoopRunner
from tornado.ioloop import PeriodicCallback

from manyview.checks import InputError
from manyview.distributed.waiting import worker_threads

LOCAL = "local"
LOOPBACK = "127.0.0.1"
CONNECT_TIMEOUT = "distributed.comm.timeouts.connect"  # Dask's own setting
ASK_AGAIN = 5000  # milliseconds between two looks for local workers that are lost
LOCAL_SETTINGS: dict[str, object] = {
    "distributed.worker.memory.target": False,  # never writes data to disk,
    "distributed.worker.memory.spill": False,
    "distributed.deploy.lost-worker-timeout": "60s",  # after which another takes its place; starting may be slow,
    "distributed.worker.profile.enabled": False,  # and spends less on monitoring itself
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
}
KEEP_FREED_MEMORY = {  # Dask lets glibc return freed memory at once; fetching it again cost a quarter of all CPU time
    "MALLOC_TRIM_THRESHOLD_": 2**30,
    "MALLOC_MMAP_THRESHOLD_": 2**25,  # the largest that glibc accepts
    "MALLOC_ARENA_MAX": 1,  # other arenas return their memory whatever the thresholds
}
LOCAL_SETTINGS |= {f"distributed.nanny.pre-spawn-environ.{name}": value for name, value in KEEP_FREED_MEMORY.items()}
LARGE_MODEL = "1GB"  # models of landmarks are sent as tasks, so that the scheduler can send them again


@contextmanager
def connect(
    address: str,
    *,
    n_workers: int | None = None,
    timeout: float | None = None,
    tls: tuple[Path, Path, Path] | None = None,
) -> Iterator[Client]:
    """Connect to a cluster, and disconnect at the end.

    Unlike Dask's default, the workers of a local cluster do not write data to disk when memory is short.

    Parameters
    ----------
    address : str
        The address of a scheduler, such as "tcp://host:8786" or "tls://host:8786"; or "local", which starts worker
        processes on this machine and ends them afterwards. They and the dashboard listen only on the loopback
        interface.
    n_workers : int, optional
        Worker processes of a local cluster; one per core by default.
    timeout : float, optional
        Seconds to wait for the scheduler. By default Dask's setting distributed.comm.timeouts.connect, 30 s, counts.
    tls : tuple of three paths, optional
        Files of the certificate authority, the certificate and its key. By default, Dask's own configuration applies.

    Yields
    ------
    distributed.Client
    """
    security = None if tls is None else _security(tls)
    if address != LOCAL:
        with _client(address, timeout, security) as client:
            yield client
        return
    with (
        dask.config.set(LOCAL_SETTINGS),
        _local_cluster(n_workers, security) as cluster,
        _kept_up(cluster),
        Client(cluster) as client,
    ):
        yield client


def _client(address: str, timeout: float | None, security: Security | None) -> Client:
    if timeout is None:
        timeout = parse_timedelta(dask.config.get(CONNECT_TIMEOUT))
    try:
        LoopRunner().run_sync(_reach, address, timeout, security or Security())
        client = Client(address, timeout=timeout, security=security)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise InputError(
            f"No Dask scheduler answers at {address} within {timeout:g} s ({type(error).__name__}: {error}). Check the "
            "address, and that the scheduler runs and can be reached from here; or use 'local'."
        ) from error
    if not worker_threads(client):
        client.close()
        raise InputError(f"The Dask scheduler at {address} has no workers; start some, then try again.")
    return client


async def _reach(address: str, timeout: float, security: Security) -> None:
    """Open a connection and close it, or raise.

    A client of Dask that cannot connect may stay open. When it is collected as garbage while another one starts, both
    wait for the same lock, for ever or until an assertion fails.
    """
    comm = await open_connection(address, timeout=timeout, **security.get_connection_args("client"))
    await comm.close()


def _local_cluster(n_workers: int | None, security: Security | None) -> LocalCluster:
    try:
        return LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host=LOOPBACK,
            dashboard_address=f"{LOOPBACK}:0",
            security=security,
            silence_logs=logging.ERROR,
        )
    except (OSError, RuntimeError) as error:
        raise InputError(
            f"The local Dask cluster does not start ({type(error).__name__}: {error}). Ask for fewer workers, or leave "
            "out Dask."
        ) from error


@contextmanager
def _kept_up(cluster: LocalCluster) -> Iterator[None]:
    """Ask again for workers that are lost: Dask does not replace one that dies while it starts."""
    asking = PeriodicCallback(partial(cluster.scale, len(cluster.worker_spec)), ASK_AGAIN)
    loop = cluster.loop
    assert loop is not None  # it runs
    loop.add_callback(asking.start)
    try:
        yield
    finally:
        loop.add_callback(asking.stop)


def _security(tls: tuple[Path, Path, Path]) -> Security:
    missing = next((path for path in tls if not path.is_file()), None)
    if missing is not None:
        raise InputError(f"{missing} was not found; give the files of the authority, the certificate and its key.")
    ca, certificate, key = map(str, tls)
    names = {f"tls_{role}_{part}": path for role in ("client", "scheduler", "worker")
             for part, path in (("cert", certificate), ("key", key))}  # fmt: skip
    return Security(tls_ca_file=ca, require_encryption=True, **names)


def current_client() -> Client:
    """Return the client that the user has started."""
    try:
        return get_client()
    except ValueError as error:
        raise InputError(
            "There is no Dask client; start one first: from distributed import Client; client = Client()."
        ) from error


def large_models() -> dask.config.set:
    """Let models be sent as tasks without a warning."""
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGE_MODEL})
