"""`manyview demo`."""

import pandas as pd
import pytest


def test_demo_runs_twice_and_writes_labels_and_a_picture(manyview, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("matplotlib")
    for _ in range(2):
        done = manyview("demo", "--out", "d")
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "d" / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert len(pd.read_csv(tmp_path / "d" / "labels.csv")) == 2000
    assert "fourier alone" in done.stdout
    assert "MFMSC" in done.stdout


def test_demo_does_not_replace_other_results(manyview, tmp_path, monkeypatch):
    monkeypatch.setattr("manyview.cli.demo.run_demo", None)  # before any work
    (tmp_path / "labels.csv").write_text("mine")
    done = manyview("demo", "--out", tmp_path)
    assert (done.returncode, (tmp_path / "labels.csv").read_text()) == (2, "mine")
    assert "already contains 'labels.csv'" in done.stderr
