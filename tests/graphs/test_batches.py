"""Neighbours across batches."""

import numpy as np
import pytest
import scipy.sparse as sp

from manyview.graphs.affinity import GRAPHS, adaptive_graph
from manyview.graphs.batches import intrinsic_dimension, neighbors_of, search_in, standing_apart
from manyview.graphs.incomplete import IncompleteSamples, shared_graph
from manyview.graphs.neighbors import nearest_neighbors


@pytest.fixture
def groups(rng):
    """Three groups of 80 samples in 12 dimensions, and three batches of them at random."""
    kinds, batch = np.repeat(np.arange(3), 80), rng.integers(0, 3, 240)
    return rng.normal(size=(3, 12))[kinds] * 4 + rng.normal(size=(240, 12)), kinds, batch


def shifted(X, batch, rng, size=3.0):
    return X + size * rng.normal(size=(batch.max() + 1, X.shape[1]))[batch]


def found_groups(X, batch):
    return standing_apart(search_in(X), batch)[0]


def share(W, labels):
    """Share of the weight of links between samples of the same label."""
    links = W.tocoo()
    same = labels[links.coords[0]] == labels[links.coords[1]]
    return links.data[same].sum() / links.data.sum()


def test_random_batches_change_nothing(groups):
    X, _, batch = groups
    for with_batch, without in zip(neighbors_of(X, 10, batch), nearest_neighbors(X, 10), strict=True):
        np.testing.assert_array_equal(with_batch, without)


def test_batches_of_other_composition_without_a_shift_change_nothing(groups, rng):
    X, kinds, _ = groups
    batch = np.where(rng.random(240) < 0.5, kinds, rng.integers(0, 3, 240))
    assert found_groups(X, batch).max() == 0


def test_only_batches_that_are_shifted_stand_apart(groups, rng):
    X, _, batch = groups
    X = X + 8 * rng.normal(size=12) * (batch == 1)[:, None]
    apart = found_groups(X, batch)
    assert apart.max() == 1
    np.testing.assert_array_equal(apart == apart[np.flatnonzero(batch == 1)[0]], batch == 1)


@pytest.mark.parametrize("kind", GRAPHS)
def test_links_cross_batches_and_stay_within_groups(groups, rng, kind):
    X, kinds, batch = groups
    X = shifted(X, batch, rng)
    assert share(GRAPHS[kind](X, 10), batch) > 0.95
    W = GRAPHS[kind](X, 10, batch)
    assert share(W, batch) < 0.7
    assert share(W, kinds) > 0.8
    assert W.diagonal().max() == 0
    assert abs(W - W.T).max() == 0


def test_a_group_that_other_batches_lack_is_not_tied_to_them(groups, rng):
    X, kinds, batch = groups
    batch = np.where(kinds == 0, 0, batch)
    W = adaptive_graph(shifted(X, batch, rng), 10, batch)
    alone = kinds == 0
    assert W[alone][:, ~alone].sum() < 0.35 * W[alone].sum()


def test_a_sample_never_finds_itself_and_small_batches_join_the_rest(rng):
    X = np.repeat(rng.normal(size=(30, 2)), 2, axis=0)
    batch = np.r_[np.zeros(29, int), np.ones(29, int), 2, 3]
    distances, neighbors = neighbors_of(X, 5, batch)
    assert not (neighbors == np.arange(60)[:, None]).any()
    assert np.isfinite(distances).all()
    assert (np.diff(distances, axis=1) >= 0).all()


def test_sparse_tables_give_the_same_neighbours(groups, rng):
    X, _, batch = groups
    X = np.where(X > 0, shifted(X, batch, rng), 0)
    np.testing.assert_allclose(neighbors_of(X, 8, batch)[0], neighbors_of(sp.csr_array(X), 8, batch)[0])


def test_samples_that_lack_views_are_drawn_alike(groups, rng):
    X, kinds, batch = groups
    Z = shifted(X, batch, rng)
    present = np.ones((240, 2), dtype=bool)
    present[:30, 1], present[210:, 0] = False, False
    W = shared_graph(IncompleteSamples([Z[:, :6], Z[:, 6:]], present), 10, batch)
    assert share(W, batch) < 0.7
    assert share(W, kinds) > 0.7


@pytest.mark.parametrize("dimension", [2, 6])
def test_the_dimension_is_that_of_the_data(rng, dimension):
    X = rng.random((3000, dimension)) @ rng.normal(size=(dimension, 20))
    assert intrinsic_dimension(nearest_neighbors(X, 10)[0]) == pytest.approx(dimension, rel=0.25)
    assert intrinsic_dimension(np.zeros((5, 3))) == 1
    beyond = nearest_neighbors(X, 10)[0]
    known = intrinsic_dimension(beyond)
    assert intrinsic_dimension(np.vstack([beyond, [*range(1, 10), np.inf]])) == known
