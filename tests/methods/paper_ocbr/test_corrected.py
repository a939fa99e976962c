"""The paper's alternation with its errata mended: every update minimises its subproblem."""

import copy

import numpy as np
import pytest
import scipy.linalg
from scipy.optimize import approx_fprime

from manyview.graphs.affinity import adaptive_graph
from manyview.graphs.laplacian import laplacian
from manyview.methods.paper_ocbr import corrected
from manyview.methods.paper_ocbr.corrected import RelaxedView, aligned, lagrangian, residual, update_multipliers
from manyview.numerics.projections import project_orthonormal

LAM2, BETA, MU = 0.7, 0.25, 1.6
N, D, R = 12, 7, 3


@pytest.fixture
def view():
    """A state in mid-run: nothing is at its optimum, all multipliers are at work."""
    rng = np.random.default_rng(3)
    U = project_orthonormal(rng.standard_normal((N, R)))
    state = RelaxedView(rng.standard_normal((D, N)), U, np.zeros((D, N)), gamma=0.3)
    for name in ("E", "D", "G", "K1", "K2", "K3"):
        setattr(state, name, rng.standard_normal(getattr(state, name).shape))
    state.G = np.abs(state.G)
    state.W = adaptive_graph(state.U, 3)
    state.L = laplacian(state.W)
    return state


@pytest.fixture
def others():
    rng = np.random.default_rng(4)
    return [project_orthonormal(rng.standard_normal((N, R))) for _ in range(2)]


def value_at(view, others, **changed):
    state = copy.copy(view)
    for name, array in changed.items():
        setattr(state, name, array)
    return lagrangian(state, others, LAM2, BETA, MU)


def numerical_gradient(view, others, name):
    shape = getattr(view, name).shape
    return approx_fprime(
        getattr(view, name).ravel(), lambda x: value_at(view, others, **{name: x.reshape(shape)}), 1e-6
    ).reshape(shape)


def test_the_U_step_solves_the_sylvester_equation(view, others):
    X, D_ = view.X, view.D
    A = LAM2 * view.L.toarray() + (BETA * len(others) + MU) * np.eye(N) + MU * X.T @ X
    S = BETA * sum(others) + view.K1.T @ D_ - view.K2 + X.T @ view.K3 + MU * ((X - view.E).T @ D_ + view.G + X.T @ D_)
    direct = scipy.linalg.solve_sylvester(A, MU * D_.T @ D_, S)
    np.testing.assert_allclose(corrected.update_U(view, others, LAM2, BETA, MU), direct, atol=1e-5)


@pytest.mark.parametrize("name", ["U", "D"])
def test_smooth_steps_end_where_the_numerical_gradient_vanishes(view, others, name):
    assert np.abs(numerical_gradient(view, others, name)).max() > 0.1
    if name == "U":
        view.U = corrected.update_U(view, others, LAM2, BETA, MU)
    else:
        view.D = corrected.update_D(view, MU)
    np.testing.assert_allclose(numerical_gradient(view, others, name), 0, atol=1e-3)


@pytest.mark.parametrize("name", ["U", "D", "E", "G"])
def test_each_update_beats_random_feasible_changes(view, others, name):
    step = {
        "U": lambda: corrected.update_U(view, others, LAM2, BETA, MU),
        "D": lambda: corrected.update_D(view, MU),
        "E": lambda: corrected.update_E(view, MU),
        "G": lambda: corrected.update_G(view, MU),
    }[name]
    before = value_at(view, others)
    best = step()
    lowest = value_at(view, others, **{name: best})
    assert lowest < before
    rng = np.random.default_rng(5)
    for size in np.repeat([1e-3, 1e-2, 1e-1, 1.0], 25):
        other = best + size * rng.standard_normal(best.shape)
        if name == "G":
            other = np.maximum(other, 0)
        assert value_at(view, others, **{name: other}) >= lowest - 1e-9


def test_multipliers_ascend_along_the_constraint_gaps(view, others):
    """The derivative of the Lagrangian with respect to a multiplier is the gap of its constraint."""
    gaps = {name: numerical_gradient(view, others, name) for name in ("K1", "K2", "K3")}
    before = {name: getattr(view, name).copy() for name in gaps}
    update_multipliers(view, MU)
    for name, gap in gaps.items():
        np.testing.assert_allclose(getattr(view, name), before[name] + MU * gap, atol=1e-4)


def test_residual_is_zero_only_where_all_constraints_hold(view):
    assert residual(view) > 0.1
    view.U = project_orthonormal(np.abs(view.U))
    view.G, view.D = view.U, view.X @ view.U
    view.E = view.X - view.D @ view.U.T
    assert residual(view) < 1e-12


def test_alignment_makes_rotated_bases_equal(view):
    rng = np.random.default_rng(6)
    rotated = copy.copy(view)
    rotated.U = view.U @ project_orthonormal(rng.standard_normal((R, R)))
    (back,) = aligned([view, rotated], view)
    np.testing.assert_allclose(back, view.U, atol=1e-12)
