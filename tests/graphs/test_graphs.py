import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph
from scipy.spatial.distance import cdist

from helpers.sparse_tables import random_table
from manyview import InputError, Views
from manyview.graphs.affinity import (
    GRAPHS,
    adaptive_graph,
    adaptive_weights,
    as_graph,
    build_graph,
    knn_graph,
    linked_graph,
    local_scaling_graph,
    view_graphs,
)
from manyview.graphs.connection import connect
from manyview.graphs.laplacian import laplacian, normalized_adjacency, reordered, symmetrize
from manyview.graphs.neighbors import from_neighbors, k_smallest, nearest_neighbors
from manyview.numerics.projections import project_simplex


def tables(rng):
    X = rng.standard_normal((40, 6))
    return {"dense": X, "wide": rng.standard_normal((40, 30)), "sparse": sp.csr_array(np.where(X > 0, X, 0))}


def distances(X):
    D = cdist(*[X.toarray() if sp.issparse(X) else X] * 2)
    np.fill_diagonal(D, np.inf)
    return D


def random_graph(rng, n=30):
    W = random_table(rng, (n, n), 0.2)
    W.setdiag(0)
    W.eliminate_zeros()
    return sp.csr_array(W + W.T)


@pytest.mark.parametrize("table", ["dense", "wide", "sparse"])
@pytest.mark.parametrize("k", [1, 5, 39])
def test_neighbors_agree_with_brute_force(table, k, rng):
    X = tables(rng)[table]
    found, neighbors = nearest_neighbors(X, k)
    np.testing.assert_allclose(found, np.sort(distances(X), axis=1)[:, :k], atol=1e-7)
    np.testing.assert_allclose(found, np.take_along_axis(distances(X), neighbors, axis=1), atol=1e-7)


def test_a_sample_is_not_its_own_neighbor_even_among_duplicates(rng):
    X = np.repeat(rng.standard_normal((5, 3)), 6, axis=0)
    found, neighbors = nearest_neighbors(X, 5)
    assert not found.any()
    assert (neighbors != np.arange(30)[:, None]).all()


@pytest.mark.parametrize("size", [1e300, 1e160, 1e-170, 1e-300])
@pytest.mark.parametrize("table", ["dense", "sparse"])
def test_neighbors_of_huge_and_tiny_values_are_those_of_moderate_ones(size, table, rng):
    X = tables(rng)[table]
    np.testing.assert_array_equal(nearest_neighbors(X * size, 4)[1], nearest_neighbors(X, 4)[1])


def test_knn_graph_counts_a_one_sided_link_half(rng):
    X = rng.standard_normal((40, 6))
    wanted = np.zeros((40, 40))
    np.put_along_axis(wanted, np.argsort(distances(X), axis=1)[:, :5], 1, axis=1)
    np.testing.assert_array_equal(knn_graph(X, 5).toarray(), (wanted + wanted.T) / 2)


@pytest.mark.parametrize("s", [1, 4, 12])
def test_adaptive_weights_solve_the_quadratic_programme_over_the_simplex(s, rng):
    for d in np.sort(rng.random((10, 20)), axis=1):
        gamma = (s * d[s] - d[:s].sum()) / 2
        solution = project_simplex(-d / (2 * gamma))
        assert np.count_nonzero(solution > 1e-12) == s
        np.testing.assert_allclose(adaptive_weights(d[None, : s + 1])[0], solution[:s], atol=1e-12)
        for _ in range(10):
            other = rng.dirichlet(np.ones(20))
            assert d @ solution + gamma * solution @ solution <= d @ other + gamma * other @ other + 1e-12


@pytest.mark.parametrize("d", [[0, 0, 0, 0], [2, 2, 2, 2], [0.3, 0.3, 0.3, np.nextafter(0.3, 1)], [1e-300] * 4])
def test_adaptive_weights_of_ties_are_equal(d):
    np.testing.assert_array_equal(adaptive_weights(np.array([d], dtype=float)), [[1 / 3] * 3])


def test_adaptive_weights_of_a_single_neighbor_are_one():
    np.testing.assert_array_equal(adaptive_weights(np.array([[0.0], [3.0]])), [[1], [1]])


def test_adaptive_weights_keep_the_precision(rng):
    assert adaptive_weights(np.sort(rng.random((3, 5))).astype(np.float32)).dtype == np.float32


def test_adaptive_graph_is_the_mean_of_the_rows_and_columns(rng):
    X = rng.standard_normal((25, 4))
    D = distances(X) ** 2
    directed = np.zeros((25, 25))
    for i, d in enumerate(D):
        nearest = np.argsort(d)[:6]
        directed[i, nearest[:5]] = adaptive_weights(d[nearest][None])[0]
    np.testing.assert_allclose(adaptive_graph(X, 5).toarray(), (directed + directed.T) / 2, atol=1e-12)


def test_local_scaling_is_its_formula(rng):
    X = rng.standard_normal((25, 4))
    D = distances(X)
    sigma = np.sort(D, axis=1)[:, 6]
    directed = np.zeros((25, 25))
    for i, d in enumerate(D):
        nearest = np.argsort(d)[:9]
        directed[i, nearest] = np.exp(-(d[nearest] ** 2) / (sigma[i] * sigma[nearest]))
    np.testing.assert_allclose(
        local_scaling_graph(X, 9).toarray(), np.maximum(directed, directed.T), rtol=1e-9, atol=1e-15
    )


def test_local_scaling_of_nearly_equal_and_far_samples_keeps_every_link():
    X = np.concatenate([np.arange(10) * 1e-160, [1.0, 2.0]])[:, None]
    W = local_scaling_graph(X, 11)
    assert W.nnz == 12 * 11
    assert np.isfinite(W.data).all()
    assert (W.data > 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("table", ["dense", "wide", "sparse"])
def test_graphs_are_sparse_symmetric_nonnegative_without_loops_and_keep_the_dtype(kind, table, dtype, rng):
    W = build_graph(tables(rng)[table].astype(dtype), kind, 5)
    assert isinstance(W, sp.csr_array)
    assert W.dtype == dtype
    assert (abs(W - W.T) > 0).nnz == 0
    assert (W.data > 0).all()
    assert not W.diagonal().any()
    assert W.nnz <= 2 * 5 * 40


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_graphs_of_very_few_samples_link_them_all(kind, n, rng):
    W = build_graph(rng.standard_normal((n, 2)).astype(np.float32), kind, 10)
    assert (W.shape, W.dtype) == ((n, n), np.float32)
    assert csgraph.connected_components(W)[0] == 1


@pytest.mark.parametrize("kind", GRAPHS)
def test_graphs_of_duplicates_are_finite(kind):
    W = build_graph(np.repeat([[0.0, 1.0], [5.0, 5.0]], 12, axis=0), kind, 4)
    assert np.isfinite(W.data).all()
    assert (W.sum(axis=1) > 0).all()


@pytest.mark.parametrize("kind", GRAPHS)
def test_graphs_do_not_depend_on_the_unit(kind, rng):
    X = rng.standard_normal((20, 3))
    np.testing.assert_allclose(build_graph(X * 1e300, kind, 4).toarray(), build_graph(X, kind, 4).toarray(), atol=1e-12)


def test_unknown_graph_is_refused_with_the_list():
    with pytest.raises(InputError, match=r"affinity='full'.*'knn', 'adaptive', 'self_tuning'"):
        build_graph(np.eye(3), "full", 2)


@pytest.mark.parametrize(
    ("how", "reference"),
    [
        ("mean", lambda A: (A + A.T) / 2),
        ("max", lambda A: np.maximum(A, A.T)),
    ],
)
def test_symmetrize(how, reference, rng):
    W = random_table(rng, (20, 20), 0.3)
    np.testing.assert_array_equal(symmetrize(W, how).toarray(), reference(W.toarray()))


def test_laplacians_agree_with_scipy(rng):
    W = random_graph(rng)
    np.testing.assert_allclose(laplacian(W).toarray(), csgraph.laplacian(W.toarray()), atol=1e-12)
    np.testing.assert_allclose(
        laplacian(W, "normalized").toarray(), csgraph.laplacian(W.toarray(), normed=True), atol=1e-12
    )


@pytest.mark.parametrize("kind", ["unnormalized", "normalized"])
def test_laplacians_stay_sparse_and_keep_float32(kind, rng):
    L = laplacian(random_graph(rng).astype(np.float32), kind)
    assert isinstance(L, sp.csr_array)
    assert L.dtype == np.float32


@pytest.mark.parametrize("tau", [0, 0.5, 1])
def test_regularised_adjacency_is_its_formula(tau, rng):
    W = random_graph(rng)
    d = W.toarray().sum(axis=1)
    d = d + tau * d.mean()
    np.testing.assert_allclose(
        normalized_adjacency(W, tau).toarray(), W.toarray() / np.sqrt(np.outer(d, d)), atol=1e-12
    )


@pytest.mark.parametrize("tau", [0, 1])
def test_a_sample_without_links_gets_a_zero_row(tau):
    S = normalized_adjacency(sp.csr_array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]]), tau).toarray()
    assert np.isfinite(S).all()
    assert not S[2].any()


@pytest.mark.parametrize("table", ["dense", "sparse"])
@pytest.mark.parametrize("size", [1, 1e300])
def test_connect_makes_one_component_and_leaves_the_links_there_are(table, size, rng):
    X = rng.standard_normal((60, 3)) + 10 * np.repeat(np.arange(6), 10)[:, None]
    X = sp.csr_array(X * size) if table == "sparse" else X * size
    W = knn_graph(X, 2)
    count = csgraph.connected_components(W)[0]
    assert count >= 6
    C = connect(W, X)
    assert csgraph.connected_components(C)[0] == 1
    linked = W.toarray() > 0
    np.testing.assert_array_equal(C.toarray()[linked], W.toarray()[linked])
    added = sp.csr_array(C - W)
    assert (abs(added - added.T) > 0).nnz == 0
    assert 2 * (count - 1) <= added.nnz < 4 * count
    np.testing.assert_array_equal(added.data, W.data.min())


def test_connect_links_the_nearest_samples():
    X = np.array([[0.0], [1], [5], [6], [20], [21]])
    W = sp.csr_array(sp.block_diag([[[0.0, 1], [1, 0]]] * 3))
    rows, columns = (connect(W, X) - W).nonzero()
    assert set(zip(rows.tolist(), columns.tolist(), strict=True)) == {(1, 2), (2, 1), (3, 4), (4, 3)}


def test_connect_leaves_a_connected_graph_and_joins_loose_samples(rng):
    X = rng.standard_normal((12, 2))
    whole = knn_graph(X, 11)
    assert (connect(whole, X) != whole).nnz == 0
    loose = connect(sp.csr_array((12, 12)), X)
    assert csgraph.connected_components(loose)[0] == 1
    assert set(loose.data) == {1}


def test_linked_graph_joins_pieces_only_if_there_are_more_than_clusters(rng):
    X = rng.standard_normal((40, 3)) + 50 * np.repeat(np.arange(4), 10)[:, None]
    counts = [csgraph.connected_components(linked_graph(X, "knn", 5, c))[0] for c in (3, 4, 5)]
    assert counts == [1, 4, 4]


# Affinities that the user brings -------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_graph_takes_an_affinity_and_leaves_out_its_diagonal(form, dtype, rng):
    A = random_graph(rng).toarray() + np.eye(30)
    given = form(A.astype(dtype))
    W = as_graph(given, "rna")
    assert (W.dtype, W.diagonal().any()) == (dtype, False)
    np.testing.assert_allclose(W.toarray(), A - np.eye(30), rtol=1e-6)
    np.testing.assert_array_equal(given.toarray() if sp.issparse(given) else given, A.astype(dtype))


@pytest.mark.parametrize(
    ("A", "message"),
    [
        (
            np.ones((4, 3)),
            r"View 'rna' has shape \(4, 3\), which is not square\. With affinity='precomputed', a view is an affinity "
            r"matrix \(samples by samples\)\.",
        ),
        (np.array([[0.0, -2], [-2, 0]]), "View 'rna' contains the negative value -2"),
        (np.array([[0.0, 1], [3, 0]]), r"View 'rna' is not symmetric: an entry and its mirror differ by 2.*A \+ A.T"),
    ],
)
def test_as_graph_says_what_is_wrong(A, message):
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(InputError, match=message):
            as_graph(form(A), "rna")


def test_as_graph_of_huge_values_and_of_none(rng):
    A = random_graph(rng)
    np.testing.assert_allclose(as_graph(A * 1e300, "rna").toarray(), (A / A.max()).toarray())
    assert as_graph(np.zeros((5, 5)), "rna").nnz == 0


def test_as_graph_takes_zeros_that_a_sparse_matrix_stores():
    links = np.array([[0, 1], [1, 0], [0, 2], [2, 0]]).T
    W = as_graph(sp.csr_array(([0.5, 0.5, 0.0, 0.0], links), shape=(3, 3)), "rna")
    np.testing.assert_array_equal(W.toarray(), [[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]])
    assert W.nnz == 2


def test_the_smallest_of_many_are_found_in_order(rng):
    d = rng.integers(0, 500, (40, 2000)).astype(float)
    for k in (1, 2, 37, 2000):
        values, columns = k_smallest(d, k)
        np.testing.assert_array_equal(values, np.sort(d)[:, :k])
        np.testing.assert_array_equal(np.take_along_axis(d, columns, axis=1), values)


def test_a_graph_of_neighbours_sorts_its_own_copy_of_them():
    weights, neighbors = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), np.array([[2, 1], [2, 0], [1, 0]])
    given = weights.copy(), neighbors.copy()
    W = from_neighbors(weights, neighbors)
    np.testing.assert_array_equal(W.toarray(), [[0, 0.2, 0.1], [0.4, 0, 0.3], [0.6, 0.5, 0]])
    assert W.has_sorted_indices
    for now, before in zip((weights, neighbors), given, strict=True):
        np.testing.assert_array_equal(now, before)


def test_a_graph_in_another_order_keeps_its_types(rng):
    W = random_graph(rng).astype(np.float32)
    moved = reordered(W, rng.permutation(30))
    assert (moved.dtype, moved.indices.dtype, moved.has_sorted_indices) == (np.float32, W.indices.dtype, True)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (symmetrize, r"Unknown how='full'. Choose one of: 'mean', 'max'."),
        (laplacian, r"Unknown kind='full'. Choose one of: 'unnormalized', 'normalized'."),
    ],
)
def test_unknown_ways_are_refused_with_the_list(make, message, rng):
    with pytest.raises(InputError, match=f"^{message}"):
        make(random_graph(rng), "full")


def test_views_that_are_affinities_are_not_scaled(rng):
    A = random_graph(rng).toarray()
    (W,), scaling = view_graphs(Views({"rna": A}), "precomputed", 5, 2, "standard")
    np.testing.assert_array_equal(W.toarray(), A)
    assert scaling == {"rna": "none"}
