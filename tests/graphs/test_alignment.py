"""Shifts between batches, told from differences in what the batches hold."""

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import make_views
from manyview.graphs.alignment import (
    centre_batches,
    centres_of,
    find_groups,
    most_likely,
    solve_scales,
    solve_shifts,
    some_of_each,
    take_off,
    without_shifts,
)


@pytest.fixture
def groups():
    """Four groups of 15 features, and a batch for each sample: batch 0 lacks group 0, batch 1 holds it six times."""
    data = make_views(400, 4, (15,), noise=0.5, separation=8.0, seed=0)
    rng = np.random.default_rng(0)
    shares = np.array([[0.0, 0.9, 0.1], [0.4, 0.2, 0.4], [0.6, 0.1, 0.3], [0.3, 0.3, 0.4]])
    batch = np.array([rng.choice(3, p=shares[label]) for label in data.labels])
    return data.views.arrays[0], data.labels, batch


@pytest.fixture
def shifts(rng):
    return 5 * rng.normal(size=(3, 15))


def centred(shifts, batch):
    return shifts - shifts[batch].mean(axis=0)


def test_the_shifts_given_the_groups_are_those_of_least_squares(groups, shifts):
    X, labels, batch = groups
    rows = X + shifts[batch]
    design = np.hstack([np.eye(4)[labels], np.eye(3)[batch]])
    solution = np.linalg.lstsq(design, rows, rcond=None)[0][4:]
    np.testing.assert_allclose(solve_shifts(rows, labels, batch), centred(solution, batch), atol=1e-8)


def test_batches_that_share_no_group_are_left_where_they_are(rng):
    X, halves = rng.normal(size=(40, 3)), np.repeat([0, 1], 20)
    np.testing.assert_allclose(solve_shifts(X, halves, halves), 0, atol=1e-8)


def test_shifts_are_found_though_batches_hold_other_shares_and_lack_a_group(groups, shifts):
    X, _, batch = groups
    rows = X + shifts[batch]
    found = solve_shifts(rows, find_groups(centre_batches(rows, batch), batch, 4), batch)
    error = np.linalg.norm(found - centred(shifts, batch), axis=1)
    by_means = np.array([(X + shifts[batch])[batch == b].mean(axis=0) for b in range(3)])
    of_means = np.linalg.norm(centred(by_means - shifts, batch), axis=1)
    assert error.max() < 0.3  # of shifts of some 20
    assert of_means.min() > 3 * error.max()  # the centres of the batches are misled by what these hold


def test_shifts_are_taken_off_and_nothing_else(groups, shifts):
    X, _, batch = groups
    moved = without_shifts(X + shifts[batch], batch, 4)
    offsets = moved - X
    np.testing.assert_allclose(offsets, np.broadcast_to(offsets.mean(axis=0), X.shape), atol=0.6)
    assert without_shifts(X, batch, 4) is X  # other shares alone are no shift
    sparse = sp.csr_array(X + shifts[batch])
    assert without_shifts(sparse, batch, 4) is sparse
    assert without_shifts(X, None, 4) is X


def test_a_small_batch_moves_with_the_largest(groups, shifts):
    X, _, batch = groups
    rows = X + shifts[batch]
    few = batch.copy()
    largest = np.bincount(batch).argmax()
    few[np.flatnonzero(batch == largest)[:5]] = 3
    np.testing.assert_array_equal(without_shifts(rows, few, 4), without_shifts(rows, batch, 4))


def test_starts_are_compared_on_some_samples_of_each_batch(groups, shifts, monkeypatch):
    X, _, batch = groups
    whole = without_shifts(X + shifts[batch], batch, 4)
    monkeypatch.setattr("manyview.graphs.alignment.ENOUGH", 150)
    np.testing.assert_allclose(without_shifts(X + shifts[batch], batch, 4), whole, atol=1e-8)
    batch = np.repeat([0, 1, 2], [500, 20, 480])
    some = some_of_each(batch, 100)
    np.testing.assert_array_equal(np.bincount(batch[some]), [50, 10, 48])
    assert (np.diff(some) > 0).all()


SCALES = np.array([1.0, 3.0, 0.5])


def in_centred_batches(X, batch):
    return X - centres_of(X, batch)[batch]


def sum_of_squares(X, groups, batch):
    moved = X - solve_shifts(X, groups, batch)[batch]
    return np.square(moved - centres_of(moved, groups)[groups]).sum()


def test_scales_are_found_though_a_batch_lacks_a_group(groups):
    X, labels, batch = groups
    found = solve_scales(in_centred_batches(X * SCALES[batch, None], batch), labels, batch)
    np.testing.assert_allclose(np.log(found[batch]).sum(), 0, atol=1e-8)
    products = found * SCALES
    assert np.ptp(np.log(products)) < 0.02
    spreads = np.array([in_centred_batches(X, batch)[batch == b].std() for b in range(3)])
    assert np.ptp(np.log(spreads)) > 0.04  # the spreads of the batches alone are misled by what these hold


def test_no_other_scales_leave_less(groups, rng):
    X, labels, batch = groups
    rows = in_centred_batches(X * SCALES[batch, None], batch)
    found = solve_scales(rows, labels, batch)
    least = sum_of_squares(rows * found[batch, None], labels, batch)
    for _ in range(20):
        other = found * np.exp(0.05 * rng.normal(size=3))
        other /= np.exp(np.log(other[batch]).mean())
        assert sum_of_squares(rows * other[batch, None], labels, batch) > least


def test_given_one_group_batches_get_the_same_spread(rng):
    batch = np.repeat([0, 1], [30, 60])
    rows = in_centred_batches(rng.normal(size=(90, 4)) * np.array([1.0, 5.0])[batch, None], batch)
    rows = rows * solve_scales(rows, np.zeros(90, dtype=int), batch)[batch, None]
    np.testing.assert_allclose(np.square(rows[:30]).mean(), np.square(rows[30:]).mean(), rtol=1e-6)


def test_a_batch_of_equal_samples_has_a_scale(rng):
    batch = np.repeat([0, 1], 20)
    rows = in_centred_batches(np.where(batch[:, None] == 0, rng.normal(size=(40, 3)), 7.0), batch)
    found = solve_scales(rows, np.zeros(40, dtype=int), batch)
    assert np.isfinite(found).all()
    assert (found > 0).all()


def test_scales_are_taken_off_about_the_centre_of_a_batch_that_shares_no_group(rng):
    halves = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 3)) * np.array([1.0, 9.0])[halves, None] + 50 * halves[:, None]
    np.testing.assert_allclose(centres_of(take_off(X, halves, halves), halves), centres_of(X, halves), atol=1e-8)


def test_scales_make_no_difference(groups, shifts):
    X, _, batch = groups
    plain, wide = (without_shifts((X + shifts[batch]) * s[batch, None], batch, 4) for s in (np.ones(3), SCALES))
    plain, wide = plain - plain.mean(axis=0), wide - wide.mean(axis=0)
    factor = np.vdot(plain, wide) / np.vdot(plain, plain)
    assert np.abs(wide / factor - plain).max() < 0.05 * plain.std()


def test_short_shifts_decide_between_groups_that_fit_alike(rng):
    batch = np.repeat([0, 1], 20)
    before = 0.1 * rng.normal(size=(40, 2)) + np.repeat([[0.0, 0.0], [5.0, 0.0], [6.0, 0.0], [11.0, 0.0]], 10, axis=0)
    near, far = np.repeat([0, 1, 1, 2], 10), np.repeat([0, 1, 0, 1], 10)  # batches are 1 apart, or 6
    assert most_likely([(7.0, far), (7.0, near)], before, batch) is near
    assert most_likely([(1.0, far), (7.0, near)], before, batch) is far  # how well groups fit counts first
    assert most_likely([(6.9, far), (7.0, near)], None, batch) is far
    assert most_likely([(0.0, far), (7.0, near)], np.zeros_like(before), batch) is far
