"""Approximate neighbours: against exact ones, and when they are used."""

import logging

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from manyview import MFMSC, OCBR, make_views
from manyview.graphs import approximate, neighbors
from manyview.graphs.approximate import InvertedFile
from manyview.graphs.neighbors import NeighborIndex, nearest_neighbors
from manyview.graphs.recall import graph_named, noted_recall
from manyview.numerics.threads import limited_threads

pytest.importorskip("faiss")


@pytest.fixture
def always_approximate(monkeypatch):
    monkeypatch.setattr(neighbors, "EXACT_UP_TO", 100)


def clusters(rng, n=3000, d=12):
    return rng.standard_normal((8, d))[rng.integers(0, 8, n)] * 3 + rng.standard_normal((n, d))


def test_looking_into_every_cell_is_exact(rng, monkeypatch):
    monkeypatch.setattr(approximate, "FIRST_PROBES", 10**6)
    X, Y = clusters(rng), clusters(rng, 50)
    exact = NearestNeighbors(n_neighbors=5).fit(X)
    for queries in (None, Y):
        distances, found, recall = InvertedFile(X).search(queries, 5)
        assert recall == 1
        true_distances, true = exact.kneighbors(queries)
        np.testing.assert_allclose(distances, true_distances, rtol=1e-4)
        assert (found == true).mean() > 0.999  # near-ties may swap in single precision


def test_recall_is_as_wanted_and_as_measured(rng):
    X = clusters(rng, 5000, 20)
    _, found, recall = InvertedFile(X).search(None, 10)
    true = NearestNeighbors(n_neighbors=10).fit(X).kneighbors(return_distance=False)
    real = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found, true, strict=True)])
    assert recall >= approximate.WANTED_RECALL
    assert abs(recall - real) < 0.02


def test_the_search_widens_by_itself(rng, monkeypatch):
    X = rng.standard_normal((3000, 20))
    monkeypatch.setattr(approximate, "FIRST_PROBES", 1)
    narrow = InvertedFile(X)
    assert narrow.search(None, 10)[2] >= approximate.WANTED_RECALL
    assert narrow._index.nprobe > 1


def test_labels_and_neighbours_do_not_depend_on_the_number_of_threads(rng):
    X = clusters(rng, 4000, 30)
    found = []
    for threads in (1, 2):
        with limited_threads(threads, 0):
            found.append(InvertedFile(X).search(None, 8))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("size", [1e-90, 1.0, 1e90])
def test_single_precision_is_used_in_units_of_the_spread(offset, size, rng, always_approximate):
    X = clusters(rng, 500)
    distances, found = nearest_neighbors(X, 5)
    moved, same = nearest_neighbors((X + offset) * size, 5)
    assert (found == same).mean() > 0.99
    np.testing.assert_allclose(moved / size, distances, rtol=1e-3)


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


def test_without_faiss_one_line_says_what_to_install(rng, always_approximate, monkeypatch, caplog):
    monkeypatch.setattr(neighbors, "is_available", lambda: False)
    X = clusters(rng, 300)
    with caplog.at_level(logging.WARNING):
        found = nearest_neighbors(X, 5)[1]
    np.testing.assert_array_equal(found, NearestNeighbors(n_neighbors=5).fit(X).kneighbors(return_distance=False))
    assert len(caplog.records) == 1
    assert "manyview[fast]" in caplog.text
