"""Steps of the treatment of dense views."""

import numpy as np
import pytest

from manyview.methods.ocbr.treatment import weigh_columns

UNITS = np.array([2.0, 0.5, 7.0])


@pytest.fixture
def A(rng):
    return rng.standard_normal((40, 3)) * [1.0, 0.8, 0.3] + [0.0, 1.0, -2.0]


def test_without_scaling_columns_are_in_their_own_units_up_to_a_factor(A):
    mean, weights = weigh_columns(A, UNITS, "none")
    np.testing.assert_allclose(mean, A.mean(axis=0))
    np.testing.assert_allclose(weights, UNITS / (UNITS * A.std(axis=0)).max())


def test_soft_scaling_is_that_of_the_definition(A):
    sd = A.std(axis=0)
    g = np.exp(np.log(UNITS * sd).mean())
    np.testing.assert_allclose(weigh_columns(A, UNITS, "soft")[1], 1 / np.sqrt(sd**2 + (g / UNITS) ** 2))


@pytest.mark.parametrize(("scaling", "expected"), [("robust", lambda sd: sd**0), ("standard", lambda sd: 1 / sd)])
def test_other_scalings_do_not_depend_on_units(A, scaling, expected):
    np.testing.assert_allclose(weigh_columns(A, UNITS, scaling)[1], expected(A.std(axis=0)))


@pytest.mark.parametrize("scaling", ["none", "soft", "robust", "standard"])
def test_columns_that_do_not_vary_count_nothing_and_huge_units_do_not_overflow(A, scaling):
    A[:, 1] = 5
    weights = weigh_columns(A.astype(np.float32), np.array([1e300, 1.0, 0.0]), scaling)[1]
    assert weights.dtype == np.float32
    assert (weights > 0).tolist() == [True, False, False]
    assert np.isfinite(weights).all()
