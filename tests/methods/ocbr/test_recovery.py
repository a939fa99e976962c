"""Robust recovery of one view: the sweep reaches the minimum of its objective, and that tells signal from errors."""

import numpy as np
import pytest

from manyview.methods.ocbr import recovery
from manyview.methods.ocbr.recovery import Loadings, Recovery, narrowness, right_vectors, typical_size, without_nan
from manyview.methods.ocbr.settings import Settings
from manyview.numerics.proximal import singular_value_threshold, soft_threshold
from manyview.numerics.robust import column_deviations

NOISE_LEVEL = 0.2
NARROWEST = Settings().narrowest


def low_rank(n, d, rank=3, noise=0.1, seed=0):
    """Return a low-rank table, and the same with small noise."""
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    return L, L + noise * rng.standard_normal((n, d))


def hits(shape, share, seed=1):
    return np.random.default_rng(seed).random(shape) < share


def gross(shape, share, seed=1, two_sided=True):
    """Errors of size 5 to 9, in a share of the entries."""
    rng = np.random.default_rng(seed + 1)
    sign = rng.choice([-1, 1], shape) if two_sided else 1
    return hits(shape, share, seed) * sign * rng.uniform(5, 9, shape)


def recover(X, r, tol=1e-3, sparsity=1.0, sweeps=500):
    state = Recovery.start(X, r, NOISE_LEVEL, sparsity, NARROWEST)
    for _ in range(sweeps):
        if state.residual <= tol:
            break
        state.sweep()
    return state


def value(state, L, E):
    """The objective as written."""
    fit = np.sum((table(state) - L - E) ** 2) / 2
    return state.tau * np.linalg.norm(L, "nuc") + state.kappa * np.abs(E).sum() + fit


def table(state):
    """X, which the state may only compute where it is looked at."""
    return state.X[:]


@pytest.fixture(scope="module")
def small():
    """A small corrupted table, solved with a full basis to the last digits."""
    _, X = low_rank(40, 16)
    return recover(X + gross(X.shape, 0.1), 16, tol=1e-10)


def test_momentum_grows_as_nesterov_has_it_or_is_restarted():
    """t^2 - t is the square of the t before."""
    _, X = low_rank(40, 16)
    state = Recovery.start(X + gross(X.shape, 0.1), 5, NOISE_LEVEL, 1.0, NARROWEST)
    grown = 0
    for _ in range(30):
        before = state.momentum
        state.sweep()
        if state.momentum != 1:
            assert state.momentum**2 - state.momentum == pytest.approx(before**2)
            grown += 1
    assert grown > 5


# The minimum -------------------------------------------------------------------------------------


def test_weights_are_the_documented_ones():
    _, X = low_rank(40, 16)
    state = Recovery.start(X, 5, NOISE_LEVEL, 2.0, NARROWEST)
    assert state.tau == pytest.approx(0.2 * state.unit * (np.sqrt(40) + 4))
    assert state.kappa == pytest.approx(2 * state.tau / np.sqrt(40))
    assert state.U.shape == (40, 5)
    np.testing.assert_allclose(table(state), X)


def test_the_E_step_is_the_minimiser(small):
    rng = np.random.default_rng(0)
    L = table(small) * 0.3  # anywhere
    E = soft_threshold(table(small) - L, small.kappa)
    lowest = value(small, L, E)
    for size in np.repeat([1e-4, 1e-2, 1.0], 30):
        assert value(small, L, E + size * rng.standard_normal(E.shape)) >= lowest
        some = hits(E.shape, 0.02, seed=int(rng.integers(1000)))
        assert value(small, L, np.where(some, 0, E)) >= lowest


@pytest.mark.parametrize("sweeps", [1, 2, 20])
def test_the_objective_is_the_formula_with_E_at_its_optimum(sweeps):
    _, X = low_rank(40, 16)
    state = recover(X + gross(X.shape, 0.1), 10, tol=0, sweeps=sweeps)
    E = soft_threshold(table(state) - state.L, state.kappa)
    assert state.objective() == pytest.approx(value(state, state.L, E), rel=1e-12)


def test_the_residual_vanishes(small):
    assert small.residual <= 1e-10
    np.testing.assert_allclose(small.L, small.Y, atol=1e-8)


def test_momentum_begun_anew_gets_there_soon(small):
    """Without restarts it takes 166 sweeps here, with them 59."""
    assert recover(table(small), 16, tol=1e-10, sweeps=100).residual <= 1e-10


def test_the_minimum_beats_random_low_rank_changes(small):
    rng = np.random.default_rng(0)
    lowest = small.objective()
    n, d = small.X.shape
    for size in np.repeat([1e-3, 1e-2, 1e-1], 20):
        for L in (
            small.L + size * rng.standard_normal((n, 1)) @ rng.standard_normal((1, d)),
            small.L + size * small.U @ rng.standard_normal((small.U.shape[1], d)),
            small.L * (1 + size * rng.standard_normal()),
        ):
            assert value(small, L, soft_threshold(table(small) - L, small.kappa)) > lowest


def test_the_minimum_is_that_of_plain_proximal_gradients(small):
    """The slow reference: alternate the two proximal maps exactly, from 0, with full SVDs."""
    L = np.zeros_like(table(small))
    for _ in range(1000):
        E = soft_threshold(table(small) - L, small.kappa)
        L = singular_value_threshold(table(small) - E, small.tau)
    reference = value(small, L, soft_threshold(table(small) - L, small.kappa))
    assert small.objective() == pytest.approx(reference, rel=1e-8)
    np.testing.assert_allclose(small.L, L, atol=1e-6)


def test_a_basis_that_holds_the_rank_is_as_good_as_a_full_one(small):
    X = table(small)
    narrow = recover(X, 6, tol=1e-6)
    assert np.linalg.matrix_rank(small.L, tol=1e-6) < 6
    assert narrow.objective() == pytest.approx(small.objective(), rel=1e-4)


def test_the_minimum_does_not_depend_on_the_unit(small):
    again = recover(table(small) * 1e5, 16, tol=1e-10)
    np.testing.assert_allclose(again.cleaned(1) / 1e5, small.cleaned(1), atol=1e-6)


def test_L_lies_on_its_orthonormal_basis(small):
    np.testing.assert_allclose(small.U.T @ small.U, np.eye(16), atol=1e-10)
    np.testing.assert_allclose(small.U @ (small.U.T @ small.L), small.L, atol=1e-10)
    np.testing.assert_allclose(np.linalg.svd(small.L)[1], small.spectrum, atol=1e-8)


@pytest.mark.parametrize("d", [12, 40])  # exact, and by a step
def test_right_vectors_of_a_table_of_low_rank_agree_with_the_svd(rng, d):
    A = rng.standard_normal((30, 4)) @ rng.standard_normal((4, d))
    s, P = right_vectors(lambda: (A[:11], A[11:]), rng.standard_normal((d, 4)))
    np.testing.assert_allclose(s, np.linalg.svd(A)[1][:4])
    np.testing.assert_allclose(A @ P @ P.T, A, atol=1e-9)
    np.testing.assert_allclose(P.T @ P, np.eye(4), atol=1e-9)
    assert right_vectors(lambda: (A.astype(np.float32),), P.astype(np.float32))[1].dtype == np.float32


@pytest.mark.parametrize("missing", [False, True])
def test_blocks_of_rows_give_what_the_whole_table_gives(monkeypatch, missing):
    _, X = low_rank(50, 20)
    X = np.where(hits(X.shape, 0.1), np.nan, X) if missing else X + gross(X.shape, 0.1)
    whole = recover(X, 5, tol=1e-6)
    monkeypatch.setattr(recovery, "BLOCK_ENTRIES", 7 * 20)
    monkeypatch.setattr(recovery, "BLOCK_ROWS", 1)
    in_blocks = recover(X, 5, tol=1e-6)
    np.testing.assert_allclose(in_blocks.L, whole.L, atol=1e-8)
    assert in_blocks.objective() == pytest.approx(whole.objective())


def test_values_that_were_not_observed_are_completed():
    L, X = low_rank(300, 40, noise=0.1)
    hidden = hits(X.shape, 0.2)
    state = recover(np.where(hidden, np.nan, X), 10)
    for A in (state.cleaned(None), state.cleaned(1.0)):
        assert np.linalg.norm((A - L)[hidden]) < 0.2 * np.linalg.norm(L[hidden])
    np.testing.assert_allclose(state.cleaned(None)[~hidden], X[~hidden])


# What it tells apart -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corrupted():
    L, X = low_rank(300, 40, noise=0.3)
    return L, recover(X + gross(X.shape, 0.15), 30)


def gross_errors(state):
    return np.vstack(list(state.gross_errors([slice(0, 7), slice(7, None)])))


def test_gross_errors_are_found(corrupted):
    _, state = corrupted
    hit, found = hits(state.X.shape, 0.15), gross_errors(state) != 0
    assert (hit & found).sum() / found.sum() > 0.95
    assert (hit & found).sum() / hit.sum() > 0.95


def test_gross_errors_have_their_size_and_sign(corrupted):
    _, state = corrupted
    hit = hits(state.X.shape, 0.15)
    found, true = gross_errors(state)[hit], gross(state.X.shape, 0.15)[hit]
    assert np.quantile(np.abs(found - true), 0.95) < 1
    assert np.mean(np.sign(found) == np.sign(true)) > 0.99


def test_the_low_rank_part_is_found_in_spite_of_them(corrupted):
    L, state = corrupted
    assert np.linalg.norm(state.L - L) < 0.2 * np.linalg.norm(L)
    cleaned = state.cleaned(1.0)
    assert np.linalg.norm(cleaned - L) < 0.5 * np.linalg.norm(table(state) - L)


def test_more_sparsity_declares_fewer_entries_corrupted():
    _, X = low_rank(100, 20)
    X = X + gross(X.shape, 0.1)
    norms = []
    for sparsity in (0.5, 1.0, 3.0):
        state = recover(X, 20, sparsity=sparsity)
        norms.append(np.count_nonzero(soft_threshold(table(state) - state.L, state.kappa)))
    assert norms == sorted(norms, reverse=True)


@pytest.mark.parametrize("size", [1e6, -1e6])
def test_absurd_entries_do_not_disturb(size):
    L, X = low_rank(300, 40, noise=0.3)
    hit = hits(X.shape, 0.02)
    state = recover(np.where(hit, size, X), 30)
    assert np.linalg.norm(state.L - L) < 0.15 * np.linalg.norm(L)
    np.testing.assert_allclose(gross_errors(state)[hit], size, rtol=1e-4)
    assert np.abs(state.cleaned(1.0)).max() < 50


def test_a_table_of_zeros():
    state = recover(np.zeros((20, 6)), 5)
    assert (state.residual, state.objective()) == (0, 0)
    for A in (state.L, state.cleaned(1.0), gross_errors(state)):
        assert A.shape == (20, 6)
        assert not A.any()
    np.testing.assert_allclose(state.U.T @ state.U, np.eye(5), atol=1e-12)


@pytest.mark.parametrize(("n", "d", "r"), [(5, 30, 9), (30, 5, 9), (2, 2, 1), (10, 1, 4)])
def test_the_basis_is_never_wider_than_the_table(n, d, r):
    state = recover(np.random.default_rng(0).standard_normal((n, d)), r)
    assert state.U.shape == (n, min(n, d, r))
    np.testing.assert_allclose(state.U.T @ state.U, np.eye(min(n, d, r)), atol=1e-10)
    assert np.isfinite(state.L).all()


def test_float32_stays_float32():
    _, X = low_rank(60, 20)
    state = recover((X + gross(X.shape, 0.1)).astype(np.float32), 10)
    cleaned = state.cleaned(1.0)
    arrays = [table(state), state.U, state.L, state.Y, state.spectrum, cleaned, gross_errors(state)]
    assert {A.dtype for A in arrays} == {np.dtype(np.float32)}
    double = recover(X + gross(X.shape, 0.1), 10)
    np.testing.assert_allclose(state.L, double.L, atol=1e-2)


@pytest.mark.parametrize(
    ("X", "size"),
    [
        (np.full((4, 4), -2.0), 2 * 1.4826),
        (np.zeros((4, 4)), 1.0),
        (np.eye(4) * 3, 3 * 1.4826 / 2),  # a quarter of the entries is not 0
    ],
    ids=["constant", "zeros", "mostly zeros"],
)
def test_typical_size(X, size):
    assert typical_size(X) == pytest.approx(size)


def test_typical_size_is_the_deviation_of_gaussian_entries_whatever_some_of_them_are(rng):
    X = 3 * rng.standard_normal((200, 50))
    X[hits(X.shape, 0.05)] = 1e9
    assert typical_size(X) == pytest.approx(3, rel=0.1)


# Narrow views ------------------------------------------------------------------------------------


def test_narrowness_is_what_the_features_fall_short_of_the_rank():
    assert [narrowness(d, 60, NARROWEST) for d in (200, 60, 40, 20, 2)] == [1, 1, 1.5, NARROWEST, NARROWEST]


def test_features_that_do_not_tell_about_one_another_are_clipped_and_no_more():
    X = np.random.default_rng(0).standard_normal((400, 8))
    errors = gross(X.shape, 0.2)
    state = recover(X + errors, 60)
    cleaned = state.cleaned(1.0)
    hit = errors != 0
    assert np.corrcoef(cleaned[~hit], X[~hit])[0, 1] > 0.92  # 0.86 with the noise level of a wide view
    assert np.abs(cleaned[hit]).max() < 0.2 * np.abs((X + errors)[hit]).max()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_0_is_put_where_a_table_is_nan(dtype, rng):
    A = rng.standard_normal((6, 5)).astype(dtype)
    A[hits(A.shape, 0.3)] = np.nan
    expected = np.where(np.isnan(A), 0, A)
    np.testing.assert_array_equal(without_nan(A[:, 1:4]), expected[:, 1:4])
    np.testing.assert_array_equal(without_nan(A), expected)


def test_errors_are_reported_only_where_values_were_observed():
    _, X = low_rank(200, 30, noise=0.3)
    X += gross(X.shape, 0.1)
    hidden = hits(X.shape, 0.2, seed=5)
    state = recover(np.where(hidden, np.nan, X), 20)
    found = gross_errors(state)
    usual = 3 * column_deviations(state.residuals, ~hidden)
    expected = np.where(~hidden & (np.abs(state.X - state.L) > usual), state.X - state.L, 0)
    np.testing.assert_allclose(found, expected)
    assert 0.03 < np.mean(found != 0) < 0.2


def test_new_rows_are_cleaned_and_completed_as_the_fitted_ones_were():
    """l is a fixed point: the shrunk projection of x - e, with e the soft threshold of x - l; unknown values are l."""
    _, X = low_rank(200, 30, noise=0.3)
    state = recover(X + gross(X.shape, 0.1), 10, tol=1e-6)
    loadings = Loadings.of(state, 2.0)
    np.testing.assert_allclose(loadings.keep, state.spectrum / (state.spectrum + state.tau))
    new = X[:20] + gross((20, 30), 0.1, seed=7)
    P, keep = state.P, loadings.keep
    fixed = np.zeros_like(new)
    for _ in range(300):
        fixed = (new - soft_threshold(new - fixed, state.kappa)) @ (P * keep) @ P.T
    expected = new - soft_threshold(new - fixed, 2 * state.kappa)
    np.testing.assert_allclose(loadings.clean(new), expected, atol=1e-3)
    gap = new.copy()
    gap[:, 3] = np.nan
    completed = loadings.clean(gap)
    others = np.arange(30) != 3
    assert np.corrcoef(completed[:, 3], X[:20, 3])[0, 1] > 0.9
    np.testing.assert_allclose(completed[:, others], expected[:, others], atol=1.5)
    single = Loadings.of(recover(X.astype(np.float32), 10), 2.0)
    assert single.keep.dtype == single.clean(gap.astype(np.float32)).dtype == np.float32
