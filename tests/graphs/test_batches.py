"""Neighbours across batches."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from manyview.graphs.affinity import GRAPHS, adaptive_graph, build_graph
from manyview.graphs.batches import (
    NEAREST_SHARE,
    PER_BATCH,
    SLACK,
    WITNESSES,
    draw_neighbors,
    intrinsic_dimension,
    neighbors_of,
    search_in,
    standing_apart,
)
from manyview.graphs.incomplete import IncompleteSamples, shared_graph
from manyview.graphs.neighbors import k_smallest, nearest_neighbors


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


# Against the three steps of the module, sample by sample ---------------------------------------------


def all_distances(X):
    d = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(d, np.inf)
    return d


def reach_into(d, members, k):
    """Return the distance of each sample to its k-th nearest of some, itself left out."""
    return np.sort(d[:, members], axis=1)[:, k - 1]


def literal_products(d, codes, a, b):
    """Return, for the samples of batches a and b, the product of step 1."""
    reach = [reach_into(d, codes == g, WITNESSES) for g in range(codes.max() + 1)]
    products = []
    for own, other in ((a, b), (b, a)):
        for i in np.flatnonzero(codes == own):
            j = np.argmin(np.where(codes == other, d[i], np.inf))
            products.append(reach[other][i] / reach[own][i] * reach[own][j] / reach[other][j])
    return np.array(products)


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.0, 4.0])
def test_batches_stand_apart_by_the_nearest_tenth_of_the_products(rng, shift):
    codes = np.repeat([0, 1, 2], [12, 15, 18])
    X = rng.standard_normal((45, 3)) + shift * (codes == 2)[:, None]
    d = all_distances(X)
    apart = {
        (a, b): np.quantile(literal_products(d, codes, a, b), NEAREST_SHARE) > 1 for a, b in ((0, 1), (0, 2), (1, 2))
    }
    linked = {pair for pair, is_apart in apart.items() if not is_apart}
    found = found_groups(X, codes)
    first = {b: found[np.flatnonzero(codes == b)[0]] for b in range(3)}
    for b in range(3):
        assert (found[codes == b] == first[b]).all()
    for a, b in linked:
        assert first[a] == first[b]
    assert len(set(first.values())) == {0: 3, 1: 2}.get(len(linked), 1)


def literal_neighbors(X, groups, k, dimension):
    """Return the distances to the nearest samples of each group in turn, made comparable (steps 2 and 3)."""
    d, n_groups = all_distances(X), groups.max() + 1
    sizes = np.bincount(groups)
    drawn = [min(max(PER_BATCH, math.ceil(k * size / len(X))), size - 1) for size in sizes]
    reach = np.column_stack([reach_into(d, groups == g, m) for g, m in enumerate(drawn)])
    found = []
    for i, own in enumerate(groups):
        of_sample = []
        for g in range(n_groups):
            widened = max(1, SLACK * (drawn[g] / sizes[g]) / (drawn[own] / sizes[own])) ** (1 / dimension)
            for j in np.argsort(np.where(groups == g, d[i], np.inf))[: drawn[g]]:
                farther = max(reach[i, g] / reach[i, own], 1)
                is_near = d[i, j] <= reach[j, own] * widened
                of_sample.append((d[i, j] / farther if is_near else d[i, j], j))
        found.append(sorted(of_sample))
    return np.array(found)


@pytest.mark.parametrize("k", [3, 8])
@pytest.mark.parametrize("sizes", [(20, 20), (14, 40), (12, 15, 30)])
def test_neighbours_are_drawn_and_compared_as_the_steps_say(rng, k, sizes):
    batch = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.standard_normal((len(batch), 2)) + 9 * batch[:, None]
    X[0] += 5  # far from its own batch, and not a neighbour of anybody's neighbours
    groups, dimension = standing_apart(search_in(X), batch)
    np.testing.assert_array_equal(groups, batch)
    own = np.sort(np.where(batch[:, None] == batch, all_distances(X), np.inf), axis=1)[:, :WITNESSES]
    assert dimension == pytest.approx(intrinsic_dimension(own))
    expected = literal_neighbors(X, groups, k, dimension)
    distances, neighbors = neighbors_of(X, k, batch)
    np.testing.assert_allclose(distances, expected[:, :, 0], atol=1e-9)
    np.testing.assert_array_equal(np.sort(neighbors), np.sort(expected[:, :, 1]))  # step 3 makes ties


def test_the_dimension_is_the_formula_over_samples_that_have_neighbours():
    d = np.array([[1.0, 2, 4], [1, 1, np.e], [0, 1, 2], [1, 2, np.inf]])
    logs = [np.log(4), np.log(2), 1, 1]
    assert intrinsic_dimension(d) == pytest.approx(1 / np.mean(logs))
    assert intrinsic_dimension(np.ones((2, 3))) == pytest.approx(1 / np.finfo(float).eps)


def test_small_batches_go_with_the_largest_group(rng):
    codes = np.repeat([0, 1, 2, 3], [12, 30, 9, 5])
    X = rng.standard_normal((56, 2)) + 20.0 * codes[:, None]
    groups = found_groups(X, codes)
    assert [set(groups[codes == b].tolist()) for b in range(4)] == [{0}, {1}, {1}, {1}]
    only_small = np.repeat(np.arange(6), 9)
    assert (found_groups(rng.standard_normal((54, 2)) + 20.0 * only_small[:, None], only_small) == 0).all()


def test_known_distances_to_a_batch_stay_where_most_are_unknown(rng):
    """Samples that share no view are infinitely far from each other."""
    batch = np.repeat([0, 1], 20)
    d = all_distances(rng.standard_normal((40, 2)) + 9 * batch[:, None])
    a, b = np.unravel_index(np.where(batch[:, None] < batch, d, np.inf).argmin(), d.shape)
    shared, alone = d[a, b], (a + 1) % 20
    d[a, batch == 1] = d[batch == 1, a] = d[alone] = d[:, alone] = np.inf
    d[a, b] = d[b, a] = shared

    def search(members, k):
        distances, nearest = k_smallest(d[:, members], k)
        return distances, members[nearest]

    distances, neighbors = draw_neighbors(search, 6, batch)
    assert distances[a, neighbors[a] == b].tolist() == [shared]
    assert np.isinf(distances[alone]).all()


def test_names_of_batches_do_not_matter(rng):
    batch = np.repeat([0, 1], 20)
    X = rng.standard_normal((40, 2)) + 9 * batch[:, None]
    for one, other in zip(neighbors_of(X, 4, batch), neighbors_of(X, 4, 70 - 7 * batch), strict=True):
        np.testing.assert_allclose(np.sort(one), np.sort(other))


def test_of_few_samples_batches_say_nothing(rng):
    batch = np.repeat([0, 1], 10)
    X = rng.standard_normal((20, 2)) + 90 * batch[:, None]
    np.testing.assert_array_equal(neighbors_of(X, 3, batch)[1], nearest_neighbors(X, 3)[1])
    drawn = neighbors_of(np.vstack([X[:1] + 0.01, X]), 4, np.r_[0, batch])[1]
    assert drawn.shape == (21, 5)  # three of the larger batch and two of the other


@pytest.mark.parametrize("kind", list(GRAPHS))
def test_graphs_by_name_draw_neighbours_from_every_batch(kind, rng):
    X, batch = rng.standard_normal((40, 3)), np.repeat([0, 1], 20)
    X[20:] += 100
    links = build_graph(X, kind, 6, batch)
    assert links[:20, 20:].nnz > 0
    assert build_graph(X, kind, 6)[:20, 20:].nnz == 0
