"""Rows that represent samples, against the formula of the module."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from manyview.methods.ocbr import directions
from manyview.methods.ocbr.directions import Directions, find_directions, from_gram, leading_vectors, soften
from manyview.methods.ocbr.settings import Settings

SETTINGS = Settings()


def table(n, d, rng):
    B = rng.standard_normal((n, d)) * np.linspace(3, 1, d)
    return B - B.mean(axis=0)


def literal_rows(B, r, settings):
    """Return the rows of the docstring, from a full SVD."""
    U, s, _ = np.linalg.svd(B, full_matrices=False)
    U, s = U[:, :r], s[:r]
    noise = s[-1] ** 2 * min(1, B.shape[1] / settings.rank) if settings.weigh_noise else 0
    R = U * (s**settings.exponent * (1 - noise / s**2))
    squares = (R**2).sum(axis=1)
    return R / np.sqrt(squares + squares.mean())[:, None] if settings.soft_rows else R


def products(R):
    return R @ R.T  # whatever the signs of the columns


@pytest.mark.parametrize("change", [{}, {"weigh_noise": False}, {"soft_rows": False}, {"exponent": 1.0}, {"rank": 5}])
@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_are_the_formula(change, shape, form, rng):
    settings = replace(SETTINGS, **change)
    B = table(*shape, rng)
    mapping, basis, rows = find_directions(form(B), 7, settings)
    np.testing.assert_allclose(products(rows), products(literal_rows(B, 7, settings)), atol=1e-8)
    np.testing.assert_allclose(mapping.apply(form(B)), rows, atol=1e-10)
    U, s, Pt = np.linalg.svd(B, full_matrices=False)
    np.testing.assert_allclose(basis.s, s[:7])
    kept = 7 if basis.signal[-1] > 0 else 6  # the last is the measure of the noise, and may hold nothing else
    np.testing.assert_allclose(basis.U @ basis.loadings.T, (U[:, :kept] * s[:kept]) @ Pt[:kept], atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_is_that_of_the_table(dtype, rng):
    mapping, basis, rows = find_directions(table(20, 6, rng).astype(dtype), 4, SETTINGS)
    assert {mapping.to_rows.dtype, basis.U.dtype, basis.P.dtype, basis.loadings.dtype, rows.dtype} == {np.dtype(dtype)}


def test_equal_samples_have_one_direction_along_which_they_are_0():
    for n, d in ((5, 3), (4, 9)):
        mapping, basis, rows = find_directions(np.zeros((n, d), np.float32), 3, SETTINGS)
        assert rows.tolist() == [[0.0]] * n
        assert rows.dtype == mapping.to_rows.dtype == np.float32
        assert mapping.apply(np.ones((2, d), np.float32)).tolist() == [[0.0], [0.0]]
        np.testing.assert_allclose(basis.U.T @ basis.U, [[1]], rtol=1e-6)
        np.testing.assert_allclose(basis.P.T @ basis.P, [[1]], rtol=1e-6)
        assert (basis.loadings == 0).all()


def test_a_single_direction_is_not_taken_for_noise(rng):
    B = np.outer(rng.standard_normal(9), [3.0, 4.0])
    _, basis, rows = find_directions(B, 2, SETTINGS)
    assert basis.signal.tolist() == [1.0]
    assert np.abs(rows).max() > 0


def test_directions_that_are_rounding_are_left_out(rng):
    B = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 8))
    s, P = leading_vectors(B, 5)
    assert (s.shape, P.shape) == ((2,), (8, 2))
    U = find_directions(B, 5, SETTINGS)[1].U
    assert U.shape == (20, 2)
    np.testing.assert_allclose((U * s) @ P.T, B, atol=1e-10)
    assert len(leading_vectors(B * 1e-90, 5)[0]) == 2


@pytest.mark.parametrize("shape", [(40, 9), (9, 40)])
def test_large_tables_are_decomposed_alike(shape, rng, monkeypatch):
    B = table(*shape, rng)
    exact = leading_vectors(B, 4)
    monkeypatch.setattr(directions, "GRAM_SIZE", 3)
    for found, expected in zip(leading_vectors(B, 4), exact, strict=True):
        np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-3)
    np.testing.assert_array_equal(leading_vectors(B, 4)[0], leading_vectors(B, 4)[0])


def test_vectors_from_the_gram_matrix_are_those_of_the_table(rng):
    A = rng.standard_normal((15, 6))
    s, V = from_gram(A.T @ A, 3)
    _, expected, Vt = np.linalg.svd(A)
    np.testing.assert_allclose(s, expected[:3])
    np.testing.assert_allclose(np.abs(V), np.abs(Vt[:3].T))
    assert (from_gram(-np.eye(2), 2)[0] == 0).all()  # what rounding makes negative


def test_rows_are_softened_by_their_length():
    R = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(soften(R, 11.0), [[0.5, 4 / 6], [0, 0]])
    np.testing.assert_allclose(soften(R, 0.0), R / np.sqrt([[26], [1]]))
    assert soften(R, np.inf) is R
    assert soften(R.astype(np.float32), 2.0).dtype == np.float32
    np.testing.assert_allclose(Directions(np.eye(2), 11.0).apply(R), soften(R, 11.0))


@pytest.mark.parametrize(("r", "shared"), [(4, True), (3, False)])
def test_rows_may_be_put_in_the_memory_of_the_table(r, shared, rng, monkeypatch):
    monkeypatch.setattr(directions, "BLOCK_ENTRIES", 7 * 6)
    B = table(30, 6, rng)
    expected = find_directions(B, r, SETTINGS)[2]
    rows = find_directions(again := B.copy(), r, SETTINGS, overwrite=True)[2]
    np.testing.assert_array_equal(rows, expected)
    assert np.shares_memory(rows, again) == shared


def test_of_two_directions_the_second_bounds_the_noise(rng):
    B = rng.standard_normal((20, 2)) @ np.diag([5.0, 1.0]) @ rng.standard_normal((2, 8))
    basis = find_directions(B, 5, replace(SETTINGS, rank=16))[1]
    np.testing.assert_allclose(basis.signal, [1 - (basis.s[1] / basis.s[0]) ** 2 / 2, 1 / 2])
