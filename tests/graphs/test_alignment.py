"""Shifts between batches, told from differences in what the batches hold."""

import numpy as np
import pytest
import scipy.sparse as sp

from manyview import make_views
from manyview.graphs.alignment import centre_batches, find_groups, solve_shifts, some_of_each, without_shifts


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
