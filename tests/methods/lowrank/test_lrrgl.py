"""LRRGL: the problem is solved to the optimum of a generic solver, and its weights do what they say."""

import numpy as np
import pytest

from manyview import LRRGL, InputError, adjusted_rand_index, clustering_accuracy, load_digits
from manyview.graphs.affinity import knn_graph
from manyview.graphs.laplacian import laplacian
from manyview.methods.lowrank import selfexpression
from manyview.methods.lowrank.lrrgl import objective, smooth_gradients, smooth_part, smoothness, sweep_views
from manyview.preprocessing.corruption import corrupt_entries

LAM_2, BETA = 0.3, 0.2


@pytest.fixture
def data(rng):
    """Two views of 16 samples (samples in columns) and their Laplacians."""
    codes = np.kron(np.eye(2), np.ones((8, 2))) * rng.standard_normal((16, 4))
    X = [(codes @ rng.standard_normal((4, d))).T for d in (3, 5)]
    return X, [laplacian(knn_graph(Xv.T, 4), "normalized") for Xv in X]


@pytest.mark.parametrize("nonnegative", [True, False])
def test_the_optimum_is_that_of_a_generic_solver(nonnegative, data):
    cp = pytest.importorskip("cvxpy")
    X, L = data
    lams = [selfexpression.unit_weight(Xv) for Xv in X]
    Z = [cp.Variable((16, 16)) for _ in X]
    cost = BETA * cp.sum_squares(Z[0] - Z[1])
    for Xv, Zv, Lv, lam in zip(X, Z, L, lams, strict=True):
        root = np.linalg.cholesky(Lv.toarray() + 1e-12 * np.eye(16))
        cost += cp.normNuc(Zv) + lam * cp.sum(cp.abs(Xv - Xv @ Zv)) + LAM_2 * cp.sum_squares(Zv @ root)
    best = cp.Problem(cp.Minimize(cost), [Zv >= 0 for Zv in Z] if nonnegative else []).solve(solver="CLARABEL")

    R = None if nonnegative else selfexpression.row_space(X)
    eta = smoothness(LAM_2, BETA, 2)
    problems = [selfexpression.make_problem(Xv, R, lam, smoothness=eta) for Xv, lam in zip(X, lams, strict=True)]
    states = [selfexpression.initial_state(problem) for problem in problems]
    for _ in range(3000):
        gaps = sweep_views(problems, states, L, LAM_2, BETA)
    assert gaps["residual"] < 1e-4
    found = [state.solution if R is None else R @ state.solution for state in states]
    E = [Xv - Xv @ Zv for Xv, Zv in zip(X, found, strict=True)]
    assert objective(found, E, L, lams, LAM_2, BETA) == pytest.approx(best, rel=1e-3)


def test_gradients_are_those_of_the_smooth_part(data, rng):
    _, L = data
    L3, Z = [*L, L[0]], list(rng.standard_normal((3, 16, 16)))
    direction = list(rng.standard_normal((3, 16, 16)))
    slope = sum(np.sum(g * h) for g, h in zip(smooth_gradients(Z, L3, LAM_2, BETA), direction, strict=True))
    ahead, behind = ([Zv + t * h for Zv, h in zip(Z, direction, strict=True)] for t in (1e-4, -1e-4))
    difference = (smooth_part(ahead, L3, LAM_2, BETA) - smooth_part(behind, L3, LAM_2, BETA)) / 2e-4
    assert slope == pytest.approx(difference, rel=1e-6)


def test_the_smooth_part_is_as_written(data, rng):
    _, L = data
    Z = list(rng.standard_normal((2, 16, 16)))
    rough = sum(np.trace(Zv @ Lv.toarray() @ Zv.T) for Zv, Lv in zip(Z, L, strict=True))
    written = LAM_2 * rough + BETA / 2 * 2 * np.linalg.norm(Z[0] - Z[1]) ** 2  # each view sees the other
    assert smooth_part(Z, L, LAM_2, BETA) == pytest.approx(written)


def test_no_gradient_changes_faster_than_its_lipschitz_constant(data, rng):
    _, L = data
    Z, Y = (list(rng.standard_normal((2, 16, 16))) for _ in range(2))
    change = np.subtract(smooth_gradients(Z, L, LAM_2, BETA), smooth_gradients(Y, L, LAM_2, BETA))
    assert np.linalg.norm(change) <= smoothness(LAM_2, BETA, 2) * np.linalg.norm(np.subtract(Z, Y))


# The estimator -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{}, {"nonnegative": False}, {"representation_graph": "sum"}, {"affinity": "knn"}, {"affinity": "adaptive"}],
    ids=str,
)
def test_every_variant_finds_the_clusters(options, blobs):
    model = LRRGL(3, **options).fit([X.astype(np.float32) for X in blobs.views.arrays])
    assert adjusted_rand_index(blobs.labels, model.labels_) == 1
    assert model.converged_
    assert [Z.shape for Z in model.representation_] == [(60, 60)] * 2
    assert [E.shape for E in model.corruption_] == [(60, 5), (60, 8)]
    assert (model.embedding_.dtype, model.affinity_.dtype) == (np.float32, np.float32)


def disagreement(blobs, weight):
    Z = LRRGL(3, consensus_weight=weight).fit(blobs.views).representation_
    return np.linalg.norm(Z[0] - Z[1]) / np.linalg.norm(Z[0])


def test_the_consensus_weight_brings_the_views_together(blobs):
    assert disagreement(blobs, 5.0) < 0.5 * disagreement(blobs, 0.0)


def test_without_coupling_each_view_is_solved_alone(blobs):
    uncoupled = {"graph_weight": 0, "consensus_weight": 0}
    both = LRRGL(3, tol=1e-4, max_iter=2000, **uncoupled).fit(blobs.views)
    alone = LRRGL(3, tol=1e-4, max_iter=2000, **uncoupled).fit(blobs.views.arrays[0])
    np.testing.assert_allclose(both.representation_[0], alone.representation_[0], atol=1e-3)


def test_corrupted_digits_are_told_apart():
    digits = load_digits(("fourier", "profile"))
    rows = slice(None, None, 4)
    noisy = corrupt_entries(digits.views, 0.2, seed=0)[rows]
    for views in (digits.views[rows], noisy):
        labels = LRRGL(10).fit(views).labels_
        assert clustering_accuracy(digits.labels[rows], labels) > 0.8


def test_what_does_not_fit_in_memory_is_refused(blobs):
    with pytest.raises(InputError, match=r"n_samples=60 needs about .* GB.*max_memory=1e-06.*nonnegative=False"):
        LRRGL(3, max_memory=1e-6).fit(blobs.views)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"affinity": "full"}, "Unknown affinity='full'"),
        ({"sparsity": None}, "sparsity=None"),
        ({"graph_weight": -1}, "graph_weight=-1"),
        ({"consensus_weight": np.inf}, "consensus_weight=inf"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(wrong, message, blobs):
    with pytest.raises(InputError, match=message):
        LRRGL(3, **wrong).fit(blobs.views)
