"""Users' files: text, names of files and views, matching by id, labels, metadata; and writing results."""

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
from manyview.io import TableOptions, read_labels, read_metadata, read_views, write_files

DOCS = Path(__file__).parents[2] / "docs" / "files.md"


@pytest.fixture
def write(tmp_path):
    """Write a text file, and give its path."""

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return write


# Text ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ids", "features"),
    [
        ("id,x,y\na,1,2\nb,3,4\n", ["a", "b"], ["x", "y"]),
        ("x,y\n1,2\n3,4\n", None, ["x", "y"]),
        ("1,2\n3,4\n", None, [1, 2]),
        ("a,1,2\nb,3,4\n", ["a", "b"], [2, 3]),
        (",0,1\na,1,2\nb,3,4\n", ["a", "b"], ["0", "1"]),
        ("Sample ID,0,1\n1,1,2\n2,3,4\n", ["1", "2"], ["0", "1"]),
        ("gene,0,1\na,1,2\nb,3,4\n", "has no header", None),
        ("x,y,name\n1,2,a\n3,4,b\n", ["a", "b"], ["x", "y"]),
        ("x;y\n1;2\n3;4\n", None, ["x", "y"]),
        ("id;x;y\na;1,0;2\nb;3,0;4\n", ["a", "b"], ["x", "y"]),
        ("id|x|y\na|1|2\nb|3|4\n", ["a", "b"], ["x", "y"]),
        ("id\tx\ty\na\t1\t2\nb\t3\t4\n", ["a", "b"], ["x", "y"]),
        ("id x  y\na   1 2\nb 3 4 \n", ["a", "b"], ["x", "y"]),
        ('"x" "y"\n"a 1" 1 2\n"b" 3 4\n', ["a 1", "b"], ["x", "y"]),  # R's write.table
        ("x\ty\na\t1\t2\nb\t3\t4\n", ["a", "b"], ["x", "y"]),
        ("x,y,\n1,2,\n3,4,\n", None, ["x", "y"]),
        ("x,y\n1,2,\n3,4,\n", None, ["x", "y"]),
        ('id,"x, or ""x""",y\n"a,b",1,2\nc,3,4\n', ["a,b", "c"], ['x, or "x"', "y"]),
        ("\nid, x, y\n\na, 1, 2\n  \nb, 3, 4\n\n", ["a", "b"], ["x", "y"]),
        ("id,x,x\na,1,2\nb,3,4\n", ["a", "b"], ["x", "x"]),
        ("id,x,y\n007,1,2\n8,3,4\n", ["007", "8"], ["x", "y"]),
        ("id,x,y\n1.0,1,2\n2.0,3,4\n", ["1", "2"], ["x", "y"]),
        ("hash,x,y\n4e492493924924,1,2\nab12,3,4\n", ["4e492493924924", "ab12"], ["x", "y"]),  # crashes pandas 2
        ("id,x,y\n4e492493924924,1,2\n5E+35669373161111,3,4\n", ["4e492493924924", "5E+35669373161111"], ["x", "y"]),
    ],
)
def test_delimiter_header_and_ids_are_found(write, text, ids, features):
    views = read_views([write("t.txt", text)]).views
    if ids == "has no header":  # nothing tells these names from values, but for what the user knows
        assert views.sample_ids.tolist() == ["gene", "a", "b"]
        views = read_views([write("t.txt", text)], options=TableOptions(header="yes")).views
        ids, features = ["a", "b"], ["0", "1"]
    np.testing.assert_array_equal(views.arrays[0], [[1, 2], [3, 4]])
    assert (views.sample_ids is None) == (ids is None)
    assert ids is None or views.sample_ids.tolist() == ids
    assert views.feature_names[0].tolist() == features


@pytest.mark.parametrize(
    ("options", "values", "ids"),
    [
        ({}, [[5, 1], [6, 1]], ["1", "2"]),
        ({"id_column": "none"}, [[1, 5, 1], [2, 6, 1]], None),
        ({"id_column": "x"}, [[1, 1], [2, 1]], ["5", "6"]),
        ({"id_column": 2}, [[1, 1], [2, 1]], ["5", "6"]),
        ({"id_column": "2"}, [[1, 1], [2, 1]], ["5", "6"]),
        ({"header": "yes", "delimiter": "comma"}, [[5, 1], [6, 1]], ["1", "2"]),
    ],
    ids=str,
)
def test_what_is_found_can_be_overridden(write, options, values, ids):
    views = read_views([write("t.csv", "id,x,y\n1,5,1\n2,6,1\n")], options=TableOptions(**options)).views
    np.testing.assert_array_equal(views.arrays[0], values)
    assert ids is None or views.sample_ids.tolist() == ids


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"id_column": "z"}, "t.csv has no column id_column='z'. Choose from: 'id', 'x', 'y'; or give its number"),
        ({"id_column": 4}, "id_column=4"),
        ({"id_column": "y"}, "t.csv has duplicated sample ids: '1'"),
        ({"header": "no"}, "t.csv, line 1, column 1: 'id' is not a finite number"),
        ({"header": "maybe"}, "Unknown header='maybe'"),
        ({"delimiter": "tab"}, "t.csv, line 2, column 'id,x,y': '1,5,1' is not a finite number"),
        ({"delimiter": "::"}, "delimiter='::' is not one character"),
    ],
    ids=str,
)
def test_options_that_do_not_fit(write, options, says):
    with pytest.raises(InputError, match=re.escape(says)):
        read_views([write("t.csv", "id,x,y\n1,5,1\n2,6,1\n")], options=TableOptions(**options))


def test_words_for_missing_values(write):
    (array,) = read_views([write("t.csv", "id,x,y\na,NA,1\nb,,null\nc, NaN,2\n")]).views.arrays
    np.testing.assert_array_equal(array, [[np.nan, 1], [np.nan, np.nan], [np.nan, 2]])


def test_text_columns_can_be_left_out(write):
    path = write("t.csv", "id,x,city\na,1,Rome\nb,2,Oslo\n")
    with pytest.raises(
        InputError, match=r"t\.csv, line 2, column 'city': 'Rome' is not a finite number; leave out the col"
    ):
        read_views([path])
    with pytest.warns(UserWarning, match="dropped text columns 'city'"):
        views = read_views([path], options=TableOptions(drop_text_columns=True)).views
    assert views.feature_names[0].tolist() == ["x"]
    with pytest.raises(InputError, match="'2x' is not a finite number"):  # a slip of the pen, not a column of text
        read_views([write("t.csv", "id,x,y\na,1,2\nb,2x,3\n")], options=TableOptions(drop_text_columns=True))


def test_a_column_that_changes_its_type_far_down_is_read_as_one(write):
    lines = [f"{i:06d},1,{i % 3}" for i in range(300_000)]
    path = write("t.csv", "\n".join(["gene,x,group", *lines, "last,1,2"]))
    options = TableOptions(id_column=1)
    assert read_views([path], options=options).views.sample_ids[[0, -1]].tolist() == ["000000", "last"]
    lines[-1] = "299999,1,other"
    metadata = read_metadata(write("t.csv", "\n".join(["gene,x,group", *lines])), None, 300_000, options=options)
    assert set(metadata["group"]) == {"0", "1", "2", "other"}


# Names -----------------------------------------------------------------------------------------------


def test_files_of_the_same_name_are_told_apart_by_their_folder(write):
    paths = [write(f"{folder}/new.data.csv", "1,2\n3,4\n") for folder in ("rna", "protein")]
    assert read_views(paths).views.names == ("rna/new.data", "protein/new.data")


def test_arrays_of_the_same_name_are_told_apart_by_their_file(tmp_path):
    for name in ("a", "b"):
        np.savez(tmp_path / f"{name}.npz", X=np.eye(2))
    assert read_views([tmp_path / "a.npz", tmp_path / "b.npz"]).views.names == ("a/X", "b/X")


def test_views_can_be_named_and_parts_of_files_picked(tmp_path, write):
    csv = write("a.csv", "id,x,y\na,1,2\nb,3,4\n")
    np.savez(tmp_path / "z.npz", left=np.eye(2), right=np.ones((2, 1)), ids=["a", "b"])
    views = read_views([f"rna={csv}", f"age={csv}::y", f"two={tmp_path}/z.npz", f"last={tmp_path}/z.npz::right"]).views
    assert views.names == ("rna", "age", "two/left", "two/right", "last")
    np.testing.assert_array_equal(views.arrays[1], [[2], [4]])
    assert read_views([f"{csv}::x", f"{csv}::y"]).views.names == ("x", "y")


def test_views_of_the_same_name_are_refused(write):
    path = write("a.csv", "1,2\n3,4\n")
    with pytest.raises(InputError, match=r"View name '.*/a' is used more than once"):
        read_views([path, path])
    assert read_views([f"one={path}", path]).views.names == ("one", "a")


def test_a_file_that_is_called_so_comes_first(write):
    path = write("odd=name.csv::x.csv", "x,y\n1,2\n3,4\n")
    assert read_views([path]).views.shape == (2, 2)
    folder = write("k=1/a.csv", "x,y\n1,2\n3,4\n")  # as partitioned data are laid out
    assert read_views([f"{folder}::y"]).views.shape == (2, 1)


# Matching --------------------------------------------------------------------------------------------


@pytest.fixture
def three(write):
    """Files of three views that lack some of the samples s0 to s4."""
    return [
        write("a.csv", "id,x\ns0,0\ns1,1\ns2,2\ns3,3\n"),
        write("b.tsv", "id\tu\tv\ns3\t3\t3\ns4\t4\t4\ns0\t0\t0\n"),
        write("c.csv", "id,w\n s1 ,1\ns0,0\ns3,3\n"),
    ]


def test_all_samples_are_kept_and_those_that_lack_are_absent(three):
    loaded = read_views(three)
    assert loaded.views.sample_ids.tolist() == ["s0", "s1", "s2", "s3", "s4"]
    np.testing.assert_array_equal(loaded.views.arrays[0].ravel(), [0, 1, 2, 3, np.nan])
    np.testing.assert_array_equal(loaded.views.arrays[1][:, 1], [0, np.nan, np.nan, 3, 4])
    np.testing.assert_array_equal(loaded.views.present[:, 2], [True, True, False, True, False])
    assert {name: (lack.count, lack.first) for name, lack in loaded.unmatched.items()} == {
        "a": (1, ("s4",)),
        "b": (2, ("s1", "s2")),
        "c": (2, ("s2", "s4")),
    }
    assert str(loaded.unmatched["b"]) == "2 ('s1', 's2')"


def test_common_samples_only(three):
    loaded = read_views(three, samples="common")
    assert loaded.views.sample_ids.tolist() == ["s0", "s3"]
    assert all(array[:, 0].tolist() == [0, 3] for array in loaded.views.arrays)
    assert loaded.unmatched["b"].count == 2
    with pytest.raises(InputError, match="Unknown samples='some'"):
        read_views(three, samples="some")


def test_no_sample_in_all_views(write):
    paths = [write(f"{ids}.csv", "id,x\n" + "".join(f"{i},1\n" for i in ids)) for ids in ("ab", "bc", "ca")]
    assert read_views(paths).views.n_samples == 3
    with pytest.raises(InputError, match="No sample is in all of the views 'ab', 'bc', 'ca'"):
        read_views(paths, samples="common")


def test_sparse_views_lack_samples_as_well(tmp_path, write):
    anndata = pytest.importorskip("anndata")
    made = anndata.AnnData(sp.csr_matrix([[1.0, 0], [0, 2]]), obs=pd.DataFrame(index=["p", "q"]))
    made.write_h5ad(tmp_path / "s.h5ad")
    views = read_views([write("a.csv", "id,x\nr,1\nq,2\n"), tmp_path / "s.h5ad"]).views
    assert views.sample_ids.tolist() == ["r", "q", "p"]
    assert views.present.tolist() == [[True, False], [True, True], [False, True]]
    np.testing.assert_array_equal(views.arrays[1].toarray()[1:], [[0, 2], [1, 0]])


def test_ids_are_compared_as_text(tmp_path, write):
    np.savez(tmp_path / "z.npz", X=np.eye(3), ids=np.array([3.0, 1.0, 2.0]))
    views = read_views([write("a.csv", "id,x\n1,1\n2,2\n3,3\n"), tmp_path / "z.npz"]).views
    assert views.sample_ids.tolist() == ["1", "2", "3"]
    np.testing.assert_array_equal(views.arrays[1], np.eye(3)[[1, 2, 0]])


def test_names_that_differ_altogether(write):
    a, b = write("a.csv", "id,x\np1,1\np2,2\n"), write("b.csv", "id,y\nP-1,1\nP-2,2\n")
    with pytest.raises(
        InputError, match=r"a\.csv shares no sample id with the other files: it has 'p1', they have 'P-1'"
    ):
        read_views([a, b])
    with pytest.raises(
        InputError, match=r"b\.csv shares no.*they have 'p1'; its columns are named like samples: transpose it"
    ):
        read_views([a, write("b.csv", "gene,p1,p2\ny1,1,2\ny2,3,4\n")])


def test_one_view_may_be_alone(write):
    assert read_views([write("a.csv", "id,x\np1,1\np2,2\n")]).unmatched == {}


def test_rows_without_ids_are_matched_by_position(tmp_path, write, three):
    np.save(tmp_path / "n.npy", np.arange(4.0)[:, None])
    with pytest.warns(UserWarning, match=r"n\.npy has no sample ids: its rows were matched by position"):
        views = read_views([tmp_path / "n.npy", three[0]]).views
    assert views.sample_ids.tolist() == ["s0", "s1", "s2", "s3"]
    np.testing.assert_array_equal(*views.arrays)
    with pytest.raises(InputError, match=r"n\.npy has no sample ids, and the other files do not hold the same samples"):
        read_views([tmp_path / "n.npy", *three])
    with pytest.raises(InputError, match=r"n\.npy has 4 rows, but there are 2 samples and no ids to match them by"):
        read_views([tmp_path / "n.npy", write("d.csv", "id,x\na,1\nb,2\n")])
    with pytest.raises(InputError, match=r"e\.csv has 2 rows but .*n\.npy has 4, and there are no ids to match"):
        read_views([tmp_path / "n.npy", write("e.csv", "1,2\n3,4\n")])


def test_as_many_ids_as_rows(tmp_path):
    np.savez(tmp_path / "z.npz", X=np.eye(3), ids=["a", "b"])
    with pytest.raises(InputError, match=r"z\.npz::X has 2 sample ids for 3 rows"):
        read_views([tmp_path / "z.npz"])


# Labels and metadata -----------------------------------------------------------------------------------

SAMPLES = np.array([f"s{i}" for i in range(3)])


def test_labels_are_matched_by_id(write):
    path = write("truth.csv", "id,age,group\ns2,1,A\ns1,2,B\nextra,3,C\ns0,4,C\n")
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
    with pytest.raises(InputError, match=r"holds several tables; choose one with .*::KEY, KEY being one of 'one'"):
        read_labels(tmp_path / "b.xlsx", SAMPLES, 3)
    assert read_labels(f"{tmp_path}/b.xlsx::two", SAMPLES, 3).tolist() == ["A", "B", "A"]
    np.savez(tmp_path / "x.npz", cube=np.ones((2, 2, 2)))
    with pytest.raises(InputError, match="holds no 'labels', 'label', 'y', 'target'"):
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


# Documentation -----------------------------------------------------------------------------------------


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


# Results -----------------------------------------------------------------------------------------------


def test_results_are_never_overwritten_unasked(tmp_path):
    write_files(tmp_path / "out", {"a.txt": "1", "b.txt": "2"})
    with pytest.raises(InputError, match=r"already holds 'a\.txt'"):
        write_files(tmp_path / "out", {"a.txt": "3", "c.txt": "4"})
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a.txt", "b.txt"]
    write_files(tmp_path / "out", {"a.txt": "3"}, force=True)
    assert (tmp_path / "out" / "a.txt").read_text() == "3"


def test_a_failed_write_leaves_nothing_behind(tmp_path):
    with pytest.raises(TypeError):
        write_files(tmp_path / "out", {"a.txt": "1", "b.txt": 3})
    assert list((tmp_path / "out").iterdir()) == []
