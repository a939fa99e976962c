"""Projections and the SVD."""

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from manyview.numerics.projections import (
    economical_svd,
    orthonormal_columns,
    procrustes,
    project_nonnegative,
    project_orthonormal,
    project_simplex,
)
from manyview.numerics.proximal import singular_value_threshold, soft_threshold

numbers = st.floats(-100, 100, allow_nan=False)
matrices = arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=numbers)
matrix_pairs = array_shapes(min_dims=2, max_dims=2, max_side=6).flatmap(
    lambda shape: st.tuples(arrays(float, shape, elements=numbers), arrays(float, shape, elements=numbers))
)
SHAPES = [(5, 5), (4, 60), (60, 4), (1, 7), (7, 1), (9, 6)]
PROJECTIONS = {"simplex": project_simplex, "nonnegative": project_nonnegative}


@pytest.mark.parametrize("shape", SHAPES)
def test_economical_svd_agrees_with_scipy(shape, rng):
    A = rng.standard_normal(shape)
    P, s, Qt = economical_svd(A)
    r = min(shape)
    assert (P.shape, s.shape, Qt.shape) == ((shape[0], r), (r,), (r, shape[1]))
    np.testing.assert_allclose(s, scipy.linalg.svdvals(A), atol=1e-12)
    np.testing.assert_allclose((P * s) @ Qt, A, atol=1e-12)


def test_svd_falls_back_when_divide_and_conquer_fails(monkeypatch, rng):
    svd = scipy.linalg.svd

    def fails(A, **options):
        if options.get("lapack_driver") != "gesvd":
            raise np.linalg.LinAlgError
        return svd(A, **options)

    monkeypatch.setattr(scipy.linalg, "svd", fails)
    A = rng.standard_normal((6, 5))
    P, s, Qt = economical_svd(A)
    np.testing.assert_allclose((P * s) @ Qt, A, atol=1e-12)


@given(matrices)
def test_simplex_projection_is_feasible(A):
    W = project_simplex(A)
    assert (W >= 0).all()
    np.testing.assert_allclose(W.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("name", PROJECTIONS)
@given(matrices)
def test_projection_is_idempotent(name, A):
    project = PROJECTIONS[name]
    np.testing.assert_allclose(project(project(A)), project(A), atol=1e-12)


@pytest.mark.parametrize("name", PROJECTIONS)
@given(matrix_pairs)
def test_projection_is_nonexpansive(name, pair):
    project = PROJECTIONS[name]
    assert np.linalg.norm(project(pair[0]) - project(pair[1])) <= np.linalg.norm(pair[0] - pair[1]) + 1e-9


@given(matrices, numbers)
def test_simplex_projection_ignores_a_shift(A, shift):
    np.testing.assert_allclose(project_simplex(A + shift), project_simplex(A), atol=1e-10)


@given(arrays(float, st.integers(1, 8), elements=numbers))
def test_simplex_projection_satisfies_the_optimality_conditions(v):
    w = project_simplex(v)
    theta = np.max(v - w)  # v - w = theta on the support, and v <= theta off it
    np.testing.assert_allclose((v - w)[w > 1e-9], theta, atol=1e-9)


@pytest.mark.parametrize("huge", [1e17, 1e20, 1e300])
def test_simplex_projection_of_huge_values_picks_the_largest(huge):
    np.testing.assert_array_equal(project_simplex(np.array([0.0, huge, -huge])), [0, 1, 0])
    np.testing.assert_array_equal(project_simplex(np.array([huge, huge])), [0.5, 0.5])


@given(matrices)
def test_nonnegative_projection_is_the_positive_part(A):
    np.testing.assert_array_equal(project_nonnegative(A), np.where(A > 0, A, 0))


@pytest.mark.parametrize("shape", [(6, 6), (40, 3), (5, 1)])
def test_orthonormal_projection_is_the_polar_factor_and_idempotent(shape, rng):
    A = rng.standard_normal(shape)
    Q = project_orthonormal(A)
    np.testing.assert_allclose(Q.T @ Q, np.eye(shape[1]), atol=1e-12)
    np.testing.assert_allclose(Q, scipy.linalg.polar(A)[0], atol=1e-10)
    np.testing.assert_allclose(project_orthonormal(Q), Q, atol=1e-12)


@pytest.mark.parametrize("shape", [(6, 6), (20, 3)])
def test_orthonormal_projection_beats_other_orthonormal_matrices(shape, rng):
    A = rng.standard_normal(shape)
    Q = project_orthonormal(A)
    for size in (1e-3, 0.1, 10):
        for _ in range(20):
            other, _ = np.linalg.qr(Q + size * rng.standard_normal(shape))
            other = fix_columns(other, Q)
            assert np.linalg.norm(Q - A) <= np.linalg.norm(other - A) + 1e-12


def fix_columns(A, like):
    return A * np.where((A * like).sum(axis=0) < 0, -1, 1)


def test_procrustes_finds_the_rotation_back(rng):
    A = rng.standard_normal((20, 4))
    rotation, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    np.testing.assert_allclose(procrustes(A, A @ rotation), rotation, atol=1e-12)


def test_procrustes_agrees_with_scipy_and_beats_random_rotations(rng):
    A, B = rng.standard_normal((2, 15, 4))
    Q = procrustes(A, B)
    np.testing.assert_allclose(Q, scipy.linalg.orthogonal_procrustes(A, B)[0], atol=1e-12)
    for _ in range(50):
        other, _ = np.linalg.qr(rng.standard_normal((4, 4)))
        assert np.linalg.norm(A @ Q - B) <= np.linalg.norm(A @ other - B)


@pytest.mark.parametrize(
    "kernel",
    [
        lambda A: soft_threshold(A, 0.5),
        lambda A: singular_value_threshold(A, 0.5),
        project_simplex,
        project_nonnegative,
        project_orthonormal,
    ],
)
def test_kernels_keep_float32_and_leave_their_input_alone(kernel, rng):
    A = rng.standard_normal((9, 4)).astype(np.float32)
    before = A.copy()
    assert kernel(A).dtype == np.float32
    np.testing.assert_array_equal(A, before)


def span(A):
    return A @ np.linalg.pinv(A)


@pytest.mark.parametrize(
    "A",
    [
        np.random.default_rng(0).standard_normal((20, 4)),
        np.random.default_rng(1).standard_normal((20, 4)) * [1e-150, 1, 1e150, 7],
        np.linalg.qr(np.random.default_rng(2).standard_normal((9, 3)))[0],
        np.vander(np.linspace(1, 2, 15), 4),  # nearly dependent columns: QR takes over
        np.ones((5, 1)),
    ],
    ids=["random", "all magnitudes", "orthonormal", "ill conditioned", "one column"],
)
def test_orthonormal_columns_span_what_they_did(A):
    before = A.copy()
    U = orthonormal_columns(A)
    np.testing.assert_allclose(U.T @ U, np.eye(A.shape[1]), atol=1e-12)
    np.testing.assert_allclose(span(U), span(A / np.linalg.norm(A, axis=0)), atol=1e-9)
    np.testing.assert_array_equal(A, before)


@pytest.mark.parametrize("A", [np.zeros((6, 3)), np.eye(6, 3) * [1, 0, 1], np.ones((6, 3))], ids=["0", "column", "1"])
def test_orthonormal_columns_of_too_low_a_rank_are_orthonormal_all_the_same(A):
    U = orthonormal_columns(A)
    np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(U @ (U.T @ A), A, atol=1e-12)


def test_columns_of_any_length_come_to_the_nearest_orthonormal_ones(rng):
    A = np.linalg.qr(rng.standard_normal((30, 5)))[0] + 0.05 * rng.standard_normal((30, 5))
    lengths = [1, 10, 0.1, 3, 1e-5]
    expected = project_orthonormal(A / np.linalg.norm(A, axis=0))
    np.testing.assert_allclose(orthonormal_columns(A * lengths), expected, atol=1e-12)
    assert orthonormal_columns(A.astype(np.float32)).dtype == np.float32


def test_each_row_is_projected_on_its_own_however_far_the_others_are():
    rows = np.array([[1e20, 1e20 - 1e18, 0.0], [0.2, 0.5, 0.1], [-1e20, -1e20, -3e20]])
    np.testing.assert_allclose(project_simplex(rows), [[1, 0, 0], [4 / 15, 17 / 30, 1 / 6], [0.5, 0.5, 0]], atol=1e-12)
