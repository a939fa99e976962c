"""Conjugate gradients."""

import numpy as np
import pytest

from manyview.numerics.linear_systems import conjugate_gradients


def positive_definite(n, condition, seed=0):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return (Q * np.geomspace(1, condition, n)) @ Q.T


@pytest.mark.parametrize("condition", [1, 10, 1e4])
def test_conjugate_gradients_agree_with_the_direct_solution(condition, rng):
    A, B = positive_definite(30, condition), rng.standard_normal((30, 4)) * [1, 1e-8, 1e8, 1]
    X = conjugate_gradients(lambda V: A @ V, B, start=np.zeros_like(B), tol=1e-10)
    assert (np.linalg.norm(A @ X - B, axis=0) <= 2e-10 * np.linalg.norm(B, axis=0)).all()
    np.testing.assert_allclose(X, np.linalg.solve(A, B), rtol=1e-5, atol=1e-8 * np.abs(X).max(axis=0).max())


def test_each_column_may_have_a_matrix_of_its_own(rng):
    A, B, shifts = positive_definite(12, 50), rng.standard_normal((12, 3)), np.array([0.0, 1.0, 100.0])
    X = conjugate_gradients(lambda V: A @ V + V * shifts, B, start=rng.standard_normal((12, 3)), tol=1e-12)
    for x, b, shift in zip(X.T, B.T, shifts, strict=True):
        np.testing.assert_allclose(x, np.linalg.solve(A + shift * np.eye(12), b), atol=1e-9)


def test_conjugate_gradients_end_after_as_many_steps_as_there_are_eigenvalues(rng):
    A = np.diag(np.repeat([1.0, 2.0, 5.0], 10))
    B = rng.standard_normal((30, 2))
    X = conjugate_gradients(lambda V: A @ V, B, start=np.zeros_like(B), tol=0, max_iter=3)
    np.testing.assert_allclose(A @ X, B, atol=1e-10)


def test_conjugate_gradients_stay_at_the_solution_and_leave_their_input_alone(rng):
    A, B = positive_definite(10, 5), rng.standard_normal((10, 2))
    start = np.linalg.solve(A, B)
    kept = start.copy(), B.copy()
    calls = []
    X = conjugate_gradients(lambda V: calls.append(1) or A @ V, B, start=start)
    assert len(calls) == 1
    for found, before in zip((X, B), kept, strict=True):
        np.testing.assert_array_equal(found, before)


def test_zero_right_hand_sides_give_zero(rng):
    A, B = positive_definite(10, 5), rng.standard_normal((10, 2)) * [1, 0]
    X = conjugate_gradients(lambda V: A @ V, B, start=np.zeros_like(B))
    assert not X[:, 1].any()
    assert np.isfinite(X).all()
    assert conjugate_gradients(lambda V: V, B.astype(np.float32), start=np.zeros((10, 2), np.float32)).dtype == "f4"
