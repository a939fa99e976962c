"""`manyview cluster --dask` and `manyview predict --dask`, interrupted and resumed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pytest

from helpers.summaries import unexplained
from helpers.workers import nothing_runs
from manyview import adjusted_rand_index, make_views

N = 6000
LOOSELY = {"check_dtype": False}
OPTIONS = ("-k", "3", "-m", "mfmsc", "-p", "n_landmarks=3000")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parquet")
    data = make_views(N, 3, (30, 20), noise=0.5, separation=10, seed=0)
    ids = np.array([f"cell{i}" for i in range(N)])
    for name, X in zip(("rna", "protein"), data.views.arrays, strict=True):
        (folder / name).mkdir()
        for i, rows in enumerate(np.array_split(np.arange(N), 3)):
            frame = pd.DataFrame(X[rows].astype(np.float32), index=ids[rows]).rename(columns=str)
            frame.to_parquet(folder / name / f"{i}.parquet")
    np.save(folder / "labels.npy", data.labels)
    return folder


@pytest.fixture(scope="module")
def words(folder, client):
    views = [f"{name}={folder / name}/*.parquet" for name in ("rna", "protein")]
    return [*views, "--dask", client.scheduler.address]


def read_labels(out):
    return pd.read_parquet(out / "labels.parquet")


def left_over(out):
    return [path.name for path in out.glob(".*")]


def test_labels_are_written_in_parts_and_a_model_for_new_samples(words, folder, tmp_path, manyview):
    run = manyview("cluster", *words, *OPTIONS, "--save", "--out", tmp_path / "out")
    assert run.returncode == 0, run.stderr
    labels = read_labels(tmp_path / "out")
    assert labels["sample"].tolist() == [f"cell{i}" for i in range(N)]
    assert adjusted_rand_index(np.load(folder / "labels.npy"), labels["label"]) > 0.99
    assert len(list((tmp_path / "out" / "labels.parquet").iterdir())) > 1
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["cluster_sizes"] == np.bincount(labels["label"]).tolist()
    assert (summary["n_samples"], summary["n_landmarks"]) == (N, 3000)
    assert not left_over(tmp_path / "out")

    alone = manyview("cluster", *words[:2], *OPTIONS, "-p", "strategy=landmarks", "--out", tmp_path / "alone")
    assert alone.returncode == 0, alone.stderr
    table = pd.read_csv(tmp_path / "alone" / "labels.csv")
    assert table.columns.tolist() == labels.columns.tolist() == ["sample", "label", "confidence", "second"]
    pd.testing.assert_series_equal(table["label"], labels["label"], **LOOSELY)
    np.testing.assert_allclose(table["confidence"], labels["confidence"], atol=1e-3)

    again = manyview("predict", tmp_path / "out" / "model.manyview", *words, "--out", tmp_path / "new")
    assert again.returncode == 0, again.stderr
    new = read_labels(tmp_path / "new")
    assert new.columns.tolist() == labels.columns.tolist()
    assert adjusted_rand_index(new["label"], labels["label"]) > 0.99
    assert unexplained(tmp_path / "out") == unexplained(tmp_path / "new") == []
    repeated = manyview("cluster", *words, *OPTIONS, "--out", tmp_path / "out")
    assert repeated.returncode == 2
    assert "already contains" in repeated.stderr


def start_and_stop(words, out, number):
    """Start a run, end it by a signal when its first stage is done, and return its exit code."""
    command = [sys.executable, "-m", "manyview", "cluster", *words, *OPTIONS, "--out", str(out)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        end = time.monotonic() + 120
        while not (out / ".manyview-checkpoint" / "survey.stage").exists() and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(number)
        return process.wait(120), process.communicate()[1].decode()
    finally:
        process.kill()


def test_files_of_two_folders_are_two_views_on_a_local_cluster(folder, tmp_path, manyview):
    files = sorted((folder / "rna").iterdir()) + sorted((folder / "protein").iterdir())  # as the shell gives them
    quick = ("-k", 3, "-m", "mfmsc", "-p", "n_landmarks=100", "--dask", "local", "--workers", 1)
    run = manyview("cluster", *files, *quick, "--out", tmp_path / "out")
    assert run.returncode == 0, run.stderr
    assert adjusted_rand_index(np.load(folder / "labels.npy"), read_labels(tmp_path / "out")["label"]) > 0.99
    assert list(json.loads((tmp_path / "out" / "summary.json").read_text())["views"]) == ["rna", "protein"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_was_cut_short_goes_on(number, words, folder, client, tmp_path, manyview):
    code, said = start_and_stop(words, tmp_path / "out", number)
    assert code == (130 if number == signal.SIGINT else -signal.SIGKILL), said
    assert not (tmp_path / "out" / "labels.parquet").exists()
    if number == signal.SIGINT:
        assert "with --resume to continue" in said
    assert nothing_runs(client)
    other = manyview("cluster", *words, *OPTIONS, "--seed", 5, "--resume", "--out", tmp_path / "out")
    assert other.returncode == 2
    assert "belongs to a run with different 'parameters'" in other.stderr
    run = manyview("cluster", *words, *OPTIONS, "--resume", "--out", tmp_path / "out")
    assert run.returncode == 0, run.stderr
    assert adjusted_rand_index(np.load(folder / "labels.npy"), read_labels(tmp_path / "out")["label"]) > 0.99
    assert not left_over(tmp_path / "out")


def test_parts_that_do_not_fit_together_are_refused_and_nothing_is_left(words, folder, client, tmp_path, manyview):
    odd, out = tmp_path / "odd", tmp_path / "out"
    odd.mkdir()
    frame = pd.read_parquet(folder / "rna" / "0.parquet")
    frame.to_parquet(odd / "0.parquet")
    for change, message in [
        (frame.rename(columns={"7": "x"}), "odd/1.parquet and .*odd/0.parquet differ in their columns: '7'"),
        (frame.astype({"7": np.float64}), "differ in column '7': double and float"),
        (frame, "The sample id 'cell0' of .* appears twice"),
    ]:
        change.to_parquet(odd / "1.parquet")
        check_refused(manyview("cluster", f"rna={odd}/*.parquet", *words[2:], *OPTIONS, "--out", out), message, out)
    frame.set_axis([f"other{i}" for i in range(len(frame))]).to_parquet(odd / "1.parquet")
    content = bytearray((odd / "1.parquet").read_bytes())
    content[4:200] = bytes(196)  # the footer is whole, the values are not
    (odd / "1.parquet").write_bytes(content)
    message = r"Partition \d+ \(samples \d+ to \d+\): .*odd/1.parquet cannot be read as a Parquet file, in row group 0"
    check_refused(manyview("cluster", f"rna={odd}/*.parquet", *words[2:], *OPTIONS, "--out", out), message, out)
    assert nothing_runs(client)


def check_refused(run, message, out):
    assert run.returncode == 2
    assert len(run.stderr.strip().splitlines()) == 1
    assert re.search(message, run.stderr), run.stderr
    assert not [path for path in out.rglob("*") if path.suffix == ".parquet"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--report",), "need all samples in one process; remove them or --dask"),
        (("-m", "maasc"), "--dask works with the methods ocbr and mfmsc"),
        (("--dask", "tcp://127.0.0.1:9"), "No Dask scheduler answers at tcp://127.0.0.1:9"),
    ],
)
def test_what_cannot_be_done_is_said(more, message, words, tmp_path, manyview):
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        run = manyview("cluster", *words, "-k", 3, *more, "--out", tmp_path / "out")
    assert run.returncode == 2
    assert message in run.stderr


def test_resume_needs_a_cluster(folder, tmp_path, manyview):
    run = manyview("cluster", folder / "rna" / "0.parquet", "-k", 3, "--resume", "--out", tmp_path / "out")
    assert run.returncode == 2
    assert "add --dask local" in run.stderr
