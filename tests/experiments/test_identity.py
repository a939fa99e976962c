"""A result belongs to the data it was made from, whatever they are called."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from manyview import InputError, make_views
from manyview.experiments import Store, read_spec
from manyview.experiments.results import changed_data, collect_results
from manyview.experiments.runner import pending

SPEC = """
repeats = 1
[[datasets]]
name = "mine"
source = "one.npz"
[[methods]]
name = "mfmsc"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("one", "two")):
        data = make_views(30, 3, (4, 5), noise=0.3, separation=20, seed=seed)
        np.savez(tmp_path / f"{name}.npz", a=data.views.arrays[0], b=data.views.arrays[1], labels=data.labels)
    (tmp_path / "spec.toml").write_text(SPEC)
    return tmp_path


def test_another_source_under_the_same_name_is_run_again(folder, manyview):
    assert manyview("bench", "spec.toml", "--out", "out").returncode == 0
    assert "1 runs, 0 to run" in manyview("bench", "spec.toml", "--out", "out", "--dry-run").stdout
    (folder / "spec.toml").write_text(SPEC.replace("one.npz", "two.npz"))
    assert "1 runs, 1 to run" in manyview("bench", "spec.toml", "--out", "out", "--dry-run").stdout
    assert "0 of 1 runs" in manyview("bench", "spec.toml", "--out", "out", "--stored").stdout
    (first,) = Store(folder / "out").rows().values()
    assert manyview("bench", "spec.toml", "--out", "out").returncode == 0
    (second,) = Store(folder / "out").rows().values()
    assert first["run"] == second["run"]
    assert first["data_sha256"] != second["data_sha256"]


def test_another_content_under_the_same_name_is_run_again(folder, manyview):
    assert manyview("bench", "spec.toml", "--out", "out").returncode == 0
    (folder / "one.npz").write_bytes((folder / "two.npz").read_bytes())
    assert len(pending(read_spec("spec.toml"), Store("out"))) == 1
    (folder / "one.npz").unlink()
    assert "1 of 1 runs" in manyview("bench", "spec.toml", "--out", "out", "--stored").stdout


def test_rows_from_different_data_are_said(folder, manyview):
    assert manyview("bench", "spec.toml", "--out", "out").returncode == 0
    (row,) = Store(folder / "out").rows().values()
    (folder / "spec.toml").write_text(SPEC.replace("repeats = 1", "repeats = 2"))
    experiment, store = read_spec("spec.toml"), Store("out")
    second = next(run for run in experiment.runs() if run.repeat == 1)
    with store.writing():
        store.append(row | {"run": second.id, "repeat": 1, "data_sha256": "0" * 16})
    assert changed_data(collect_results(experiment, store)) == ["mine"]
    told = manyview("bench", "spec.toml", "--out", "out", "--stored")
    assert "warning: rows of 'mine' come from different data" in told.stderr


@pytest.mark.parametrize("value", ["inf", "nan", "2026-01-05", "[1, inf]"])
def test_parameters_that_rows_cannot_hold_are_refused_before_any_run(folder, value):
    (folder / "spec.toml").write_text(f"{SPEC}params = {{ eps = {value} }}\n")
    with pytest.raises(InputError, match=r"spec\.toml, methods: params is .* give finite numbers"):
        read_spec("spec.toml")


def test_an_interrupted_bench_exits_with_130(folder):
    (folder / "plugins.py").write_text(
        "import time\nclass Sleeps:\n    def fit_predict(self, views):\n        time.sleep(60)\n"
    )
    (folder / "spec.toml").write_text(SPEC.replace('name = "mfmsc"', 'name = "s"\nsource = "plugins.py:Sleeps"'))
    command = Path(sys.executable).with_name("manyview")
    words = [command, "bench", "spec.toml", "--out", "out"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=os.environ) as bench:
        end = time.monotonic() + 60
        while not (folder / "out" / "runs.jsonl").exists() and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(0.5)
        bench.send_signal(signal.SIGINT)
        _, said = bench.communicate(timeout=60)
    assert bench.returncode == 130
    assert said.startswith("interrupted; finished runs are kept in")
