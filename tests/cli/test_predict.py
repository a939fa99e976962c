"""`manyview predict`."""

import json

import pandas as pd


def read_json(path):
    return json.loads(path.read_text())


def test_new_samples_are_placed_with_a_saved_model(manyview, project):
    for name in ("view_0", "view_1"):
        table = pd.read_csv(f"{name}.csv")
        table.iloc[:40].to_csv(f"old_{name}.csv", index=False)
        table.iloc[40:].to_csv(f"new_{name}.csv", index=False)
    old = ["rna=old_view_0.csv", "atac=old_view_1.csv"]
    assert manyview("cluster", *old, "-k", 3, "--save", "--truth", "truth.csv", "--out", "fit").returncode == 0
    new = ["rna=new_view_0.csv", "atac=new_view_1.csv"]
    for files, missing in ((new, []), (new[1:], ["rna"])):
        done = manyview("predict", "fit/model.manyview", *files, "--truth", "truth.csv", "--out", "new", "--force")
        assert done.returncode == 0, done.stderr
        summary = read_json(project / "new" / "summary.json")
        assert (summary["n_samples"], summary["views_missing"]) == (20, missing)
        assert summary["metrics"]["acc"] == 1
    labels = pd.read_csv(project / "new" / "labels.csv")
    assert labels["sample"].tolist() == [f"patient {i}" for i in range(40, 60)]


def test_results_do_not_replace_the_model_they_come_from(manyview, project):
    words = ["cluster", "view_0.csv", "-k", 3, "-m", "mfmsc", "--save", "--out", "fit"]
    assert manyview(*words).returncode == 0
    done = manyview("predict", "fit/model.manyview", "view_0.csv", "--out", "fit", "--force")
    assert done.returncode == 2
    assert "fit contains the results of the model model.manyview" in done.stderr
    assert (project / "fit" / "model.manyview").exists()
