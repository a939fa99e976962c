"""Every format, in files that the libraries themselves write."""

import datetime
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from helpers.matlab_files import cells, save_v5, save_v73
from manyview import InputError
from manyview.io import FORMATS, TableOptions, read_labels, read_metadata, read_views

IDS = [f"s{i}" for i in range(6)]
FEATURES = ["u", "v", "w"]


@pytest.fixture
def table(rng):
    """Six samples, three features, one missing value."""
    frame = pd.DataFrame(rng.normal(size=(6, 3)), index=pd.Index(IDS, name="id"), columns=FEATURES)
    frame.iloc[2, 1] = np.nan
    return frame


@pytest.fixture
def adata(table):
    """Counts in X, the table in a layer, and a group per cell."""
    anndata = pytest.importorskip("anndata")
    counts = sp.csr_matrix(np.arange(18, dtype=np.float32).reshape(6, 3) % 4)
    obs = pd.DataFrame({"group": list("abcabc"), "age": range(6)}, index=IDS)
    made = anndata.AnnData(counts, obs=obs, var=pd.DataFrame(index=FEATURES))
    made.layers["raw"] = table.to_numpy()
    made.obsm["X_pca"] = table.to_numpy()[:, :2]
    made.obsm["frame"] = pd.DataFrame({"p": range(6), "q": range(6)}, index=IDS)
    return made


both_versions = pytest.mark.parametrize("save", [save_v5, save_v73], ids=["v5", "v7.3"])

# Text, Parquet, Excel: a frame goes in ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("t.csv", lambda frame, path: frame.to_csv(path)),
        ("t.csv", lambda frame, path: frame.to_csv(path, sep=";", decimal=",")),
        ("t.csv", lambda frame, path: frame.to_csv(path, sep="|", na_rep="NA")),
        ("t.csv", lambda frame, path: frame.to_csv(path, encoding="utf-8-sig", lineterminator="\r\n")),
        ("t.tsv", lambda frame, path: frame.to_csv(path, sep="\t")),
        ("t.txt", lambda frame, path: frame.to_csv(path, sep=" ", na_rep="nan")),
        ("t.csv.gz", lambda frame, path: frame.to_csv(path)),
        ("t.tsv.gz", lambda frame, path: frame.to_csv(path, sep="\t")),
        ("t.parquet", lambda frame, path: frame.to_parquet(path)),
        ("t.parquet", lambda frame, path: frame.reset_index().to_parquet(path)),
        ("t.parquet", lambda frame, path: frame.reset_index()[["u", "v", "w", "id"]].to_parquet(path)),
        ("t.xlsx", lambda frame, path: frame.to_excel(path, sheet_name="t")),
        ("t.xlsx", lambda frame, path: frame.to_excel(path, sheet_name="t", startrow=3, startcol=2)),
    ],
)
def test_frames_come_back(tmp_path, table, name, write):
    write(table, tmp_path / name)
    loaded = read_views([tmp_path / name])
    assert loaded.views.names == ("t",)
    assert loaded.views.sample_ids.tolist() == IDS
    assert loaded.views.feature_names[0].tolist() == FEATURES
    np.testing.assert_allclose(loaded.views.arrays[0], table.to_numpy(), rtol=1e-14)
    assert loaded.unmatched == {}


def test_parquet_with_types_of_its_own(tmp_path):
    frame = pd.DataFrame({"x": pd.array([1, None, 3], dtype="Int64"), "y": pd.Series([1, 2, 3], dtype="float32")})
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    views = read_views([path]).views
    np.testing.assert_array_equal(views.arrays[0], [[1, 1], [np.nan, 2], [3, 3]])
    assert views.sample_ids is None  # an index that only counts is none
    np.testing.assert_array_equal(read_views([f"{path}::y"]).views.arrays[0], [[1], [2], [3]])
    frame.assign(day=pd.Timestamp("2026-01-05")).to_parquet(path)
    with pytest.raises(InputError, match="row 1, column 'day': Timestamp"):
        read_views([path])


def test_the_id_column_can_be_given(tmp_path, table):
    table.assign(key=range(10, 16)).to_parquet(tmp_path / "t.parquet")
    table.assign(key=range(10, 16)).to_excel(tmp_path / "t.xlsx")
    options = TableOptions(id_column="key", drop_text_columns=True)
    with pytest.warns(UserWarning, match="dropped text columns 'id'"):
        sheet = read_views([tmp_path / "t.xlsx"], options=options).views
    for views in (sheet, read_views([tmp_path / "t.parquet"], options=options).views):
        assert views.sample_ids.tolist() == ["10", "11", "12", "13", "14", "15"]
        assert views.feature_names[0].tolist() == FEATURES


# numpy -------------------------------------------------------------------------------------------------


def test_npy_and_npz(tmp_path):
    X, Y = np.eye(3, dtype=np.float32), np.ones((3, 2))
    np.save(tmp_path / "x.npy", X)
    np.savez_compressed(tmp_path / "z.npz", left=X, right=Y, ids=np.array([b"a", b"b", b"c"]), labels=[0, 1, 1])
    views = read_views([tmp_path / "z.npz"]).views
    assert views.names == ("left", "right")
    assert views.sample_ids.tolist() == ["a", "b", "c"]
    assert views.arrays[0].dtype == np.float32
    assert read_views([tmp_path / "x.npy"]).views.names == ("x",)
    assert read_views([f"{tmp_path}/z.npz::right"]).views.names == ("right",)
    assert read_labels(tmp_path / "z.npz", None, 3).tolist() == [0, 1, 1]
    assert read_labels(tmp_path / "z.npz", np.array(["c", "a", "b"]), 3).tolist() == [1, 0, 1]


def test_a_sparse_matrix_in_an_npz_stays_sparse(tmp_path):
    X = sp.csc_array(np.where(np.arange(20).reshape(5, 4) % 3, 0, 0.5))
    sp.save_npz(tmp_path / "x.npz", X)
    (array,) = read_views([tmp_path / "x.npz"]).views.arrays
    assert sp.issparse(array)
    np.testing.assert_array_equal(array.toarray(), X.toarray())


# MATLAB ------------------------------------------------------------------------------------------------


@both_versions
def test_cells_are_views_and_lie_as_the_others_do(tmp_path, rng, save):
    A, B, C = rng.normal(size=(7, 3)), rng.normal(size=(4, 7)), sp.csc_matrix(np.eye(7, 5))
    save(tmp_path / "m.mat", {"X": [A, B, C], "note": "by hand", "s": {"a": np.eye(2)}})
    views = read_views([tmp_path / "m.mat"]).views
    assert views.names == ("X{1}", "X{2}", "X{3}")
    np.testing.assert_array_equal(views.arrays[0], A)
    np.testing.assert_array_equal(views.arrays[1], B.T)
    np.testing.assert_array_equal(views.arrays[2].toarray(), np.eye(7, 5))
    assert read_views([f"{tmp_path}/m.mat::X{{2}}"]).views.arrays[0].shape == (4, 7)  # alone, it lies as it lies
    assert read_views([f"{tmp_path}/m.mat::X"]).views.names == views.names


@both_versions
def test_cells_inside_cells_are_left_out_with_a_word(tmp_path, rng, save):
    A, B = rng.normal(size=(7, 3)), rng.normal(size=(7, 4))
    save(tmp_path / "m.mat", {"X": [A, cells(A, B) if save is save_v5 else [A, B], B]})
    with pytest.warns(UserWarning, match=r"m\.mat: left out 'X\{2\}': text, a single row"):
        assert read_views([tmp_path / "m.mat"]).views.names == ("X{1}", "X{3}")


@both_versions
def test_cells_without_a_matrix_are_left_out_with_a_word(tmp_path, rng, save):
    A, column = rng.normal(size=(7, 3)), rng.normal(size=(7, 1))
    save(tmp_path / "m.mat", {"X": [A, column, 2 * A]})
    with pytest.warns(UserWarning, match=r"m\.mat: left out 'X\{2\}': text, a single row or column"):
        assert read_views([tmp_path / "m.mat"]).views.names == ("X{1}", "X{3}")


@both_versions
def test_matrices_ids_and_labels_of_a_mat_file(tmp_path, rng, save):
    A, B = rng.normal(size=(3, 4)), rng.normal(size=(4, 3))
    content = {"a": A, "b": B, "none": np.zeros((0, 0)), "n": np.array([[4.0]]), "ids": ["p", "q", "r", "s"]}
    save(tmp_path / "m.mat", content | {"gt": np.array([[1.0, 2.0, 1.0, 2.0]])})
    views = read_views([tmp_path / "m.mat"]).views
    assert views.names == ("a", "b")
    assert views.sample_ids.tolist() == ["p", "q", "r", "s"]
    np.testing.assert_array_equal(views.arrays[0], A.T)
    np.testing.assert_array_equal(views.arrays[1], B)
    assert read_labels(tmp_path / "m.mat", views.sample_ids[::-1], 4).tolist() == [2, 1, 2, 1]
    assert read_views([f"{tmp_path}/m.mat::b"]).views.names == ("b",)


@both_versions
def test_mat_files_without_a_matrix(tmp_path, save):
    save(tmp_path / "m.mat", {"n": np.array([[4.0]]), "note": "nothing"})
    with pytest.raises(InputError, match="contains no matrix; its variables are 'n', 'note'"):
        read_views([tmp_path / "m.mat"])
    with pytest.raises(InputError, match=r"has no 'X'\. Choose from: 'n', 'note'"):
        read_views([f"{tmp_path}/m.mat::X"])


def test_an_empty_sparse_matrix_of_matlab(tmp_path):
    save_v73(tmp_path / "m.mat", {"X": sp.csc_matrix((4, 3))})
    (array,) = read_views([tmp_path / "m.mat"]).views.arrays
    assert array.shape == (4, 3)
    assert array.nnz == 0


# Excel -------------------------------------------------------------------------------------------------


def test_every_sheet_with_numbers_is_a_view(tmp_path, table):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        table.to_excel(book, sheet_name="rna")
        (table * 2).iloc[::-1].to_excel(book, sheet_name="protein")
        pd.DataFrame().to_excel(book, sheet_name="empty")
        pd.DataFrame(["measured by hand", "in winter"]).to_excel(book, sheet_name="notes", index=False, header=False)
    with pytest.warns(UserWarning, match=r"Ignored '.*book\.xlsx::notes': no numbers"):
        views = read_views([path]).views
    assert views.names == ("rna", "protein")
    np.testing.assert_allclose(views.arrays[1], table.to_numpy() * 2)
    assert read_views([f"{path}::protein"]).views.names == ("protein",)
    with pytest.raises(InputError, match=r"has no 'dna'\. Choose from: 'rna', 'protein', 'empty', 'notes'"):
        read_views([f"{path}::dna"])
    with pytest.raises(InputError, match="has no data in 'empty'"):
        read_views([f"{path}::empty"])


def test_cells_of_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["id", "x", "y"], [1, 1.5, "n/a"], [2.0, "2.5", True], [3, None, 7]):
        sheet.append(row)
    book.save(tmp_path / "b.xlsx")
    views = read_views([tmp_path / "b.xlsx"]).views
    assert views.sample_ids.tolist() == ["1", "2", "3"]
    np.testing.assert_array_equal(views.arrays[0], [[1.5, np.nan], [2.5, 1], [np.nan, 7]])
    plain = book.create_sheet("plain")
    for row in ([1, 2], [3, 4]):
        plain.append(row)
    book.save(tmp_path / "b.xlsx")
    views = read_views([f"{tmp_path}/b.xlsx::plain"]).views
    assert views.sample_ids is None
    np.testing.assert_array_equal(views.arrays[0], [[1, 2], [3, 4]])
    sheet["C4"] = datetime.datetime(2026, 1, 5)
    book.save(tmp_path / "b.xlsx")
    with pytest.raises(InputError, match=r"b\.xlsx::Sheet, row 4, column 'y': '2026-01-05 00:00:00'"):
        read_views([tmp_path / "b.xlsx"])


# AnnData and MuData ------------------------------------------------------------------------------------


def test_anndata(tmp_path, adata):
    path = tmp_path / "cells.h5ad"
    adata.write_h5ad(path)
    views = read_views([path, f"{path}::layers/raw", f"{path}::obsm/X_pca", f"{path}::obsm/frame"]).views
    assert views.names == ("cells", "layers/raw", "obsm/X_pca", "obsm/frame")
    assert views.sample_ids.tolist() == IDS
    assert sp.issparse(views.arrays[0])
    assert views.arrays[0].dtype == np.float32
    np.testing.assert_array_equal(views.arrays[0].toarray(), adata.X.toarray())
    np.testing.assert_array_equal(views.arrays[1], adata.layers["raw"])
    np.testing.assert_array_equal(views.arrays[2], adata.obsm["X_pca"])
    assert [None if names is None else list(names) for names in views.feature_names] == [
        FEATURES,
        FEATURES,
        None,
        ["p", "q"],
    ]
    with pytest.raises(InputError, match=r"has no 'layers/log'\. Choose from: 'X', 'obs', 'layers/raw', 'obsm/X_pca'"):
        read_views([f"{path}::layers/log"])


def test_labels_and_metadata_of_anndata(tmp_path, adata):
    path = tmp_path / "cells.h5ad"
    adata.write_h5ad(path)
    order = np.array(IDS[::-1])
    assert read_labels(f"{path}::obs/group", order, 6).tolist() == list("cbacba")
    metadata = read_metadata(path, order, 6)
    assert metadata.columns.tolist() == ["group", "age"]
    assert metadata["age"].tolist() == [5, 4, 3, 2, 1, 0]


def test_anndata_without_x(tmp_path, adata):
    del adata.X
    adata.write_h5ad(tmp_path / "cells.h5ad")
    with pytest.raises(InputError, match=r"has no 'X'\. Choose from: 'obs', 'layers/raw'"):
        read_views([tmp_path / "cells.h5ad"])


def test_mudata_gives_a_view_per_modality(tmp_path, adata):
    mudata = pytest.importorskip("mudata")
    path = tmp_path / "cells.h5mu"
    with warnings.catch_warnings():  # of what will change in mudata
        warnings.simplefilter("ignore")
        mudata.MuData({"rna": adata, "adt": adata[:4, :2].copy()}).write(path)
    loaded = read_views([path])
    assert loaded.views.names == ("rna", "adt")
    assert loaded.views.present.all(axis=0).tolist() == [True, False]
    assert loaded.views.feature_names[1].tolist() == FEATURES[:2]
    assert (loaded.unmatched["adt"].count, loaded.unmatched["adt"].first) == (2, ("s4", "s5"))
    np.testing.assert_array_equal(loaded.views.arrays[1].toarray()[:4], adata.X.toarray()[:4, :2])
    both = read_views([f"{path}::adt", f"{path}::rna/obsm/X_pca"]).views
    assert both.names == ("adt", "rna/obsm/X_pca")
    assert read_labels(f"{path}::rna/obs/group", np.array(IDS), 6).tolist() == list("abcabc")


# All together ------------------------------------------------------------------------------------------


def test_formats_may_be_mixed(tmp_path, table, adata):
    table.to_csv(tmp_path / "a.csv")
    table.iloc[::-1].to_parquet(tmp_path / "b.parquet")
    table.iloc[[3, 1, 0, 2, 5, 4]].to_excel(tmp_path / "c.xlsx", sheet_name="c")
    adata.write_h5ad(tmp_path / "d.h5ad")
    np.savez(tmp_path / "e.npz", e=table.to_numpy()[::-1], ids=IDS[::-1])
    save_v73(tmp_path / "f.mat", {"f": table.to_numpy(), "ids": IDS})
    files = [tmp_path / name for name in ("a.csv", "b.parquet", "c.xlsx", "e.npz", "f.mat")]
    loaded = read_views([*files, f"{tmp_path}/d.h5ad::layers/raw"])
    assert loaded.views.names == ("a", "b", "c", "e", "f", "layers/raw")
    assert loaded.unmatched == {}
    for array in loaded.views.arrays:
        np.testing.assert_allclose(array, table.to_numpy(), rtol=1e-14)


def test_a_library_that_is_not_installed_is_named_with_its_extra(tmp_path, table, monkeypatch, in_this_process):
    needs = {".parquet": "parquet", ".xlsx": "excel", ".mat": "hdf5", ".h5ad": "singlecell", ".h5mu": "singlecell"}
    assert needs.keys() < FORMATS.keys()
    save_v73(tmp_path / "t.mat", {"X": table.to_numpy()})
    for ending in needs.keys() - {".mat"}:
        (tmp_path / f"t{ending}").write_bytes(b"anything")
    for module in ("pyarrow.parquet", "openpyxl", "h5py", "anndata"):
        monkeypatch.setitem(sys.modules, module, None)
    for ending, extra in needs.items():
        with pytest.raises(InputError, match=rf'pip install "manyview\[{extra}\]"'):
            read_views([tmp_path / f"t{ending}"])


# Workbooks that look like more than they hold ----------------------------------------------------------


@pytest.fixture
def book():
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["id", "x", "y"], *([f"s{i}", i, i % 3] for i in range(6))):
        book.active.append(row)
    return book


def test_hidden_sheets_are_left_out_with_a_word(tmp_path, book):
    hidden = book.copy_worksheet(book.active)
    hidden.title, hidden.sheet_state = "old", "hidden"
    book.save(tmp_path / "a.xlsx")
    with pytest.warns(UserWarning, match=r"left out hidden sheets 'old'; choose one with ::NAME"):
        assert read_views([tmp_path / "a.xlsx"]).views.names == ("Sheet",)
    assert read_views([f"{tmp_path}/a.xlsx::old"]).views.names == ("old",)


@pytest.mark.parametrize("kind", ["row", "column"])
def test_hidden_rows_and_columns_are_said(tmp_path, book, kind):
    if kind == "row":
        book.active.row_dimensions[3].hidden = True
    else:
        book.active.column_dimensions["B"].hidden = True
    book.save(tmp_path / "a.xlsx")
    with pytest.warns(UserWarning, match=r"a\.xlsx: hidden rows or columns were read as well"):
        read_views([tmp_path / "a.xlsx"])


def test_formulas_without_values_are_refused(tmp_path, book):
    book.active["C3"] = "=B3*2"
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(InputError, match=r"a\.xlsx::Sheet, cell C3: the formula '=B3\*2' has no stored value; open"):
        read_views([tmp_path / "a.xlsx"])


def test_stray_cells_are_said(tmp_path, book):
    book.active["H4"] = 17
    book.save(tmp_path / "a.xlsx")
    with pytest.warns(UserWarning, match=r"a column without a name, with 1 of 6 values, was read as a feature"):
        read_views([tmp_path / "a.xlsx"])
    book.active["H4"] = None
    book.active["A12"] = "s12"
    book.save(tmp_path / "a.xlsx")
    with pytest.warns(UserWarning, match="row 12 has only one value"):
        read_views([tmp_path / "a.xlsx"])


def test_a_cell_far_below_the_last_row(tmp_path, book):
    import zipfile

    book.save(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    members[sheet] = members[sheet].replace(b'r="7"', b'r="50000000"').replace(b'"A7"', b'"A50000000"')
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(InputError, match="has a cell below row 1,048,576, the last row in Excel"):
        read_views([tmp_path / "a.xlsx"])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_sparse_matrices_of_every_format_that_scipy_saves(tmp_path, form):
    X = np.diag(np.arange(1.0, 7)) + np.eye(6, k=1)
    sp.save_npz(tmp_path / "x.npz", sp.csr_array(X).asformat(form))
    np.testing.assert_array_equal(read_views([tmp_path / "x.npz"]).views.arrays[0].toarray(), X)
