"""Reading results that were written before."""

import json

import pandas as pd
import pytest

from manyview import InputError
from manyview.io.results import read_result


def test_a_folder_has_labels_and_settings(tmp_path):
    (tmp_path / "labels.csv").write_text("sample,label,stability\na,1,0.5\nb,0,1.0\n")
    summary = {
        "method": "ocbr",
        "parameters": {"n_neighbors": 7, "scaling": None, "fast": True},
        "files": ["x.csv", "y.csv"],
        "views": {"x": {"features": 3, "missing_values": 0, "why": "explained"}},
        "batches": {"column": "centre", "p_value": 0.5},
        "seconds": {"fit": 3},
    }
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    found = read_result(tmp_path)
    pd.testing.assert_series_equal(found.labels, pd.Series([1, 0], index=pd.Index(["a", "b"], name="sample")))
    assert found.settings == {
        "method": "ocbr",
        "parameter n_neighbors": "7",
        "parameter scaling": "none",
        "parameter fast": "yes",
        "files": "x.csv, y.csv",
        "view x": "features 3, missing values 0",
        "batch": "centre",
    }


def test_a_table_has_labels_only(tmp_path):
    (tmp_path / "mine.tsv").write_text("id\tgroup\nx\tluminal\ny\tbasal\n")
    found = read_result(tmp_path / "mine.tsv")
    assert found.labels.to_dict() == {"x": "luminal", "y": "basal"}
    assert found.settings == {}


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "has no labels.csv"),
        ({"labels.csv": "sample,label\na,1\nb,\n"}, "has 1 missing labels"),
        ({"labels.csv": "sample,label\na,1\n", "summary.json": "{"}, "cannot be read as JSON"),
        ({"labels.csv": "sample,label\na,1\n", "summary.json": "[]"}, "contains a list"),
    ],
)
def test_bad_results_are_refused(tmp_path, files, says):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=says):
        read_result(tmp_path)
