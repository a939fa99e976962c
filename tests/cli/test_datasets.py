"""`manyview datasets`."""

import json


def test_the_digits_can_be_exported_and_clustered(manyview, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert manyview("datasets", "--export", "digits").returncode == 0
    words = ["cluster", "digits/fourier.csv", "digits/profile.csv", "-k", 10, "--truth", "digits/labels.csv"]
    assert manyview(*words, "--out", "out").returncode == 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["metrics"]["acc"] > 0.96
    again = manyview("datasets", "--export", "digits")
    assert again.returncode == 2
    assert "--force" in again.stderr
