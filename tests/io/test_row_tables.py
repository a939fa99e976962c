import os

import numpy as np
import pandas as pd
import pytest

from manyview import InputError
from manyview.io import TableOptions
from manyview.io.row_tables import can_read_by_rows, naming_table, open_row_tables

X = np.arange(60.0).reshape(20, 3)
IDS = [f"s{i}" for i in range(20)]


def frame(rows=slice(None), dtype=np.float32):
    return pd.DataFrame(X[rows].astype(dtype), columns=["a", "b", "c"])


def open_one(*words, **options):
    (table,) = open_row_tables([str(word) for word in words], TableOptions(**options)).values()
    return table


def test_npy_files_are_memory_mapped(tmp_path):
    np.save(tmp_path / "x.npy", X)
    table = open_one(tmp_path / "x.npy")
    assert (table.shape, table.has_ids) == ((20, 3), False)
    np.testing.assert_array_equal(table[3:7], X[3:7])
    np.testing.assert_array_equal(np.asarray(table), X)


@pytest.mark.parametrize("rows", [slice(0, 20), slice(2, 5), slice(6, 15), slice(19, 20), slice(0, 1)])
def test_parquet_rows_may_span_row_groups_and_files(rows, tmp_path):
    for i, part in enumerate((slice(0, 9), slice(9, 20))):
        frame(part).to_parquet(tmp_path / f"part{i}.parquet", row_group_size=4)
    table = open_one(tmp_path / "*.parquet")
    assert table.shape == (20, 3)
    read = table[rows]
    np.testing.assert_array_equal(read, X[rows])
    assert set(read.dtypes) == {np.dtype(np.float32)}


def test_a_file_that_is_written_anew_is_read_anew(tmp_path):
    path = tmp_path / "x.parquet"
    for value in (1.0, 22.0):
        pd.DataFrame({"a": [value, value], "b": [0.0, 0.0]}).to_parquet(path)
        os.utime(path, ns=(0, int(value)))  # as clocks may be coarse
        assert open_one(path)[0:1].iloc[0, 0] == value


def test_a_pattern_is_one_view_and_may_be_named(tmp_path):
    (tmp_path / "rna").mkdir()
    for i, part in enumerate((slice(0, 9), slice(9, 20))):
        frame(part).to_parquet(tmp_path / "rna" / f"{i}.parquet")
    np.save(tmp_path / "p.npy", X)
    words = [str(tmp_path / "rna" / "*.parquet"), f"protein={tmp_path / 'p.npy'}"]
    assert list(open_row_tables(words)) == ["rna", "protein"]


@pytest.mark.parametrize("how", ["index", "column", "named"])
def test_parquet_ids_come_with_the_rows(how, tmp_path):
    table = frame().set_axis(pd.Index(IDS), axis=0)
    if how != "index":
        table = table.reset_index(names="sample" if how == "column" else "who")
    table.to_parquet(tmp_path / "x.parquet")
    opened = open_one(tmp_path / "x.parquet", id_column="who" if how == "named" else "auto")
    assert opened.has_ids
    assert opened.shape == (20, 3)
    assert opened[4:6].index.tolist() == opened.read_ids(4, 6).tolist() == IDS[4:6]


def test_samples_without_ids_are_numbered(tmp_path):
    np.save(tmp_path / "x.npy", X)
    frame().to_parquet(tmp_path / "y.parquet", row_group_size=4)
    tables = open_row_tables([str(tmp_path / "x.npy"), str(tmp_path / "y.parquet")])
    for table in tables.values():
        assert table.read_ids(5, 9).tolist() == [5, 6, 7, 8]
    assert naming_table(tables) is tables["x"]


def test_the_first_view_with_ids_names_the_samples(tmp_path):
    np.save(tmp_path / "x.npy", X)
    for name in ("y", "z"):
        frame().set_axis(pd.Index([f"{name}{i}" for i in range(20)]), axis=0).to_parquet(tmp_path / f"{name}.parquet")
    tables = open_row_tables([str(tmp_path / f"{part}") for part in ("x.npy", "y.parquet", "z.parquet")])
    assert naming_table(tables).read_ids(5, 7).tolist() == ["y5", "y6"]


@pytest.mark.parametrize("sparse", [False, True])
def test_anndata_rows(sparse, tmp_path):
    anndata = pytest.importorskip("anndata")
    import scipy.sparse as sp

    values = sp.csr_matrix(X) if sparse else X
    anndata.AnnData(values, obs=pd.DataFrame(index=IDS), obsm={"X_pca": X[:, :2]}).write_h5ad(tmp_path / "x.h5ad")
    table = open_one(tmp_path / "x.h5ad")
    read = table[5:9]
    np.testing.assert_array_equal(read.toarray() if sparse else read, X[5:9])
    assert table.read_ids(5, 9).tolist() == IDS[5:9]
    np.testing.assert_array_equal(open_one(f"{tmp_path / 'x.h5ad'}::obsm/X_pca")[0:3], X[:3, :2])


def test_only_some_formats_can_be_read_by_rows():
    assert can_read_by_rows(["a.npy", "rna=b/*.parquet", "c.h5ad::X"])
    assert not can_read_by_rows(["a.npy", "b.csv"])


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (frame().rename(columns={"b": "d"}), "1.parquet and .*0.parquet differ in their columns: 'b' is not in both"),
        (frame(dtype=np.float64), "differ in column 'a': double and float; write them with the same type"),
        (frame()[["b", "a", "c"]], "has the columns of .* in a different order"),
    ],
)
def test_files_of_one_view_must_have_the_same_columns(second, message, tmp_path):
    frame().to_parquet(tmp_path / "0.parquet")
    second.to_parquet(tmp_path / "1.parquet")
    with pytest.raises(InputError, match=message):
        open_one(tmp_path / "*.parquet")


def test_what_cannot_be_read_is_said(tmp_path):
    frame().assign(b="text").to_parquet(tmp_path / "text.parquet")
    frame().to_parquet(tmp_path / "cut.parquet")
    whole = (tmp_path / "cut.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    for words, message in [
        (["text.parquet"], r"columns that are not numbers: 'b \((large_)?string\)'"),
        (["cut.parquet"], "cut.parquet cannot be read as a Parquet file"),
        (["cube.npy"], "array of shape .2, 2, 2."),
        (["none*.parquet"], "none.*parquet was not found"),
        (["x=cube.npy", "x=cube.npy"], "View 'x' has 2 files; only Parquet files"),
    ]:
        path = [word.replace("x=", f"x={tmp_path}/") if "=" in word else str(tmp_path / word) for word in words]
        with pytest.raises(InputError, match=message):
            open_row_tables(path)


def test_damage_in_the_middle_of_a_file_is_named_with_its_row_group(tmp_path):
    path = tmp_path / "x.parquet"
    frame().to_parquet(path, row_group_size=5, compression="snappy")
    content = bytearray(path.read_bytes())
    content[10:200] = bytes(190)
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"x.parquet cannot be read as a Parquet file, in row group 0"):
        open_one(path)[0:5]


def test_codes_for_missing_values_in_blocks_of_rows(tmp_path):
    X = np.array([[-999, 1], [2, 3]], dtype=np.float32)
    np.save(tmp_path / "a.npy", X)
    pd.DataFrame(X, columns=["x", "y"]).to_parquet(tmp_path / "a.parquet")
    for name in ("a.npy", "a.parquet"):
        read = np.asarray(open_one(tmp_path / name, missing="-999")[0:2])
        np.testing.assert_array_equal(read, [[np.nan, 1], [2, 3]])


def test_a_key_is_refused_where_whole_tables_are_read(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(2))
    with pytest.raises(InputError, match="leave out ::x"):
        open_one(f"{tmp_path}/a.npy::x")
