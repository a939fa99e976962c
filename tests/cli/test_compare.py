"""`manyview compare`."""

import pandas as pd
import pytest


@pytest.fixture
def results(manyview, project):
    files = ["view_0.csv", "view_1.csv", "-m", "mfmsc"]
    for name, k in (("first", 3), ("second", 4)):
        assert manyview("cluster", *files, "-k", k, "--out", name).returncode == 0
    return project


def test_two_results_and_a_table_of_labels(manyview, results):
    done = manyview("compare", "first", "second", "truth.csv", "--out", "compared")
    assert (done.returncode, done.stderr) == (0, "")
    assert "first   truth.csv      1.000  1.000  1.000  0" in done.stdout
    assert "From first (3 clusters) to second (4 clusters), 10 samples of 60 moved (16.7%; ARI 0.865)." in done.stdout
    table = pd.read_csv(results / "compared" / "comparison.csv")
    assert table.columns.tolist() == ["sample", "first", "second", "truth.csv", "moved"]
    assert len(table) == 60
    page = (results / "compared" / "comparison.html").read_text(encoding="utf-8")
    assert "parameter n_clusters" in page
    again = manyview("compare", "first", "second", "--out", "compared")
    assert again.returncode == 2
    assert "--force" in again.stderr


def test_the_column_that_was_taken_is_named_and_can_be_chosen(manyview, results):
    table = pd.read_csv("truth.csv")
    table.assign(half=table.index % 2).to_csv("about.csv", index=False)
    took = manyview("compare", "first", "about.csv", "--out", "taken")
    assert took.stderr.startswith("warning: about.csv has no column 'label'; its last column, 'half', was read as the")
    assert "name another as about.csv::COLUMN." in took.stderr
    chosen = manyview("compare", "first", "about.csv::group", "--out", "chosen")
    assert (chosen.returncode, chosen.stderr) == (0, "")
    assert "first   about.csv::group  1.000  1.000  1.000  0" in chosen.stdout
    wrong = manyview("compare", "first", "about.csv::grp", "--out", "wrong")
    assert wrong.returncode == 2
    assert "about.csv has no 'grp'. Choose from: 'group', 'half'." in wrong.stderr


def test_without_out_a_new_folder_is_made(manyview, results):
    assert "wrote manyview-comparison/comparison.html" in manyview("compare", "first", "second").stdout
    assert "wrote manyview-comparison-2/comparison.html" in manyview("compare", "first", "second").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["first"], "Got 1 result; give at least two to compare. Help: https://"),
        (["first", "nowhere"], "nowhere was not found; give a folder written by 'manyview cluster'"),
        (["first", "view_0.csv"], "has a different label for each of its 60 samples"),
        (["first", "first"], "first is given twice"),
        (["first", "other.csv"], "share no sample: the first has 'patient 0'"),
    ],
)
def test_bad_input_gives_one_line_and_no_files(manyview, results, words, says):
    (results / "other.csv").write_text("id,label\nx,1\ny,2\n")
    done = manyview("compare", *words, "--out", "compared")
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (results / "compared").exists()
