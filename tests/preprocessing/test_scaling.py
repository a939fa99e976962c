import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.preprocessing import StandardScaler, normalize

from manyview import InputError, Views
from manyview.preprocessing.scaling import (
    REACH,
    Scaler,
    Standardizer,
    choose_scalings,
    is_sparse_view,
    scale_views,
    side_by_side,
    unit_rows,
)


def standardize(X):
    return Scaler.fit(X, "standard").apply(X)


def robust_standardize(X):
    return Scaler.fit(X, "robust").apply(X)


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
        ("log", "Unknown scaling='log'. Choose one of: 'auto', 'standard', 'soft', 'robust', 'unit', 'none'"),
        ({"dense": "log"}, "Unknown scaling='log'"),
        ({"text": "unit"}, "an unknown view 'text'; the views are 'dense', 'counts'"),
        (["unit"], "scaling has 1 entries for 2 views; give one per view"),
    ],
)
def test_wrong_scalings_are_refused(scaling, message):
    with pytest.raises(InputError, match=message):
        scale_views(VIEWS, scaling)


def test_standardising_a_sparse_matrix_is_refused():
    with pytest.raises(InputError, match=r"fill in the zeros.*use scaling='unit'"):
        scale_views(Views([sp.csr_array(COUNTS)]), "standard")


@pytest.mark.parametrize("scaling", ["standard", "robust"])
def test_the_refusal_names_the_scaling_that_was_asked_for(scaling):
    with pytest.raises(InputError, match=f"scaling='{scaling}' would fill in the zeros"):
        scale_views(Views([sp.csr_array(COUNTS)]), scaling)


def test_auto_means_unit_for_sparse_views_and_what_the_caller_wants_for_others():
    assert choose_scalings(VIEWS, "auto") == {"dense": "standard", "counts": "unit"}
    assert choose_scalings(VIEWS, "auto", dense="robust") == {"dense": "robust", "counts": "unit"}
    assert choose_scalings(VIEWS, {"counts": "none"}, dense="robust") == {"dense": "robust", "counts": "none"}
    assert choose_scalings(VIEWS, "standard", dense="robust") == {"dense": "standard", "counts": "standard"}


# Robust standardisation --------------------------------------------------------------------------


@pytest.mark.parametrize("robust", [False, True])
@given(X=arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(-1e6, 1e6)))
def test_standardising_can_be_undone_within_the_limit(X, robust):
    scaler = Standardizer.fit(X, robust=robust)
    Y = scaler.apply(X)
    constant = scaler.sd == 0
    assert not Y[:, constant].any()
    tolerance = 1e-9 * np.abs(X).max(axis=0)
    exempt = constant | (np.abs(Y) >= 0.1 * scaler.limit)  # near the limit X / largest may have met it
    assert (np.abs(scaler.undo(Y) - X) <= np.where(exempt, np.inf, tolerance + 1e-300)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fill_values_do_not_erase_a_feature(dtype, rng):
    """Files mark missing values by numbers such as 9.97e36; squared, they overflow."""
    X = rng.standard_normal((200, 3)).astype(dtype)
    spoilt = X.copy()
    spoilt[:5] = 9.97e36
    Y = robust_standardize(spoilt)
    assert np.isfinite(Y).all()
    np.testing.assert_allclose(standardize(Y[5:]), standardize(X[5:]), atol=1e-4)
    assert (Y[5:].std(axis=0) > 0.3).all()
    assert (np.abs(Y[:5]) > 1000).all()


def test_constant_columns_come_back_as_they_were():
    X = np.column_stack([np.full(9, 7.0), np.arange(9)])
    for robust in (False, True):
        scaler = Standardizer.fit(X, robust=robust)
        np.testing.assert_allclose(scaler.undo(scaler.apply(X)), X)


def test_the_map_learnt_on_one_table_applies_to_another():
    scaler = Standardizer.fit(np.array([[0.0, 10], [2, 30]]))
    np.testing.assert_allclose(scaler.apply(np.array([[3.0, 20]])), [[2, 0]])
    np.testing.assert_allclose(scaler.undo(np.array([[2.0, 0]])), [[3, 20]])


def test_without_outliers_robust_is_plain(rng):
    X = rng.uniform(-3, 5, (50, 4)) * [1, 100, 1e-5, 0]
    np.testing.assert_allclose(robust_standardize(X), standardize(X), atol=1e-12)


@pytest.mark.parametrize("size", [1e3, 1e9, -1e100])
def test_outliers_do_not_move_the_rest(size, rng):
    X = rng.standard_normal((500, 2))
    spoilt = X.copy()
    spoilt[:5, 0] = size
    Y = robust_standardize(spoilt)
    assert np.abs(Y[5:, 0].mean()) < 0.15
    assert 0.6 < Y[5:, 0].std() <= 1
    np.testing.assert_allclose(Y[:, 1], standardize(X)[:, 1], atol=1e-12)
    assert (np.abs(Y[:5, 0]) > REACH / 2).all()  # they are not clipped away themselves
    assert np.abs(standardize(spoilt)[5:, 0]).max() < 0.2  # as plain standardising would have it


def test_a_column_mostly_of_one_value_keeps_its_others(rng):
    X = np.where(rng.random((100, 1)) < 0.3, rng.standard_normal((100, 1)), 0.0)
    np.testing.assert_allclose(robust_standardize(X), standardize(X), atol=1e-12)


def test_robust_standardisation_keeps_float32_and_its_input(rng):
    X = rng.standard_normal((30, 4)).astype(np.float32)
    X[0, 0] = 1e6
    before = X.copy()
    scaler = Standardizer.fit(X, robust=True)
    assert scaler.apply(X).dtype == scaler.undo(scaler.apply(X)).dtype == np.float32
    np.testing.assert_array_equal(X, before)


# Side by side ------------------------------------------------------------------------------------


def test_squared_distances_add_up_side_by_side(rng):
    tables = [rng.standard_normal((6, 3)), sp.csr_array(np.eye(6, 4)), rng.standard_normal((6, 2))]
    joined = side_by_side(tables)
    assert isinstance(joined, sp.csr_array)
    np.testing.assert_array_equal(joined.toarray(), np.hstack([tables[0], np.eye(6, 4), tables[2]]))


def test_dense_tables_stay_dense_and_one_table_stays_itself(rng):
    A, B = rng.standard_normal((6, 3)).astype(np.float32), rng.standard_normal((6, 2)).astype(np.float32)
    joined = side_by_side([A, B])
    assert isinstance(joined, np.ndarray)
    assert joined.dtype == np.float32
    assert side_by_side([A]) is A
