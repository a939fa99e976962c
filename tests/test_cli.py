"""The command line: once through the installed command, else in this process, as starting one takes seconds."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from manyview import METHODS, __version__, make_views
from manyview.cli import main

COMMAND = Path(sys.executable).with_name("manyview")


@pytest.fixture
def manyview(capsys):
    """Run the command line with these words; give its exit code and what it printed."""

    def run(*words):
        with pytest.raises(SystemExit) as exit_:
            main([str(word) for word in words])
        printed = capsys.readouterr()
        return SimpleNamespace(returncode=exit_.value.code or 0, stdout=printed.out, stderr=printed.err)

    return run


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Two CSV views with ids, and the true groups."""
    data = make_views(60, 3, (5, 8), noise=0.3, seed=1)
    ids = pd.Index([f"patient {i}" for i in range(60)], name="id")
    for name, X in data.views.items():
        pd.DataFrame(X, index=ids).to_csv(tmp_path / f"{name}.csv")
    pd.DataFrame({"group": data.labels}, index=ids).iloc[::-1].to_csv(tmp_path / "truth.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_installed_command():
    done = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, f"manyview {__version__}")


def test_methods_and_datasets_are_listed(manyview):
    listed = manyview("methods").stdout
    assert all(key in listed and cls.__name__ in listed for key, cls in METHODS.items())
    assert "digits" in manyview("datasets").stdout


def test_the_digits_can_be_exported_and_clustered(manyview, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert manyview("datasets", "--export", "digits").returncode == 0
    words = ["cluster", "digits/fourier.csv", "digits/profile.csv", "-k", 10, "--truth", "digits/labels.csv"]
    assert manyview(*words, "--out", "out").returncode == 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["metrics"]["acc"] > 0.96
    again = manyview("datasets", "--export", "digits")
    assert again.returncode == 2
    assert "--force" in again.stderr


def test_cluster_writes_labels_and_summary(manyview, project):
    words = [
        "cluster",
        "view_0.csv",
        "view_1.csv",
        "-k",
        3,
        "--truth",
        "truth.csv",
        "--out",
        "out",
        "-p",
        "n_neighbors=7",
    ]
    done = manyview(*words, "--method", "mfmsc")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # quiet in a pipe
    labels = pd.read_csv(project / "out" / "labels.csv")
    assert labels.columns.tolist() == ["sample", "label"]
    assert labels["sample"].tolist() == [f"patient {i}" for i in range(60)]
    summary = json.loads((project / "out" / "summary.json").read_text())
    assert summary["method"] == "mfmsc"
    assert summary["parameters"]["n_neighbors"] == 7
    assert summary["seed"] == 0
    assert summary["metrics"]["acc"] == 1
    assert sum(summary["cluster_sizes"]) == 60
    assert set(summary["versions"]) == {"python", "manyview", "numpy", "scipy", "scikit-learn"}
    assert summary["seconds"]["fit"] > 0
    assert manyview(*words, "--force").returncode == 0


def test_results_are_not_overwritten_unasked(manyview, project):
    words = ["cluster", "view_0.csv", "-k", 3, "--out", "out"]
    assert manyview(*words).returncode == 0
    before = (project / "out" / "summary.json").read_text()
    again = manyview(*words)
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert (project / "out" / "summary.json").read_text() == before


@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs_on_an_npz(manyview, tmp_path, monkeypatch, method):
    monkeypatch.chdir(tmp_path)
    data = make_views(60, 3, (5, 8), noise=0.3, seed=1)
    np.savez(tmp_path / "data.npz", **dict(data.views.items()), labels=data.labels)
    done = manyview("cluster", "data.npz", "-k", 3, "-m", method, "--truth", "data.npz", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["metrics"]["acc"] > 0.9


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["missing.csv", "-k", 3], "missing.csv is not there"),
        (["view_0.csv", "-k", 0], "n_clusters=0 is too small"),
        (["view_0.csv", "-k", 61], "n_samples=60 is fewer than n_clusters=61"),
        (["view_0.csv", "-k", "three"], "-k"),
        (["view_0.csv", "-k", 3, "--method", "nope"], "Unknown method='nope'. Choose one of: 'mfmsc'"),
        (["view_0.csv", "-k", 3, "-m", "mfmsc", "-p", "neighbours=7"], "--param 'neighbours=7'"),
        (["view_0.csv", "-k", 3, "-m", "mfmsc", "-p", "affinity=dense"], "Unknown affinity='dense'"),
        (["view_0.csv"], "-k"),
        (["view_0.csv", "-k", 3, "--truth", "view_1.npz"], "view_1.npz is not there"),
    ],
)
def test_bad_input_gives_a_message_and_exit_code_2(manyview, project, words, says):
    done = manyview("cluster", *words, "--out", "out")
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (project / "out").exists()
    assert done.stderr.startswith("error:")
    assert len(done.stderr.strip().splitlines()) == 1


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
