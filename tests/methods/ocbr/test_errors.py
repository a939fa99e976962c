"""Whether a view holds gross errors: those that strike at random are counted, heavy tails are not."""

import numpy as np
import pytest

from manyview import OCBR, load_digits
from manyview.methods.ocbr import errors
from manyview.methods.ocbr.errors import is_orthogonal
from manyview.methods.ocbr.settings import Settings
from manyview.preprocessing import corrupt_entries


def gross_error(R, observed=None):
    return errors.gross_error(R, observed, Settings().tolerated)


def gaussian(n=400, d=50, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3])
def test_random_errors_are_counted_without_bias(share, rng):
    R = gaussian(2000, 100)
    far = rng.random(R.shape) < share
    R[far] = rng.choice([-30, 30], far.sum())
    assert gross_error(R).share == pytest.approx(share, rel=0.15)
    assert gross_error(R).present


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("columns", [0, 1])
def test_every_quarter_of_the_entries_is_counted(rows, columns, rng):
    R = gaussian(400, 100)
    quarter = R[rows::2, columns::2]
    quarter[:] = np.where(rng.random(quarter.shape) < 0.2, rng.choice([-30, 30], quarter.shape), quarter)
    assert gross_error(R).share == pytest.approx(0.2 / 4, rel=0.2)


def test_entries_that_were_not_observed_do_not_count():
    R = gaussian(40, 40)
    R[::2, ::2] = 30 * np.sign(R[::2, ::2])
    observed = np.ones(R.shape, dtype=bool)
    observed[::2, ::2] = False
    assert gross_error(R, observed).share == 0


def test_gaussian_residuals_hold_none():
    assert gross_error(gaussian()).lower < 0.001


def heavy_columns(R, rng):
    R[:, ::3] = rng.standard_t(1.5, R[:, ::3].shape)


def heavy_rows(R, rng):
    R[::3] = rng.standard_t(1.5, R[::3].shape)


def skewed(R, rng):
    R[:] = rng.lognormal(0, 1.5, R.shape) - 1


@pytest.mark.parametrize("spoil", [heavy_columns, heavy_rows, skewed])
def test_heavy_tails_in_columns_or_rows_or_on_one_side_are_no_errors(spoil, rng):
    R = gaussian()
    spoil(R, rng)
    assert np.mean(np.abs(R) > 4) > 0.01
    assert not gross_error(R).present


def with_edges(n, d, width, rng):
    """Residuals that are far out in `width` neighbouring columns at once, somewhere in each row."""
    R = gaussian(n, d)
    for row in range(n):
        start = rng.integers(d - width + 1)
        R[row, start : start + width] = rng.choice([-30, 30])
    return R


@pytest.mark.parametrize(("d", "width"), [(20, 3), (20, 5), (1500, 100)])  # of many columns only some are compared
def test_what_is_far_out_in_related_columns_at_once_is_no_error(d, width, rng):
    R = with_edges(3000, d, width, rng)
    anywhere = gaussian(3000, d)
    far = rng.random(R.shape) < np.mean(np.abs(R) > 4)
    anywhere[far] = rng.choice([-30, 30], far.sum())
    assert not gross_error(R).present
    assert gross_error(anywhere).present


def test_random_errors_are_counted_beside_what_is_far_out_in_related_columns(rng):
    R = with_edges(3000, 20, 3, rng)
    far = rng.random(R.shape) < 0.1
    R[far] = rng.choice([-30, 30], far.sum())
    assert gross_error(R).share == pytest.approx(0.1, rel=0.2)


@pytest.mark.parametrize("d", [1, 2])
def test_few_columns_have_few_that_are_related(d, rng):
    R = gaussian(1000, d)
    far = rng.random(R.shape) < 0.1
    R[far] = rng.choice([-30, 30], far.sum())
    assert gross_error(R).present


def test_a_single_row_holds_none():
    assert gross_error(np.array([[1.0, 50.0, -50.0]])).lower == 0


def test_random_errors_are_seen_beside_heavy_tails(rng):
    R = gaussian()
    heavy_columns(R, rng)
    far = rng.random(R.shape) < 0.1
    R[far] = rng.choice([-30, 30], far.sum())
    assert gross_error(R).present


def test_what_was_not_observed_does_not_count(rng):
    R = gaussian()
    hidden = rng.random(R.shape) < 0.3
    R[hidden] = 1e6
    assert gross_error(R, ~hidden).lower < 0.001


def test_leniency_falls_as_errors_grow(rng):
    leniency = []
    for share in (0.01, 0.02, 0.1):
        R = gaussian()
        far = rng.random(R.shape) < share
        R[far] = rng.choice([-30, 30], far.sum())
        leniency.append(gross_error(R).leniency)
    assert leniency == sorted(leniency, reverse=True)
    assert leniency[-1] == 1


def test_principal_components_are_orthogonal_and_no_longer_so_with_errors(rng):
    X = gaussian()
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    assert is_orthogonal(U * s)
    assert is_orthogonal(U * s + np.arange(X.shape[1]))  # wherever the columns are
    assert is_orthogonal(U * s + 1e7)
    assert is_orthogonal(U * s * 1e-9)  # and in any unit
    assert not is_orthogonal(X)
    spoilt = U * s + (rng.random(X.shape) < 0.05) * rng.uniform(-5, 5, X.shape) * (U * s).std(axis=0)
    assert not is_orthogonal(spoilt)


def test_many_samples_in_single_precision_are_centred_in_double(rng):
    X = rng.standard_normal((20_000, 4))
    U = np.linalg.qr(X - X.mean(axis=0))[0] * np.sqrt(20_000)
    assert is_orthogonal((U + 30_000).astype(np.float32))


def test_all_components_of_few_samples_are_orthogonal_whatever_rounding_adds(rng):
    X = rng.standard_t(3, size=(40, 200))
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    components = U * s
    assert components.shape == (40, 40)  # the last is 0 but for rounding
    assert is_orthogonal(components)
    model = OCBR(3).fit([components, rng.normal(size=(40, 5))])
    assert "exactly orthogonal" in model.view_kinds_["view_0"].reason
    assert model.corruption_[0].nnz == 0


@pytest.mark.parametrize("views", [("fourier", "profile"), ("karhunen", "pixel", "zernike", "morphological")])
def test_clean_digits_have_no_errors_and_corrupted_ones_have(views):
    digits = load_digits(views)
    clean = OCBR(10).fit(digits.views)
    assert all(E.nnz == 0 for E in clean.corruption_)
    assert all("not cleaned" in kind.reason for kind in clean.view_kinds_.values())
    noisy = OCBR(10).fit(corrupt_entries(digits.views, 0.2, seed=0))
    assert all(E.nnz > 0.05 * np.prod(E.shape) for E in noisy.corruption_)
    assert all("; cleaned" in kind.reason for kind in noisy.view_kinds_.values())


def test_a_few_errors_are_no_proof():
    """One on each side is what chance may bring: the lower bound is a standard error of the root less."""
    for errors_on_each_side, expected in ((1, 0.0), (4, 2 * (2 - 1) ** 2), (9, 2 * (3 - 1) ** 2)):
        R = np.tile([1.0, -1.0], (40, 20))
        R[:18:2, 0][:errors_on_each_side] = 99
        R[:18:2, 2][:errors_on_each_side] = -99
        found = gross_error(R)
        assert found.lower * 40 * 40 / 4 == pytest.approx(expected)


@pytest.mark.parametrize("noise", [0.01, 0.04, 0.1, 0.3])
def test_columns_are_orthogonal_if_they_are_correlated_far_less_than_by_chance(noise, rng):
    U = np.linalg.qr(rng.standard_normal((60, 8)))[0]
    X = (U - U.mean(axis=0) + noise * rng.standard_normal((60, 8)) / np.sqrt(60)) * np.geomspace(1, 100, 8)
    C = np.corrcoef(X.T)
    by_chance = 8 * 7 / 59
    assert is_orthogonal(X) == ((C**2).sum() - 8 < 0.25 * by_chance)
