import numpy as np
import pytest

from manyview import Views, make_views
from manyview.methods.landmarks.blocks import LocalRows
from manyview.methods.landmarks.drawing import are_candidates, choose_landmarks, uniform
from manyview.methods.landmarks.fitting import draw_landmarks

POSITIONS = np.arange(100_000, dtype=np.uint64)


def test_hashes_are_uniform_and_independent_of_each_other():
    u, v, other_seed = uniform(POSITIONS, 0), uniform(POSITIONS, 0, 1), uniform(POSITIONS, 1)
    for numbers in (u, v, other_seed):
        assert (numbers.min() >= 0) & (numbers.max() < 1)
        counts = np.histogram(numbers, 50, (0, 1))[0]
        assert ((counts - 2000) ** 2 / 2000).sum() < 100  # chi-squared with 49 degrees of freedom
    correlations = np.corrcoef([u, v, other_seed, np.roll(u, 1)])
    assert abs(correlations - np.eye(4)).max() < 0.02


def test_a_hash_depends_on_the_position_alone():
    np.testing.assert_array_equal(uniform(POSITIONS, 7)[500:600], uniform(POSITIONS[500:600], 7))


def test_candidates_are_five_for_each_landmark():
    assert are_candidates(POSITIONS, len(POSITIONS), 1000, seed=3).sum() == pytest.approx(5000, rel=0.05)
    assert are_candidates(POSITIONS, len(POSITIONS), 20_000, seed=3).all()


def test_as_many_landmarks_are_drawn_as_asked_for():
    views = make_views(3000, 3, (5, 4), seed=0).views
    landmarks = draw_landmarks(LocalRows(dict(views.items())), 3000, 200, seed=0)
    assert len(np.unique(landmarks.positions)) == 200
    np.testing.assert_array_equal(landmarks.views.arrays[0], views.arrays[0][landmarks.positions])
    again = draw_landmarks(LocalRows(dict(views.items())), 3000, 200, seed=1)
    assert not np.array_equal(again.positions, landmarks.positions)


@pytest.mark.parametrize("block_entries", [1, 100, 5000])
def test_blocks_do_not_change_the_landmarks(block_entries):
    views = make_views(700, 3, (5, 4), seed=0).views
    whole = draw_landmarks(LocalRows(dict(views.items())), 700, 50, seed=0)
    parts = draw_landmarks(LocalRows(dict(views.items()), block_entries=block_entries), 700, 50, seed=0)
    np.testing.assert_array_equal(parts.positions, whole.positions)


def test_a_small_cluster_keeps_more_landmarks_than_by_a_uniform_draw():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [9800, 200])
    X = rng.standard_normal((10_000, 8)) + 12 * labels[:, None]
    views, keys = Views([X]), np.arange(10_000, dtype=np.uint64)
    thinned, evenly = (labels[choose_landmarks(views, keys, 1000, 0, crowding)].sum() for crowding in (0.5, 0.0))
    assert 10 <= evenly <= 32
    assert thinned > 1.5 * evenly
