"""Approximate neighbours: against exact ones, and when they are used."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from manyview import MFMSC, OCBR, make_views
from manyview.graphs import approximate, neighbors
from manyview.graphs.approximate import CellIndex
from manyview.graphs.neighbors import NeighborIndex, nearest_neighbors
from manyview.graphs.recall import graph_named, noted_recall
from manyview.numerics.progress import watched_by
from manyview.numerics.threads import limited_threads


@pytest.fixture
def always_approximate(monkeypatch):
    monkeypatch.setattr(neighbors, "EXACT_UP_TO", 100)
    monkeypatch.setattr(neighbors, "LARGE_SHARE", 1.0)


def clusters(rng, n=3000, d=12):
    return rng.standard_normal((8, d))[rng.integers(0, 8, n)] * 3 + rng.standard_normal((n, d))


@pytest.mark.parametrize("k", [1, 5])  # 1: a cell holds many more rows than are wanted of it
def test_looking_into_every_cell_is_exact(k, rng, monkeypatch):
    monkeypatch.setattr(approximate, "MOST_MISSED", 0)
    monkeypatch.setattr(approximate, "RECALL_SAMPLE", 10**6)  # probes are enough for every query
    X, Y = clusters(rng), clusters(rng, 50)
    exact = NearestNeighbors(n_neighbors=k).fit(X)
    for queries in (None, Y):
        index = CellIndex(X, typical=queries)
        distances, found = index.search(queries, k)
        assert index.enough_probes(k)[1] == 1
        true_distances, true = exact.kneighbors(queries)
        np.testing.assert_allclose(distances, true_distances, rtol=1e-4)
        assert (found == true).mean() > 0.999  # near-ties may swap in single precision


def test_recall_is_as_wanted_and_as_measured(rng):
    X = clusters(rng, 5000, 20)
    index = CellIndex(X)
    _, found = index.search(None, 10)
    _, recall = index.enough_probes(10)
    true = NearestNeighbors(n_neighbors=10).fit(X).kneighbors(return_distance=False)
    real = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found, true, strict=True)])
    assert recall >= approximate.wanted_recall(5000)
    assert abs(recall - real) < 0.02


def test_as_many_cells_are_looked_into_as_the_wanted_recall_needs(rng, monkeypatch):
    X = rng.standard_normal((3000, 20))
    probes = []
    for wanted in (0.5, 0.9, 0.99, 1.0):
        monkeypatch.setattr(approximate, "wanted_recall", lambda _, wanted=wanted: wanted)
        enough, recall = CellIndex(X).enough_probes(10)
        assert recall >= wanted
        probes.append(enough)
    assert probes == sorted(set(probes))


@pytest.mark.parametrize(("around", "batch", "queries"), [(1, 2**15, 512), (16, 100, 512), (40, 2**15, 7)])
def test_how_the_work_is_divided_does_not_matter(rng, monkeypatch, around, batch, queries):
    X = clusters(rng)
    monkeypatch.setattr(approximate, "MOST_MISSED", 0)
    monkeypatch.setattr(approximate, "RECALL_SAMPLE", 10**6)
    whole = CellIndex(X).search(None, 6)
    for name, value in (("AROUND", around), ("BATCH", batch), ("QUERIES", queries)):
        monkeypatch.setattr(approximate, name, value)
    for one, other in zip(whole, CellIndex(X).search(None, 6), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_labels_and_neighbours_do_not_depend_on_the_number_of_threads(rng):
    X = clusters(rng, 4000, 30)
    found = []
    for threads in (1, 2):
        with limited_threads(threads, 0):
            found.append(CellIndex(X).search(None, 8))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_recall_of_far_queries_is_measured_with_queries_like_them(rng):
    X, far = clusters(rng, 3000, 20), rng.standard_normal((500, 20)) * 5
    true, _ = NearestNeighbors(n_neighbors=10).fit(X).kneighbors(far)
    index = CellIndex(X, typical=far)
    distances, _ = index.search(far, 10)
    real = np.mean(distances <= true[:, -1:] * (1 + 1e-5))
    assert abs(index.enough_probes(10)[1] - real) < 0.02
    assert index.enough_probes(10)[0] > CellIndex(X).enough_probes(10)[0]


def test_blocks_of_queries_find_what_all_at_once_find(rng, always_approximate):
    X, Y = clusters(rng, 1000), clusters(rng, 600)
    whole = NeighborIndex(X, 600).query(Y, 5)
    index = NeighborIndex(X, 600)
    blocks = [index.query(Y[rows], 5) for rows in (slice(0, 7), slice(7, 600))]
    for one, parts in zip(whole, zip(*blocks, strict=True), strict=True):
        np.testing.assert_array_equal(one, np.concatenate(parts))


def test_the_number_of_pairs_decides(rng, monkeypatch):
    monkeypatch.setattr(neighbors, "EXACT_UP_TO", 1000)
    monkeypatch.setattr(neighbors, "LARGE_SHARE", 1.0)
    X = clusters(rng, 500)
    for n_queries, approximates in ((None, False), (2000, False), (2001, True)):
        with noted_recall() as noted:
            NeighborIndex(X, n_queries).query(X[:10], 5)
        assert bool(noted) == approximates


@pytest.mark.parametrize(("d", "approximates"), [(3, True), (40, False)])
def test_where_most_cells_would_have_to_be_looked_into_the_search_is_exact(d, approximates, rng, monkeypatch):
    """Samples without clusters have neighbours in nearly all cells, if there are many columns."""
    monkeypatch.setattr(neighbors, "EXACT_UP_TO", 100)
    X = rng.standard_normal((2000, d))
    with noted_recall() as noted:
        _, found = nearest_neighbors(X, 10)
    assert bool(noted) == approximates
    true = NearestNeighbors(n_neighbors=10).fit(X).kneighbors(return_distance=False)
    assert approximates or np.array_equal(found, true)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("size", [1e-90, 1.0, 1e90])
def test_single_precision_is_used_in_units_of_the_spread(offset, size, rng, always_approximate):
    X = clusters(rng, 500)
    distances, found = nearest_neighbors(X, 5)
    moved, same = nearest_neighbors((X + offset) * size, 5)
    assert (found == same).mean() > 0.99
    np.testing.assert_allclose(moved / size, distances, rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_have_the_precision_of_the_queries(dtype, rng):
    X = clusters(rng, 300)
    for queries in (None, X[:9].astype(dtype)):
        index = CellIndex(X.astype(dtype) if queries is None else X)
        assert index.search(queries, 5)[0].dtype == dtype


def test_duplicates_crowd_out_neither_the_sample_nor_its_neighbours(rng, always_approximate):
    X = np.repeat(rng.standard_normal((5, 3)), 60, axis=0)
    distances, found = nearest_neighbors(X, 8)
    assert found.min() >= 0
    assert not distances.any()
    assert (found != np.arange(300)[:, None]).all()


def test_constant_tables_have_neighbours_at_distance_0(always_approximate):
    distances, found = nearest_neighbors(np.ones((200, 3)), 4)
    assert not distances.any()
    assert found.min() >= 0


def test_searches_are_noted_under_the_name_of_the_graph(rng, always_approximate):
    with noted_recall() as noted:
        nearest_neighbors(clusters(rng, 500), 5)
        with graph_named("rna"):
            NeighborIndex(clusters(rng, 500)).query(clusters(rng, 20), 5)
    assert set(noted) == {"joint", "rna"}
    assert all(0.95 <= recall <= 1 for recall in noted.values())


@pytest.mark.parametrize(("method", "graphs"), [(MFMSC, {"joint"}), (OCBR, {"view_0", "view_1", "joint"})])
def test_methods_say_how_well_neighbours_were_found(method, graphs, always_approximate):
    data = make_views(400, 3, (10, 12), seed=0)
    model = method(3).fit(data.views)
    assert set(model.neighbor_recall_) == graphs
    np.testing.assert_array_equal(model.labels_, method(3).fit(data.views).labels_)


def test_small_inputs_are_searched_exactly(rng):
    with noted_recall() as noted:
        nearest_neighbors(clusters(rng, 500), 5)
    assert noted == {}


def test_among_more_rows_more_neighbours_may_be_missed(rng, monkeypatch):
    assert [approximate.wanted_recall(n) for n in (0, 50_000, 100_000, 10**7)] == pytest.approx([1, 0.99, 0.96, 0.96])
    X = rng.standard_normal((3000, 20))
    among_few, high = CellIndex(X).enough_probes(10)
    monkeypatch.setattr(approximate, "MANY", 3000)
    among_many, low = CellIndex(X).enough_probes(10)
    assert among_many < among_few
    assert 0.96 <= low < 0.999 <= high


def test_a_search_among_the_samples_themselves_reports_its_progress(rng):
    told = []
    with watched_by(told.append):
        index = CellIndex(clusters(rng))
        index.search(clusters(rng, 20), 5)
        assert not told
        index.search(None, 5)
    assert [(one.step, one.share) for one in told] == [("neighbours", 0), ("neighbours", 1)]


def test_a_tenth_of_the_samples_or_more_is_searched_exactly(rng, always_approximate):
    X = clusters(rng, 500)
    for k, approximates in ((50, True), (51, False)):
        with noted_recall() as noted:
            nearest_neighbors(X, k)
        assert bool(noted) == approximates


@pytest.mark.parametrize("entries", [100, 2**20])
def test_distances_to_compare_with_are_those_of_all_pairs(rng, monkeypatch, entries):
    monkeypatch.setattr(approximate, "BLOCK_ENTRIES", entries)
    Q, X = rng.standard_normal((7, 4)), rng.standard_normal((60, 4))
    squares = cdist(Q, X, "sqeuclidean")
    for k in (1, 5, 60):
        np.testing.assert_allclose(approximate._true_squares(Q, X, k), np.sort(squares, axis=1)[:, :k])
    for rows, found in approximate._squares_in_blocks(Q, X):
        np.testing.assert_allclose(found, squares[:, rows])
    assert approximate._squares(X, X).min() >= 0
