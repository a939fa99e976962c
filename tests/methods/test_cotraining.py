import numpy as np
import pytest
import scipy.sparse as sp

from manyview import CoTraining, InputError, adjusted_rand_index, clustering_accuracy, load_digits
from manyview.graphs.affinity import knn_graph
from manyview.graphs.laplacian import normalized_adjacency
from manyview.methods.cotraining import agreement, objective, update
from manyview.partition.spectral import spectral_embedding


def problem(rng, V=3, n=50, c=4):
    K = [normalized_adjacency(knn_graph(rng.standard_normal((n, 3)), 6)) for _ in range(V)]
    return K, [np.linalg.qr(rng.standard_normal((n, c)))[0] for _ in range(V)]


def literal(U, K, v):
    """S_v, written out: sym(sum over the others of U_w U_w' K_v)."""
    P = sum(U[w] @ U[w].T for w in range(len(U)) if w != v)
    return (P @ K[v].toarray() + K[v].toarray() @ P) / 2


@pytest.mark.parametrize("V", [2, 3, 6])
def test_update_takes_the_top_eigenvectors_of_the_literal_matrix(V, rng):
    K, U = problem(rng, V)
    for v in range(V):
        others = [U[w] for w in range(V) if w != v]
        new = update(others, K[v], U[v])
        S = literal(U, K, v)
        values, vectors = np.linalg.eigh(S)
        np.testing.assert_allclose(new.T @ new, np.eye(4), atol=1e-10)
        np.testing.assert_allclose(new @ new.T, vectors[:, -4:] @ vectors[:, -4:].T, atol=1e-8)
        assert objective(new, others, K[v]) == pytest.approx(values[-4:].sum())
        assert objective(U[v], others, K[v]) == pytest.approx(np.trace(U[v].T @ S @ U[v]))


def test_update_beats_random_bases(rng):
    K, U = problem(rng)
    best = objective(update(U[1:], K[0], U[0]), U[1:], K[0])
    for _ in range(20):
        assert objective(np.linalg.qr(rng.standard_normal((50, 4)))[0], U[1:], K[0]) <= best


def test_update_when_the_views_span_everything(rng):
    K, U = problem(rng, V=4, n=12, c=4)
    new = update(U[1:], K[0], U[0])
    np.testing.assert_allclose(new @ new.T, _top(literal(U, K, 0), 4), atol=1e-8)


def _top(S, c):
    vectors = np.linalg.eigh(S)[1][:, -c:]
    return vectors @ vectors.T


def test_agreement_runs_from_orthogonal_to_equal(rng):
    Q, _ = np.linalg.qr(rng.standard_normal((20, 9)))
    rotation, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    assert agreement([Q[:, :3], Q[:, 3:6], Q[:, 6:]]) == pytest.approx(0)
    assert agreement([Q[:, :3], Q[:, :3] @ rotation]) == pytest.approx(1)
    assert agreement([Q[:, :3], Q[:, :3], Q[:, 3:6]]) == pytest.approx(1 / 3)
    assert agreement([Q[:, :3]]) == 1


def test_rounds_raise_the_agreement_until_they_no_longer_do():
    views = load_digits().views[::5]
    model = CoTraining(10).fit(views)
    graphs = [knn_graph(X, 10) for X in _scaled(views)]
    before = agreement([spectral_embedding(W.astype(float), 10, 1)[1] for W in graphs])
    trace = [before, *(record["agreement"] for record in model.history_)]
    assert model.converged_
    assert model.n_iter_ >= 2
    assert (np.diff(trace[:-1]) > 0.05).all()
    assert trace[-1] - trace[-2] <= 0.05
    np.testing.assert_allclose(model.history_[0]["residual"], trace[1] - before, atol=1e-6)


def _scaled(views):
    return [(X - X.mean(axis=0)) / X.std(axis=0) for X in views.arrays]


def test_the_round_that_gains_nothing_is_undone(rng):
    K, _ = problem(rng, V=2)
    never = CoTraining(3, affinity="precomputed", tol=1, degree_regularization=0).fit(K)
    rows = [spectral_embedding(W, 3)[1] for W in K]
    expected = np.hstack([U / np.linalg.norm(U, axis=1, keepdims=True) for U in rows])
    np.testing.assert_allclose(np.abs(never.embedding_), np.abs(expected), atol=1e-5)


def test_one_informative_view_is_read_off(blobs):
    every = CoTraining(3).fit(blobs.views)
    one = CoTraining(3, informative_view="view_1").fit(blobs.views)
    assert (every.embedding_.shape, one.embedding_.shape) == ((60, 6), (60, 3))
    np.testing.assert_array_equal(every.embedding_[:, 3:], one.embedding_)
    assert adjusted_rand_index(one.labels_, blobs.labels) == 1


@pytest.mark.parametrize("affinity", ["knn", "adaptive", "self_tuning"])
def test_all_variants_find_the_clusters(affinity, blobs):
    model = CoTraining(3, affinity=affinity).fit(blobs.views)
    assert adjusted_rand_index(blobs.labels, model.labels_) == 1


def test_affinity_is_the_mean_of_the_graphs(blobs):
    graphs = [knn_graph(X, 10) for X in _scaled(blobs.views)]
    np.testing.assert_allclose(CoTraining(3).fit(blobs.views).affinity_.toarray(), (sum(graphs) / 2).toarray())


def test_accuracy_on_digits():
    digits = load_digits()
    assert clustering_accuracy(digits.labels, CoTraining(10).fit(digits.views).labels_) > 0.8


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"informative_view": "rna"}, "informative_view='rna' is not one of the views: 'view_0', 'view_1'"),
        ({"affinity": "full"}, "Unknown affinity='full'"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -0.1}, "tol=-0.1"),
        ({"degree_regularization": -1}, "degree_regularization=-1"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(wrong, message, blobs):
    with pytest.raises(InputError, match=message):
        CoTraining(3, **wrong).fit(blobs.views)


def test_a_graph_without_links_is_no_obstacle():
    empty = sp.csr_array((12, 12))
    labels = CoTraining(3, affinity="precomputed").fit([empty, empty]).labels_
    assert np.unique(labels).tolist() == [0, 1, 2]
