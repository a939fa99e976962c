"""RLRR: both of its problems are solved, each update is optimal, and the options do what they say."""

import numpy as np
import pytest

from manyview import RLRR, InputError, adjusted_rand_index, clustering_accuracy, load_digits
from manyview.methods.lowrank import representation, selfexpression
from manyview.methods.lowrank.rlrr import objective
from manyview.numerics.proximal import partial_singular_value_threshold, singular_value_threshold
from manyview.preprocessing.corruption import corrupt_entries


def stacked(views):
    X = np.vstack([(X - X.mean(axis=0)).T / X.std() for X in views])
    return X, selfexpression.unit_weight(X)


def solve(X, lam, *, nonnegative, sweeps=3000):
    R = None if nonnegative else selfexpression.row_space([X])
    problem = selfexpression.make_problem(X, R, lam)
    state = selfexpression.initial_state(problem)
    for _ in range(sweeps):
        gaps = selfexpression.sweep(problem, state)
    assert max(gaps.values()) < 1e-4
    Z = state.solution if R is None else R @ state.solution
    return Z, state


# The optimum -------------------------------------------------------------------------------------


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("weight", [0.4, 1.0])
def test_the_optimum_is_that_of_a_generic_solver(nonnegative, weight, tables):
    cp = pytest.importorskip("cvxpy")
    X, unit = stacked(tables)
    lam = weight * unit
    Z = cp.Variable((24, 24))
    cost = cp.normNuc(Z) + lam * cp.sum(cp.abs(X - X @ Z))
    best = cp.Problem(cp.Minimize(cost), [Z >= 0] if nonnegative else []).solve(solver="CLARABEL")
    found, state = solve(X, lam, nonnegative=nonnegative)
    if nonnegative:
        assert found.min() >= 0
    assert objective(found, [X - X @ found], lam) == pytest.approx(best, rel=1e-3)
    assert objective(found, [state.E], lam) == pytest.approx(best, rel=1e-3)


def test_blocks_of_features_change_nothing(rng, monkeypatch):
    X = rng.standard_normal((100, 6))
    whole, parts = (selfexpression.make_problem(X, None, selfexpression.unit_weight(X)) for _ in range(2))
    monkeypatch.setattr(selfexpression, "BLOCK_ENTRIES", 42)
    assert [rows.stop - rows.start for rows in parts.blocks] == [7] * 14 + [2]
    monkeypatch.undo()
    assert len(whole.blocks) == 1
    one, other = map(selfexpression.initial_state, (whole, parts))
    for _ in range(20):
        gaps, others = selfexpression.sweep(whole, one), selfexpression.sweep(parts, other)
        assert gaps == pytest.approx(others)
    for name in ("Z", "E", "K1"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9)


# Each update beats random perturbations of its own subproblem -------------------------------------


def beats_perturbations(cost, best, rng, project=lambda A: A):
    for size in (1e-3, 1e-1):
        for _ in range(20):
            assert cost(best) <= cost(project(best + size * rng.standard_normal(best.shape))) + 1e-9


@pytest.fixture
def middle(tables, rng):
    """A problem in the middle of its run, smooth term included."""
    X, unit = stacked(tables)
    problem = selfexpression.make_problem(X, None, unit, smoothness=1.5)
    state = selfexpression.initial_state(problem)
    for _ in range(5):
        selfexpression.sweep(problem, state)
    return problem, state


def test_update_Z_is_optimal(middle, rng):
    problem, s = middle
    gradient = rng.standard_normal(s.Z.shape)
    mu, mu_1 = problem.mu, problem.mu_fit

    def cost(Z):
        fit = problem.X - problem.A @ Z - s.E
        parts = [np.sum(s.K1 * fit) + mu_1 / 2 * np.sum(fit**2)]
        parts += [np.sum(K * (Z - C)) + mu / 2 * np.sum((Z - C) ** 2) for C, K in ((s.J, s.K2), (s.G, s.K3))]
        return sum(parts) + np.sum(gradient * Z) + problem.smoothness / 2 * np.sum((Z - s.Z) ** 2)

    beats_perturbations(cost, selfexpression.update_Z(problem, s, gradient), rng)


def test_updates_of_the_copies_are_optimal(middle, rng):
    problem, s = middle
    mu, mu_1, fit = problem.mu, problem.mu_fit, problem.A @ s.Z
    E = selfexpression.update_E(problem, fit, s.K1)
    J, _ = selfexpression.update_J(problem, s.Z, s.K2, None)
    G = selfexpression.update_G(problem, s.Z, s.K3)

    def cost_E(E):
        return problem.lam * np.abs(E).sum() + mu_1 / 2 * np.sum((problem.X - fit - E + s.K1 / mu_1) ** 2)

    def cost_J(J):
        return selfexpression.nuclear_norm(J) + mu / 2 * np.sum((s.Z - J + s.K2 / mu) ** 2)

    beats_perturbations(cost_E, E, rng)
    beats_perturbations(cost_J, J, rng)
    beats_perturbations(lambda G: np.sum((s.Z - G + s.K3 / mu) ** 2), G, rng, lambda A: np.maximum(A, 0))


def test_partial_thresholding_settles_on_the_full_one(rng):
    A = rng.standard_normal((150, 12)) @ rng.standard_normal((12, 130)) + 0.1 * rng.standard_normal((150, 130))
    start = None
    for _ in range(8):
        J, start = partial_singular_value_threshold(A, 5.0, start)
    np.testing.assert_allclose(J, singular_value_threshold(A, 5.0), atol=1e-6)
    flat = rng.standard_normal((120, 120))  # nearly all singular values are above the threshold
    np.testing.assert_allclose(
        partial_singular_value_threshold(flat, 0.1)[0], singular_value_threshold(flat, 0.1), atol=1e-9
    )


def test_partial_thresholding_follows_a_rising_rank(rng):
    """Singular values that cross the threshold are taken up in the step in which they do, not some steps later."""
    P, Q = (np.linalg.qr(rng.standard_normal((600, 600)))[0] for _ in range(2))
    start = None
    for size in np.linspace(3.5, 6, 12):
        A = (P * (size * np.linspace(1, 0, 600) ** 5)) @ Q.T
        J, start = partial_singular_value_threshold(A, 3.0, start)
    exact = singular_value_threshold(A, 3.0)
    assert np.linalg.norm(J - exact) < 0.02 * np.linalg.norm(exact)


# The estimator -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"nonnegative": False},
        {"representation_graph": "sum"},
        {"representation_graph": "sum", "nonnegative": False},
    ],
    ids=str,
)
def test_every_variant_finds_the_clusters(options, blobs):
    model = RLRR(3, **options).fit([X.astype(np.float32) for X in blobs.views.arrays])
    assert adjusted_rand_index(blobs.labels, model.labels_) == 1
    assert model.converged_
    assert model.representation_.shape == (60, 60)
    assert (model.embedding_.dtype, model.affinity_.dtype) == (np.float32, np.float32)
    assert model.affinity_.nnz <= 60 * 20 + 6  # of 3600


def test_what_is_found_adds_up_to_the_data(blobs):
    model = RLRR(3, scaling="none", tol=1e-4, max_iter=2000).fit(blobs.views)
    assert model.representation_.min() >= 0
    for X, E in zip(blobs.views.arrays, model.corruption_, strict=True):
        np.testing.assert_allclose(model.representation_.T @ X + E, X, atol=1e-2 * np.abs(X).max())


def test_errors_are_in_the_units_of_the_view(blobs):
    tables = [1000 * X + 5 for X in blobs.views.arrays]
    plain, scaled = RLRR(3).fit(blobs.views), RLRR(3).fit(tables)
    for E, F in zip(plain.corruption_, scaled.corruption_, strict=True):
        np.testing.assert_allclose(F, 1000 * E, rtol=1e-5, atol=1e-6)


def test_errors_of_rows_scaled_to_one_length_are_in_the_units_of_the_view(rng):
    counts = np.kron(np.eye(3), np.ones((20, 8))) * rng.poisson(4, (60, 24)).astype(float)
    model = RLRR(3, scaling="unit").fit(counts)
    lengths = np.linalg.norm(counts, axis=1, keepdims=True) / np.sqrt(24)
    Z = model.representation_
    np.testing.assert_allclose(model.corruption_[0], counts - lengths * (Z.T @ (counts / lengths)), atol=0.2)


def test_factors_multiply_out_to_the_representation(blobs):
    model = RLRR(3, nonnegative=False).fit(blobs.views)
    Z = model.representation_
    np.testing.assert_allclose(Z.toarray(), Z.left @ Z.right)
    np.testing.assert_allclose(
        representation.sum_affinity([Z], 10, block=7).toarray(),
        representation.sum_affinity([Z.toarray()], 10).toarray(),
        atol=1e-12,
    )


def test_corrupted_digits_are_told_apart():
    digits = load_digits(("fourier", "profile"))
    rows = slice(None, None, 4)
    noisy = corrupt_entries(digits.views, 0.2, seed=0)[rows]
    for views in (digits.views[rows], noisy):
        labels = RLRR(10).fit(views).labels_
        assert clustering_accuracy(digits.labels[rows], labels) > 0.8


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({}, "nonnegative=False"),
        ({"nonnegative": False}, "Cluster fewer"),
    ],
    ids=str,
)
def test_what_does_not_fit_in_memory_is_refused(options, hint, blobs):
    with pytest.raises(InputError, match=rf"n_samples=60 needs about .* GB.*max_memory=1e-06.*{hint}"):
        RLRR(3, max_memory=1e-6, **options).fit(blobs.views)


def test_by_default_the_free_memory_is_the_limit(blobs, monkeypatch):
    monkeypatch.setattr(representation, "available_memory", lambda: 1e4)
    with pytest.raises(InputError, match="80% of the free memory"):
        RLRR(3).fit(blobs.views)


def test_free_memory_is_known():
    assert representation.available_memory() > 1e6


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"representation_graph": "full"}, "Unknown representation_graph='full'"),
        ({"affinity": "knn"}, "Unknown affinity='knn'"),
        ({"sparsity": -1}, "sparsity=-1"),
        ({"nonnegative": 1}, "nonnegative=1"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -1}, "tol=-1"),
        ({"max_memory": "1"}, "max_memory='1'"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(wrong, message, blobs):
    with pytest.raises(InputError, match=message):
        RLRR(3, **wrong).fit(blobs.views)


def test_a_callback_sees_the_gaps_and_can_stop(blobs):
    seen = []
    model = RLRR(3, callback=lambda record: seen.append(record) or len(seen) == 2).fit(blobs.views)
    assert model.n_iter_ == 2
    assert {"residual", "fit_gap", "rank_gap", "sign_gap", "change"} <= set(seen[0])
