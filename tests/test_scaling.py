import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.preprocessing import StandardScaler, normalize

from manyview import InputError, Views
from manyview.scaling import is_sparse_view, scale_views, standardize, unit_rows

any_numbers = st.floats(allow_nan=False, allow_infinity=False)
tables = arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=any_numbers)


def test_standardize_agrees_with_sklearn(rng):
    X = rng.standard_normal((30, 4)) * [1, 10, 1e-3, 0] + [0, 5, 1, 7]
    np.testing.assert_allclose(standardize(X), StandardScaler().fit_transform(X), atol=1e-10)


@given(tables)
def test_standardize_gives_deviation_one_or_zero_whatever_the_magnitudes(X):
    Y = standardize(X)
    assert np.isfinite(Y).all()
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-3)
    sd = Y.std(axis=0)
    assert np.all((np.abs(sd - 1) < 1e-3) | (sd == 0))


@pytest.mark.parametrize("value", [0, 0.1, 1e300, -5e-324])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constant_columns_become_zero(value, dtype):
    with np.errstate(over="ignore"):
        column = np.nan_to_num(np.full((1001, 1), value).astype(dtype))
    assert not standardize(column).any()


@pytest.mark.parametrize("size", [1e300, 1e-300, 1e-320])
def test_scalings_forget_the_unit(size, rng):
    X = np.round(rng.standard_normal((20, 3)), 1) * 8
    np.testing.assert_allclose(standardize(X * size), standardize(X), atol=1e-2)
    np.testing.assert_allclose(unit_rows(X * size), unit_rows(X), atol=1e-2)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_unit_rows_have_length_root_d_and_keep_their_direction(kind, rng):
    X = rng.standard_normal((10, 5)) * (rng.random((10, 5)) < 0.5)
    X[3] = 0
    Y = unit_rows(kind(X))
    assert sp.issparse(Y) == sp.issparse(kind(X))
    np.testing.assert_allclose(Y.toarray() if sp.issparse(Y) else Y, np.sqrt(5) * normalize(X), atol=1e-12)


@given(tables)
def test_unit_rows_are_finite_whatever_the_magnitudes(X):
    lengths = np.linalg.norm(unit_rows(X), axis=1)
    np.testing.assert_allclose(lengths, np.where(X.any(axis=1), np.sqrt(X.shape[1]), 0), rtol=1e-6)


@pytest.mark.parametrize("scale", [standardize, unit_rows])
def test_scalings_keep_float32_and_leave_their_input_alone(scale, rng):
    X = rng.standard_normal((9, 4)).astype(np.float32)
    before = X.copy()
    assert scale(X).dtype == np.float32
    np.testing.assert_array_equal(X, before)


def test_sparse_views_are_scipy_sparse_or_mostly_zero():
    assert is_sparse_view(sp.csr_array(np.ones((2, 2))))
    assert is_sparse_view(np.array([[1.0, 0, 0]]))
    assert not is_sparse_view(np.array([[1.0, 0]]))


COUNTS = np.array([[0.0, 0, 3], [1, 0, 0], [0, 2, 0]])
VIEWS = Views({"dense": np.arange(6.0).reshape(3, 2), "counts": COUNTS})


@pytest.mark.parametrize(
    ("scaling", "used"),
    [
        ("auto", ["standard", "unit"]),
        ("none", ["none", "none"]),
        (["unit", "none"], ["unit", "none"]),
        ({"dense": "none"}, ["none", "unit"]),
    ],
)
def test_scaling_can_be_chosen_for_all_views_or_one_by_one(scaling, used):
    tables, chosen = scale_views(VIEWS, scaling)
    assert chosen == dict(zip(VIEWS.names, used, strict=True))
    functions = {"standard": standardize, "unit": unit_rows, "none": np.asarray}
    for table, array, way in zip(tables, VIEWS.arrays, used, strict=True):
        np.testing.assert_array_equal(table, functions[way](array))


@pytest.mark.parametrize(
    ("scaling", "message"),
    [
        ("log", "Unknown scaling='log'. Choose one of: 'auto', 'standard', 'robust', 'unit', 'none'"),
        ({"dense": "log"}, "Unknown scaling='log'"),
        ({"text": "unit"}, "no view 'text'; the views are 'dense', 'counts'"),
        (["unit"], "scaling has 1 entries for 2 views; give one per view"),
    ],
)
def test_wrong_scalings_are_refused(scaling, message):
    with pytest.raises(InputError, match=message):
        scale_views(VIEWS, scaling)


def test_standardising_a_sparse_matrix_is_refused():
    with pytest.raises(InputError, match=r"fill in the zeros.*use scaling='unit'"):
        scale_views(Views([sp.csr_array(COUNTS)]), "standard")
