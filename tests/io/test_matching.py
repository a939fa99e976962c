"""Samples are matched by id."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from manyview import InputError
from manyview.io import read_views


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
    with pytest.raises(InputError, match=r"n\.npy has no sample ids, and the other files do not have the same samples"):
        read_views([tmp_path / "n.npy", *three])
    with pytest.raises(InputError, match=r"n\.npy has 4 rows, but there are 2 samples and no ids to match them"):
        read_views([tmp_path / "n.npy", write("d.csv", "id,x\na,1\nb,2\n")])
    with pytest.raises(InputError, match=r"e\.csv has 2 rows but .*n\.npy has 4, and there are no ids to match"):
        read_views([tmp_path / "n.npy", write("e.csv", "1,2\n3,4\n")])


def test_as_many_ids_as_rows(tmp_path):
    np.savez(tmp_path / "z.npz", X=np.eye(3), ids=["a", "b"])
    with pytest.raises(InputError, match=r"z\.npz::X has 2 sample ids for 3 rows"):
        read_views([tmp_path / "z.npz"])


@pytest.mark.parametrize(("own", "other"), [("s 2", "s  2"), ("S2", "s2"), ("\u00e92", "e\u03012")])
def test_ids_of_which_only_some_look_alike(write, own, other):
    paths = [write("a.csv", f"id,x\np,1\n{own},2\n"), write("b.csv", f"id,y\np,1\n{other},2\n")]
    with pytest.warns(UserWarning, match=r"1 samples may be the same .*, under ids that look alike") as told:
        assert read_views(paths).views.n_samples == 3
    assert f"{own!a} and {other!a}" in str(told[0].message)


def test_ids_that_look_alike_within_a_file_are_different_samples(write):
    paths = [write("a.csv", "id,x\ns1,1\nS1,2\np,3\n"), write("b.csv", "id,y\np,1\ns1,2\n")]
    assert read_views(paths).views.n_samples == 3


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("caf\u00e9", "cafe\u0301"),
        ("p\u00a01", "p 1"),
        ("p  1", "p 1"),
        ("P1", "p1"),
        ("p\u20111", "p\u20101"),
        ("p\u200b1", "p1"),
    ],
)
def test_ids_that_look_alike_are_shown_as_they_are_written(write, own, other):
    a, b = write("a.csv", f"id,x\n{own},1\n"), write("b.csv", f"id,y\n{other},1\n")
    with pytest.raises(InputError, match="look alike but are spelled with different characters") as error:
        read_views([a, b])
    assert f"it has {own!a}, they have {other!a}" in str(error.value)
