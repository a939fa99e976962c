"""Connecting to a cluster: a local one, or a scheduler that runs elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dask
from distributed import Client, LocalCluster, get_client
from distributed.security import Security

from manyview.checks import InputError

LOCAL = "local"
LOOPBACK = "127.0.0.1"
TIMEOUT = 10  # seconds to wait for a scheduler
LOCAL_SETTINGS = {
    "distributed.worker.memory.target": False,  # never writes data to disk,
    "distributed.worker.memory.spill": False,
    "distributed.deploy.lost-worker-timeout": "1h",  # waits for a worker that starts again, however slow,
    "distributed.worker.profile.enabled": False,  # and spends less on watching itself
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
}
LARGE_MODEL = "1GB"  # models of landmarks are sent as tasks, so that the scheduler can send them again


@contextmanager
def connect(
    address: str,
    *,
    n_workers: int | None = None,
    timeout: float = TIMEOUT,
    tls: tuple[Path, Path, Path] | None = None,
) -> Iterator[Client]:
    """Connect to a cluster, and leave it at the end.

    The workers of a local cluster write no data to disk when memory is short, as Dask does otherwise.

    Parameters
    ----------
    address : str
        That of a scheduler, such as "tcp://host:8786" or "tls://host:8786"; or "local", which starts worker processes
        on this machine, and ends them. They and the dashboard listen on the loopback interface only.
    n_workers : int, optional
        Worker processes of a local cluster; one per core by default.
    timeout : float, default=10
        Seconds to wait for the scheduler.
    tls : tuple of three paths, optional
        Files of the certificate authority, the certificate and its key. By default Dask's own configuration counts.

    Yields
    ------
    distributed.Client
    """
    security = None if tls is None else _security(tls)
    if address == LOCAL:
        with (
            dask.config.set(LOCAL_SETTINGS),
            _local_cluster(n_workers, security) as cluster,
            Client(cluster, set_as_default=True) as client,
        ):
            yield client
        return
    try:
        client = Client(address, timeout=timeout, security=security)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"No Dask scheduler answers at {address} within {timeout:g} s ({type(error).__name__}: {error}). Check the "
            "address, and that the scheduler runs and can be reached from here; or use 'local'."
        ) from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise InputError(f"The Dask scheduler at {address} has no workers; start some, then try again.")
        yield client


def _local_cluster(n_workers: int | None, security: Security | None) -> LocalCluster:
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host=LOOPBACK,
        dashboard_address=f"{LOOPBACK}:0",
        security=security,
        silence_logs=logging.ERROR,
    )


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
