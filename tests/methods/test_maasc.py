import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.sparse as sp

from helpers.sparse_tables import random_table
from manyview import MAASC, InputError, adjusted_rand_index, clustering_accuracy, load_digits, make_views
from manyview.graphs.affinity import knn_graph
from manyview.methods.maasc import (
    aggregate,
    best_weights,
    embed,
    objective,
    quadratic_forms,
    regularized_degrees,
    update_weights,
)


def graphs(rng, n=40, count=3):
    """Random graphs of different densities, so that the weights have room to move."""
    tables = [random_table(rng, (n, n), 0.1 + 0.2 * v) for v in range(count)]
    return [sp.csr_array(sp.triu(A, 1) + sp.triu(A, 1).T) * (1 + v) for v, A in enumerate(tables)]


def feasible_problem(rng, V):
    a, b, w = rng.uniform(0.1, 2, V), rng.uniform(0.5, 4, V), rng.dirichlet(np.ones(V))
    scale = b @ w**2
    return a / scale, b / scale, w


# The steps ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("V", [2, 3, 5, 8])
@pytest.mark.parametrize("seed", range(5))
def test_weights_are_feasible_and_no_worse_than_what_scipy_finds(V, seed):
    rng = np.random.default_rng(seed)
    a, b, w = feasible_problem(rng, V)
    best = best_weights(a, b, w)
    assert best.sum() == pytest.approx(1)
    assert b @ best**2 == pytest.approx(1)
    constraints = [
        {"type": "eq", "fun": lambda x: x.sum() - 1},
        {"type": "eq", "fun": lambda x: b @ x**2 - 1},
    ]
    for start in (w, best, *rng.standard_normal((15, V))):
        found = scipy.optimize.minimize(lambda x: a @ x**2, start, constraints=constraints, method="SLSQP", tol=1e-12)
        if found.success and abs(found.x.sum() - 1) < 1e-8 and abs(b @ found.x**2 - 1) < 1e-8:
            assert a @ best**2 <= found.fun + 1e-7


def test_weights_are_stationary(rng):
    a, b, w = feasible_problem(rng, 4)
    best = best_weights(a, b, w)
    # a_v w_v = mu + t b_v w_v for two numbers mu and t
    design = np.column_stack([np.ones(4), b * best])
    left = a * best
    np.testing.assert_allclose(design @ np.linalg.lstsq(design, left, rcond=None)[0], left, atol=1e-9)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([0.3], [1.0]),
        ([0.0, 0], [2, 2]),
        ([0.2, 0.4], [2, 2]),
        ([1, 1, 1], [3, 3, 3]),
        ([0, 0], [0, 0]),
        ([0, 1], [0, 2]),
    ],
)
def test_where_nothing_can_be_gained_the_weights_stay(a, b):
    w = np.full(len(a), 1 / len(a))
    np.testing.assert_allclose(best_weights(np.array(a, float), np.array(b, float), w), w, atol=1e-6)


@pytest.mark.parametrize("tau", [0, 1])
def test_embedding_solves_the_pencil(tau, rng):
    W = aggregate(graphs(rng), np.array([0.5, 0.3, 0.2]))
    D = np.diag(regularized_degrees(W, tau))
    _, F = embed(W, 4, tau)
    values = scipy.linalg.eigh(D - W.toarray(), D, eigvals_only=True)[:4]
    np.testing.assert_allclose(F.T @ D @ F, np.eye(4), atol=1e-8)
    assert np.trace(F.T @ (D - W.toarray()) @ F) == pytest.approx(values.sum())


@pytest.mark.parametrize("tau", [0, 1])
def test_the_objective_is_its_formula(tau, rng):
    K, w = graphs(rng), np.array([0.5, 0.3, 0.2])
    F = rng.standard_normal((40, 3))
    W = aggregate(K, w).toarray()
    D = sum(x**2 * np.diag(regularized_degrees(A, tau)) for x, A in zip(w, K, strict=True))
    expected = np.trace(np.linalg.solve(F.T @ D @ F, F.T @ (D - W) @ F)) / 3
    assert objective(F, w, K, tau) == pytest.approx(expected)
    assert objective(5 * F, 3 * w, K, tau) == pytest.approx(expected)


@pytest.mark.parametrize("tau", [0, 1])
@pytest.mark.parametrize("seed", range(6))
def test_the_weight_step_does_not_raise_the_objective(tau, seed):
    rng = np.random.default_rng(seed)
    K, w = graphs(rng, count=4), rng.dirichlet(np.ones(4))
    _, F = embed(aggregate(K, w), 3, tau)
    new = update_weights(F, w, K, tau)
    assert new.sum() == pytest.approx(1)
    assert objective(F, new, K, tau) <= objective(F, w, K, tau) + 1e-12


def test_for_one_vector_the_weight_step_is_the_optimum(rng):
    K, w = graphs(rng), np.full(3, 1 / 3)
    f = embed(aggregate(K, w), 2, 0)[1][:, 1:]  # the first is constant
    A, B = (forms[:, 0, 0] for forms in quadratic_forms(f, K, 0))
    np.testing.assert_allclose(update_weights(f, w, K, 0), best_weights(A, B, w))


# The estimator -----------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0, 1])
@pytest.mark.parametrize("seed", range(3))
def test_the_alternation_never_raises_the_objective(tau, seed):
    K = graphs(np.random.default_rng(seed), n=60, count=4)
    model = MAASC(4, affinity="precomputed", degree_regularization=tau, max_iter=200, tol=1e-7).fit(K)
    trace = [record["objective"] for record in model.history_]
    _, F = embed(aggregate(K, np.full(4, 0.25)), 4, tau)
    assert model.converged_
    assert trace[-1] < objective(F, np.full(4, 0.25), K, tau) - 1e-4
    assert (np.diff([objective(F, np.full(4, 0.25), K, tau), *trace]) < 1e-9).all()


def test_a_noise_view_with_room_to_move_loses_weight(rng):
    data = make_views(150, 3, (6, 6), noise=0.5, separation=8, seed=0)
    noise = knn_graph(rng.standard_normal((150, 6)), 10)
    good = [knn_graph(X, 10) for X in data.views.arrays]
    model = MAASC(3, affinity="precomputed").fit([*good, noise * 1.5])
    assert model.view_weights_.sum() == pytest.approx(1)
    assert model.view_weights_.argmin() == 2
    assert adjusted_rand_index(data.labels, model.labels_) == 1
    np.testing.assert_allclose(
        model.affinity_.toarray(), aggregate([*good, noise * 1.5], np.sqrt(model.view_weights_)).toarray(), atol=1e-12
    )


def test_views_permuted_weights_permuted(rng):
    K = graphs(rng)
    first, second = (MAASC(3, affinity="precomputed").fit(list(views)).view_weights_ for views in (K, K[::-1]))
    np.testing.assert_allclose(first, second[::-1], atol=1e-6)


def test_accuracy_on_digits():
    digits = load_digits()
    assert clustering_accuracy(digits.labels, MAASC(10).fit(digits.views).labels_) > 0.75


def test_the_callback_sees_every_round_and_can_stop(rng):
    seen = []
    model = MAASC(3, affinity="precomputed", tol=0, callback=lambda record: seen.append(record) or len(seen) == 2)
    model.fit(graphs(rng))
    assert (len(seen), model.n_iter_, model.converged_) == (2, 2, False)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"affinity": "full"}, "Unknown affinity='full'.*'precomputed'"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"degree_regularization": -1}, "degree_regularization=-1"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -1}, "tol=-1"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(wrong, message, blobs):
    with pytest.raises(InputError, match=message):
        MAASC(3, **wrong).fit(blobs.views)
