"""The same answer on a cluster as in one process, whatever the partitions."""

import time

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from manyview import MFMSC, OCBR, InputError, adjusted_rand_index, make_views
from manyview.distributed import open_files
from manyview.distributed.tables import check_pieces, cut_rows
from manyview.io.row_tables import open_row_tables

IDS = [f"cell{i:04d}" for i in range(1200)]


def write_parquet(views, folder, n_files=3):
    """Write the views as folders of Parquet files, with sample ids."""
    for name, X in views.items():
        (folder / name).mkdir()
        for i, rows in enumerate(np.array_split(np.arange(len(X)), n_files)):
            frame = pd.DataFrame(X[rows]).rename(columns=str).assign(sample=np.array(IDS)[rows])
            frame.to_parquet(folder / name / f"{i}.parquet", row_group_size=150, index=False)


def arrays(views, chunk):
    return [da.from_array(X, chunks=(chunk, -1)) for X in views.arrays]


def frames(views, npartitions=3, ids=IDS):
    tables = [pd.DataFrame(X, index=ids).rename(columns=str) for X in views.arrays]
    return [dd.from_pandas(table, npartitions=npartitions, sort=False) for table in tables]


@pytest.fixture(scope="module")
def model():
    return MFMSC(4, strategy="landmarks", n_landmarks=150)


@pytest.fixture(scope="module")
def alone(model, data):
    return clone(model).fit(data.views)


def test_ocbr_gives_the_labels_of_one_process(client, data):
    model = OCBR(4, strategy="landmarks", n_landmarks=150)
    alone = model.fit(data.views).to_frame()
    together = model.fit(arrays(data.views, 500))
    assert adjusted_rand_index(alone["label"], together.labels_.compute()) >= 0.999
    np.testing.assert_allclose(together.to_frame()["confidence"], alone["confidence"], atol=1e-3)


@pytest.mark.parametrize("chunk", [1200, 350, 1])
def test_partitions_do_not_matter(chunk, client):
    views = make_views(50, 3, (5, 4), noise=0.5, separation=10, seed=0).views if chunk == 1 else None
    views = views or make_views(1200, 4, (12, 8), noise=1.0, separation=8, seed=2).views
    model = MFMSC(3, strategy="landmarks", n_landmarks=30)
    alone = model.fit(views)
    before = alone.labels_, alone.landmarks_
    together = model.fit(arrays(views, chunk))
    assert isinstance(together.labels_, da.Array)
    np.testing.assert_array_equal(together.landmarks_, before[1])
    assert adjusted_rand_index(before[0], together.labels_.compute()) >= 0.999


@pytest.mark.parametrize("first_is_last", [True, False])
def test_the_order_of_completion_does_not_matter(first_is_last, client, model, data, alone):
    def late(block, block_info=None):
        at = block_info[0]["chunk-location"][0]
        time.sleep(0.05 * (4 - at if first_is_last else at))
        return block

    tables = [X.map_blocks(late, dtype=float) for X in arrays(data.views, 300)]
    np.testing.assert_array_equal(clone(model).fit(tables).labels_.compute(), alone.labels_)


def test_dataframes_with_ids_give_the_labels_of_one_process(client, model, data, alone):
    together = clone(model).fit(frames(data.views, 4))
    np.testing.assert_array_equal(together.landmarks_, alone.landmarks_)
    np.testing.assert_array_equal(together._landmark_ids, np.array(IDS)[alone.landmarks_])
    np.testing.assert_array_equal(together.labels_.compute(), alone.labels_)


@pytest.mark.filterwarnings("ignore:View 'view_1' has other partitions")
def test_dataframes_in_other_orders_are_aligned_by_an_id_column(client, model, data, rng):
    tables = []
    for X in data.views.arrays:
        order = rng.permutation(1200)
        frame = pd.DataFrame(X[order]).rename(columns=str).assign(sample=np.array(IDS)[order])
        tables.append(dd.from_pandas(frame, npartitions=3).set_index("sample"))
    labels = clone(model).fit(tables).labels_.compute()
    assert adjusted_rand_index(data.labels, labels) > 0.98  # ids are in the order of the samples


def test_unequal_partitions_are_rechunked_with_a_message(client, model, data):
    X, Y = data.views.arrays
    tables = [da.from_array(X, chunks=(400, 5)), da.from_array(Y, chunks=(300, -1))]
    with pytest.warns(UserWarning, match="View 'view_1' has other partitions than view 'view_0'"):
        model.fit(tables)
    assert model.labels_.chunks == ((400, 400, 400),)


@pytest.mark.parametrize("named", [True, False])
def test_parquet_files_are_read_by_workers(named, client, model, data, alone, tmp_path):
    write_parquet(data.views, tmp_path)
    patterns = {name: f"{tmp_path / name}/*.parquet" for name in data.views.names}
    rows = open_files(patterns if named else list(patterns.values()))
    together = clone(model).fit(rows)
    np.testing.assert_array_equal(together.labels_.compute(), alone.labels_)
    assert together.view_names_ == alone.view_names_
    assert all(stop % 400 in (0, 150, 300) for stop in np.cumsum(together.labels_.chunks[0]))  # ends of row groups
    dd.from_dask_array(together.labels_).to_frame("label").to_parquet(tmp_path / "labels")
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "labels")["label"], alone.labels_)


def test_partitions_end_where_row_groups_do():
    assert cut_rows(1000, 250, ()) == [250, 500, 750, 1000]
    assert cut_rows(1000, 250, (100, 200, 300, 600, 1000)) == [200, 300, 550, 600, 850, 1000]
    assert cut_rows(1000, 2000, (400, 1000)) == [1000]


def test_row_groups_that_do_not_fit_into_a_partition_are_named(data, tmp_path):
    write_parquet(data.views, tmp_path)
    tables = open_row_tables([f"{tmp_path}/view_0/*.parquet"])
    check_pieces(tables, 150)
    with pytest.warns(UserWarning, match=r"'view_0' has row groups of 150 rows; a partition has at most 100"):
        check_pieces(tables, 100)


def test_new_samples_are_placed_in_the_client(client, model, data):
    model.fit(arrays(data.views, 600))
    assert adjusted_rand_index(model.predict(data.views), model.labels_.compute()) > 0.98


@pytest.mark.parametrize(
    ("params", "change", "message"),
    [
        ({"strategy": "exact"}, lambda X, Y: [X, Y], "strategy='exact' needs all samples in one process"),
        ({}, lambda X, Y: [X, Y[:-1]], "View 'view_1' has 1199 samples but view 'view_0' has 1200"),
        ({}, lambda X, Y: [X, Y.compute()], "View 'view_1' is a ndarray; with Dask, give all views as dask arrays"),
        ({}, lambda X, Y: [X[:, 0], Y], "View 'view_0' is 1-D"),
        ({}, lambda X, Y: [X, da.where(Y.mean() < Y, np.inf, Y)], r"Partition \d .*View 'view_1' contains .* infinity"),
    ],
)
def test_what_cannot_be_done_is_said(params, change, message, client, data):
    model = MFMSC(4, **{"strategy": "landmarks", "n_landmarks": 100, **params})
    with pytest.raises(InputError, match=message):
        model.fit(change(*arrays(data.views, 400)))


def test_columns_and_types_of_partitions_are_compared(client, model, data):
    X, Y = frames(data.views)

    def odd(frame, how, partition_info=None):
        if partition_info is None or partition_info["number"] != 1:
            return frame
        return frame.rename(columns={"3": "x"}) if how == "name" else frame.astype({"3": np.float32})

    for how, message in [
        ("name", "Partition 1 of view 'view_0' differs in its columns: '3', 'x'"),
        ("type", "Partition 1 of view 'view_0' has column '3' of type float32; it is float64 in the others"),
    ]:
        with pytest.raises(InputError, match=message):
            model.fit([X.map_partitions(odd, how, meta=X._meta, enforce_metadata=False), Y])


def test_a_chunk_that_cannot_be_computed_is_named(client, model, data):
    def fail(block, block_info=None):
        if block_info[0]["chunk-location"][0] == 2:
            raise OSError("the disk is gone")
        return block

    X, Y = arrays(data.views, 300)
    message = r"Partition 2 \(samples 600 to 899\) cannot be computed \(OSError: the disk is gone\)"
    with pytest.raises(InputError, match=message):
        model.fit([X, Y.map_blocks(fail, dtype=float)])


def test_an_id_that_appears_twice_is_named_with_its_partitions(client, model, data):
    ids = [*IDS[:-1], IDS[17]]
    with pytest.raises(InputError, match=r"'cell0017' of the index appears twice: in partition 0 .* in partition 2"):
        model.fit(frames(data.views, 3, ids))


def test_views_of_other_ids_are_refused(client, model, data):
    tables = [*frames(data.views)[:1], frames(data.views, ids=IDS[::-1])[1]]
    message = r"Partition \d .*: Sample 0 is 'cell\d+' in view 'view_1' but 'cell\d+' in view 'view_0'"
    with pytest.raises(InputError, match=message):
        model.fit(tables)


def test_two_ids_of_the_same_hash_are_no_repetition(client, model, data, monkeypatch):
    monkeypatch.setattr("manyview.distributed.ids.find_repeated", lambda parts: [(17, 800)])
    assert len(model.fit(frames(data.views, 3)).labels_) == 1200
