"""Proximal maps."""

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from manyview.numerics import proximal
from manyview.numerics.proximal import partial_singular_value_threshold, singular_value_threshold, soft_threshold

numbers = st.floats(-100, 100, allow_nan=False)
thresholds = st.floats(0, 50)
matrices = arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=numbers)
matrix_pairs = array_shapes(min_dims=2, max_dims=2, max_side=6).flatmap(
    lambda shape: st.tuples(arrays(float, shape, elements=numbers), arrays(float, shape, elements=numbers))
)
SHAPES = [(5, 5), (4, 60), (60, 4), (1, 7), (7, 1), (9, 6)]

PROXIMAL_MAPS = {
    "soft_threshold": (soft_threshold, lambda Z: np.abs(Z).sum()),
    "singular_value_threshold": (singular_value_threshold, lambda Z: np.linalg.norm(Z, "nuc")),
}


@given(matrices, thresholds)
def test_soft_threshold_is_its_closed_form(A, t):
    np.testing.assert_allclose(soft_threshold(A, t), np.sign(A) * np.maximum(np.abs(A) - t, 0), atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_singular_value_threshold_shrinks_the_singular_values_and_keeps_the_vectors(shape, rng):
    A = rng.standard_normal(shape)
    P, s, Qt = scipy.linalg.svd(A, full_matrices=False)
    t = float(np.median(s)) * 0.9
    np.testing.assert_allclose(singular_value_threshold(A, t), P @ np.diag(np.maximum(s - t, 0)) @ Qt, atol=1e-11)


def test_singular_value_threshold_above_the_norm_gives_zero(rng):
    A = rng.standard_normal((4, 30))
    assert not singular_value_threshold(A, 1.001 * np.linalg.norm(A, 2)).any()


@pytest.mark.parametrize("name", PROXIMAL_MAPS)
@pytest.mark.parametrize("shape", SHAPES)
def test_proximal_map_beats_every_perturbation(name, shape, rng):
    prox, penalty = PROXIMAL_MAPS[name]
    A, t = rng.standard_normal(shape), 0.7

    def objective(Z):
        return t * penalty(Z) + 0.5 * np.sum((Z - A) ** 2)

    best = prox(A, t)
    for size in (1e-4, 1e-2, 1):
        for _ in range(10):
            assert objective(best) <= objective(best + size * rng.standard_normal(shape)) + 1e-12
    assert objective(best) <= objective(np.zeros(shape)) + 1e-12


@pytest.mark.parametrize("name", PROXIMAL_MAPS)
@given(matrix_pairs, thresholds)
def test_proximal_map_is_nonexpansive(name, pair, t):
    prox, _ = PROXIMAL_MAPS[name]
    A, B = pair
    assert np.linalg.norm(prox(A, t) - prox(B, t)) <= np.linalg.norm(A - B) + 1e-8


def test_the_partial_threshold_keeps_the_precision(rng):
    A = (rng.standard_normal((150, 4)) @ rng.standard_normal((4, 140))).astype(np.float32)
    found, basis = partial_singular_value_threshold(A, 1.0)
    assert found.dtype == basis.dtype == np.float32
    np.testing.assert_allclose(found, singular_value_threshold(A, 1.0), atol=1e-3)
    assert basis.shape[1] < 70


def test_singular_vectors_from_the_small_matrix_are_those_of_the_table(rng):
    V = rng.standard_normal((40, 4)) / 100
    s, P, Q = proximal._singular_vectors(V)
    np.testing.assert_allclose(s, np.linalg.svd(V, compute_uv=False))
    np.testing.assert_allclose(Q.T @ Q, np.eye(4), atol=1e-10)
    np.testing.assert_allclose((Q * s) @ P.T, V, atol=1e-10)
