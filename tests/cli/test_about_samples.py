"""True labels and metadata: matched by id, or by position, which is said."""

import json

import numpy as np
import pandas as pd
import pytest

from manyview import make_views

BY_POSITION = "warning: The views have no sample ids: the rows of {} were matched by position."


@pytest.fixture
def data():
    return make_views(90, 3, (5, 8), noise=0.3, separation=10, seed=1)


@pytest.fixture
def without_ids(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", data.views.arrays[0])
    pd.DataFrame({"group": data.labels}).to_csv("about.csv", index=False)
    np.savez("all.npz", x=data.views.arrays[0], labels=data.labels)


@pytest.mark.parametrize("option", ["--truth", "--metadata"])
def test_matching_by_position_is_said(option, without_ids, manyview):
    done = manyview("cluster", "a.npy", "-k", 3, "-m", "mfmsc", option, "about.csv", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert BY_POSITION.format("about.csv") in " ".join(done.stderr.split())


def test_predict_says_it_too(without_ids, manyview):
    assert manyview("cluster", "a.npy", "-k", 3, "-m", "mfmsc", "--save", "--out", "fit").returncode == 0
    done = manyview("predict", "fit/model.manyview", "a.npy", "--truth", "about.csv", "--out", "new")
    assert done.returncode == 0, done.stderr
    assert BY_POSITION.format("about.csv") in " ".join(done.stderr.split())


def test_rows_of_one_file_belong_together(without_ids, manyview):
    done = manyview("cluster", "all.npz::x", "-k", 3, "-m", "mfmsc", "--truth", "all.npz", "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")


def test_files_that_are_read_by_rows_are_matched_by_id(data, tmp_path, monkeypatch, manyview):
    monkeypatch.chdir(tmp_path)
    ids = pd.Index([f"cell{i}" for i in range(90)], name="id")
    pd.DataFrame(data.views.arrays[0], index=ids).rename(columns=str).to_parquet("a.parquet")
    pd.DataFrame({"group": data.labels}, index=ids).iloc[::-1].to_csv("about.csv")
    words = ("-k", 3, "-p", "strategy=landmarks", "-p", "n_landmarks=60", "--truth", "about.csv", "--out", "out")
    done = manyview("cluster", "a.parquet", *words)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["metrics"]["ari"] == 1
