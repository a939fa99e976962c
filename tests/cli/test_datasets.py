"""`manyview datasets`."""

import json

import pandas as pd


def test_the_digits_can_be_exported_and_clustered(manyview, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert manyview("datasets", "--export", "digits").returncode == 0
    words = ["cluster", "digits/fourier.csv", "digits/profile.csv", "-k", 10, "--truth", "digits/labels.csv"]
    assert manyview(*words, "--out", "out").returncode == 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["metrics"]["acc"] > 0.96
    again = manyview("datasets", "--export", "digits")
    assert again.returncode == 2
    assert "--force" in again.stderr


def test_the_tumours_can_be_exported_with_their_metadata(manyview, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = manyview("datasets", "--export", "tumours", "--name", "tumours")
    assert (done.returncode, done.stderr) == (0, "")
    names = {path.name for path in (tmp_path / "tumours").iterdir()}
    assert names == {"expression.csv", "methylation.csv", "mirna.csv", "labels.csv", "metadata.csv"}
    assert len(pd.read_csv("tumours/methylation.csv")) < len(pd.read_csv("tumours/metadata.csv"))


def test_an_unknown_data_set_is_refused(manyview, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = manyview("datasets", "--export", "x", "--name", "tumors")
    assert done.returncode == 2
    assert "Choose one of: 'digits', 'tumours'" in done.stderr
    assert not (tmp_path / "x").exists()
