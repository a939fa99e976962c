import numpy as np
import pytest
import scipy.sparse as sp

from manyview import adjusted_rand_index
from manyview.graphs.affinity import adaptive_graph
from manyview.graphs.laplacian import normalized_adjacency
from manyview.partition.spectral import (
    affinity_features,
    different_rows,
    fill_empty_clusters,
    kmeans_labels,
    normalized_cut,
    number_by_size,
    pivoted_kmeans,
    spectral_embedding,
    unit_length_rows,
)

ASSIGNERS = ["kmeans", "discretize", "qr"]


def blocks(*sizes):
    return sp.csr_array(sp.block_diag([np.ones((s, s)) - np.eye(s) for s in sizes]))


def planted_partition(sizes, inside, outside, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    chance = np.where(truth[:, None] == truth, inside, outside)
    A = np.triu(rng.random(chance.shape) < chance, 1)
    return sp.csr_array((A | A.T).astype(float)), truth


@pytest.mark.parametrize("tau", [0, 1])
def test_disconnected_blocks_are_recovered_exactly(tau):
    sizes = (12, 50, 30, 7)
    cut = normalized_cut(blocks(*sizes), 4, degree_regularization=tau, random_state=0)
    assert adjusted_rand_index(np.repeat(np.arange(4), sizes), cut.labels) == 1


def test_planted_partition_is_recovered():
    W, truth = planted_partition((60, 60, 60), 0.5, 0.05)
    cut = normalized_cut(W, 3, random_state=0)
    assert adjusted_rand_index(truth, cut.labels) == 1
    assert cut.embedding.shape == (180, 3)
    assert cut.eigenvalues[0] == pytest.approx(1)
    assert (np.diff(cut.eigenvalues) < 0).all()


def test_the_cut_of_a_small_graph_is_the_best_normalised_cut():
    W, _ = planted_partition((6, 5), 0.9, 0.2, seed=3)
    A = W.toarray()
    d = A.sum(axis=1)

    def ncut(side):
        across = A[side][:, ~side].sum()
        return across / d[side].sum() + across / d[~side].sum()

    every = [np.array(list(f"{code:011b}")) == "1" for code in range(1, 2**10)]
    best = min(map(ncut, every))
    found = ncut(normalized_cut(W, 2, random_state=0).labels == 1)
    assert found == pytest.approx(best)


def test_regularisation_keeps_an_outlier_clique_from_being_split_off():
    W, truth = planted_partition((60, 60), 0.3, 0.1, seed=1)
    clique = blocks(4)
    W = sp.csr_array(sp.block_diag([W, clique])).tolil()
    W[0, 120] = W[120, 0] = 1  # it hangs on one link
    W = sp.csr_array(W)
    plain = normalized_cut(W, 2, random_state=0).labels
    assert sorted(np.bincount(plain)) == [4, 120]
    regularised = normalized_cut(W, 2, degree_regularization=1, random_state=0).labels
    assert adjusted_rand_index(truth, regularised[:120]) > 0.8


@pytest.mark.parametrize("c", [1, 2, 5, 12])
@pytest.mark.parametrize("graph", ["complete", "no links", "blocks"])
def test_every_cluster_gets_a_sample(graph, c):
    W = {"complete": blocks(12), "no links": sp.csr_array((12, 12)), "blocks": blocks(3, 4, 5)}[graph]
    labels = normalized_cut(W, c, random_state=0).labels
    assert labels.dtype == np.int32
    assert np.unique(labels).tolist() == list(range(c))


@pytest.mark.parametrize("distinct", [1, 2, 3])
def test_fewer_distinct_rows_than_clusters_still_give_every_label(distinct):
    F = np.eye(4)[np.arange(10) % distinct]
    assert np.unique(kmeans_labels(F, 4, 0)).tolist() == [0, 1, 2, 3]


def test_indicator_rows_are_read_off_exactly_in_any_rotation(rng):
    truth = rng.permutation(np.repeat(np.arange(4), (3, 9, 20, 8)))
    rotation, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    assert adjusted_rand_index(truth, kmeans_labels(np.eye(4)[truth] @ rotation, 4, 0)) == 1


def test_clusters_are_numbered_by_size_then_by_their_first_sample():
    assert number_by_size(np.array([5, 5, 2, 2, 9, 9, 9, 0])).tolist() == [1, 1, 2, 2, 0, 0, 0, 3]


def test_same_seed_same_labels():
    W, _ = planted_partition((30, 30, 30), 0.3, 0.2)
    first, second = (normalized_cut(W, 5, random_state=3).labels for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_one_sample_one_cluster():
    assert normalized_cut(sp.csr_array((1, 1)), 1).labels.tolist() == [0]


def test_empty_cluster_takes_the_farthest_sample_of_a_larger_one():
    F = np.array([[0.0], [0.1], [0.9], [50.0]])
    labels = np.array([0, 0, 0, 2], np.int32)
    assert fill_empty_clusters(labels, F, 3).tolist() == [0, 0, 1, 2]
    assert labels.tolist() == [0, 0, 0, 2]


def test_embedding_keeps_float32_and_is_orthonormal():
    W, _ = planted_partition((40, 40), 0.3, 0.1)
    values, F = spectral_embedding(W.astype(np.float32), 3)
    assert (values.dtype, F.dtype) == (np.float32, np.float32)
    np.testing.assert_allclose(F.T @ F, np.eye(3), atol=1e-5)


def test_the_graph_is_left_alone(rng):
    W = adaptive_graph(rng.standard_normal((200, 3)), 8)
    before = W.toarray()
    normalized_cut(W, 3, random_state=0)
    np.testing.assert_array_equal(W.toarray(), before)
    np.testing.assert_array_equal(before, before.T)


def test_pivoted_kmeans_reads_indicator_rows_off_in_any_rotation(rng):
    truth = rng.permutation(np.repeat(np.arange(4), (3, 9, 20, 8)))
    rotation, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    rows = (np.eye(4)[truth] + 0.05 * rng.standard_normal((40, 4))) @ rotation
    labels = pivoted_kmeans(rows, 4)
    assert labels.dtype == np.int32
    assert adjusted_rand_index(truth, labels) == 1


def test_pivoted_kmeans_is_not_random(rng):
    F = rng.standard_normal((60, 5))
    np.random.seed(1)  # noqa: NPY002
    first = pivoted_kmeans(F, 5)
    np.random.seed(2)  # noqa: NPY002
    np.testing.assert_array_equal(pivoted_kmeans(F, 5), first)


def test_different_rows_are_one_of_each_kind_in_any_rotation(rng):
    kinds = np.repeat([0, 1, 2], (9, 6, 5))
    for _ in range(10):
        rotation, _ = np.linalg.qr(rng.standard_normal((3, 3)))
        assert sorted(kinds[different_rows(rotation[kinds], 3)]) == [0, 1, 2]


def test_different_rows_do_not_depend_on_the_order_of_rows_of_one_length(rng):
    F = unit_length_rows(rng.standard_normal((200, 5)))
    chosen = F[different_rows(F, 5)]
    for _ in range(10):
        order = rng.permutation(200)
        np.testing.assert_array_equal(F[order][different_rows(F[order], 5)], chosen)


@pytest.mark.parametrize("distinct", [1, 2, 3])
@pytest.mark.parametrize("columns", [2, 4, 6])
def test_pivoted_kmeans_leaves_no_label_out(distinct, columns):
    F = np.eye(4, columns)[np.arange(10) % distinct]
    assert np.unique(pivoted_kmeans(F, 4)).tolist() == [0, 1, 2, 3]


def test_unit_length_rows_leave_zero_rows():
    np.testing.assert_allclose(unit_length_rows(np.array([[3.0, 4], [0, 0]])), [[0.6, 0.8], [0, 0]])


def test_samples_put_next_to_one_another_have_the_same_embedding(rng):
    W, truth = planted_partition((40, 30, 20), 0.5, 0.05)
    order = rng.permutation(90)
    W, near = sp.csr_array(W[order][:, order]), truth[order]
    values, F = spectral_embedding(W, 3, 0.5)
    same_values, same = spectral_embedding(W, 3, 0.5, near=near)
    np.testing.assert_allclose(same_values, values, atol=1e-7)
    np.testing.assert_allclose(same, F, atol=1e-5)


@pytest.mark.parametrize("tau", [0.0, 1.0])
def test_products_of_features_are_the_affinity_without_negative_eigenvalues(tau):
    W, _ = planted_partition((9, 6), 0.8, 0.2)
    values, vectors = np.linalg.eigh(normalized_adjacency(W, tau).toarray())
    for rank in (3, 15):
        F = affinity_features(W, rank, tau)
        best = np.maximum(values[-rank:], 0)
        np.testing.assert_allclose(F @ F.T, (vectors[:, -rank:] * best) @ vectors[:, -rank:].T, atol=1e-6)
    np.testing.assert_array_equal(affinity_features(W, 3), affinity_features(W, 3, 0.0))
