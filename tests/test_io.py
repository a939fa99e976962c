"""Readers and writers of users' files."""

import numpy as np
import pandas as pd
import pytest

from manyview import InputError
from manyview.io import read_labels, read_views, write_files


@pytest.fixture
def tables(tmp_path):
    """Two CSV files of the same five samples, in different orders."""
    ids = [f"s{i}" for i in range(5)]
    a = pd.DataFrame(np.arange(10.0).reshape(5, 2), index=pd.Index(ids, name="id"), columns=["x", "y"])
    b = pd.DataFrame(np.arange(15.0).reshape(5, 3), index=pd.Index(ids, name="id"), columns=list("uvw")).iloc[::-1]
    a.to_csv(tmp_path / "a.csv")
    b.to_csv(tmp_path / "b.tsv", sep="\t")
    return tmp_path, a, b


def test_samples_are_matched_by_id_across_files(tables):
    folder, a, b = tables
    views = read_views([folder / "a.csv", folder / "b.tsv"])
    assert views.names == ("a", "b")
    assert views.sample_ids.tolist() == a.index.tolist()
    np.testing.assert_array_equal(views.arrays[1], b.loc[a.index].to_numpy())
    assert views.feature_names[1].tolist() == ["u", "v", "w"]


def test_a_table_without_header_or_ids(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n3,4\n5,6\n")
    views = read_views([tmp_path / "a.csv"])
    assert views.sample_ids is None
    np.testing.assert_array_equal(views.arrays[0], [[1, 2], [3, 4], [5, 6]])


def test_npy_and_npz(tmp_path):
    X, Y = np.eye(3, dtype=np.float32), np.ones((3, 2))
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "z.npz", left=X, right=Y, ids=np.array(["a", "b", "c"]), labels=np.array([0, 1, 1]))
    views = read_views([tmp_path / "x.npy", tmp_path / "z.npz"])
    assert views.names == ("x", "left", "right")
    assert views.sample_ids.tolist() == ["a", "b", "c"]
    assert views.arrays[0].dtype == np.float32
    assert read_labels(tmp_path / "z.npz", None, 3).tolist() == [0, 1, 1]


def test_files_of_the_same_name_are_told_apart_by_their_folder(tmp_path):
    for folder in ("rna", "protein"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "data.csv").write_text("1,2\n3,4\n")
    views = read_views([tmp_path / "rna" / "data.csv", tmp_path / "protein" / "data.csv"])
    assert views.names == ("rna/data", "protein/data")


def test_labels_are_matched_by_id(tables):
    folder, a, _ = tables
    (folder / "truth.csv").write_text("id,group\ns4,B\ns3,B\ns2,A\ns1,A\ns0,A\n")
    assert read_labels(folder / "truth.csv", a.index.to_numpy(), 5).tolist() == ["A", "A", "A", "B", "B"]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "id,x\n", "no samples"),
        ("a.csv", "id\na\nb\n", "no feature columns"),
        ("a.csv", "id,x\na,1\n,2\n", "no id in line 3"),
        ("a.csv", "id,x\na,1\na,2\n", "duplicated sample ids: 'a'"),
        ("a.csv", "id,x\na,1\nb,2,3,4\n", "cannot be read as a table.*line 3"),
        ("a.csv", "id,x,city\na,1,Rome\n", "non-numeric columns: 'city'"),
        ("a.csv", b"\xff\xfe\x00\x81,1\n", "cannot be read as a table"),
        ("a.npy", b"not numpy", "cannot be read as a numpy file"),
        ("a.npz", b"PK\x03\x04broken", "cannot be read as a numpy file"),
        ("a.xyz", "1", "unknown type '.xyz'"),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=says):
        read_views([path])


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(InputError, match="not there"):
        read_views([tmp_path / "a.csv"])
    with pytest.raises(InputError, match="a folder"):
        read_views([tmp_path])


def test_pickles_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[{"a": 1}]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "b.npz", x=np.array([[{"a": 1}]], dtype=object))
    with pytest.raises(InputError, match="allow_pickle"):
        read_views([tmp_path / "a.npy"])
    with pytest.raises(InputError, match=r"array 'x'.*allow_pickle"):
        read_views([tmp_path / "b.npz"])


def test_samples_that_do_not_match_are_named_and_counted(tables):
    folder, _, _ = tables
    (folder / "c.csv").write_text("id,x\ns0,1\ns1,2\ns2,3\ns3,4\nother,5\n")
    with pytest.raises(InputError, match=r"1 missing \('s4'\), 1 that are not in the first \('other'\)"):
        read_views([folder / "a.csv", folder / "c.csv"])


def test_labels_of_the_wrong_number_or_missing(tmp_path):
    (tmp_path / "few.csv").write_text("group\nA\nB\n")
    with pytest.raises(InputError, match="for 3 samples"):
        read_labels(tmp_path / "few.csv", None, 3)
    (tmp_path / "gap.csv").write_text("id,group\na,A\nb,\nc,B\n")
    with pytest.raises(InputError, match="1 missing labels"):
        read_labels(tmp_path / "gap.csv", None, 3)


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
