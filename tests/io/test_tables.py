"""Users' files: names of files and views, labels, metadata, and the examples of docs/files.md."""

import re
import shlex
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from manyview import InputError
from manyview.cli.app import main
from manyview.io import TableOptions, read_labels, read_metadata, read_views

DOCS = Path(__file__).parents[2] / "docs" / "files.md"


def test_files_of_the_same_name_are_told_apart_by_their_folder(write):
    paths = [write(f"{folder}/new.data.csv", "id,x\n3,4\n") for folder in ("rna", "protein")]
    assert read_views(paths).views.names == ("rna/new.data", "protein/new.data")


def test_arrays_of_the_same_name_are_told_apart_by_their_file(tmp_path):
    for name in ("a", "b"):
        np.savez(tmp_path / f"{name}.npz", X=np.eye(2), ids=["p", "q"])
    assert read_views([tmp_path / "a.npz", tmp_path / "b.npz"]).views.names == ("a/X", "b/X")


def test_views_can_be_named_and_parts_of_files_picked(tmp_path, write):
    csv = write("a.csv", "id,x,y\na,1,2\nb,3,4\n")
    np.savez(tmp_path / "z.npz", left=np.eye(2), right=np.ones((2, 1)), ids=["a", "b"])
    views = read_views([f"rna={csv}", f"age={csv}::y", f"two={tmp_path}/z.npz", f"last={tmp_path}/z.npz::right"]).views
    assert views.names == ("rna", "age", "two/left", "two/right", "last")
    np.testing.assert_array_equal(views.arrays[1], [[2], [4]])
    assert read_views([f"{csv}::x", f"{csv}::y"]).views.names == ("x", "y")


def test_views_of_the_same_name_are_refused(write):
    path, other = (write(f"a.{ending}", "id,x\np,2\nq,4\n") for ending in ("csv", "txt"))
    with pytest.raises(InputError, match=r"View name '.*/a' is used more than once"):
        read_views([path, other])
    assert read_views([f"one={path}", path]).views.names == ("one", "a")


def test_a_file_that_is_called_so_comes_first(write):
    path = write("odd=name.csv::x.csv", "x,y\n1,2\n3,4\n")
    assert read_views([path]).views.shape == (2, 2)
    folder = write("k=1/a.csv", "x,y\n1,2\n3,4\n")  # as partitioned data are laid out
    assert read_views([f"{folder}::y"]).views.shape == (2, 1)


SAMPLES = np.array([f"s{i}" for i in range(3)])


def test_labels_are_matched_by_id(write):
    path = write("truth.csv", "id,age,group\ns2,1,A\ns1,2,B\nextra,3,C\ns0,4,C\n")
    with pytest.warns(UserWarning, match="no column 'label'; its last column, 'group', was read as the labels"):
        assert read_labels(path, SAMPLES, 3).tolist() == ["C", "B", "A"]
    assert read_labels(f"{path}::age", SAMPLES, 3).tolist() == [4, 2, 1]


@pytest.mark.parametrize("text", ["A\nB\nA\n", "group\nA\nB\nA\n", "group\nbig A\nB\nA\n"])
def test_labels_without_ids(write, text):
    labels = read_labels(write("truth.csv", text), None, 3)
    assert (labels[0] == labels[2]) == ("big" not in text)
    with pytest.warns(UserWarning, match="matched by position"):
        assert len(read_labels(write("truth.csv", text), SAMPLES, 3)) == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("group\nA\nB\n", "has 2 rows, but there are 3 samples"),
        ("id,group\ns0,A\ns1,\ns2,B\n", "has 1 missing labels"),
        ("id,group\ns0,A\ns1,B\n", "has no label for 1 ('s2') of the 3 samples"),
        (
            "id,group\na,A\nb,B\nc,B\n",
            "shares no sample id with the other files: it has 'a', they have 's0'",
        ),
        ("id,group\ns0,A\ns1,B\ns1,B\n", "has duplicated sample ids: 's1'"),
    ],
)
def test_labels_that_do_not_fit(write, text, says):
    with pytest.raises(InputError, match=re.escape(says)):
        read_labels(write("truth.csv", text), SAMPLES, 3)


def test_labels_must_be_one_table(tmp_path):
    with pd.ExcelWriter(tmp_path / "b.xlsx") as book:
        for sheet in ("one", "two"):
            pd.DataFrame({"group": list("ABA")}, index=SAMPLES).to_excel(book, sheet_name=sheet)
    with pytest.raises(InputError, match=r"contains several tables; choose one with .*::KEY; the keys are 'one'"):
        read_labels(tmp_path / "b.xlsx", SAMPLES, 3)
    assert read_labels(f"{tmp_path}/b.xlsx::two", SAMPLES, 3).tolist() == ["A", "B", "A"]
    np.savez(tmp_path / "x.npz", cube=np.ones((2, 2, 2)))
    with pytest.raises(InputError, match="has no 'labels', 'label', 'y', 'target'"):
        read_labels(tmp_path / "x.npz", None, 2)
    with pytest.raises(InputError, match=r"x\.npz::cube is not a table \(shape \(2, 2, 2\)\)"):
        read_labels(f"{tmp_path}/x.npz::cube", None, 2)


def test_metadata_of_any_type_come_in_the_order_of_the_samples(write):
    path = write("meta.csv", "id,age,sex,city\ns2,41,f,Rome\nother,1,m,Oslo\ns0,NA,m,\n")
    with pytest.warns(UserWarning, match=r"meta\.csv has no row for 1 \('s1'\) of the 3 samples"):
        frame = read_metadata(path, SAMPLES, 3)
    assert frame.index.tolist() == SAMPLES.tolist()
    expected = {"age": [np.nan, np.nan, 41], "sex": ["m", np.nan, "f"], "city": [np.nan, np.nan, "Rome"]}
    pd.testing.assert_frame_equal(frame, pd.DataFrame(expected, index=SAMPLES))


def test_the_commands_of_the_documentation_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = DOCS.read_text()
    commands = re.findall(r"^    manyview (.*)$", text, re.MULTILINE)
    assert len(commands) == 3
    for words in commands:
        with pytest.raises(SystemExit) as done:
            main(shlex.split(words, comments=True))
        assert not done.value.code, capsys.readouterr().err
    ((code, printed),) = re.findall(r"```python\n(.*?)```\n\n((?:    [^\n]*\n)+)", text, re.DOTALL)
    capsys.readouterr()
    exec(compile(code, str(DOCS), "exec"), {})
    assert capsys.readouterr().out == textwrap.dedent(printed)


CODED = "id,age,bmi\np,-999,20\nq,30,n.d.\nr,40,-999.0\n"


@pytest.mark.parametrize("missing", [(-999, "n.d."), ["-999", " n.d."], ("-999.0", "n.d.")])
def test_codes_for_missing_values_are_named_by_the_user(missing, write):
    views = read_views([write("a.csv", CODED)], options=TableOptions(missing=missing)).views
    np.testing.assert_array_equal(views.arrays[0], [[np.nan, 20], [30, np.nan], [40, np.nan]])


def test_a_single_code_and_ids_that_look_like_it(tmp_path, write):
    path = write("a.csv", "id,x\n7,7\n8,1\n")
    assert read_views([path], options=TableOptions(missing=7)).views.sample_ids.tolist() == ["7", "8"]
    np.savez(tmp_path / "a.npz", X=np.array([[7, 1], [2, 7]]))
    (X,) = read_views([tmp_path / "a.npz"], options=TableOptions(missing="7")).views.arrays
    np.testing.assert_array_equal(X, [[np.nan, 1], [2, np.nan]])


def test_codes_in_metadata(write):
    path = write("a.csv", "id,age,sex\np,-999,f\nq,30,?\n")
    about = read_metadata(path, np.array(["p", "q"]), 2, options=TableOptions(missing=("-999", "?")))
    assert about["age"].isna().tolist() == [True, False]
    assert about["sex"].isna().tolist() == [False, True]


def test_what_looks_like_a_code_in_metadata_is_named_and_stays(write):
    rows = "".join(f"s{i},{-999 if i < 3 else 20 + i}\n" for i in range(20))
    path = write("a.csv", "id,age\n" + rows)
    with pytest.warns(UserWarning, match="a.csv has the value -999 in column 'age', far from all others there"):
        assert (read_metadata(path, None, 20)["age"] == -999).sum() == 3


@pytest.mark.parametrize("code", ["", " ", np.nan, np.inf, None, [1]])
def test_codes_that_are_none(code):
    with pytest.raises(InputError, match="is no code for missing values"):
        TableOptions(missing=[code])


def test_zeros_of_sparse_tables_are_not_missing(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(np.eye(3)))
    with pytest.raises(InputError, match="is sparse, so its zeros cannot be missing values"):
        read_views([tmp_path / "a.npz"], options=TableOptions(missing=0))


def test_a_file_given_twice_is_told(write):
    path = write("a.csv", "id,x\np,1\nq,2\n")
    with pytest.raises(InputError, match=r"a\.csv is given twice; leave one out, or name the views"):
        read_views([path, path])
    assert read_views([f"one={path}", f"two={path}"]).views.names == ("one", "two")


def test_columns_without_a_name_get_one(write):
    views = read_views([write("a.csv", 'id,x," ",\np,1,2,3\nq,2,3,4\n')]).views
    assert views.feature_names[0].tolist() == ["x", "unnamed 2", "unnamed 3"]
