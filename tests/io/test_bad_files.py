"""Files that are damaged, something else, or meant to do harm: one line that says where, and nothing else."""

import gzip
import io
import os
import re
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.matlab_files import save_v5, save_v73
from helpers.refusals import refused
from manyview import InputError
from manyview.io import FORMATS, TableOptions, read_labels, read_metadata, read_views


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", "", "a.csv is empty"),
        ("a.csv", "\n \n\n", "a.csv is empty"),
        ("a.csv", "id,x\n", "a.csv contains no samples"),
        ("a.csv", "id\na\nb\n", "line 2, column 'id': 'a' is not a finite number"),
        ("a.csv", "id,x\na,1\n,2\n", "line 3, has no sample id"),
        ("a.csv", "id,x\na,1\na,2\nb,1\nb,3\n", "duplicated sample ids: 'a', 'b'"),
        ("a.csv", "id,x\na,1\nb,2,3,4\n", "line 3, has 4 cells, but 2 are expected"),
        ("a.csv", "x,y\n1,2,3,4\n5,6,7,8\n", "line 2, has 4 cells, but 2 are expected"),
        ("a.csv", "1,2\n3,4,5\n6,7,8\n", "line 2, has 3 cells, but 2 are expected"),
        ("a.csv", "id,x,y\na,1,2\n\nb,2\n", "line 4, has 2 cells, but 3 are expected"),
        ("a.csv", 'id,x\n"a\n1",1\nb\n', "line 4, has 1 cells, but 2 are expected"),
        ("a.csv", "x,y\n1.5,1\n2.5,1\noops,1\n", "line 4, column 'x': 'oops' is not a finite number"),
        ("a.csv", "x,y\n1,2\n3,-inf\n", "line 3, column 'y': -inf is not a finite number"),
        ("a.csv", "x,y\n1,2\n3,99999999999999999\n", "contains an integer of size 99999999999999999"),
        ("a.csv", "x\ty\n1,5\t2\n3,5\t4\n", "line 2, column 'x': '1,5' is not a finite number"),
        ("a.csv", "x,y\n1," + "z" * 5000 + "\n", "'zzzzzz"),
        ("a.csv", 'x,y\n1,"2\n3,4\n', "cannot be read as a table: Error tokenizing data"),
        ("a.csv", "x,y\n1,2\x00\n", "line 2, contains NUL bytes"),
        ("a.csv", "x,y\n1,2\n3,é\n".encode("latin-1"), "line 3, is not UTF-8"),
        ("a.csv", "x,y\n1,2\n".encode("utf-16"), "line 1, is not UTF-8"),
        ("a.csv", np.random.default_rng(0).bytes(64) + b"\xff\xff", "a.csv, line "),
        ("a.csv", gzip.compress(b"1,2\n", mtime=0), "has the content of a file of type '.csv.gz'"),
        ("a.csv", b"PK\x03\x04...", "has the content of a file of type '.npz', '.xlsx'"),
        ("a.xlsx", b"\x93NUMPY...", "has the content of a file of type '.npy'"),
        ("a.parquet", b"\x89HDF\r\n\x1a\n...", "has the content of a file of type '.h5ad', '.h5mu', '.mat'"),
        ("a.csv.gz", b"x,y\n1,2\n", "cannot be read as a table: Not a gzipped file"),
        ("a.npy", b"not numpy", "cannot be read as a numpy file: the magic string is not correct"),
        ("a.npz", b"PK\x03\x04broken", "cannot be read as a numpy file: File is not a zip file"),
        ("a.xlsx", b"PK\x03\x04broken", "cannot be read as an Excel workbook: File is not a zip file"),
        ("a.parquet", b"PAR1broken", "cannot be read as a Parquet file"),
        ("a.mat", b"no mat file at all", "cannot be read as a .mat file"),
        ("a.mat", b"\x89HDF\r\n\x1a\n...", "cannot be read as a .mat file"),
        ("a.h5ad", b"no hdf5", "cannot be read as an AnnData or MuData file"),
        ("a.h5mu", b"", "is empty"),
        ("a.xyz", "1", "unknown type '.xyz'; known types are '.csv', '.tsv'"),
        ("a.gz", "1", "unknown type '.gz'"),
        ("a", "1", "unknown type ''"),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert says in refused(path)


@pytest.mark.parametrize("number", ["1e400", "4e492493924924"])
def test_a_number_that_is_too_large(tmp_path, number):
    path = tmp_path / "a.csv"
    path.write_text(f"x,y\n1,{number}\n3,4\n")
    said = rf"line 2, column 'y': ('{number}'|inf) is not a finite number"  # before pandas 3 it is read as text
    assert re.search(said, refused(path))


def test_what_is_not_a_file(tmp_path):
    assert "a.csv was not found" in refused(tmp_path / "a.csv")
    assert "is a folder" in refused(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.csv")
        assert "is not a file" in refused(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="Got no files"):
        read_views([])


def test_keys_that_are_not_there(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    np.save(tmp_path / "a.npy", np.eye(2))
    np.savez(tmp_path / "a.npz", x=np.eye(2), flat=np.ones(2))
    assert "has no 'z'. Choose from: 'x', 'y'" in refused(f"{tmp_path}/a.csv::z")
    assert "leave out '::x'" in refused(f"{tmp_path}/a.npy::x")
    assert "has no 'y'. Choose from: 'x', 'flat'" in refused(f"{tmp_path}/a.npz::y")
    assert "a.npz::flat is not a table of numbers. View 'flat' is 1-D" in refused(f"{tmp_path}/a.npz::flat")


def test_nothing_is_unpickled(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[{"a": 1}]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "b.npz", x=np.array([[{"a": 1}]], dtype=object))
    pd.DataFrame([[1]]).to_pickle(tmp_path / "c.npy")
    assert "Object arrays cannot be loaded" in refused(tmp_path / "a.npy")
    assert "b.npz::x cannot be read as an array: Object arrays cannot be loaded" in refused(tmp_path / "b.npz")
    assert "magic string" in refused(tmp_path / "c.npy")


def test_arrays_that_are_no_tables_of_numbers(tmp_path):
    np.savez(tmp_path / "a.npz", flat=np.ones(3), cube=np.ones((2, 2, 2)))
    assert "contains no 2-D array; its arrays are 'flat', 'cube'" in refused(tmp_path / "a.npz")
    np.save(tmp_path / "b.npy", np.array([["x", "y"]]))
    assert "b.npy is not a table of numbers. View 'b' has dtype" in refused(tmp_path / "b.npy")
    np.save(tmp_path / "b.npy", np.ones((2, 2), dtype=complex))
    assert "complex" in refused(tmp_path / "b.npy")
    np.save(tmp_path / "b.npy", np.array([[1, 2], [3, np.inf]]))
    assert "b.npy, row 2, column 2: inf is not a finite number" in refused(tmp_path / "b.npy")
    np.save(tmp_path / "b.npy", np.ones((0, 2)))
    assert "contains no samples" in refused(tmp_path / "b.npy")


# Sizes -------------------------------------------------------------------------------------------------


def npy_header(shape):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue()


@pytest.fixture
def small_memory(monkeypatch):
    """A machine of one MiB, so that files that are too large need not be."""
    monkeypatch.setattr("manyview.io.guards.available_memory", lambda: 2.0**20)


def test_more_samples_than_any_memory(tmp_path):
    (tmp_path / "a.npy").write_bytes(npy_header((2**50, 2)) + bytes(64))
    assert "does not fit into memory" in refused(tmp_path / "a.npy")
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("x.npy", npy_header((2**50, 2)) + bytes(64))
    assert "does not fit into memory" in refused(tmp_path / "b.npz")


def test_files_that_expand_beyond_memory(tmp_path, small_memory):
    zeros = np.zeros((2**10, 2**8))
    np.savez_compressed(tmp_path / "a.npz", x=zeros)
    with gzip.open(tmp_path / "b.csv.gz", "wb") as file:
        file.write(b"0,0\n" * 2**19)
    pd.DataFrame(zeros).add_prefix("x").to_parquet(tmp_path / "c.parquet")
    save_v5(tmp_path / "d.mat", {"x": zeros})
    save_v73(tmp_path / "e.mat", {"x": zeros})
    with zipfile.ZipFile(tmp_path / "f.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", bytes(2**21))
    for path in tmp_path.iterdir():
        assert "would take" in refused(path)


def test_a_declared_matrix_of_hdf5_is_not_allocated(tmp_path):
    anndata, h5py = pytest.importorskip("anndata"), pytest.importorskip("h5py")
    anndata.AnnData(np.eye(2)).write_h5ad(tmp_path / "a.h5ad")
    save_v73(tmp_path / "b.mat", {"y": np.eye(2)})
    for name, key in (("a.h5ad", "X"), ("b.mat", "X")):
        with h5py.File(tmp_path / name, "r+") as file:
            if key in file:
                del file[key]
            file.create_dataset(key, shape=(2**28, 2**28), dtype="f8", chunks=(2**10, 2**10))
        assert (tmp_path / name).stat().st_size < 2**20
        assert f"{name}::X would take" in refused(tmp_path / name)


def test_a_sheet_with_one_cell_far_away_in_every_row(tmp_path, small_memory):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in range(1, 20):
        book.active.cell(row, 16_000, 1)
    book.save(tmp_path / "a.xlsx")
    assert "a.xlsx::Sheet would take" in refused(tmp_path / "a.xlsx")


def test_places_outside_a_sparse_matrix(tmp_path):
    X = sp.csc_array(np.eye(3))
    X.indices[1] = 2**30
    np.savez(tmp_path / "x.npz", format=b"csc", shape=X.shape, data=X.data, indices=X.indices, indptr=X.indptr)
    assert "x.npz cannot be read as a sparse matrix" in refused(tmp_path / "x.npz")
    save_v73(tmp_path / "y.mat", {"X": X})
    assert "X cannot be read as a sparse matrix" in refused(tmp_path / "y.mat")
    B = sp.bsr_array(np.kron(np.eye(3), np.ones((2, 2))))
    for wrong in (2**30, -(2**20)):
        B.indices[1] = wrong
        np.savez(tmp_path / "z.npz", format=b"bsr", shape=B.shape, data=B.data, indices=B.indices, indptr=B.indptr)
        assert "z.npz cannot be read as a sparse matrix" in refused(tmp_path / "z.npz")


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("ends", [[0, 1, 2, -(2**31) + 5], [0, 3, 1, 3]])
def test_sparse_matrices_with_negative_numbers_of_entries(tmp_path, form, ends):
    X = sp.eye_array(3).asformat(form)
    parts = {"data": X.data, "indices": X.indices, "indptr": np.array(ends, dtype=np.int32)}
    np.savez(tmp_path / "x.npz", format=form.encode(), shape=X.shape, **parts)
    assert "x.npz cannot be read as" in refused(tmp_path / "x.npz")


def test_names_of_several_lines_are_told_in_one(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("first\nsecond\x1c\x1b[2J.npy", b"\x93NUMPY no array")
    assert "x.npz::first\\nsecond\\x1c\\x1b[2J cannot be read as an array" in refused(tmp_path / "x.npz")


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_texts_that_are_no_unicode(tmp_path, ending):
    texts = np.array([["a", "b"]]).view(np.uint32)
    texts[0, 1] = 0x110000
    path = tmp_path / f"x.{ending}"
    np.save(path, texts.view("<U1")) if ending == "npy" else np.savez(path, x=np.eye(2), ids=texts.view("<U1")[0])
    assert "cannot be read as" in refused(path)


def test_cells_that_hold_themselves(tmp_path):
    h5py = pytest.importorskip("h5py")
    save_v73(tmp_path / "a.mat", {"X": [np.eye(2)]})
    with h5py.File(tmp_path / "a.mat", "r+") as file:
        file["X"][0, 0] = file["X"].ref
    assert "X has cells nested more than 8 deep" in refused(tmp_path / "a.mat")


def test_cells_far_inside_cells(tmp_path):
    h5py = pytest.importorskip("h5py")
    save_v73(tmp_path / "a.mat", {"X": [np.eye(2)]})
    with h5py.File(tmp_path / "a.mat", "r+") as file:
        inner = file["X"][0, 0]
        for i in range(2000):
            made = file.create_dataset(f"#refs#/deep{i}", (1, 1), dtype=h5py.ref_dtype)
            made[0, 0] = inner
            inner = made.ref
        file["X"][0, 0] = inner
    assert "X has cells nested more than 8 deep" in refused(tmp_path / "a.mat")


# Cut off, and any bytes at all -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def valid_files(tmp_path_factory):
    """A good file of every format."""
    folder = tmp_path_factory.mktemp("valid")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 6)), index=[f"s{i}" for i in range(40)]).add_prefix("x")
    for ending, separator in ((".csv", ","), (".tsv", "\t"), (".txt", " ")):
        frame.to_csv(folder / f"a{ending}", sep=separator)
        frame.to_csv(folder / f"a{ending}.gz", sep=separator)
    frame.to_parquet(folder / "a.parquet")
    frame.to_excel(folder / "a.xlsx")
    np.save(folder / "a.npy", frame.to_numpy())
    np.savez(folder / "a.npz", x=frame.to_numpy())
    save_v5(folder / "a.mat", {"x": frame.to_numpy()})
    save_v73(folder / "b.mat", {"x": frame.to_numpy()})
    import anndata
    import mudata

    with warnings.catch_warnings():  # of what will change in mudata
        warnings.simplefilter("ignore")
        adata = anndata.AnnData(frame)
        adata.write_h5ad(folder / "a.h5ad")
        mudata.MuData({"x": adata}).write(folder / "a.h5mu")
    return folder


def test_there_is_a_good_file_of_every_format(valid_files):
    files = sorted(valid_files.iterdir())
    assert {"".join(path.suffixes) for path in files} == set(FORMATS)
    assert all(read_views([path]).views.shape == (40, 6) for path in files)


def attempt(read):
    """Return what was read, and the message of the InputError if that was raised."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return read(), "-"
    except InputError as error:
        return None, str(error)


@pytest.mark.parametrize("name", [*(f"a{ending}" for ending in FORMATS), "b.mat"])
def test_a_file_that_was_cut_off(valid_files, tmp_path, in_this_process, name):
    content = (valid_files / name).read_bytes()
    path = tmp_path / name
    whole = read_views([valid_files / name]).views.arrays[0]
    for size in (1, 7, 100, len(content) // 3, len(content) // 2, len(content) - 40, len(content) - 3):
        path.write_bytes(content[:size])
        loaded, message = attempt(lambda: read_views([path]))
        assert len(message.splitlines()) == 1
        if loaded is None:
            assert str(path) in message
        else:  # text can be cut where nobody can tell: behind a line, or in the last number
            assert name in ("a.csv", "a.tsv", "a.txt")
            values = loaded.views.arrays[0]
            np.testing.assert_array_equal(values[:-1], whole[: len(values) - 1])


@pytest.mark.parametrize("ending", FORMATS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=300), start=st.integers(0, 600), kept=st.booleans())
def test_any_bytes_at_all(valid_files, in_this_process, ending, content, start, kept):
    """Noise, alone or written over a part of a good file, is read or refused; nothing else ever happens."""
    kept &= ending not in (".mat", ".h5ad", ".h5mu")  # scipy's and HDF5's C code can crash on these
    good = (valid_files / f"a{ending}").read_bytes() if kept else b""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{ending}"
        path.write_bytes(good[:start] + content + good[start + len(content) :])
        for read in (read_labels, read_metadata):
            assert len(attempt(lambda read=read: read(path, None, 40))[1].splitlines()) == 1
        assert len(attempt(lambda: read_views([path]))[1].splitlines()) == 1


@settings(max_examples=100)
@given(
    st.text(alphabet="01.5-e ab\"',;|\t\n\r", max_size=60),
    st.sampled_from(["auto", "yes", "no"]),
    st.sampled_from(["auto", "none", "1"]),
)
def test_any_text_at_all(text, header, id_column):
    options = TableOptions(header=header, id_column=id_column)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.txt"
        path.write_text(text, newline="")
        loaded, message = attempt(lambda: read_views([path], options=options))
    assert len(message.splitlines()) == 1
    assert loaded is None or loaded.views.n_samples <= len(re.split("\r\n|\r|\n", text))


def test_a_sparse_matrix_of_nearly_empty_rows(tmp_path):
    sp.save_npz(tmp_path / "x.npz", sp.dia_array(([[1.0, 2.0]], [0]), shape=(2**30, 6)))
    assert "claims 1,073,741,824 rows, but holds only 2 entries" in refused(tmp_path / "x.npz")
    sp.save_npz(tmp_path / "y.npz", sp.csr_array(([1.0, 2.0], [0, 3], [0, 1, 2]), shape=(2, 2**30)))
    assert "claims 1,073,741,824 columns, but holds only 2 entries" in refused(tmp_path / "y.npz")


def test_a_sparse_matrix_of_a_size_that_cannot_be(tmp_path):
    np.savez(tmp_path / "x.npz", format=b"dia", shape=(2**62, 2**62), data=np.ones((1, 3)), offsets=np.array([2**61]))
    refused(tmp_path / "x.npz")


def test_numbers_in_the_other_byte_order(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(4, dtype=">i4"))
    assert read_labels(tmp_path / "x.npy", None, 4).tolist() == [0, 1, 2, 3]
    assert read_metadata(tmp_path / "x.npy", None, 4)["x"].tolist() == [0, 1, 2, 3]
