"""Text files: the delimiter, the header, the ids and missing values are detected."""

import re
import warnings

import numpy as np
import pytest

from manyview import InputError
from manyview.io import TableOptions, read_metadata, read_views


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
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        views = read_views([write("t.txt", text)]).views
    assert len(told) == (ids == "has no header")
    if ids == "has no header":  # nothing tells these names from values, but for what the user knows
        assert views.sample_ids.tolist() == ["gene", "a", "b"]
        assert "the first row may be column names or a sample; it was read as a sample" in str(told[0].message)
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
        InputError,
        match=r"t\.csv, line 2, column 'city': 'Rome' is not a finite number; write .* leave out columns of text with",
    ):
        read_views([path])
    with pytest.warns(UserWarning, match="dropped text columns 'city'"):
        views = read_views([path], options=TableOptions(drop_text_columns=True)).views
    assert views.feature_names[0].tolist() == ["x"]
    with pytest.raises(
        InputError, match="'2x' is not a finite number; correct it, or give it with --mis"
    ):  # a slip of the pen, not a column of text
        read_views([write("t.csv", "id,x,y\na,1,2\nb,2x,3\n")], options=TableOptions(drop_text_columns=True))


def test_a_column_that_changes_its_type_far_down_is_read_as_one(write):
    lines = [f"{i:06d},1,{i % 3}" for i in range(300_000)]
    path = write("t.csv", "\n".join(["gene,x,group", *lines, "last,1,2"]))
    options = TableOptions(id_column=1)
    assert read_views([path], options=options).views.sample_ids[[0, -1]].tolist() == ["000000", "last"]
    lines[-1] = "299999,1,other"
    metadata = read_metadata(write("t.csv", "\n".join(["gene,x,group", *lines])), None, 300_000, options=options)
    assert set(metadata["group"]) == {"0", "1", "2", "other"}


def test_thousands_are_not_taken_for_decimals(write):
    with pytest.raises(InputError, match=r"t\.csv: '1,200' may be 1200 or 1\.200; write numbers without commas"):
        read_views([write("t.csv", "id;x;y\na;1,200;3\nb;900;4\n")])
    views = read_views([write("t.csv", "id;x;y\na;1,200;3\nb;0,900;4\n")]).views
    np.testing.assert_array_equal(views.arrays[0], [[1.2, 3], [0.9, 4]])


@pytest.mark.parametrize("delimiter", [",", "\t", " "])
def test_lines_of_any_length(write, rng, delimiter):
    """An expression matrix: a line of 20,000 genes has more characters than `csv` allows a cell."""
    X = rng.normal(size=(5, 20_000))
    header = delimiter.join(["id", *(f"gene{i}" for i in range(X.shape[1]))])
    lines = [delimiter.join([f"s{i}", *map(repr, map(float, row))]) for i, row in enumerate(X)]
    views = read_views([write("t.txt", "\n".join([header, *lines]))]).views
    np.testing.assert_allclose(views.arrays[0], X, rtol=1e-12)
    assert views.sample_ids.tolist() == ["s0", "s1", "s2", "s3", "s4"]


def test_a_cell_that_is_too_long_is_refused(write):
    with pytest.raises(InputError, match=r"t\.csv"):
        read_views([write("t.csv", f"id,x\na,1\nb,{'z' * 200_000}\n")])


def test_the_place_of_a_value_where_csv_and_pandas_see_other_lines(write):
    with pytest.raises(InputError, match=r"t\.csv, (line|row) \d+, column 'y'"):
        read_views([write("t.csv", "x,y\n1,2\n\r3,4\r5,oops\n")])


@pytest.mark.parametrize("title", ["sep=;", "# made by a program", "Table 1, version 2"])
def test_a_line_above_a_table_is_pointed_out(tmp_path, title):
    path = tmp_path / "a.csv"
    path.write_text(f"{title}\nid;x;y;z\n" + "".join(f"s{i};{i};{i}.5;1\n" for i in range(9)))
    with pytest.raises(InputError, match="If the line above it is a title or a comment, delete it"):
        read_views([path])
    path.write_text("id;x;y;z\ns1;1;2;3\ns2;1;2\n")
    with pytest.raises(InputError) as error:
        read_views([path])
    assert "title" not in str(error.value)
