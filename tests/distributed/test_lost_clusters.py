"""Clusters that do not start, that lose all of their workers, or whose scheduler ends."""

import os
import socket
import subprocess
import sys
import time
from functools import partial

import dask
import distributed
import pytest

from helpers.dying import DyingTable
from manyview import MFMSC, InputError, make_views
from manyview.distributed import clusters, connect
from manyview.distributed import rows as distributed_rows
from manyview.distributed.tables import file_rows

VIEWS = make_views(400, 3, (6, 5), noise=0.5, separation=10, seed=0).views


@pytest.fixture
def own_cluster():
    """A scheduler and one worker that nothing starts again, as a user may have them: address, and both processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    same_imports = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}  # workers need tests/helpers
    start = partial(subprocess.Popen, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=same_imports)
    here = ("--host", "127.0.0.1", "--no-dashboard")
    scheduler = start([sys.executable, "-m", "dask", "scheduler", *here, "--port", port])
    worker = start([sys.executable, "-m", "dask", "worker", address, *here, "--no-nanny", "--nthreads", "1"])
    try:
        with distributed.Client(address, timeout=120) as client:
            client.wait_for_workers(1, timeout=120)
        yield address, scheduler, worker
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


def fit_on(client, **table):
    X, Y = VIEWS.arrays
    rows = file_rows({"x": DyingTable(X, **table), "y": DyingTable(Y)}, client, part_rows=100)
    return MFMSC(3, strategy="landmarks", n_landmarks=80).fit(rows)


def test_a_cluster_that_has_lost_all_workers_is_not_waited_for_for_ever(own_cluster, tmp_path):
    settings = {"distributed.scheduler.no-workers-timeout": "3s"}
    with (
        dask.config.set(settings),
        connect(own_cluster[0]) as client,
        pytest.raises(InputError, match=r"The cluster has had no worker for 3 s\. Start workers, then try again"),
    ):
        fit_on(client, folder=str(tmp_path), dies_at=(2,))


def test_a_cluster_without_workers_is_refused(own_cluster):
    address, _, worker = own_cluster
    worker.kill()
    worker.wait()
    with distributed.Client(address) as client:
        end = time.monotonic() + 60
        while client.nthreads() and time.monotonic() < end:
            time.sleep(0.1)
    with pytest.raises(InputError, match="has no workers; start some"), connect(address):
        pass


def test_a_scheduler_that_ends_is_named(own_cluster, monkeypatch):
    address, scheduler, _ = own_cluster

    def end_it(client, futures):
        scheduler.kill()
        return waiting(client, futures)

    waiting = distributed_rows.wait_until_done
    monkeypatch.setattr(distributed_rows, "wait_until_done", end_it)
    with connect(address) as client, pytest.raises(InputError, match=r"The Dask scheduler|the Dask scheduler is lost"):
        fit_on(client)


def test_a_local_worker_that_its_nanny_gave_up_is_replaced(monkeypatch):
    monkeypatch.setitem(clusters.LOCAL_SETTINGS, "distributed.deploy.lost-worker-timeout", "1s")
    monkeypatch.setattr(clusters, "ASK_AGAIN", 500)
    with connect("local", n_workers=1) as client:
        (before,) = client.nthreads()
        (nanny,) = client.cluster.workers.values()
        client.sync(nanny.close)
        end = time.monotonic() + 120
        while set(client.nthreads()) <= {before} and time.monotonic() < end:
            time.sleep(0.1)
        assert client.submit(sum, [1, 2]).result(timeout=60) == 3


@pytest.mark.parametrize("address", ["nonsense://x", "tls://127.0.0.1:9", "tcp://127.0.0.1:9"])
def test_a_connection_that_fails_leaves_no_client_that_could_block_another(address):
    before = set(distributed.Client._instances)
    with pytest.raises(InputError, match="No Dask scheduler answers"), connect(address, timeout=0.5):
        pass
    assert not set(distributed.Client._instances) - before


def test_a_local_cluster_that_does_not_start(monkeypatch):
    def refuse(**settings):
        raise RuntimeError("Cluster failed to start: no port")

    monkeypatch.setattr(clusters, "LocalCluster", refuse)
    message = r"The local Dask cluster does not start \(RuntimeError: .*no port\)\. Ask for fewer workers"
    with pytest.raises(InputError, match=message), connect("local"):
        pass
