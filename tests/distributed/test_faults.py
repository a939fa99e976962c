"""Workers that die, and files that cannot be read."""

import os
import shutil
import subprocess

import dask
import numpy as np
import pandas as pd
import pytest

from helpers.dying import Deadly, Dying, DyingTable
from helpers.workers import nothing_runs
from manyview import MFMSC, InputError, make_views
from manyview.distributed import connect, ids, jobs, rows
from manyview.distributed.clusters import KEEP_FREED_MEMORY
from manyview.distributed.tables import file_rows
from manyview.io.row_tables import NpyRows, open_row_tables
from manyview.methods.landmarks import fitting, strategy

N_PARTS = 4
VIEWS = make_views(400, 3, (6, 5), noise=0.5, separation=10, seed=0).views


@pytest.fixture(scope="module")
def expected():
    return MFMSC(3, strategy="landmarks", n_landmarks=80).fit_predict(VIEWS)


def fit_on(client, tables):
    return MFMSC(3, strategy="landmarks", n_landmarks=80).fit(file_rows(tables, client, part_rows=100)).labels_


def test_workers_killed_in_each_stage_that_reads_change_no_label(client, expected, tmp_path):
    in_each = tuple(1 + N_PARTS * stage + stage for stage in range(3))  # survey, draw, link; each kill costs a read
    X, Y = VIEWS.arrays
    labels = fit_on(client, {"view_0": DyingTable(X, str(tmp_path), in_each), "view_1": DyingTable(Y)})
    np.testing.assert_array_equal(labels.compute(), expected)
    assert len(list(tmp_path.iterdir())) >= 3 * N_PARTS + 3  # what was lost was read again


@pytest.fixture
def dying(monkeypatch, tmp_path):
    """Make a function kill the worker that calls it first; return a file that exists when that has happened."""

    def make(module, name):
        marker = tmp_path / f"in {name}"
        monkeypatch.setattr(module, name, Dying(getattr(module, name), str(marker)))
        return marker

    return make


def test_workers_killed_while_they_place_change_no_label(client, expected, dying):
    markers = [dying(fitting, "revise"), dying(strategy, "assign")]
    tables = {name: DyingTable(X) for name, X in VIEWS.items()}
    np.testing.assert_array_equal(fit_on(client, tables).compute(), expected)
    assert all(marker.exists() for marker in markers)


def test_workers_killed_while_they_compare_ids_add_up_or_write_change_no_label(client, expected, dying, tmp_path):
    words = []
    for name, X in VIEWS.items():
        frame = pd.DataFrame(X).rename(columns=str).assign(sample=[f"s{i}" for i in range(len(X))])
        frame.to_parquet(tmp_path / f"{name}.parquet", index=False)
        words.append(str(tmp_path / f"{name}.parquet"))
    functions = [(ids, "split_by_hash"), (ids, "find_repeated"), (rows, "add_up"), (jobs, "write_labels")]
    markers = [dying(*function) for function in functions]
    model = MFMSC(3, strategy="landmarks", n_landmarks=80)
    sizes, folder = jobs.cluster_files(model, open_row_tables(words), client, tmp_path / "out", part_rows=100)
    assert all(marker.exists() for marker in markers)
    written = pd.read_parquet(folder)
    assert written["sample"].tolist() == [f"s{i}" for i in range(400)]
    np.testing.assert_array_equal(written["label"], expected)
    np.testing.assert_array_equal(sizes, np.bincount(expected))


def test_a_partition_that_always_ends_its_worker_is_named(client, monkeypatch):
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    monkeypatch.setattr(strategy, "survey", Deadly(strategy.survey))
    message = r"Partition \d \(samples \d+ to \d+\) ended its worker 1 times; .* ran out of memory. Use smaller"
    with pytest.raises(InputError, match=message):
        fit_on(client, {name: DyingTable(X) for name, X in VIEWS.items()})
    assert nothing_runs(client)


def test_a_partition_that_cannot_be_read_ends_all_tasks(client, tmp_path):
    np.save(tmp_path / "x.npy", VIEWS.arrays[0])
    table = NpyRows.open(str(tmp_path / "x.npy"))
    content = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(content[: len(content) // 2])
    message = r"Partition \d \(samples \d+ to \d+\): .*x.npy cannot be read as rows \d+ to \d+ of a table"
    with pytest.raises(InputError, match=message):
        fit_on(client, {"x": table})
    assert nothing_runs(client)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x", "tcp://no.such.host.invalid:8786"])
def test_a_scheduler_that_cannot_be_reached(address):
    with pytest.raises(InputError, match="No Dask scheduler answers at"), connect(address, timeout=0.5):
        pass


def test_certificates_that_do_not_exist(tmp_path):
    files = (tmp_path / "ca.pem", tmp_path / "cert.pem", tmp_path / "key.pem")
    with pytest.raises(InputError, match=r"ca\.pem was not found"), connect("tls://127.0.0.1:9", tls=files):
        pass


@pytest.fixture
def certificate(tmp_path):
    """A certificate that signs itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    subprocess.run([*words, "-keyout", key, "-out", cert], check=True, capture_output=True)
    return cert, key


def test_connections_are_encrypted_with_the_users_certificate(certificate):
    cert, key = certificate
    settings = {f"distributed.comm.tls.client.{part}": str(path) for part, path in (("cert", cert), ("key", key))}
    with connect("local", n_workers=1, tls=(cert, cert, key)) as client:
        address = client.scheduler.address
        assert address.startswith("tls://")
        with pytest.raises(InputError, match="No Dask scheduler answers"), connect(address, timeout=1):
            pass
        with connect(address, tls=(cert, cert, key)) as other:
            assert other.submit(sum, [1, 2]).result() == 3
        with dask.config.set(settings | {"distributed.comm.tls.ca-file": str(cert)}), connect(address) as other:
            assert other.submit(sum, [1, 2, 3]).result() == 6


def test_workers_write_no_data_to_disk(client):
    assert set(client.run(lambda dask_worker: type(dask_worker.data)).values()) == {dict}  # and not a spill buffer


def test_local_workers_keep_freed_memory(client):
    for name, value in KEEP_FREED_MEMORY.items():
        assert set(client.run(os.environ.get, name).values()) == {str(value)}


def test_a_local_cluster_listens_on_loopback_only(client):
    workers = client.scheduler_info()["workers"]
    assert all("//127.0.0.1:" in address for address in [client.scheduler.address, *workers])
    assert "//127.0.0.1:" in client.dashboard_link
