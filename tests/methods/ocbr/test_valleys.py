"""Directions of coordinates count by the valleys of density that lie across them."""

import numpy as np
import pytest

from manyview import OCBR, Views, clustering_accuracy
from manyview.methods.ocbr import directions
from manyview.methods.ocbr.directions import find_directions
from manyview.methods.ocbr.settings import Settings
from manyview.methods.ocbr.valleys import (
    MOST_SAMPLES,
    centres_of_pieces,
    halves,
    neighboring,
    reliability,
    scatter,
    valley,
    valley_shares,
)


def long_and_split(n, rng):
    """Rows along a long direction without gaps, two groups across it, and noise; also the groups."""
    groups = np.arange(n) % 2
    noise = rng.standard_normal((n, 6)) * 0.2
    return np.column_stack([rng.uniform(-3, 3, n), 2.0 * groups + 0.2 * rng.standard_normal(n), noise]), groups


def test_a_valley_is_how_much_lower_the_density_is_half_way():
    near = np.linspace(-0.1, 0.1, 50)
    assert valley(near, 1 + near) == 1
    even = np.linspace(-0.5, 0.5, 1001)
    assert valley(even, 1 + even) == pytest.approx(0, abs=0.01)
    half_filled = np.concatenate([np.repeat(even, 2)[:1400], even[700:]])  # fewer than at the centres
    assert 0 < valley(half_filled, 1 + near) < 1


def test_a_valley_does_not_depend_on_the_sizes_of_the_pieces(rng):
    first, second = rng.normal(0, 0.2, 4000), rng.normal(1, 0.2, 4000)
    assert valley(np.tile(first, 5), second) == pytest.approx(valley(first, second))
    assert valley(np.full(3, 9.0), np.full(3, 9.0)) == 0


def test_the_direction_that_groups_lie_across_counts_most(rng):
    R, _ = long_and_split(1000, rng)
    g = valley_shares(R)
    assert g.argmax() == 1
    assert g[1] > 0.8
    assert g[0] < 0.5 * g[1]


def test_pieces_of_structureless_samples_have_hardly_a_valley(rng):
    R = rng.standard_normal((2000, 5))
    with_valley, whole = np.sum([scatter(R[train], R[test]) for train, test in halves(R)], axis=0)
    assert (with_valley / whole).max() < 0.3
    np.testing.assert_array_equal(valley_shares(R), np.ones(5))


def test_what_the_halves_do_not_agree_on_is_not_reliable():
    whole = np.ones((4, 3))
    g = np.tile([0.9, 0.5, 0.1], (4, 1))
    assert reliability(np.stack([g, whole], axis=1)) == 1
    g[::2] = g[::2, ::-1]
    assert reliability(np.stack([g, whole], axis=1)) <= 0
    g = np.array([[0.8, 0.2], [0.6, 0.4]])  # mean .7 and .3: variance .04, error (.04 + .04) / 2 / 4
    assert reliability(np.stack([g, np.ones((2, 2))], axis=1)) == pytest.approx(0.75)


@pytest.mark.parametrize(
    "R", [np.zeros((100, 3)), np.ones((3, 2)), np.arange(38.0).reshape(19, 2), np.repeat(np.eye(2), 10, axis=0)[:, :1]]
)
def test_with_nothing_to_tell_by_all_directions_count_1(R):
    np.testing.assert_array_equal(valley_shares(R), np.ones(R.shape[1]))


def test_neither_order_nor_sign_nor_precision_matters(rng):
    R, _ = long_and_split(600, rng)
    g = valley_shares(R)
    np.testing.assert_allclose(valley_shares(R[rng.permutation(600)]), g, atol=1e-12)
    np.testing.assert_allclose(valley_shares(-R), g, atol=1e-12)
    np.testing.assert_allclose(valley_shares(R.astype(np.float32)), g, atol=0.02)


def test_halves_are_apart_and_of_every_sample(rng):
    R = rng.standard_normal((101, 3))
    pairs = list(halves(R))
    assert len(pairs) == 6
    for train, test in pairs:
        assert sorted([*train, *test]) == list(range(101))
    np.testing.assert_array_equal(pairs[1][0], pairs[0][1])


def test_of_many_samples_only_some_are_looked_at():
    R = np.arange(2 * MOST_SAMPLES + 1.0)[:, None]
    for train, test in halves(R):
        assert len(train) + len(test) <= MOST_SAMPLES
        assert not set(train) & set(test)


def test_pieces_are_spread_over_the_samples(rng):
    X = rng.standard_normal((400, 3)) * [9, 1, 1]
    centres = centres_of_pieces(X)
    assert centres.shape == (20, 3)
    assert centres_of_pieces(X[:30]).shape == (3, 3)
    assert centres_of_pieces(np.ones((30, 2))).tolist() == [[1, 1]]
    assert np.ptp(centres[:, 0]) > np.ptp(centres[:, 1])


def test_pieces_are_compared_with_the_nearest_ones():
    line = np.arange(7.0)[:, None]
    pairs = neighboring(line)
    assert all(a < b for a, b in pairs)
    assert pairs == [(k, k + 1) for k in range(6)]  # a third piece is between any others
    plane = np.array([[0.0, 0], [2, 0], [1, 0.9], [1, 5]])
    assert (0, 1) not in neighboring(plane)
    assert (0, 1) in neighboring(plane * [1, 2])
    assert neighboring(line[:2]) == [(0, 1)]
    assert neighboring(line[:1]) == []


def test_rows_count_directions_by_valleys(rng):
    B = long_and_split(500, rng)[0].astype(np.float32)
    B -= B.mean(axis=0)
    plain, _, rows = find_directions(B, 8, Settings())
    weighed, basis, new = find_directions(B, 8, Settings(), by_valleys=True)
    np.testing.assert_allclose(weighed.to_rows, plain.to_rows * valley_shares(rows), rtol=1e-4)
    np.testing.assert_allclose(weighed.apply(B), new, atol=1e-5)
    assert new.dtype == weighed.to_rows.dtype == np.float32
    assert basis.U.shape == (500, 8)


@pytest.mark.parametrize(("kind", "weighed"), [("coordinates", True), ("features", False)])
def test_only_clean_coordinates_are_weighed(kind, weighed, rng, monkeypatch):
    calls = []
    monkeypatch.setattr(directions, "valley_shares", lambda R: calls.append(R.shape) or np.ones(R.shape[1]))
    R, _ = long_and_split(200, rng)
    fit = OCBR(2, kinds={"a": kind}).fit(Views({"a": R}))
    assert bool(calls) == weighed
    calls.clear()
    struck = rng.random(R.shape) < 0.2
    noisy = OCBR(2, kinds={"a": kind}).fit(Views({"a": np.where(struck, R + 30 * rng.choice([-1, 1], R.shape), R)}))
    assert "; cleaned" in noisy.view_kinds_["a"].reason
    assert "not cleaned" in fit.view_kinds_["a"].reason
    assert not calls


def test_a_long_technical_direction_does_not_decide(rng):
    n, kinds = 600, {"a": "coordinates"}
    groups = np.arange(n) % 2
    across = 1.5 * groups + 0.35 * rng.standard_normal(n)
    views = Views({"a": np.column_stack([rng.uniform(-6, 6, n), across, 0.4 * rng.standard_normal((n, 6))])})
    plain = type("Plain", (OCBR,), {"_settings": Settings(weigh_valleys=False)})
    assert clustering_accuracy(groups, OCBR(2, kinds=kinds).fit(views).labels_) > 0.9
    assert clustering_accuracy(groups, plain(2, kinds=kinds).fit(views).labels_) < 0.7
