"""`manyview cluster` with landmarks, on files that are read in blocks of rows."""

import json

import numpy as np
import pandas as pd
import pytest

from manyview import adjusted_rand_index, make_views

LANDMARKS = ("-k", 3, "-p", "strategy=landmarks", "-p", "n_landmarks=150")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    data = make_views(900, 3, (6, 5), noise=0.5, separation=10, seed=0)
    ids = [f"cell{i}" for i in range(900)]
    for name, X in data.views.items():
        np.save(folder / f"{name}.npy", X)
        pd.DataFrame(X, index=ids).rename(columns=str).to_parquet(folder / f"{name}.parquet", row_group_size=200)
    pd.DataFrame({"class": data.labels}).to_csv(folder / "truth.csv", index=False)
    return folder


@pytest.mark.parametrize("ending", ["npy", "parquet"])
def test_labels_of_all_samples_are_written(ending, folder, tmp_path, manyview):
    files = [folder / f"view_{i}.{ending}" for i in range(2)]
    run = manyview("cluster", *files, *LANDMARKS, "--truth", folder / "truth.csv", "--out", tmp_path / "out", "--save")
    assert run.returncode == 0, run.stderr
    assert "3 clusters of 900 samples" in run.stdout
    table = pd.read_csv(tmp_path / "out" / "labels.csv", index_col="sample")
    assert table.columns.tolist() == ["label", "confidence", "second"]
    assert table["confidence"].between(0, 1).all()
    assert (table["second"] != table["label"]).all()
    labels = table["label"]
    assert labels.index[5] == (5 if ending == "npy" else "cell5")
    truth = pd.read_csv(folder / "truth.csv")["class"]
    assert adjusted_rand_index(truth, labels) > 0.98
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["n_samples"], summary["n_landmarks"]) == (900, 150)
    assert summary["views"]["view_0"]["samples"] == 900
    assert summary["confidence"]["mean"] == pytest.approx(table["confidence"].mean(), abs=1e-4)
    assert summary["cluster_sizes"] == np.bincount(labels).tolist()
    again = manyview("predict", tmp_path / "out" / "model.manyview", *files, "--out", tmp_path / "again")
    assert again.returncode == 0, again.stderr
    others = pd.read_csv(tmp_path / "again" / "labels.csv")["label"].to_numpy()
    assert adjusted_rand_index(labels, others) > 0.98


def test_reports_show_the_landmarks(folder, tmp_path, manyview):
    files = [folder / f"view_{i}.parquet" for i in range(2)]
    run = manyview("cluster", *files, *LANDMARKS, "--report", "--out", tmp_path / "out")
    assert run.returncode == 0, run.stderr
    assert len(pd.read_csv(tmp_path / "out" / "labels.csv")) == 900
    assert "report.html" in run.stdout


def test_views_of_other_samples_are_refused(folder, tmp_path, manyview):
    np.save(tmp_path / "short.npy", np.zeros((899, 2)))
    run = manyview("cluster", folder / "view_0.npy", tmp_path / "short.npy", *LANDMARKS, "--out", tmp_path / "out")
    assert run.returncode == 2
    assert "View 'short' has 899 samples but view 'view_0' has 900" in run.stderr
    assert not (tmp_path / "out").exists()


def test_samples_in_another_order_are_refused(folder, tmp_path, manyview):
    shuffled = pd.read_parquet(folder / "view_1.parquet").iloc[::-1]
    shuffled.to_parquet(tmp_path / "other.parquet")
    run = manyview(
        "cluster", folder / "view_0.parquet", tmp_path / "other.parquet", *LANDMARKS, "--out", tmp_path / "o"
    )
    assert run.returncode == 2
    assert "'cell899' in view 'other' but 'cell0' in view 'view_0'" in run.stderr


def test_an_interruption_while_labels_are_written_leaves_the_results_before(folder, tmp_path, manyview, monkeypatch):
    words = ("cluster", *(folder / f"view_{i}.npy" for i in range(2)), *LANDMARKS, "--out", tmp_path / "out")
    assert manyview(*words).returncode == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}

    def interrupted(*_):
        yield b"sample,label\n0,"
        raise KeyboardInterrupt

    monkeypatch.setattr("manyview.cli.by_rows.label_lines", interrupted)
    run = manyview(*words, "--force", "--seed", 1)
    assert (run.returncode, run.stderr.splitlines()[-1]) == (130, "interrupted")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
